"""Company: what is near in meaning to the best hits gains a little (pseudo-relevance feedback).

The first hits of a fused ranking are mostly right, and what they say in other words than the
query's finds more of the same. They count by their score, so a clear winner speaks alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.abilities import serves
from trivium.fusion_settings import CompanySettings
from trivium.kernels import exact_products
from trivium.protocols import VectorLookup, View
from trivium.types import Candidate, Columns, Part, Ranking, Unit


def in_company(view: View, ranking: Ranking, unit: Unit, settings: CompanySettings) -> Ranking:
    """The ranking with likeness to its best units; as it is where that counts nothing."""
    if not settings.weight or not serves(view, VectorLookup):
        return ranking
    chunks = ranking.ids
    units = dict(zip(chunks, view.units(chunks, unit), strict=True))
    chosen = examples(ranking, units, settings.examples)
    return keep_company(ranking, chosen, view.vectors(chunks), settings)


def examples(ranking: Ranking, units: Mapping[str, str], count: int) -> list[Candidate]:
    """The best chunk of each of the first `count` units."""
    first: dict[str, int] = {}
    for place, id in enumerate(ranking.ids):
        first.setdefault(units[id], place)
        if len(first) == count:
            break
    return [ranking.candidates[place] for place in first.values()]


def keep_company(
    ranking: Ranking,
    chosen: list[Candidate],
    vectors: NDArray[np.float32],
    settings: CompanySettings,
) -> Ranking:
    """Each candidate with a part for its likeness to the chosen; `vectors` are the ranking's rows.

    The likeness is the mean cosine to the chosen, weighted by e^(score / temperature).
    """
    place = {id: row for row, id in enumerate(ranking.ids)}
    rows = [(place[candidate.id], candidate.score) for candidate in chosen]
    likeness = likenesses(vectors, rows, settings.temperature)
    return _with_likeness(ranking, likeness.tolist(), settings.weight)


def likenesses(
    vectors: NDArray[np.float32], chosen: Sequence[tuple[int, float]], temperature: float
) -> NDArray[np.float64]:
    """How like the chosen, given as (row, score), each row is; never below 0."""
    best = max((score for _, score in chosen), default=0.0)
    centre = np.zeros(vectors.shape[1], np.float64)
    total = 0.0
    for row, score in chosen:
        share = float(np.exp((score - best) / temperature))
        centre += share * vectors[row].astype(np.float64)
        total += share
    # added up in a fixed order, so that the same candidates always give the same bytes
    towards = centre / total if total else centre
    return np.maximum(exact_products(vectors, None, towards), 0.0)


def _with_likeness(ranking: Ranking, values: list[float], weight: float) -> Ranking:
    before = Columns.of(ranking.candidates)
    likeness = dict(zip(before.ids, values, strict=True))
    gains = [(*gained, weight * value) for gained, value in zip(before.gains, values, strict=True)]

    def parts_of(id: str) -> tuple[Part, ...]:
        value = likeness[id]
        part = Part("company", "likeness", weight * value, value=value, weight=weight)
        return (*before.parts_of(id), part)

    columns = Columns.ranked(before.ids, gains, parts_of, before.stages | {"company"})
    return Ranking(columns, ranking.kind, ranking.ceiling)
