"""The vocabulary by look: pg_trgm proposes words, and the same measure as everywhere decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from psycopg import Connection

from trivium.index.segment import WIDTH
from trivium.index.snapshot import Seen
from trivium.protocols import Similar
from trivium.stemmer import stem
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.segments import SQL, name_of
from trivium.store.postgres.states import State
from trivium.text import similarity, trigrams

THRESHOLDS = (0.3, 0.15, 0.01)
"""Similarities to ask for, one after the other, until enough words are found. A word that shares
any trigram with another of at most 40 letters is above the last."""

_PAGE = 200  # words that are looked at together for whether they may be known


class Vocabulary:
    """The words that stand in chunks within a grant."""

    def __init__(self, connection: Connection[Row], state: State, seen: Seen) -> None:
        self._connection = connection
        self._state = state
        self._seen = seen
        self._places = {number: place for place, number in enumerate(state.numbers)}
        self._partly = [
            number
            for number, every in zip(state.numbers, seen.all_visible, strict=True)
            if not every
        ]
        self._held: dict[str, int] = {}

    def similar(self, word: str, lengths: tuple[int, int], limit: int) -> list[Similar]:
        """The words of these lengths that share most trigrams with `word`."""
        wanted = trigrams(word)
        self._foresee(word)
        scored: dict[str, float] = {}
        for threshold in THRESHOLDS:
            found = self._proposed(word, lengths, threshold) - scored.keys()
            for known in self._known(found):
                scored[known] = similarity(wanted, trigrams(known))
            if sum(score >= threshold for score in scored.values()) >= limit:
                break
        ordered = sorted((pair for pair in scored.items() if pair[1] > 0), key=_best_first)
        return [Similar(known, stem(known), score) for known, score in ordered[:limit]]

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        """The words that begin with `prefix`, shortest first."""
        found: list[str] = []
        offset = 0
        while len(found) < limit:
            values = {"first": prefix, "end": prefix + "\U0010ffff", "limit": _PAGE}
            values |= {"offset": offset}
            rows = self._connection.execute(SQL["words_shortest_first"], values).fetchall()
            words = [row["word"] for row in rows]
            known = self._known(words)
            found += [word for word in words if word in known]
            if len(words) < _PAGE:
                break
            offset += _PAGE
        wanted = trigrams(prefix)
        return [
            Similar(word, stem(word), similarity(wanted, trigrams(word))) for word in found[:limit]
        ]

    def holding(self, terms: Collection[str]) -> dict[str, int]:
        """How many visible chunks hold each of these terms."""
        unknown = [term for term in terms if term not in self._held]
        if unknown:
            self._held |= self._counted(unknown)
        return {term: self._held[term] for term in terms}

    def _counted(self, terms: Collection[str]) -> dict[str, int]:
        names = {name_of(term): term for term in terms}
        counts = dict.fromkeys(terms, 0)
        values = {"terms": list(names), "partly": self._partly}
        for row in self._connection.execute(SQL["how_often_terms_stand"], values, binary=True):
            place = self._places[row["segment"]]
            kind = np.dtype(self._state.kept[place].types["posting.rows"])
            if row["rows"] is None:
                count = row["bytes"] // kind.itemsize
            else:
                rows = np.frombuffer(row["rows"], kind)
                count = int(np.count_nonzero(self._seen.visible[place][rows]))
            counts[names[row["term"]]] += count
        return counts

    def _foresee(self, word: str) -> None:
        """Whoever asks what a word looks like asks for its parts and its swaps next."""
        size = range(len(word))
        parts = {word[a:b] for a in size for b in range(a + 2, len(word) + 1)}
        swaps = {word[:a] + word[a + 1] + word[a] + word[a + 2 :] for a in size[:-1]}
        self.holding({stem(part) for part in parts | swaps})

    def _proposed(self, word: str, lengths: tuple[int, int], threshold: float) -> set[str]:
        values = {"word": word, "shortest": lengths[0], "longest": lengths[1]}
        self._connection.execute(
            "SELECT set_config('pg_trgm.similarity_threshold', %s, true)", (str(threshold),)
        )
        found = {row["word"] for row in self._connection.execute(SQL["similar_words"], values)}
        if not word.isascii() or threshold == THRESHOLDS[-1]:
            rows = self._connection.execute(SQL["words_beyond_ascii"], values)
            found |= {row["word"] for row in rows}
        return found

    def _known(self, words: Iterable[str]) -> set[str]:
        """Those of the words that stand in a visible chunk."""
        asked = list(words)
        known: set[str] = set()
        if not asked:
            return known
        values = {"words": asked, "terms": [stem(word) for word in asked], "partly": self._partly}
        for row in self._connection.execute(SQL["where_words_stand"], values, binary=True):
            if row["word"] not in known and self._is_visible(row):
                known.add(row["word"])
        return known

    def _is_visible(self, row: Row) -> bool:
        if row["positions"] is None:
            return True
        place = self._places[row["segment"]]
        kept = self._state.kept[place]
        positions = np.frombuffer(row["positions"], kept.types["positions"])
        cells = kept.segment.cell_of(positions)
        return bool(self._seen.visible[place][np.unique(cells // WIDTH)].any())


def _best_first(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]
