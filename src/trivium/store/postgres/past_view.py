"""A moment of the past of a library in PostgreSQL, built for one question."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from trivium.index import spelling
from trivium.protocols import Found, Frequencies, Similar
from trivium.store.postgres.connection import Connections
from trivium.store.postgres.own_search import found_of, read, then_matched
from trivium.store.postgres.viewing import ServerView
from trivium.store.record.past import Past
from trivium.types import (
    Bm25,
    Document,
    Filter,
    Grant,
    Record,
    TextQuery,
    Unit,
    WordQuery,
    document_of,
)
from trivium.vectors import cosines
from trivium.vectors import unit as to_unit


class PastView(ServerView):
    """A moment of the past, or today with one document at another version.

    Everything that was active is read and indexed for this one question: seconds for a large
    library.
    """

    def __init__(
        self,
        connections: Connections,
        grant: Grant,
        as_of: datetime | None,
        instead: tuple[str, int] | None,
    ) -> None:
        super().__init__(connections, grant)
        try:
            with self._transaction.asking():
                self._past = Past.read(self._transaction, grant, as_of, instead)
        except BaseException:
            self.__exit__()
            raise
        self._seen = self._past.snapshot.seen_by(grant)

    @property
    def model(self) -> str:
        return self._seen.snapshot.model

    def words(self, query: WordQuery, bm25: Bm25, filter: Filter, depth: int, unit: Unit) -> Found:
        return self._seen.words(query, bm25, self._allowed(filter), depth, unit)

    def text_matches(
        self,
        query: TextQuery,
        weights: Mapping[str, float],
        filter: Filter,
        depth: int,
        unit: Unit,
    ) -> Found:
        """Nothing of the past is stored as a tsvector: the server makes them for this question."""
        allowed = self._allowed(filter).by_number
        with self._transaction.asking():
            asked = read(self._connection, query, weights)
            if asked is None:
                return Found()
            said = (
                (row.number, row.columns)
                for row in self._past.rows(self._transaction)
                if row.number < len(allowed) and allowed[row.number]
            )
            pairs = then_matched(self._connection, asked, said)
        return found_of(self._seen, pairs, depth, unit)

    def nearest(self, vector: NDArray[np.float32], filter: Filter, depth: int, unit: Unit) -> Found:
        allowed = self._allowed(filter)
        near = self._seen.neighbours(to_unit(vector), allowed, depth)
        return self._seen.nearest(near, allowed, depth, unit)

    def vectors(self, chunks: Sequence[str]) -> NDArray[np.float32]:
        return self._seen.vectors(chunks)

    def likeness(self, vector: NDArray[np.float32], chunks: Sequence[str]) -> dict[str, float]:
        given = self.vectors(chunks)
        known = cosines(given, to_unit(vector)).tolist() if given.size else [0.0] * len(chunks)
        return {
            chunk: cosine
            for chunk, cosine, row in zip(chunks, known, given, strict=True)
            if row.any()
        }

    def similar(self, word: str, lengths: tuple[int, int], limit: int) -> list[Similar]:
        return spelling.similar(self._seen.parts, word, lengths, limit)

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        return spelling.starting(self._seen.parts, prefix, limit)

    def frequency(self, terms: Sequence[str]) -> int:
        return self._seen.frequency(tuple(terms))

    def frequencies(self, terms: Collection[str], columns: Sequence[str]) -> Frequencies:
        return self._seen.frequencies(terms, columns)

    def records(self, chunks: Sequence[str]) -> dict[str, Record]:
        return {
            chunk.id: Record(
                self._past.documents[chunk.document],
                replace(chunk, embedding_hash=self._past.hashes[chunk.id]),
            )
            for chunk in self._chunks(chunks)
            if chunk.id in self._past.hashes
        }

    def documents(self, chunks: Sequence[str]) -> list[Document]:
        return [self._past.documents[document_of(chunk)] for chunk in chunks]

    def _subjects_of_types(self, types: tuple[str, ...], subclasses: bool) -> frozenset[str]:
        return self._past.subjects_of_types(self._transaction, types, subclasses)
