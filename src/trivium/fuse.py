"""Any number of rankings → one. Pure functions; each hit keeps the parts its score is made of.

A leg that does not hold a candidate gives it nothing, unless it says what it is worth (`beyond`).
The order in which legs are passed never matters to the scores, only to the order of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import chain, count, repeat

from trivium.config import WORD_LEGS, FuseSettings
from trivium.types import Columns, Part, Ranking, ScoreKind
from trivium.values import replace

Legs = Mapping[str, Ranking]
Gains = Callable[[str, Sequence[float]], list[float]]
"""What a leg gives to its candidates: those it ranked in their order, then those beyond."""

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

    def gains(name: str, values: Sequence[float]) -> list[float]:
        weight, k = settings.weight(name), settings.k
        return [weight / (k + rank) for rank in range(1, len(values) + 1)]

    return _collect(legs, settings, gains, ScoreKind.RRF)


def union(legs: Legs, settings: FuseSettings) -> Ranking:
    """All candidates with score 0, for a later stage to score."""
    return _collect(legs, settings, lambda name, values: [0.0] * len(values), ScoreKind.NONE)


def relative(legs: Legs, settings: FuseSettings) -> Ranking:
    """Σ weight · (score − lowest) / (highest − lowest) of the leg; a constant leg counts as 1."""
    bounds = {name: _bounds(ranking) for name, ranking in legs.items()}

    def gains(name: str, values: Sequence[float]) -> list[float]:
        (low, high), weight = bounds[name], settings.weight(name)
        if high <= low:
            return [weight] * len(values)
        # what is beyond the depth can be below the lowest
        return [weight * (max(0.0, value - low) / (high - low)) for value in values]

    return _collect(legs, settings, gains, ScoreKind.BLEND)


def dbsf(legs: Legs, settings: FuseSettings) -> Ranking:
    """Distribution-based: the leg's mean ± 3 standard deviations is stretched to 0 … 1."""
    spreads = {name: _mean_and_deviation(ranking) for name, ranking in legs.items()}

    def gains(name: str, values: Sequence[float]) -> list[float]:
        (mean, deviation), weight = spreads[name], settings.weight(name)
        if deviation <= 0:
            return [weight * 0.5] * len(values)
        scaled = ((value - mean) / (6 * deviation) + 0.5 for value in values)
        return [weight * min(1.0, max(0.0, one)) for one in scaled]

    return _collect(legs, settings, gains, ScoreKind.BLEND)


def blend(legs: Legs, settings: FuseSettings) -> Ranking:
    """Σ weight · score, each leg's score as it is (`raw`), or divided by the leg's best (`best`),
    or by what nothing could exceed for this query (`ceiling`): then it is a share of one. The
    geometric mean of these two (`between`) trusts a clear winner that holds but half the words.
    """
    divisors = {
        name: _divisor(ranking, settings.scale.get(name, "best")) for name, ranking in legs.items()
    }

    def gains(name: str, values: Sequence[float]) -> list[float]:
        divisor, weight = divisors[name], settings.weight(name)
        if divisor <= 0:
            return [weight * 0.0] * len(values)
        if values and min(values) < 0:  # a cosine below 0 is no evidence, neither for nor against
            values = [max(value, 0.0) for value in values]
        return [weight * (value / divisor) for value in values]

    return _collect(legs, settings, gains, ScoreKind.BLEND)


METHODS: Mapping[str, Callable[[Legs, FuseSettings], Ranking]] = {
    "rrf": rrf,
    "union": union,
    "relative": relative,
    "dbsf": dbsf,
    "blend": blend,
}


def group(ranking: Ranking, units: Sequence[str]) -> Ranking:
    """Keep the best chunk of each unit, of which there is one for each candidate; the order of what
    remains does not change.
    """
    places = range(len(ranking))
    first = dict(zip(reversed(units), reversed(places), strict=True))
    if len(first) == len(ranking):
        return ranking
    chosen = Columns.of(ranking.candidates).chosen(sorted(first.values()))
    return Ranking(chosen, ranking.kind, ranking.ceiling)


def _collect(legs: Legs, settings: FuseSettings, gains_of: Gains, kind: ScoreKind) -> Ranking:
    given: dict[str, tuple[tuple[str, ...], list[float], tuple[float, ...]]] = {}
    for name, ranking in legs.items():
        beyond = ranking.beyond if kind is ScoreKind.BLEND else {}
        ids, scores = (*ranking.ids, *beyond), (*ranking.scores, *beyond.values())
        given[name] = ids, gains_of(name, scores), scores
    found = tuple(dict.fromkeys(chain.from_iterable(ids for ids, _, _ in given.values())))
    by_leg = [dict(zip(ids, gained, strict=True)) for ids, gained, _ in given.values()]
    gains = list(zip(*(map(gained.get, found, repeat(0.0)) for gained in by_leg), strict=True))

    @cache  # few candidates are shown, and only these are looked up
    def places_in(name: str) -> dict[str, int]:
        return dict(zip(given[name][0], count(), strict=False))

    def part_of(id: str, name: str) -> Part | None:
        at = places_in(name).get(id)
        if at is None:
            return None
        _, gained, scores = given[name]
        rank = at + 1 if at < len(legs[name]) else None
        return Part("fuse", name, gained[at], rank, scores[at], settings.weight(name))

    def parts_of(id: str) -> tuple[Part, ...]:
        return tuple(part for name in given if (part := part_of(id, name)))

    return Ranking(Columns.ranked(found, gains, parts_of, FUSED), kind)


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
