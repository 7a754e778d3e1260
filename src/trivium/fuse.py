"""Any number of rankings → one. Pure functions; each hit keeps the parts its score is made of.

A leg that does not hold a candidate gives it nothing, unless it says what it is worth (`beyond`).
The order in which legs are passed never matters to the scores, only to the order of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from trivium.config import WORD_LEGS, FuseSettings
from trivium.types import Columns, Part, Ranking, ScoreKind

Legs = Mapping[str, Ranking]
FUSED = frozenset({"fuse"})


def fuse(legs: Legs, settings: FuseSettings, trust: Mapping[str, float] | None = None) -> Ranking:
    """Fuse by the method that the profile names; `trust` says how far each leg is believed."""
    return METHODS[settings.method](legs, weighed(settings, trust or {}))


def weighed(settings: FuseSettings, trust: Mapping[str, float]) -> FuseSettings:
    """The settings with each weight multiplied by the leg's trust.

    Of the two legs that read words one speaks for both where the other is not heard at all: words
    count as much as ever beside meaning.
    """
    if all(given == 1.0 for given in trust.values()):
        return settings
    weights = {name: settings.weight(name) * given for name, given in trust.items()}
    for silent, other in (WORD_LEGS, WORD_LEGS[::-1]):
        if trust.get(silent) == 0.0 and trust.get(other, 0.0) > 0.0:
            weights[other] += settings.weight(silent)
    return replace(settings, weights={**settings.weights, **weights})


def rrf(legs: Legs, settings: FuseSettings) -> Ranking:
    """Reciprocal rank fusion: Σ weight / (k + rank), ranks from 1, and nothing else."""

    weights = {name: settings.weight(name) for name in legs}

    def contribution(name: str, rank: int, value: float) -> float:
        return weights[name] / (settings.k + rank)

    return _collect(legs, settings, contribution, ScoreKind.RRF)


def union(legs: Legs, settings: FuseSettings) -> Ranking:
    """All candidates with score 0, for a later stage to score."""
    return _collect(legs, settings, lambda name, rank, value: 0.0, ScoreKind.NONE)


def relative(legs: Legs, settings: FuseSettings) -> Ranking:
    """Σ weight · (score − lowest) / (highest − lowest) of the leg; a constant leg counts as 1."""
    bounds = {name: _bounds(ranking) for name, ranking in legs.items()}

    def contribution(name: str, rank: int, value: float) -> float:
        low, high = bounds[name]
        # what is beyond the depth can be below the lowest
        return settings.weight(name) * (max(0.0, value - low) / (high - low) if high > low else 1.0)

    return _collect(legs, settings, contribution, ScoreKind.BLEND)


def dbsf(legs: Legs, settings: FuseSettings) -> Ranking:
    """Distribution-based: the leg's mean ± 3 standard deviations is stretched to 0 … 1."""
    spreads = {name: _mean_and_deviation(ranking) for name, ranking in legs.items()}

    def contribution(name: str, rank: int, value: float) -> float:
        mean, deviation = spreads[name]
        scaled = (value - mean) / (6 * deviation) + 0.5 if deviation > 0 else 0.5
        return settings.weight(name) * min(1.0, max(0.0, scaled))

    return _collect(legs, settings, contribution, ScoreKind.BLEND)


def blend(legs: Legs, settings: FuseSettings) -> Ranking:
    """Σ weight · score, each leg's score as it is (`raw`), or divided by the leg's best (`best`),
    or by what nothing could exceed for this query (`ceiling`): then it is a share of one. The
    geometric mean of these two (`between`) trusts a clear winner that holds but half the words.
    """
    divisors = {
        name: _divisor(ranking, settings.scale.get(name, "best")) for name, ranking in legs.items()
    }

    weights = {name: settings.weight(name) for name in legs}

    def contribution(name: str, rank: int, value: float) -> float:
        divisor = divisors[name]  # a cosine below 0 is no evidence, neither for nor against
        return weights[name] * (max(value, 0.0) / divisor if divisor > 0 else 0.0)

    return _collect(legs, settings, contribution, ScoreKind.BLEND)


METHODS: Mapping[str, Callable[[Legs, FuseSettings], Ranking]] = {
    "rrf": rrf,
    "union": union,
    "relative": relative,
    "dbsf": dbsf,
    "blend": blend,
}


def group(ranking: Ranking, units: Mapping[str, str]) -> Ranking:
    """Keep the best chunk of each unit; the order of what remains does not change."""
    seen: set[str] = set()
    kept = []
    for place, id in enumerate(ranking.ids):
        unit = units[id]
        if unit not in seen:
            seen.add(unit)
            kept.append(place)
    chosen = Columns.of(ranking.candidates).chosen(kept)
    return Ranking(chosen, ranking.kind, ranking.ceiling)


def _collect(
    legs: Legs,
    settings: FuseSettings,
    contribution: Callable[[str, int, float], float],
    kind: ScoreKind,
) -> Ranking:
    gains: dict[str, list[float]] = {}
    given: dict[str, dict[str, tuple[float, int | None, float]]] = {}
    for name, ranking in legs.items():
        rows = given[name] = {}
        for rank, (id, score) in enumerate(zip(ranking.ids, ranking.scores, strict=True), start=1):
            rows[id] = (contribution(name, rank, score), rank, score)
        for id, score in ranking.beyond.items() if kind is ScoreKind.BLEND else ():
            rows[id] = (contribution(name, len(ranking) + 1, score), None, score)
        for id, (gain, _, _) in rows.items():
            gains.setdefault(id, []).append(gain)

    def parts_of(id: str) -> tuple[Part, ...]:
        return tuple(
            Part("fuse", name, *rows[id], settings.weight(name))
            for name, rows in given.items()
            if id in rows
        )

    return Ranking(Columns.ranked(gains, parts_of, FUSED), kind)


def _divisor(ranking: Ranking, scale: str) -> float:
    best, ceiling = _bounds(ranking)[1], ranking.ceiling
    between = math.sqrt(max(best, 0.0) * ceiling)
    return {"raw": 1.0, "best": best, "ceiling": ceiling, "between": between}[scale]


def _bounds(ranking: Ranking) -> tuple[float, float]:
    scores = ranking.scores
    return (min(scores), max(scores)) if scores else (0.0, 0.0)


def _mean_and_deviation(ranking: Ranking) -> tuple[float, float]:
    scores = ranking.scores
    if not scores:
        return 0.0, 0.0
    mean = math.fsum(scores) / len(scores)
    return mean, math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
