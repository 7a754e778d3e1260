"""What every view of a library in PostgreSQL has: a read transaction, and the filters in it."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from trivium.index.selection import Selection
from trivium.index.snapshot import Seen
from trivium.protocols import Found
from trivium.store.postgres.connection import Connections
from trivium.store.postgres.own_search import word_similarities
from trivium.store.record.database import listed
from trivium.store.record.rows import chunk_of_row, parts_of
from trivium.types import Chunk, Filter, Grant, Record, Unit, documents_of


class ServerView(ABC):
    """What the present and the past have in common. Use as a context manager."""

    _seen: Seen

    def __init__(self, connections: Connections, grant: Grant) -> None:
        self._connections = connections
        self._grant = grant
        self._masks: dict[Filter, Selection] = {}
        self._lock = threading.RLock()
        self._transaction = connections.begin()
        self._connection = self._transaction.connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connections.end(self._transaction)

    @property
    def stamp(self) -> int:
        return self._seen.stamp

    @property
    def warnings(self) -> tuple[str, ...]:
        return ()

    def browse(self, filter: Filter, unit: Unit, depth: int) -> Found:
        return self._seen.browse(self._allowed(filter), unit, depth)

    def resemblance(self, query: str, chunks: Sequence[str]) -> dict[str, float]:
        with self._transaction.asking():
            return word_similarities(self._connection, query, self._seen, chunks)

    def values(self, name: str) -> frozenset[str]:
        return self._seen.values(name)

    def units(self, chunks: Sequence[str], unit: Unit) -> list[str]:
        if unit == "chunk":
            return list(chunks)
        if unit == "document":
            return documents_of(chunks)
        return self._seen.entities_of(chunks)

    @abstractmethod
    def records(self, chunks: Sequence[str]) -> dict[str, Record]: ...

    def _chunks(self, chunks: Sequence[str]) -> list[Chunk]:
        wanted = listed([parts_of(chunk) for chunk in chunks])
        with self._transaction.asking():
            return [chunk_of_row(row) for row in self._transaction.execute("records", (wanted,))]

    def _allowed(self, filter: Filter) -> Selection:
        """The rows that a filter leaves; the legs ask at once, and one of them works it out."""
        with self._lock:
            if filter not in self._masks:
                with self._transaction.asking():
                    self._masks[filter] = self._seen.allowed(filter, self._subjects_of_types)
            return self._masks[filter]

    @abstractmethod
    def _subjects_of_types(self, types: tuple[str, ...], subclasses: bool) -> frozenset[str]: ...
