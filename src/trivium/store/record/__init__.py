"""The record in plain tables, written once for every SQL database.

`database.py` is what a dialect has to give: statements by name, in transactions. The `.sql` files
here hold what all of them understand; a dialect's own folder holds, under the same kind of names,
what only it does.
"""
