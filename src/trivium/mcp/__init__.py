"""Agents: the library as tools of the Model Context Protocol.

`tools` says which there are, `reading` and `writing` what they do, `server` speaks the protocol by
the official SDK. A tool reads its arguments, calls `Library`, and answers with JSON as every other
surface gives it and with the same in words; no reply costs more tokens than its budget.
"""
