"""How sure a ranking is of its first hit, and which units compete for the place. Pure functions.

Two things make a first place sure: the roads agree on it, and the next one is far behind.

- *Agreement*: the mean over the roads of 1 / rank that each gives the first unit, 0 where it does
  not hold it. It is 1 only if all put it first. One road alone has nobody to agree with.
- *Margin*: the mean over the roads of how far the first unit is ahead of the best other one, as a
  share of its own score: on every road 0 means "nothing in common", so shares can be compared
  where scores cannot. It is 1 if no other unit is found, and 0 if another one is ahead.

Confidence is the mean of the two (of one road alone: its margin). Roads are weighed as in fusion;
a road that found nothing disagrees, one that failed or was skipped has no say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from trivium.types import Leg, LegState
from trivium.values import dataclass

MOST_COMPETING = 5
"""More names than that help nobody to choose."""


@dataclass(frozen=True, slots=True)
class Road:
    """A leg as units with their best scores, best first, and what it counts for."""

    units: Mapping[str, float]
    weight: float = 1.0


def roads(
    legs: Sequence[Leg],
    units_of: Callable[[Sequence[str]], Sequence[str]],
    weights: Mapping[str, float],
) -> list[Road]:
    """The legs that have a say; `units_of` gives the unit of each chunk."""
    found = []
    for leg in legs:
        weight = weights.get(leg.name, 1.0)
        if leg.state in (LegState.OK, LegState.EMPTY) and weight > 0:
            names, scores = units_of(leg.ranking.ids), leg.ranking.scores
            best = dict(zip(names, scores, strict=True))
            if len(best) < len(names):  # some have several chunks, of which the first is the best
                best = {}
                for name, score in zip(names, scores, strict=True):
                    best.setdefault(name, score)
            found.append(Road(best, weight))
    return found


def confidence(first: str, given: Sequence[Road]) -> float:
    """How sure the first place is, from 0 to 1."""
    if not any(road.units for road in given):
        return 0.0
    whole = math.fsum(road.weight for road in given)
    margin = math.fsum(road.weight * _margin(first, road) for road in given) / whole
    if len(given) == 1:
        return round(margin, 6)
    agreement = math.fsum(road.weight * _reciprocal(first, road) for road in given) / whole
    return round(min(1.0, (margin + agreement) / 2), 6)


def competing(ranking: Sequence[str], given: Sequence[Road]) -> tuple[str, ...]:
    """The units that could stand first: the first two, and the favourite of each road; in the
    order of the ranking. Empty where there is only one.
    """
    favourites = {next(iter(road.units)) for road in given if road.units}
    chosen = [unit for place, unit in enumerate(ranking) if place < 2 or unit in favourites]
    return tuple(chosen[:MOST_COMPETING]) if len(chosen) > 1 else ()


def _reciprocal(unit: str, road: Road) -> float:
    return 1 / (list(road.units).index(unit) + 1) if unit in road.units else 0.0


def _margin(unit: str, road: Road) -> float:
    own = road.units.get(unit)
    if own is None:
        return 0.0
    best = next((score for other, score in road.units.items() if other != unit), None)
    if best is None:
        return 1.0
    return max(0.0, min(1.0, (own - max(best, 0.0)) / own)) if own > 0 else 0.0
