"""The active chunks within a grant; each search looks at all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trivium.errors import ModelMismatch
from trivium.protocols import Found, Frequencies, Similar
from trivium.stemmer import stem
from trivium.store.reference.matching import Types, count, matches, terms_of, text_of, unit_of
from trivium.text import LEAST_ALIKE, content_hash, similarity, trigrams, words
from trivium.types import (
    COLUMNS,
    Bm25,
    Clause,
    Document,
    Filter,
    Phrase,
    Record,
    Unit,
    WordQuery,
    Yardstick,
)
from trivium.vectors import Floats32, cosines
from trivium.vectors import unit as to_unit


@dataclass(frozen=True)
class ReferenceView:
    """The active chunks within a grant; each search looks at all of them."""

    model: str
    visible: list[Record]
    vectors_by_chunk: dict[str, Floats32]
    types: Types
    find: Callable[[str], Record | None]
    warnings: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing is held open."""

    @property
    def stamp(self) -> int:
        said = sorted(
            (r.chunk.id, *(text_of(r, column) for column in COLUMNS)) for r in self.visible
        )
        return int(content_hash(repr(said))[:12], 16)

    def documents(self, chunks: Sequence[str]) -> list[Document]:
        found = self.records(chunks)
        return [found[chunk].document for chunk in chunks]

    def records(self, chunks: Sequence[str]) -> dict[str, Record]:
        allowed = {record.document.id for record in self.visible}
        found = {chunk: self.find(chunk) for chunk in chunks}
        return {c: r for c, r in found.items() if r and r.document.id in allowed}

    def units(self, chunks: Sequence[str], unit: Unit) -> list[str]:
        known = {record.chunk.id: record for record in self.visible}
        return [unit_of(known[chunk], unit) for chunk in chunks]

    def browse(self, filter: Filter, unit: Unit, depth: int) -> Found:
        firsts: dict[str, str] = {}
        for record in self._allowed(filter):
            name = unit_of(record, unit)
            firsts[name] = min(firsts.get(name, record.chunk.id), record.chunk.id)
        chosen = tuple(sorted(firsts.values()))[:depth]
        return Found(chosen, (0.0,) * len(chosen), len(firsts) <= depth, len(firsts))

    def values(self, name: str) -> frozenset[str]:
        if name == "tags":
            return frozenset(tag for record in self.visible for tag in record.document.tags)
        found = (getattr(record.document, name) for record in self.visible)
        return frozenset(value for value in found if value)

    def words(self, query: WordQuery, bm25: Bm25, filter: Filter, depth: int, unit: Unit) -> Found:
        columns = [name for name in COLUMNS if bm25.weights.get(name, 0.0) > 0]
        tokens = {r.chunk.id: {c: terms_of(r, c) for c in columns} for r in self.visible}
        length = {id: sum(map(len, by_column.values())) for id, by_column in tokens.items()}
        average = sum(length.values()) / len(length) if length else 0.0

        def frequency(phrase: Phrase, id: str) -> float:
            return sum(bm25.weights[c] * count(phrase, tokens[id][c]) for c in columns)

        def holding(phrase: Phrase) -> int:
            return sum(1 for id in tokens if frequency(phrase, id) > 0)

        def rarity(phrase: Phrase) -> float:
            idf = math.log((len(tokens) - holding(phrase) + 0.5) / (holding(phrase) + 0.5))
            return idf if idf > 0 else 1e-6

        def part(phrase: Phrase, clause: Clause, id: str) -> float:
            first = clause.phrases[0]
            tf = frequency(phrase, id)
            norm = bm25.k1 * (1 - bm25.b + bm25.b * length[id] / (average or 1.0))
            return clause.weight * phrase.weight * rarity(first) * tf * (bm25.k1 + 1) / (tf + norm)

        scored, units = [], set()
        for record in self._allowed(filter):
            id = record.chunk.id
            held = [
                [phrase for phrase in clause.phrases if frequency(phrase, id) > 0]
                for clause in query.clauses
            ]
            fulfilled = any(n and all(held[i] for i in n) for n in query.alternatives)
            if not fulfilled or any(frequency(phrase, id) > 0 for phrase in query.excluded):
                continue
            parts = [
                max(part(phrase, clause, id) for phrase in phrases)
                for clause, phrases in zip(query.clauses, held, strict=True)
                if phrases
            ]
            scored.append((id, sum(parts)))
            units.add(unit_of(record, unit))
        ceiling = sum(
            clause.weight * rarity(clause.phrases[0]) * (bm25.k1 + 1)
            for clause in query.clauses
            if any(holding(phrase) for phrase in clause.phrases)
        )
        ids, scores = self._first_units(scored, depth, unit)
        yardstick = self._yardstick(scored, len(self._allowed(filter)))
        every = len(ids) == len(scored)
        return Found(ids, scores, every, len(units), ceiling, yardstick=yardstick)

    def nearest(self, vector: NDArray[np.float32], filter: Filter, depth: int, unit: Unit) -> Found:
        query = to_unit(vector)
        scored = []
        for record in self._allowed(filter):
            if record.chunk.id in self.vectors_by_chunk:
                row = self.vectors_by_chunk[record.chunk.id]
                if len(row) != len(query):
                    raise ModelMismatch(
                        f"the query's vector has {len(query)} dimensions, the library's "
                        f"{len(row)}; search with the model it was made with"
                    )
                scored.append((record.chunk.id, float(cosines(row[None, :], query)[0])))
        wanted = [r for r in self._allowed(filter) if r.chunk.embedding_hash]
        missing = len(wanted) - len(scored)
        ids, scores = self._first_units(scored, depth, unit)
        yardstick = self._yardstick(scored, len(scored))
        every = len(ids) == len(scored)
        return Found(ids, scores, every, len(scored), 1.0, missing, yardstick)

    def vectors(self, chunks: Sequence[str]) -> NDArray[np.float32]:
        width = len(next(iter(self.vectors_by_chunk.values()), ()))
        seen = {record.chunk.id for record in self.visible}
        nothing = np.zeros(width, np.float32)
        rows = [self.vectors_by_chunk.get(c, nothing) if c in seen else nothing for c in chunks]
        return np.array(rows, np.float32).reshape(len(chunks), width)

    def similar(self, word: str, lengths: tuple[int, int], limit: int) -> list[Similar]:
        wanted, (shortest, longest) = trigrams(word), lengths
        found = [
            Similar(other, stem(other), score)
            for other in self._vocabulary()
            if shortest <= len(other) <= longest
            and (score := similarity(wanted, trigrams(other))) >= LEAST_ALIKE
        ]
        return sorted(found, key=lambda one: (-one.similarity, one.word))[:limit]

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        found = [
            Similar(other, stem(other), similarity(trigrams(prefix), trigrams(other)))
            for other in self._vocabulary()
            if other.startswith(prefix)
        ]
        return sorted(found, key=lambda one: (len(one.word), one.word))[:limit]

    def frequency(self, terms: Sequence[str]) -> int:
        phrase = Phrase(tuple(terms))
        return sum(
            any(count(phrase, terms_of(record, column)) for column in COLUMNS)
            for record in self.visible
        )

    def frequencies(self, terms: Collection[str], columns: Sequence[str]) -> Frequencies:
        held = [
            {term for column in columns for term in terms_of(record, column)}
            for record in self.visible
        ]
        counts = {term: sum(term in one for one in held) for term in terms}
        return Frequencies(len(held), {term: count for term, count in counts.items() if count})

    def likeness(self, vector: NDArray[np.float32], chunks: Sequence[str]) -> dict[str, float]:
        query = to_unit(vector)
        return {
            chunk: float(cosines(self.vectors_by_chunk[chunk][None, :], query)[0])
            for chunk in chunks
            if chunk in self.vectors_by_chunk
        }

    def _yardstick(self, scored: list[tuple[str, float]], count: int) -> Yardstick:
        known = dict(scored)
        values = [*known.values(), *[0.0] * (count - len(known))]
        return Yardstick(
            lambda chunks: [known.get(chunk, 0.0) for chunk in chunks],
            fmean(values) if values else 0.0,
            pstdev(values) if values else 0.0,
            count,
        )

    def _first_units(
        self, scored: list[tuple[str, float]], depth: int, unit: Unit
    ) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The shortest beginning of the ranking that holds `depth` units: ids, and scores."""
        ranked = sorted(scored, key=lambda pair: (-pair[1], pair[0]))
        seen: set[str] = set()
        for place, name in enumerate(self.units([id for id, _ in ranked], unit), start=1):
            seen.add(name)
            if len(seen) == depth:
                ranked = ranked[:place]
                break
        return tuple(id for id, _ in ranked), tuple(score for _, score in ranked)

    def _vocabulary(self) -> set[str]:
        return {
            word
            for record in self.visible
            for column in COLUMNS
            for word in words(text_of(record, column))
        }

    def _allowed(self, filter: Filter) -> list[Record]:
        return [record for record in self.visible if matches(filter, record, self.types)]
