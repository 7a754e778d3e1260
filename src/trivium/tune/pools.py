"""What a query's legs found, as arrays: everything that fusion and scoring look at.

A pool is made by the pipeline's own legs, once for each way to retrieve. The model is asked for a
query's vector once, before the first of them; after that it is never called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from trivium.abilities import serves
from trivium.config import SIGNALS
from trivium.fuse import union
from trivium.guard import agrees_on_meaning, completed, trusts
from trivium.pipeline import Search
from trivium.protocols import VectorLookup, View
from trivium.score.signals import STAGE
from trivium.score.stage import Stage
from trivium.types import Leg, LegState, Ranking, SearchRequest

Floats = NDArray[np.float64]

PAGE = 10  # what is measured: the hits of a first page


@dataclass(frozen=True, slots=True)
class Road:
    """A leg over a pool: its score of each chunk (NaN where it has none) and its rank (0: none)."""

    values: Floats
    ranks: NDArray[np.int64]
    ceiling: float
    low: float
    high: float
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Pool:
    """The chunks that were found for a query, in the order of their ids.

    `vectors` are rows of a `Shelf`, where likeness to the best hits may count; `signals` has a
    column for each signal, where the profile has signals.
    """

    ids: tuple[str, ...]
    units: tuple[str, ...]
    roads: Mapping[str, Road]
    trust: Mapping[str, float]
    vectors: NDArray[np.int64] | None = None
    signals: Floats | None = None
    hybrid: bool = False


@dataclass(slots=True)
class Shelf:
    """The vectors of all chunks of all pools, each kept once."""

    view: View
    _rows: dict[str, int] = field(default_factory=dict)
    _matrix: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def rows(self, chunks: Sequence[str]) -> NDArray[np.int64] | None:
        if not serves(self.view, VectorLookup):
            return None
        new = [chunk for chunk in chunks if chunk not in self._rows]
        if new:
            found = self.view.vectors(new)
            old = self._matrix if len(self._matrix) else found[:0]
            self._matrix = np.concatenate([old, found])
            self._rows |= {chunk: len(old) + at for at, chunk in enumerate(new)}
        return np.array([self._rows[chunk] for chunk in chunks], np.int64)

    def vectors(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._matrix[rows]


def pool_of(search: Search, query: str, shelf: Shelf) -> Pool:
    """What the search's legs find for a query, before any weight is laid on it."""
    request = SearchRequest(query, PAGE)
    legs, _ = search.heard(request, search.depths(request))
    settings = search.profile.search
    rankings = completed(legs, settings.fuse)
    ids = tuple(sorted({one.id for ranking in rankings.values() for one in ranking.candidates}))
    place = {id: at for at, id in enumerate(ids)}
    return Pool(
        ids,
        tuple(search.view.units(ids, settings.unit)),
        {name: _road(ranking, place) for name, ranking in rankings.items()},
        trusts(legs),
        shelf.rows(ids) if agrees_on_meaning(legs) else None,
        *_signals(search, request, legs, rankings, place),
    )


def _road(ranking: Ranking, place: Mapping[str, int]) -> Road:
    values = np.full(len(place), np.nan)
    ranks = np.zeros(len(place), np.int64)
    for rank, one in ranking.ranked():
        values[place[one.id]], ranks[place[one.id]] = one.score, rank
    for id, score in ranking.beyond.items():
        values[place[id]] = score
    scores = [one.score for one in ranking.candidates]
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    low, high = min(scores), max(scores)
    return Road(values, ranks, ranking.ceiling, low, high, mean, deviation)


def _signals(
    search: Search,
    request: SearchRequest,
    legs: Sequence[Leg],
    rankings: Mapping[str, Ranking],
    place: Mapping[str, int],
) -> tuple[Floats | None, bool]:
    settings = search.profile.search
    if settings.score.method == "none":
        return None, False
    found = union(rankings, settings.fuse)
    scored = Stage(search.view, settings, search.now)(found, request, legs)
    values = np.zeros((len(place), len(SIGNALS)))
    for one in scored.candidates:
        given = {part.name: part.value or 0.0 for part in one.parts if part.stage == STAGE}
        values[place[one.id]] = [given[name] for name in SIGNALS]
    return values, any(leg.name == "vector" and leg.state is LegState.OK for leg in legs)
