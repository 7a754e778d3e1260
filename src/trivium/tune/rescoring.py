"""Scores of a pool under any settings, in arrays: equal, to the bit, to those of a real search."""

from __future__ import annotations

import math

import numpy as np

from trivium.company import likenesses
from trivium.config import SIGNALS, FuseSettings, SearchSettings
from trivium.fuse import weighed
from trivium.score.feedback import adapted
from trivium.tune.pools import Floats, Pool, Road, Shelf


def scores(pool: Pool, settings: SearchSettings, shelf: Shelf, shift: float = 0.0) -> list[float]:
    """The score of each chunk of the pool."""
    if settings.score.method == "signals":
        assert pool.signals is not None
        weights = settings.score.hybrid if pool.hybrid else settings.score.weights
        given = adapted(weights, shift)
        return _summed(pool.signals * [given.get(name, 0.0) for name in SIGNALS])
    fuse = weighed(settings.fuse, pool.trust)
    columns = [_contribution(name, road, fuse) for name, road in pool.roads.items()]
    if not columns:
        return [0.0] * len(pool.ids)
    fused = np.column_stack(columns)
    plain = _summed(fused)
    company = settings.company
    if not company.weight or pool.vectors is None:
        return plain
    chosen = [(at, plain[at]) for at in first_units(pool, plain, company.examples)]
    like = likenesses(shelf.vectors(pool.vectors), chosen, company.temperature)
    return _summed(np.column_stack([fused, company.weight * like]))


def first_units(pool: Pool, given: list[float], count: int) -> list[int]:
    """The best chunk of each of the best units: by score, then by id, as in every ranking."""
    found: dict[str, int] = {}
    for at in np.argsort(-np.asarray(given), kind="stable").tolist():
        found.setdefault(pool.units[at], at)
        if len(found) == count:
            break
    return list(found.values())


def _summed(columns: Floats) -> list[float]:
    return [math.fsum(row) for row in columns.tolist()]


def _contribution(name: str, road: Road, settings: FuseSettings) -> Floats:
    """What a leg gives to each chunk by the method of fusion; nothing where it says nothing."""
    weight = settings.weight(name)
    if settings.method == "union":
        return np.zeros(len(road.values))
    if settings.method == "rrf":
        return np.where(road.ranks > 0, weight / (settings.k + np.maximum(road.ranks, 1)), 0.0)
    values = np.where(np.isnan(road.values), 0.0, road.values)
    if settings.method == "relative":
        width = road.high - road.low
        scaled = np.maximum(0.0, values - road.low) / width if width > 0 else np.ones(len(values))
    elif settings.method == "dbsf":
        wide = road.deviation > 0
        spread = (values - road.mean) / (6 * road.deviation) + 0.5 if wide else 0.5 + 0 * values
        scaled = np.minimum(1.0, np.maximum(0.0, spread))
    else:
        divisor = _divisor(road, settings.scale.get(name, "best"))
        scaled = np.maximum(values, 0.0) / divisor if divisor > 0 else np.zeros(len(values))
    return np.where(np.isnan(road.values), 0.0, weight * scaled)


def _divisor(road: Road, scale: str) -> float:
    between = math.sqrt(max(road.high, 0.0) * road.ceiling)
    return {"raw": 1.0, "best": road.high, "ceiling": road.ceiling, "between": between}[scale]
