"""The reference store: plain Python in memory, written to be obviously right, not fast.

It is the oracle of the contract suite: every other store must answer as this one does. It keeps
everything in lists and dictionaries and looks at every chunk for every question.
"""

from trivium.store.reference.store import ReferenceStore

__all__ = ["ReferenceStore"]
