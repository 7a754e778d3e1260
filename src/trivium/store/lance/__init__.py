"""Vectors in LanceDB, in a folder or an object store; the record stays in SQLite."""

from trivium.store.lance.dataset import Note
from trivium.store.lance.keeping import Keeper
from trivium.store.lance.view import LanceView

__all__ = ["Keeper", "LanceView", "Note"]
