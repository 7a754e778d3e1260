"""The vocabulary by look: pg_trgm proposes words, and the same measure as everywhere decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from psycopg import Connection

from trivium.index.snapshot import Seen
from trivium.kernels import WIDTH
from trivium.protocols import Similar
from trivium.stemmer import stem
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.segments import SQL, name_of
from trivium.store.postgres.states import State
from trivium.text import LEAST_ALIKE, similarity, trigrams

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
        self._foresee(word)
        wanted = trigrams(word)
        asked = {"word": word, "shortest": lengths[0], "longest": lengths[1]}
        known: set[str] = set()
        if self._sees_letters or word.isascii():
            self._connection.execute(SQL["ask_for_similarity"], {"least": str(LEAST_ALIKE)})
            for words in self._pages("similar_words", asked, limit):
                known |= self._known(words)
                if len(known) >= limit:
                    break
        if not self._sees_letters:
            rows = self._connection.execute(SQL["beyond_ascii"], asked)
            known |= self._known(row["word"] for row in rows)
        scored = {one: similarity(wanted, trigrams(one)) for one in known}
        alike = [pair for pair in scored.items() if pair[1] >= LEAST_ALIKE]
        return [
            Similar(one, stem(one), score) for one, score in sorted(alike, key=_best_first)[:limit]
        ]

    def _pages(self, statement: str, values: Mapping[str, Any], size: int) -> Iterator[list[str]]:
        """The words that a statement gives, a page at a time."""
        offset = 0
        while True:
            page = {"limit": size, "offset": offset}
            rows = self._connection.execute(SQL[statement], {**values, **page}).fetchall()
            yield [row["word"] for row in rows]
            if len(rows) < size:
                return
            offset += size

    @cached_property
    def _sees_letters(self) -> bool:
        """Whether the server's locale knows letters beyond ASCII; the C locale does not."""
        row = self._connection.execute(SQL["sees_letters"]).fetchone()
        return bool(row and row[0])

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        """The words that begin with `prefix`, shortest first."""
        found: list[str] = []
        values = {"first": prefix, "end": prefix + "\U0010ffff"}
        for words in self._pages("words_starting", values, max(limit, _PAGE)):
            known = self._known(words)
            found += [word for word in words if word in known]
            if len(found) >= limit:
                break
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
