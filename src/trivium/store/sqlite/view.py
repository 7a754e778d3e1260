"""One state of a SQLite library within one grant: a read transaction and a snapshot of it."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.errors import ModelMismatch, TriviumError
from trivium.index import spelling
from trivium.index.arrays import CacheDamaged
from trivium.index.matrix import Neighbours
from trivium.index.selection import Selection
from trivium.index.snapshot import Seen, Snapshot
from trivium.protocols import Found, Frequencies, Similar
from trivium.store.record.graph import scopes_of
from trivium.store.record.past import Past
from trivium.store.record.rows import (
    DOCUMENT,
    chunk_of,
    chunk_of_row,
    document_of,
    document_of_row,
    parts_of,
)
from trivium.store.sqlite.connection import (
    Connections,
    SqliteTransaction,
    in_our_words,
    statements,
)
from trivium.store.sqlite.derived import DerivedIndex, Overtaken, with_model
from trivium.turns import TURNS
from trivium.types import (
    Bm25,
    Chunk,
    Document,
    Filter,
    Grant,
    Record,
    Unit,
    WordQuery,
    documents_of,
)
from trivium.values import dataclass
from trivium.vectors import unit as to_unit

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class _Expected:
    """A search for the nearest that was begun before it was asked for."""

    seen: Seen
    vector: NDArray[np.float32]
    filter: Filter
    neighbours: Neighbours

    def is_for(self, seen: Seen, vector: NDArray[np.float32], filter: Filter) -> bool:
        """Whether it is what is asked for: of the same state, too."""
        same = self.seen is seen and self.filter == filter
        return same and np.array_equal(self.vector, vector)


class SqliteView:
    """Serves all three legs. Use as a context manager: it holds a read transaction."""

    turns = TURNS

    def __init__(
        self,
        connections: Connections,
        derived: DerivedIndex,
        grant: Grant,
        as_of: datetime | None = None,
        instead: tuple[str, int] | None = None,
        model: str | None = None,
    ) -> None:
        self._path = connections.path
        self._connection = connections.reader()
        self._transaction = SqliteTransaction(self._connection)
        self._derived = derived
        self._grant = grant
        self._masks: dict[Filter, Selection] = {}
        self._last_mask: tuple[Filter, Selection] | None = None
        self._lock = threading.RLock()
        self._past: Past | None = None
        self._other_model = model
        self._expected: _Expected | None = None
        with in_our_words(self._path):
            self._outermost = not self._connection.in_transaction
            if self._outermost:
                self._connection.execute("BEGIN")
            try:
                if as_of is None and instead is None:
                    snapshot = self._current()
                    self._seen = self._through_grant(snapshot)
                else:
                    self._past = Past.read(self._transaction, grant, as_of, instead)
                    self._seen = self._past.snapshot.seen_by(grant)
            except BaseException:
                self.__exit__()
                raise
        self._warnings: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._outermost and self._connection.in_transaction:
            with suppress(sqlite3.Error):  # a damaged file was reported where it was met
                self._connection.execute("ROLLBACK")  # nothing was written

    @property
    def stamp(self) -> int:
        return self._repairing(lambda: self._seen.stamp)

    @property
    def warnings(self) -> tuple[str, ...]:
        self._warnings += self._derived.take_warnings()
        return self._warnings

    @property
    def model(self) -> str:
        return self._seen.snapshot.model

    def words(self, query: WordQuery, bm25: Bm25, filter: Filter, depth: int, unit: Unit) -> Found:
        return self._repairing(
            lambda: self._seen.words(query, bm25, self._allowed(filter), depth, unit)
        )

    def expect(self, vector: NDArray[np.float32], filter: Filter, depth: int) -> None:
        with suppress(TriviumError, CacheDamaged):
            near = self._neighbours(vector, filter, depth)
            self._expected = _Expected(self._seen, vector, filter, near)

    def nearest(self, vector: NDArray[np.float32], filter: Filter, depth: int, unit: Unit) -> Found:
        def answer() -> Found:
            expected, self._expected = self._expected, None
            if expected and expected.is_for(self._seen, vector, filter):
                near = expected.neighbours
            else:
                near = self._neighbours(vector, filter, depth)
            return self._seen.nearest(near, self._allowed(filter), depth, unit)

        return self._repairing(answer)

    def _neighbours(self, vector: NDArray[np.float32], filter: Filter, depth: int) -> Neighbours:
        query = to_unit(vector)
        for living in self._seen.snapshot.blocks:
            if living.block.width != len(query):
                raise ModelMismatch(
                    f"the query's vector has {len(query)} dimensions, the library's "
                    f"{living.block.width}; search with the model it was made with"
                )
        return self._seen.neighbours(query, self._allowed(filter), depth)

    def vectors(self, chunks: Sequence[str]) -> NDArray[np.float32]:
        return self._repairing(lambda: self._seen.vectors(chunks))

    def similar(self, word: str, lengths: tuple[int, int], limit: int) -> list[Similar]:
        return self._repairing(lambda: spelling.similar(self._seen.parts, word, lengths, limit))

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        return self._repairing(lambda: spelling.starting(self._seen.parts, prefix, limit))

    def frequency(self, terms: Sequence[str]) -> int:
        return self._repairing(lambda: self._seen.frequency(tuple(terms)))

    def frequencies(self, terms: Collection[str], columns: Sequence[str]) -> Frequencies:
        return self._repairing(lambda: self._seen.frequencies(terms, columns))

    def likeness(self, vector: NDArray[np.float32], chunks: Sequence[str]) -> dict[str, float]:
        return self._repairing(lambda: self._seen.likeness(to_unit(vector), chunks))

    def browse(self, filter: Filter, unit: Unit, depth: int) -> Found:
        return self._repairing(lambda: self._seen.browse(self._allowed(filter), unit, depth))

    def values(self, name: str) -> frozenset[str]:
        return self._repairing(lambda: self._seen.values(name))

    def units(self, chunks: Sequence[str], unit: Unit) -> list[str]:
        if unit == "chunk":
            return list(chunks)
        if unit == "document":
            return documents_of(chunks)
        return self._repairing(lambda: self._seen.entities_of(chunks))

    def records(self, chunks: Sequence[str]) -> dict[str, Record]:
        if self._past:
            wanted = json.dumps([parts_of(chunk) for chunk in chunks])
            with in_our_words(self._path):
                rows = self._connection.execute(statements()["records"], (wanted,))
                return _records_then([chunk_of_row(row) for row in rows], self._past)
        numbers = self._repairing(lambda: self._seen.numbers_of(chunks))
        with in_our_words(self._path):
            wanted = json.dumps(numbers.tolist())
            rows = self._connection.execute(statements()["records_with_documents"], (wanted,))
            rows.row_factory = None  # names would take longer to look up than all the rest
            found = rows.fetchall()
        documents: dict[str, Document] = {}
        records: dict[str, Record] = {}
        for row in found:
            document = documents.get(row[0])
            if document is None:
                document = documents[row[0]] = document_of(row[: len(DOCUMENT)])
            if self._grant.allows(document.scope):
                chunk = chunk_of(document.id, row[len(DOCUMENT) :])
                records[chunk.id] = Record(document, chunk)
        return records

    def documents(self, chunks: Sequence[str]) -> list[Document]:
        names = documents_of(chunks)
        if self._past:
            return [self._past.documents[name] for name in names]
        with in_our_words(self._path):
            wanted = json.dumps(sorted(set(names)))
            rows = self._connection.execute(statements()["documents_by_id"], (wanted,))
            known = {row["id"]: document_of_row(row) for row in rows}
        return [known[name] for name in names]

    def _allowed(self, filter: Filter) -> Selection:
        """The rows that a filter leaves; the legs ask at once, and one of them works it out."""
        last = self._last_mask
        if last and last[0] is filter and last[1].snapshot is self._seen.snapshot:
            return last[1]
        with self._lock:
            if filter not in self._masks:
                self._masks[filter] = self._seen.allowed(filter, self._subjects_of_types)
            self._last_mask = filter, self._masks[filter]
            return self._masks[filter]

    def numbers(self, filter: Filter) -> list[int] | None:
        """The store's numbers of the chunks that a filter leaves; None if it leaves all."""
        masks = self._allowed(filter)
        if all((m == v).all() for m, v in zip(masks, self._seen.visible, strict=True)):
            return None
        living = zip(self._seen.snapshot.segments, masks, strict=True)
        return sorted(n for one, mask in living for n in one.segment.numbers[mask].tolist())

    def _subjects_of_types(self, types: tuple[str, ...], subclasses: bool) -> frozenset[str]:
        if self._past:
            return self._past.subjects_of_types(self._transaction, types, subclasses)
        values = {
            "types": json.dumps(list(types)),
            "subclasses": subclasses,
            "scopes": scopes_of(self._grant),
        }
        rows = self._connection.execute(statements()["subjects_of_types"], values)
        return frozenset(row["subject"] for row in rows)

    def _current(self) -> Snapshot:
        """The snapshot of what this transaction sees; of a newer one if it has just begun.

        Another thread may have brought the index further than the state that was read first. To
        go back would mean to build everything anew; nothing was given out yet, so go forward.
        """
        for _ in range(20):
            try:
                return self._derived.current(self._connection)
            except Overtaken:
                if not self._outermost:
                    break
                self._connection.execute("ROLLBACK")
                self._connection.execute("BEGIN")
        return self._derived.current(self._connection, going_back=True)

    def _through_grant(self, snapshot: Snapshot) -> Seen:
        try:
            return self._with_model(snapshot).seen_by(self._grant)
        except CacheDamaged as error:
            rebuilt = self._derived.rebuild(self._connection, str(error), snapshot)
            return self._with_model(rebuilt).seen_by(self._grant)

    def _with_model(self, snapshot: Snapshot) -> Snapshot:
        if self._other_model is None:
            return snapshot
        return with_model(self._connection, snapshot, self._other_model)

    def _repairing(self, answer: Callable[[], Answer]) -> Answer:
        """Answer; if an array turns out to be damaged, rebuild from the record and answer."""
        damaged = self._seen.snapshot
        try:
            return answer()
        except CacheDamaged as error:
            rebuilt = self._derived.rebuild(self._connection, str(error), damaged)
            self._seen, self._masks = self._with_model(rebuilt).seen_by(self._grant), {}
            return answer()


def _records_then(chunks: Sequence[Chunk], past: Past) -> dict[str, Record]:
    """What was active then, as it was; anything else did not exist or was not searched."""
    return {
        chunk.id: Record(
            past.documents[chunk.document],
            replace(chunk, embedding_hash=past.hashes[chunk.id]),
        )
        for chunk in chunks
        if chunk.id in past.hashes
    }
