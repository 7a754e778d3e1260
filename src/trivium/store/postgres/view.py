"""One state of a library in PostgreSQL within one grant: a read transaction and the index in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trivium.errors import ModelMismatch
from trivium.index.lookup import ROUGH, yardstick
from trivium.index.snapshot import LivingSegment, Seen
from trivium.index.standing import Standing
from trivium.protocols import Found, Frequencies, Similar
from trivium.store.postgres import nearest as vectors_by
from trivium.store.postgres import own_search
from trivium.store.postgres.connection import Connections
from trivium.store.postgres.nearest import EXACT_BELOW, Graph, Model, Rough
from trivium.store.postgres.seeing import Allowed
from trivium.store.postgres.segments import Words, words_of
from trivium.store.postgres.spelling import Vocabulary
from trivium.store.postgres.states import States
from trivium.store.postgres.viewing import ServerView
from trivium.store.record.database import listed
from trivium.store.record.graph import scopes_of
from trivium.store.record.rows import document_of_row
from trivium.types import (
    Bm25,
    Clause,
    Document,
    Filter,
    Grant,
    Phrase,
    Record,
    TextQuery,
    Unit,
    WordQuery,
    Yardstick,
    documents_of,
)
from trivium.vectors import Floats32
from trivium.vectors import unit as to_unit


def _nothing(chunks: Sequence[str]) -> list[float]:
    return [0.0] * len(chunks)


class PostgresView(ServerView):
    """The present. It serves all three legs."""

    def __init__(
        self,
        connections: Connections,
        states: States,
        grant: Grant,
        model: str | None = None,
        exact_below: int = EXACT_BELOW,
    ) -> None:
        super().__init__(connections, grant)
        self._exact_below = exact_below
        self._states = states
        try:
            with self._transaction.asking():
                self._state = states.current(self._connection)
                self._model = Model.read(self._connection, model)
        except BaseException:
            self.__exit__()
            raise
        self._seen = self._state.snapshot.seen_by(grant)
        self._vocabulary = Vocabulary(self._connection, self._state, self._seen)

    @property
    def model(self) -> str:
        return self._model.fingerprint if self._model else ""

    # --- words -----------------------------------------------------------------------------------

    def words(self, query: WordQuery, bm25: Bm25, filter: Filter, depth: int, unit: Unit) -> Found:
        with self._transaction.asking():
            seen = self._knowing(words_of(self._connection, query))
        return seen.words(query, bm25, self._allowed(filter), depth, unit)

    def text_matches(
        self,
        query: TextQuery,
        weights: Mapping[str, float],
        filter: Filter,
        depth: int,
        unit: Unit,
    ) -> Found:
        allowed = Allowed.of(self._allowed(filter).by_number)
        with self._transaction.asking():
            asked = own_search.read(self._connection, query, weights)
            if asked is None:
                return Found()
            pairs = own_search.matched(self._connection, asked, allowed)
        return own_search.found_of(self._seen, pairs, depth, unit)

    def frequencies(self, terms: Collection[str], columns: Sequence[str]) -> Frequencies:
        words = Words()
        with self._transaction.asking():
            words.read_postings(self._connection, terms)
        return self._knowing(words).frequencies(terms, columns)

    def similar(self, word: str, lengths: tuple[int, int], limit: int) -> list[Similar]:
        with self._transaction.asking(), self._lock:
            return self._vocabulary.similar(word, lengths, limit)

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        with self._transaction.asking(), self._lock:
            return self._vocabulary.starting(prefix, limit)

    def frequency(self, terms: Sequence[str]) -> int:
        with self._transaction.asking(), self._lock:
            if len(terms) == 1:
                return self._vocabulary.holding(terms)[terms[0]]
            query = WordQuery((Clause((Phrase(tuple(terms)),)),))
            return self._knowing(words_of(self._connection, query)).frequency(tuple(terms))

    def _knowing(self, words: Words) -> Seen:
        """What is seen here, with these words in its segments."""
        living = tuple(
            LivingSegment(one.segment.knowing(words.in_segment(number, kept.types)), one.alive)
            for one, number, kept in zip(
                self._seen.snapshot.segments, self._state.numbers, self._state.kept, strict=True
            )
        )
        return replace(self._seen, snapshot=replace(self._seen.snapshot, segments=living))

    # --- meaning ---------------------------------------------------------------------------------

    def nearest(self, vector: NDArray[np.float32], filter: Filter, depth: int, unit: Unit) -> Found:
        query = to_unit(vector)
        if self._model and len(query) != self._model.dimension:
            raise ModelMismatch(
                f"the query's vector has {len(query)} dimensions, the library's "
                f"{self._model.dimension}; search with the model it was made with"
            )
        allowed = Allowed.to_be_embedded(self._seen, self._allowed(filter))
        # What fails here fails alone: words are still found in the same transaction.
        with self._transaction.asking(), self._connection.transaction():
            return self._nearest(query, allowed, depth, unit)

    def _nearest(self, query: Floats32, allowed: Allowed, depth: int, unit: Unit) -> Found:
        model = self._model
        if model is None:
            return Found(missing=allowed.count, ceiling=1.0, yardstick=yardstick(_nothing, [], 0))

        def compared() -> Rough:
            return Rough.of(self._connection, model, query, allowed)

        def score_of(chunks: Sequence[str]) -> list[float]:
            return self._cosines(query, chunks, allowed)

        def exact() -> Yardstick:
            with self._transaction.asking():
                return yardstick(score_of, [compared().products], total)

        search: Graph | Rough
        if self._is_led_by_graph(model, allowed):
            found = allowed.without(vectors_by.waiting(self._connection, model))
            search = Graph(self._connection, model, query, found, self._seen.count)
            total, sample = found.count, search.sample()
            rough = yardstick(score_of, [sample], len(sample))
            measure = replace(rough, count=total, closer=exact, doubt=ROUGH)
        else:
            search = compared()
            total = len(search)
            measure = yardstick(score_of, [search.products], total)

        def best(count: int) -> Standing:
            with self._transaction.asking():
                return self._seen.standing(*search.nearest(count))

        ids, scores = self._seen.first_units(best, total, depth, unit)
        every, missing = len(ids) == total, allowed.count - total
        return Found(ids, scores, every, total, 1.0, missing, measure)

    def _is_led_by_graph(self, model: Model, allowed: Allowed) -> bool:
        return (
            self._grant.scopes is None
            and allowed.count > self._exact_below
            and self._states.has_graph(self._connection, model)
        )

    def _cosines(self, query: Floats32, chunks: Sequence[str], allowed: Allowed) -> list[float]:
        """The cosine of each chunk; 0 for what may not be found."""
        if self._model is None:
            return [0.0] * len(chunks)
        numbers = self._seen.numbers_of(chunks)
        wanted = np.unique(numbers[allowed.holds(numbers)])
        with self._transaction.asking():
            found, cosines = vectors_by.exact(self._connection, self._model, query, wanted)
        known = dict(zip(found.tolist(), cosines.tolist(), strict=True))
        return [known.get(number, 0.0) for number in numbers.tolist()]

    def likeness(self, vector: NDArray[np.float32], chunks: Sequence[str]) -> dict[str, float]:
        if self._model is None:
            return {}
        numbers = self._seen.numbers_of(chunks)
        with self._transaction.asking():
            found, cosines = vectors_by.exact(
                self._connection, self._model, to_unit(vector), np.unique(numbers)
            )
        known = dict(zip(found.tolist(), cosines.tolist(), strict=True))
        return {
            chunk: known[number]
            for chunk, number in zip(chunks, numbers.tolist(), strict=True)
            if number in known
        }

    def vectors(self, chunks: Sequence[str]) -> NDArray[np.float32]:
        if self._model is None:
            return np.zeros((len(chunks), 0), np.float32)
        numbers = self._seen.numbers_of(chunks)
        with self._transaction.asking():
            known = vectors_by.vectors(self._connection, self._model, np.unique(numbers))
        nothing = np.zeros(self._model.dimension, np.float32)
        rows = [known.get(number, nothing) for number in numbers.tolist()]
        return np.array(rows, np.float32).reshape(len(chunks), self._model.dimension)

    # --- the record ------------------------------------------------------------------------------

    def records(self, chunks: Sequence[str]) -> dict[str, Record]:
        found = self._chunks(chunks)
        documents = self._documents({chunk.document for chunk in found})
        return {
            chunk.id: Record(documents[chunk.document], chunk)
            for chunk in found
            if self._grant.allows(documents[chunk.document].scope)
        }

    def documents(self, chunks: Sequence[str]) -> list[Document]:
        names = documents_of(chunks)
        known = self._documents(set(names))
        return [known[name] for name in names]

    def _documents(self, names: Collection[str]) -> dict[str, Document]:
        with self._transaction.asking():
            rows = self._transaction.execute("documents_by_id", (listed(sorted(names)),))
            return {row["id"]: document_of_row(row) for row in rows}

    def _subjects_of_types(self, types: tuple[str, ...], subclasses: bool) -> frozenset[str]:
        values = {
            "types": listed(types),
            "subclasses": subclasses,
            "scopes": scopes_of(self._grant),
        }
        rows = self._transaction.execute("subjects_of_types", values)
        return frozenset(row["subject"] for row in rows)
