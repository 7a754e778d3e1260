"""Choosing settings by judgements, and telling honestly whether that would help.

Queries are split into five parts. For each part the settings are chosen on the other four, where a
step is taken only if it helps in each of three inner parts; what was chosen is measured on the part
that had no say. A new profile is worth writing if the 95 % interval of that gain excludes zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from trivium.config import Profile
from trivium.evaluate.intervals import Bootstrap, Interval
from trivium.evaluate.measures import Judgements, ndcg
from trivium.pipeline import Search
from trivium.protocols import Progress, silent
from trivium.tune.options import Choice, Dimension, changed, labels
from trivium.tune.pools import PAGE, Floats, Pool, Shelf, pool_of
from trivium.tune.rescoring import first_units, scores

OUTER, INNER = 5, 3
ROUNDS = 2  # after the second time around nothing moves that would matter
FEWEST = 20  # judged queries; of fewer no interval can be trusted
SEED = 4

Parts = Sequence[NDArray[np.int64]]


@dataclass(slots=True)
class Runs:
    """The first page of every query under any choice; each choice is worked out once."""

    search: Search
    queries: Mapping[str, str]
    space: list[Dimension]
    progress: Progress = silent
    _shelf: Shelf = field(init=False)
    _pools: dict[Choice, list[Pool]] = field(default_factory=dict)
    _runs: dict[Choice, list[list[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._shelf = Shelf(self.search.view)

    def __call__(self, choice: Choice) -> list[list[str]]:
        if choice not in self._runs:
            settings = changed(self.search.profile.search, self.space, choice)
            found = []
            for pool in self._retrieved(choice):
                given = scores(pool, settings, self._shelf, self.search.shift)
                found.append([pool.units[at] for at in first_units(pool, given, PAGE)])
            self._runs[choice] = found
            self.progress("tune", len(self._runs), None)
        return self._runs[choice]

    @property
    def tried(self) -> int:
        return len(self._runs)

    def _retrieved(self, choice: Choice) -> list[Pool]:
        """The pools; they differ only where the legs are asked differently."""
        asked = tuple(
            at if one.retrieves else 0 for one, at in zip(self.space, choice, strict=True)
        )
        if asked not in self._pools:
            profile = self.search.profile
            settings = changed(profile.search, self.space, asked)
            search = replace(self.search, profile=replace(profile, search=settings))
            self._pools[asked] = [
                pool_of(search, query, self._shelf) for query in self.queries.values()
            ]
        return self._pools[asked]


@dataclass(frozen=True, slots=True)
class Tuning:
    """What came out. `gain` is held out; `profile` is None where the present one is to be kept."""

    queries: int
    before: float
    after: float
    gain: Interval
    why: str
    changes: tuple[str, ...] = ()
    profile: Profile | None = None
    tried: int = 0

    @property
    def keep(self) -> bool:
        return self.profile is None


def tuned(runs: Runs, judgements: Judgements, seed: int = SEED) -> Tuning:
    """Choose on some queries, measure on others, and adopt only what certainly helps."""
    names = list(runs.queries)
    known: dict[Choice, Floats] = {}

    def measured(choice: Choice) -> Floats:
        if choice not in known:
            found = zip(runs(choice), names, strict=True)
            known[choice] = np.array([ndcg(ids, judgements[name], PAGE) for ids, name in found])
        return known[choice]

    base: Choice = (0,) * len(runs.space)
    before = measured(base)
    if len(names) < FEWEST:
        why = f"{len(names)} judged queries are too few to tell; collect at least {FEWEST}"
        return Tuning(len(names), *_same(before), why, tried=runs.tried)
    gains = np.zeros(len(names))
    outer = _parts(np.arange(len(names)), OUTER, seed)
    for part in outer:
        rest = np.setdiff1d(np.arange(len(names)), part)
        choice = chosen(measured, runs.space, rest, seed)
        gains[part] = measured(choice)[part] - before[part]
    gain = Bootstrap(len(names)).interval(gains.tolist())
    best = chosen(measured, runs.space, np.arange(len(names)), seed)
    mean = float(before.mean())
    plain = Tuning(len(names), mean, mean + gain.mean, gain, "", tried=runs.tried)
    if best == base:
        return replace(plain, why="nothing that was tried helps in all parts of the queries")
    changes = tuple(labels(runs.space, best))
    if gain.low <= 0:
        return replace(plain, why=why_keep(gain), changes=changes)
    settings = changed(runs.search.profile.search, runs.space, best)
    profile = replace(runs.search.profile, search=settings)
    why = f"queries that had no say gain {gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"
    return replace(plain, why=why, changes=changes, profile=profile)


def why_keep(gain: Interval) -> str:
    """Why a gain on queries that had no say is none to go by."""
    interval = f"{gain.mean:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"
    if gain.high < 0:
        return f"queries that had no say lose by it: {interval}"
    return f"the gain on queries that had no say is {interval}, which may be chance"


def chosen(
    measured: Callable[[Choice], Floats],
    space: Sequence[Dimension],
    queries: NDArray[np.int64],
    seed: int = SEED,
) -> Choice:
    """From the present settings on, one dimension at a time, as long as every inner part gains."""
    inner = _parts(queries, INNER, seed + 1)
    best: Choice = (0,) * len(space)
    for _ in range(ROUNDS):
        before = best
        for at, dimension in enumerate(space):
            options = [
                (*best[:at], option, *best[at + 1 :])
                for option in range(len(dimension.options) + 1)
            ]
            now = measured(best)
            better = [one for one in options if _helps(measured(one) - now, queries, inner)]
            if better:
                best = max(better, key=lambda one: float(measured(one)[queries].mean()))
        if best == before:
            break
    return best


def _helps(gains: Floats, queries: NDArray[np.int64], inner: Parts) -> bool:
    if gains[queries].mean() <= 0:
        return False
    return all(gains[part].mean() >= 0 for part in inner)


def _parts(queries: NDArray[np.int64], count: int, seed: int) -> Parts:
    return np.array_split(np.random.default_rng(seed).permutation(queries), count)


def _same(values: Floats) -> tuple[float, float, Interval]:
    mean = float(values.mean()) if len(values) else 0.0
    return mean, mean, Interval(0.0, 0.0, 0.0)
