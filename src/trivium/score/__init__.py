"""Signals: what was found is scored anew by what is known about it. Pure but for `stage`."""
