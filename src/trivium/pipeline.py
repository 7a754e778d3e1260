"""A search in reading order: retrieve → fuse → group → cut → present.

No I/O of its own: the view answers for the library, the embedder for the model. Each stage after
*retrieve* takes a Ranking and gives a Ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime
from time import perf_counter

from trivium.config import Profile
from trivium.errors import EmptyQuery, InvalidValue, MissingLeg, UnknownName, nearest
from trivium.fuse import fuse, group
from trivium.present import hit
from trivium.protocols import Embedder, View, legs_of
from trivium.retrieve import keyword, trigram, vector
from trivium.types import (
    OWNER,
    Candidate,
    Filter,
    Grant,
    Hit,
    Leg,
    LegState,
    Ranking,
    Result,
    ScoreKind,
    SearchRequest,
)

MOST_HITS = 1000
MEMORY = Filter(kind=("memory",))


@dataclass(frozen=True, slots=True)
class Search:
    """Everything a search is made with; the same values always give the same answer."""

    view: View
    profile: Profile
    embedder: Embedder | None
    pool: Executor
    now: datetime
    grant: Grant = OWNER

    def __call__(self, request: SearchRequest) -> Result:
        started = perf_counter()
        request = self._checked(request)
        if not request.query.strip():
            legs, fused, total = self._browse(request)
        else:
            legs, fused = self._deep_enough(request)
            total = len(fused)
        hits = self._hits(legs, fused.cut(request.limit))
        matched = next((leg.matched for leg in legs if leg.matched is not None), total)
        return Result(
            query=request.query,
            profile=self.profile.name,
            score_kind=fused.kind,
            hits=hits,
            legs=tuple(legs),
            total=total,
            matched=matched,
            took_ms=(perf_counter() - started) * 1000,
            mode=request.mode,
            degraded=tuple(_degraded(legs)),
            warnings=(*self.view.warnings, *_notes(legs)),
        )

    def _checked(self, request: SearchRequest) -> SearchRequest:
        """The request with "now" filled in, or an error that says what is wrong with it."""
        if not 1 <= request.limit <= MOST_HITS:
            raise InvalidValue(
                f"{request.limit} hits cannot be asked for; choose a number from 1 to {MOST_HITS}"
            )
        query = request.query.encode("utf-8", "replace").decode()
        if not query.strip() and not request.filter.narrows():
            raise EmptyQuery("the query is empty; write some words, or browse by a filter")
        known = self.profile.search.legs
        for name in request.legs:
            if name not in known:
                hint = nearest(name, known) or f" It has: {', '.join(known)}."
                raise UnknownName(f"profile '{self.profile.name}' has no leg '{name}'.{hint}")
        self._check_scopes(request.filter)
        filter = request.filter
        if filter.valid_at is None:
            filter = replace(filter, valid_at=filter.as_of or self.now)
        if not request.include_memories and "memory" not in filter.kind:
            filter = replace(filter, exclude=(*filter.exclude, MEMORY))
        return replace(request, query=query, filter=filter)

    def _check_scopes(self, filter: Filter) -> None:
        """For the owner a scope that no document has is a slip; others just find nothing."""
        if self.grant.scopes is not None or not filter.scope:
            return
        known = self.view.scopes()
        for scope in filter.scope:
            if scope not in known:
                hint = nearest(scope, known) or f" There are: {', '.join(sorted(known))}."
                raise UnknownName(f"no document has the scope '{scope}'.{hint}")

    def _browse(self, request: SearchRequest) -> tuple[list[Leg], Ranking, int]:
        unit = self.profile.search.unit
        found = self.view.browse(request.filter, unit, request.limit)
        legs = [Leg(name, LegState.SKIPPED) for name in self._leg_names(request)]
        candidates = tuple(Candidate(id, 0.0) for id, _ in found.scored)
        return legs, Ranking(candidates, ScoreKind.NONE), found.matched

    def _deep_enough(self, request: SearchRequest) -> tuple[list[Leg], Ranking]:
        """Fused units; if too few came together while a leg had more to give, look deeper."""
        depths = {
            name: max(self.profile.search.depth(name), request.limit)
            for name in self._leg_names(request)
        }
        while True:
            legs = self._retrieve(request, depths)
            fused = self._group(fuse(_answers(legs), self.profile.search.fuse))
            if len(fused) >= request.limit or all(leg.complete for leg in legs):
                return legs, fused
            depths = {name: depth * 4 for name, depth in depths.items()}

    def _retrieve(self, request: SearchRequest, depths: Mapping[str, int]) -> list[Leg]:
        """All legs at once; what a leg cannot do it says in its state."""
        runs = [self.pool.submit(self._timed, name, request, depths[name]) for name in depths]
        return [run.result() for run in runs]

    def _timed(self, name: str, request: SearchRequest, depth: int) -> Leg:
        started = perf_counter()
        leg = _ROADS[name](self, request, depth)
        return replace(leg, ms=(perf_counter() - started) * 1000)

    def _leg_names(self, request: SearchRequest) -> Sequence[str]:
        wanted = self.profile.search.legs
        served = legs_of(self.view)
        for name in wanted:
            if name not in served:
                raise MissingLeg(
                    f"profile '{self.profile.name}' needs the {name} leg, which this library "
                    f"does not have (it has: {', '.join(served)}); choose another profile"
                )
        return [name for name in wanted if not request.legs or name in request.legs]

    def _group(self, ranking: Ranking) -> Ranking:
        chunks = [candidate.id for candidate in ranking.candidates]
        units = self.view.units(chunks, self.profile.search.unit)
        return group(ranking, dict(zip(chunks, units, strict=True)))

    def _hits(self, legs: Sequence[Leg], page: Ranking) -> tuple[Hit, ...]:
        chunks = [candidate.id for candidate in page.candidates]
        records = self.view.records(chunks)
        units = self.view.units(chunks, self.profile.search.unit)
        terms = {leg.name: leg.terms for leg in legs if leg.terms}
        return tuple(
            hit(rank, unit, candidate.score, candidate.parts, records[candidate.id], terms)
            for (rank, candidate), unit in zip(page.ranked(), units, strict=True)
        )


def _keyword(search: Search, request: SearchRequest, depth: int) -> Leg:
    settings = search.profile.search
    return keyword.search(
        search.view, request.query, settings.keyword, request.filter, depth, settings.unit
    )


def _vector(search: Search, request: SearchRequest, depth: int) -> Leg:
    return vector.search(search.view, request.query, search.embedder, request.filter, depth)


def _trigram(search: Search, request: SearchRequest, depth: int) -> Leg:
    settings = search.profile.search
    return trigram.search(
        search.view, request.query, settings.trigram, request.filter, depth, settings.unit
    )


_ROADS: Mapping[str, Callable[[Search, SearchRequest, int], Leg]] = {
    "keyword": _keyword,
    "vector": _vector,
    "trigram": _trigram,
}


def _answers(legs: Sequence[Leg]) -> dict[str, Ranking]:
    return {leg.name: leg.ranking for leg in legs if leg.state is LegState.OK}


def _degraded(legs: Sequence[Leg]) -> list[str]:
    return [f"{leg.name}: {leg.note}" for leg in legs if leg.state is LegState.FAILED]


def _notes(legs: Sequence[Leg]) -> list[str]:
    return [
        f"{leg.name}: {leg.note}"
        for leg in legs
        if leg.state in (LegState.OK, LegState.EMPTY) and leg.note
    ]
