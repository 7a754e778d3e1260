"""What a search engine has to beat: grep, and SQLite's own full-text search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.evaluate.judged import Source
from trivium.evaluate.measures import DEPTH
from trivium.store.record.statements import statements
from trivium.text import stop_words
from trivium.types import Candidate, Ranking, ScoreKind


class Grep:
    """Substrings, counted: most of the query's words first, then most often.

    That is what somebody does who greps for one word after the other. Stop words are left out,
    since nobody greps for them; counting them would be a straw man.
    """

    def __init__(self, documents: Sequence[Source]) -> None:
        self._ids = [document.id for document in documents]
        self._places: dict[str, list[int]] = {}
        for place, document in enumerate(documents):
            for word in words(f"{document.title}\n{document.text}"):
                self._places.setdefault(word, []).append(place)

    def __call__(self, query: str) -> Ranking:
        counts = [self._counts(word) for word in content_words(query)]
        if not counts:
            return Ranking()
        stacked = np.stack(counts)
        often = stacked.sum(axis=0)
        return _best(self._ids, (stacked > 0).sum(axis=0) + often / (1 + often.max()))

    def _counts(self, word: str) -> NDArray[np.int64]:
        """How often the word stands in each document.

        Inside words only, where else could it: each different one is looked at once.
        """
        places = [
            place
            for known, standing in self._places.items()
            if word in known
            for place in standing * known.count(word)
        ]
        return np.bincount(np.array(places, np.int64), minlength=len(self._ids))


class Fts5:
    """SQLite FTS5 as it comes: porter, `bm25()`, the query's words joined by OR.

    The title counts twice: by weight, or, where most texts begin with their title, as it stands.
    """

    def __init__(self, documents: Sequence[Source]) -> None:
        self._statements = statements(Path(__file__).parent / "evaluate.sql")
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(self._statements["make_words"])
        rows = ((one.id, one.title, one.text) for one in documents)
        self._connection.executemany(self._statements["add_words"], rows)
        repeated = sum(bool(one.title) and one.text.startswith(one.title) for one in documents)
        self._title_weight = 1.0 if 2 * repeated > len(documents) else 2.0

    def __call__(self, query: str) -> Ranking:
        asked = [word for word in content_words(query) if len(word) > 1]
        if not asked:
            return Ranking()
        values = {
            "query": " OR ".join(f'"{word}"' for word in asked),
            "title": self._title_weight,
            "depth": DEPTH,
        }
        rows = self._connection.execute(self._statements["search_words"], values)
        return Ranking(tuple(Candidate(id, score) for id, score in rows))

    def close(self) -> None:
        self._connection.close()


def content_words(query: str) -> list[str]:
    """The distinct words of a query in their order, without stop words if others are left."""
    distinct = list(dict.fromkeys(words(query)))
    return [word for word in distinct if word not in stop_words()] or distinct


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _best(ids: Sequence[str], scores: NDArray[np.float64]) -> Ranking:
    found = np.flatnonzero(scores > 0)
    if len(found) > DEPTH:
        least = np.partition(scores[found], -DEPTH)[-DEPTH]
        found = found[scores[found] >= least]
    candidates = (Candidate(ids[place], float(scores[place])) for place in found.tolist())
    return Ranking.sorted(candidates, ScoreKind.NONE).cut(DEPTH)
