"""Chunks in order: what a leg found, and what each stage gave to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from operator import neg
from typing import TYPE_CHECKING, overload

from trivium.values import dataclass, replace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class LegState(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"


class ScoreKind(StrEnum):
    """What a score is; numbers of different kinds are never compared."""

    RRF = "rrf"
    BLEND = "blend"
    SIGNALS = "signals"
    RERANK = "rerank"
    NONE = "none"


MEMORY_STAGE = "memory"
"""The stage of what was put in at a fixed score: no leg found it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one stage gave to a hit's score, under one name."""

    stage: str
    name: str
    contribution: float
    rank: int | None = None
    value: float | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way through the stages; its score is the sum of its parts' contributions."""

    id: str
    score: float
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, id: str, parts: Iterable[Part]) -> Candidate:
        kept = tuple(parts)
        return cls(id, math.fsum(part.contribution for part in kept), kept)

    def replaced(self, parts: Iterable[Part]) -> Candidate:
        """Scored anew by these parts: what the earlier ones gave is gone, what they saw stays."""
        silent = (replace(part, contribution=0.0) for part in self.parts)
        return Candidate.of(self.id, (*silent, *parts))

    def scaled(self, factor: float, stage: str, name: str) -> Candidate:
        """Every contribution times `factor`, and a part of 0 that names it."""
        given = (replace(part, contribution=part.contribution * factor) for part in self.parts)
        return Candidate.of(self.id, (*given, Part(stage, name, 0.0, value=factor)))


class Columns(Sequence[Candidate]):
    """Candidates as columns: their ids and scores at hand, their parts made when they are read.

    A search looks at hundreds of candidates and shows ten. `gains` are the contributions of each
    candidate's parts, in the order of the parts, with 0 for a leg that has no part in it, and
    `stages` those that gave any.
    """

    __slots__ = ("gains", "ids", "parts_of", "scores", "stages")

    def __init__(
        self,
        ids: Sequence[str],
        scores: Sequence[float],
        gains: Sequence[tuple[float, ...]],
        parts_of: Callable[[str], tuple[Part, ...]],
        stages: frozenset[str],
    ) -> None:
        self.ids = tuple(ids)
        self.scores = tuple(scores)
        self.gains = gains
        self.parts_of = parts_of
        self.stages = stages

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Columns:
        """The same candidates as columns."""
        if isinstance(candidates, Columns):
            return candidates
        parts = {one.id: one.parts for one in candidates}
        return cls(
            [one.id for one in candidates],
            [one.score for one in candidates],
            [tuple(part.contribution for part in one.parts) for one in candidates],
            parts.__getitem__,
            frozenset(part.stage for one in candidates for part in one.parts),
        )

    @classmethod
    def ranked(
        cls,
        ids: Sequence[str],
        gains: Sequence[tuple[float, ...]],
        parts_of: Callable[[str], tuple[Part, ...]],
        stages: frozenset[str],
    ) -> Columns:
        """Scored by what each id has gained: best first, ties by id."""
        ranked = sorted(zip(map(neg, map(math.fsum, gains)), ids, gains, strict=True))
        below, names, kept = zip(*ranked, strict=True) if ranked else ((), (), ())
        return cls(names, tuple(map(neg, below)), kept, parts_of, stages)

    def chosen(self, places: Sequence[int]) -> Columns:
        """Those at these places, in this order."""
        return Columns(
            [self.ids[place] for place in places],
            [self.scores[place] for place in places],
            [self.gains[place] for place in places],
            self.parts_of,
            self.stages,
        )

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, index: int | slice) -> Candidate | tuple[Candidate, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        id = self.ids[index]
        return Candidate(id, self.scores[index], self.parts_of(id))

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates in order: best first, ties by id. The one place where ranks are counted.

    `ceiling` is the score that nothing could exceed for this query, 0 where that is not known.
    `beyond` has a leg's own score of chunks that only other legs ranked: they have no rank here.
    """

    candidates: Sequence[Candidate] = ()
    kind: ScoreKind = ScoreKind.NONE
    ceiling: float = 0.0
    beyond: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def sorted(cls, candidates: Iterable[Candidate], kind: ScoreKind) -> Ranking:
        return cls(tuple(sorted(candidates, key=lambda c: (-c.score, c.id))), kind)

    @property
    def ids(self) -> tuple[str, ...]:
        """The chunks, best first."""
        if isinstance(self.candidates, Columns):
            return self.candidates.ids
        return tuple(one.id for one in self.candidates)

    @property
    def scores(self) -> tuple[float, ...]:
        """Their scores, in the same order."""
        if isinstance(self.candidates, Columns):
            return self.candidates.scores
        return tuple(one.score for one in self.candidates)

    def ranked(self) -> Iterator[tuple[int, Candidate]]:
        """(1, best), (2, next) …"""
        return enumerate(self.candidates, start=1)

    def cut(self, limit: int) -> Ranking:
        return replace(self, candidates=self.candidates[:limit])

    def __len__(self) -> int:
        return len(self.candidates)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """How a leg measures any chunk that it was allowed to find, whether it found it or not.

    `score_of` gives the leg's own score of named chunks, 0 for what it may not find; `mean` and
    `deviation` are those of the score over all allowed chunks, of which there are `count`.
    """

    score_of: Callable[[Sequence[str]], list[float]]
    mean: float
    deviation: float
    count: int
    closer: Callable[[], Yardstick] | None = None
    """Where mean and deviation are only about right: the same, worked out more exactly."""
    doubt: float = 0.0
    """How near a verdict may come before it is left to `closer`."""


@dataclass(frozen=True, slots=True)
class Leg:
    """What one road found: chunk ids with the leg's own score, and how it went.

    `terms` are the stemmed terms that made it find them (for highlights), `matched` the number of
    units that hold a query word, counted by the keyword leg, and `complete` says that nothing was
    cut off at the depth asked for. `vector` is what the vector leg made of the query.
    """

    name: str
    state: LegState
    ranking: Ranking = Ranking()
    ms: float = 0.0
    note: str = ""
    terms: frozenset[str] = frozenset()
    complete: bool = True
    matched: int | None = None
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    yardstick: Yardstick | None = field(default=None, compare=False, repr=False)
    guessed: bool = False
    """Whether it read words of the query as others than were typed."""
    trust: float = 1.0
    """What its weight is multiplied by: below 1 for a leg with little to say to this query."""
