"""A search in reading order: retrieve → fuse → score → group → cut → present.

No I/O of its own: the view answers for the library, the embedder for the model. Each stage after
*retrieve* takes a Ranking and gives a Ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING

from trivium.checks import (
    MEMORY,
    check_numbers,
    check_scopes,
    idle_wishes,
    only_memories,
    require_legs,
    slips,
    without_memories,
)
from trivium.clock import Stopwatch
from trivium.company import in_company
from trivium.config import FuseSettings, Profile
from trivium.errors import EmptyQuery, InvalidValue, UnknownName, nearest
from trivium.fuse import fuse, group
from trivium.guard import agrees_on_meaning, completed, guarded, matched_by, notes, trusts
from trivium.pages import Cursor, all_shown, next_cursor, with_words
from trivium.present import afforded, facets, hit
from trivium.protocols import Embedder, Reranker, View
from trivium.rerank.judge import Judge, Judgement, with_names
from trivium.retrieve import keyword, trigram, vector
from trivium.score.signals import beside
from trivium.score.stage import Stage
from trivium.score.verified import settled
from trivium.turns import turn_of
from trivium.types import (
    OWNER,
    Filter,
    Grant,
    Hit,
    Leg,
    LegState,
    Ranking,
    Result,
    SearchRequest,
)
from trivium.values import dataclass, replace

if TYPE_CHECKING:  # it loads logging, which a search of one leg needs as little as threads
    from concurrent.futures import Executor

EVERYTHING = 1 << 60
NOTHING = Ranking()
EQUAL = FuseSettings(method="rrf")


@dataclass(frozen=True, slots=True)
class Trail:
    """What a search has found before anything is shown: `page` is the beginning of `left`."""

    legs: list[Leg]
    ranked: Ranking
    judged: Judgement
    total: int
    small: bool = False
    left: Ranking = NOTHING
    page: Ranking = NOTHING
    watch: Stopwatch = field(default_factory=Stopwatch, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Search:
    """Everything a search is made with; the same values always give the same answer."""

    view: View
    profile: Profile
    embedder: Embedder | None
    threads: Callable[[], Executor] | None
    """Where the model is asked while words are searched; None: one after the other."""
    now: datetime
    grant: Grant = OWNER
    shift: float = 0.0
    """How far feedback has moved the weight of words, where the profile has signals."""
    reranker: Reranker | None = None
    disputed: Callable[[Collection[str]], Mapping[str, tuple[str, ...]]] | None = None
    """Which subjects have open verifications."""

    def __call__(self, request: SearchRequest) -> Result:
        started = perf_counter()
        request = self.checked(request)
        cursor, then = self._cursor(request), self
        if cursor and cursor.now:
            then = replace(self, now=cursor.now, shift=cursor.shift)
        with turn_of(self.view):
            return then._answer(request, cursor, started)

    def trail(
        self, request: SearchRequest, depths: Mapping[str, int], cursor: Cursor | None = None
    ) -> Trail:
        """A checked request on its way to a page; nothing of it is shown yet."""
        watch = Stopwatch()
        legs, small = self.heard(request, depths, later=cursor is not None)
        watch.lap("retrieve")
        if not request.query.strip():
            everything, total = self._browse(request)
            watch.lap("browse")
            browsed = Trail(legs, everything, Judgement(everything), total, watch=watch)
            return self._paged(request, browsed, cursor)
        roads, ranked = tuple(legs), self._rank(request, legs)
        if self._wants_memories(request):
            ranked, leg = self._with_memories(request, ranked, depths)
            legs.append(leg)
        watch.lap("rank")
        judge = Judge(self.view, self.profile.search, self.reranker)
        before = cursor.read_of(ranked) if cursor else None
        judged = judge(request.query, ranked, roads, before)
        watch.lap("judge")
        found = Trail(legs, ranked, judged, len(ranked), small, watch=watch)
        return self._paged(request, found, cursor)

    def heard(
        self, request: SearchRequest, depths: Mapping[str, int], later: bool = False
    ) -> tuple[list[Leg], bool]:
        """What the legs found; and whether that is all that hold a word, because few do."""
        asked = request if self._mixes_memories() else without_memories(request)
        legs = self._retrieve(asked, depths)
        small = not later and self._is_small(legs, request.limit)
        return [self._completed(leg, asked) for leg in legs] if small else legs, small

    def _paged(self, request: SearchRequest, trail: Trail, cursor: Cursor | None) -> Trail:
        found = trail.judged.ranking
        left = cursor.rest(found) if cursor else found
        page = with_words(left, request.limit) if trail.small else left.cut(request.limit)
        return replace(trail, left=left, page=page)

    def _answer(self, request: SearchRequest, cursor: Cursor | None, started: float) -> Result:
        depths = cursor.depths if cursor else self.depths(request)
        trail = self.trail(request, depths, cursor)
        legs, judged, page = trail.legs, trail.judged, trail.page
        shown = cursor.shown if cursor else 0
        hits, left_out = afforded(self.hits(legs, page, shown), request.mode, request.budget)
        trail.watch.lap("show")
        return Result(
            query=request.query,
            profile=self.profile.name,
            score_kind=judged.ranking.kind,
            hits=hits,
            legs=tuple(legs),
            total=trail.total,
            matched=sum(matched) if (matched := matched_by(legs)) else trail.total,
            took_ms=(perf_counter() - started) * 1000,
            mode=request.mode,
            timing=trail.watch.laps,
            degraded=(*notes(legs, LegState.FAILED), *judged.degraded),
            warnings=(
                *self._warnings(legs, request, cursor),
                *all_shown(page, request.limit),
                *left_out,
            ),
            confidence=judged.confidence,
            ambiguous=judged.ambiguous,
            facets=self._facets(trail.ranked) if request.facets else None,
            next_cursor=None
            if trail.small
            else self._next(request, depths, page, trail.left, shown, judged.read),
        )

    def checked(self, request: SearchRequest) -> SearchRequest:
        """The request with "now" filled in, or an error that says what is wrong with it."""
        check_numbers(request)
        query = request.query.encode("utf-8", "replace").decode()
        if not query.strip() and not request.filter.narrows():
            raise EmptyQuery("the query is empty; write some words, or browse by a filter")
        known = self.profile.search.legs
        for name in request.legs:
            if name not in known:
                hint = nearest(name, known) or f" It has: {', '.join(known)}."
                raise UnknownName(f"profile '{self.profile.name}' has no leg '{name}'.{hint}")
        check_scopes(self.view, request.filter, self.grant)
        return replace(request, query=query)

    def filter_of(self, request: SearchRequest) -> Filter:
        """The request's filter with what it leaves unsaid: valid now, and no memories."""
        filter = request.filter
        if filter.valid_at is None:
            filter = replace(filter, valid_at=filter.as_of or self.now)
        wanted = request.include_memories or "memory" in filter.kind
        if not wanted and MEMORY not in filter.exclude:
            filter = replace(filter, exclude=(*filter.exclude, MEMORY))
        return filter

    def _cursor(self, request: SearchRequest) -> Cursor | None:
        if request.cursor is None:
            return None
        cursor = Cursor.decode(request.cursor, request, self.profile)
        if set(cursor.depths) != set(self._leg_names(request)):
            raise InvalidValue("this cursor was made with other legs; begin again without one")
        return cursor

    def depths(self, request: SearchRequest) -> dict[str, int]:
        """How many units each leg is asked for: what the profile says, or more for a long page."""
        return {
            name: self.profile.search.depth(name, request.limit)
            for name in self._leg_names(request)
        }

    def _leg_names(self, request: SearchRequest) -> Sequence[str]:
        """The legs to run; one that the profile needs and the library lacks is an error."""
        require_legs(self.view, self.profile, self.embedder)
        legs = self.profile.search.legs
        return [name for name in legs if not request.legs or name in request.legs]

    def _retrieve(self, request: SearchRequest, depths: Mapping[str, int]) -> list[Leg]:
        """All legs; what a leg cannot do it says in its state.

        The model works elsewhere while words are searched here. All else would only take turns.
        """
        if not request.query.strip():
            return [Leg(name, LegState.SKIPPED) for name in depths]
        if len(depths) == 1:
            return [self.retrieved(name, request, depth) for name, depth in depths.items()]
        ahead, request = self, replace(request, filter=self.filter_of(request))
        if self.embedder and "vector" in depths:
            asked = self.embedder, request.query, request.filter, depths["vector"]
            ahead = replace(self, embedder=vector.asked_ahead(self.view, *asked, self.threads))
        words_first = sorted(depths, key=lambda name: name == "vector")
        found = {name: ahead.retrieved(name, request, depths[name]) for name in words_first}
        legs = [found[name] for name in depths]
        if not self.profile.search.fuse.guard:
            return legs
        return guarded(legs, request.query, self._texts)

    def _texts(self, chunks: Sequence[str]) -> list[str]:
        return [with_names(record) for record in self.view.records(chunks).values()]

    def retrieved(self, name: str, request: SearchRequest, depth: int) -> Leg:
        """What one leg finds, and how long that took."""
        started = perf_counter()
        leg = _ROADS[name](self, request, depth)
        return replace(leg, ms=(perf_counter() - started) * 1000)

    def _browse(self, request: SearchRequest) -> tuple[Ranking, int]:
        """Without a query: what the filter leaves, in the order of ids."""
        found = self.view.browse(self.filter_of(request), self.profile.search.unit, EVERYTHING)
        return found.ranking(), found.matched

    def _mixes_memories(self) -> bool:
        return self.profile.search.memory.method == "same"

    def _wants_memories(self, request: SearchRequest) -> bool:
        """Whether memories are to be put in at their own score; a filter may rule them out."""
        kinds = request.filter.kind
        if self._mixes_memories() or (kinds and "memory" not in kinds):
            return False
        return request.include_memories or bool(kinds)

    def _with_memories(
        self, request: SearchRequest, found: Ranking, depths: Mapping[str, int]
    ) -> tuple[Ranking, Leg]:
        """The ranking with memories in it, which are searched alone, and by words if they can be.

        Meaning finds all of them, more or less, and a fixed score would put them before the rest.
        """
        started = perf_counter()
        roads = {name: depth for name, depth in depths.items() if name == "keyword"} or depths
        legs = self._retrieve(only_memories(request), roads)
        settings = self.profile.search.memory
        most = settings.most if request.most_memories is None else request.most_memories
        if "memory" in request.filter.kind and request.most_memories is None:
            most = EVERYTHING  # asked for by kind
        known = self._group(fuse(completed(legs, EQUAL), EQUAL)).cut(most)
        leg = Leg(
            "memory",
            LegState.OK if len(known) else LegState.EMPTY,
            known,
            ms=(perf_counter() - started) * 1000,
            matched=sum(matched_by(legs)),
        )
        return beside(found, known, settings.score), leg

    def _is_small(self, legs: Sequence[Leg], limit: int) -> bool:
        """Whether so few hold a word of the query that a page should not drop most of them."""
        found = sum(matched_by(legs))
        return 2 * limit < found < self.profile.search.small_corpus

    def _completed(self, leg: Leg, request: SearchRequest) -> Leg:
        """The leg with all that holds a word of the query; one of another road as it is."""
        if leg.complete or leg.matched is None:
            return leg
        return self.retrieved(leg.name, request, leg.matched)

    def _rank(self, request: SearchRequest, legs: Sequence[Leg]) -> Ranking:
        search = self.profile.search
        fused = fuse(completed(legs, search.fuse), search.fuse, trusts(legs))
        if agrees_on_meaning(legs):
            fused = in_company(self.view, fused, search.unit, search.company)
        score = Stage(self.view, self.profile.search, self.now, self.shift)
        return self._settled(self._group(score(fused, request, legs)))

    def _group(self, ranking: Ranking) -> Ranking:
        return group(ranking, self.view.units(ranking.ids, self.profile.search.unit))

    def _settled(self, ranking: Ranking) -> Ranking:
        """What verifications are open about is lowered or dropped, where the profile says so."""
        settings = self.profile.search.verify
        if self.disputed is None or settings.effect not in ("lower", "drop"):
            return ranking
        chunks = ranking.ids
        subjects = dict(zip(chunks, self.view.units(chunks, "entity"), strict=True))
        disputed = self.disputed(frozenset(subjects.values()))
        touched = frozenset(chunk for chunk, subject in subjects.items() if subject in disputed)
        return settled(ranking, touched, settings)

    def hits(self, legs: Sequence[Leg], page: Ranking, shown: int) -> tuple[Hit, ...]:
        chunks = page.ids
        records = self.view.records(chunks)
        units = self.view.units(chunks, self.profile.search.unit)
        terms = {leg.name: leg.terms for leg in legs if leg.terms}
        style, length = self.profile.search.snippet, self.profile.search.snippet_length
        return tuple(
            hit(shown + rank, unit, one.score, one.parts, records[one.id], terms, style, length)
            for (rank, one), unit in zip(page.ranked(), units, strict=True)
        )

    def _facets(self, found: Ranking) -> dict[str, dict[str, int]]:
        return facets(self.view.documents(found.ids))

    def _next(
        self,
        request: SearchRequest,
        depths: Mapping[str, int],
        page: Ranking,
        left: Ranking,
        shown: int,
        read: Mapping[str, float],
    ) -> str | None:
        if len(page) == len(left):
            return None
        last, shown = page.candidates[-1], shown + len(page)
        profile, stamp = self.profile, self.view.stamp
        now = self.now if self.profile.search.score.method == "signals" else None
        return next_cursor(request, profile, stamp, depths, shown, last, now, self.shift, read)

    def _warnings(
        self, legs: Sequence[Leg], request: SearchRequest, cursor: Cursor | None
    ) -> list[str]:
        warnings = [*self.view.warnings, *notes(legs, LegState.OK, LegState.EMPTY)]
        warnings += slips(self.view, request.filter) + idle_wishes(self.profile, request)
        if cursor and cursor.stamp != self.view.stamp:
            warnings.append(
                "the library was changed since the first page: a hit may be missing or come twice"
            )
        return warnings


def _keyword(search: Search, request: SearchRequest, depth: int) -> Leg:
    settings = search.profile.search
    return keyword.search(
        search.view,
        request.query,
        settings.keyword,
        search.filter_of(request),
        depth,
        settings.unit,
    )


def _vector(search: Search, request: SearchRequest, depth: int) -> Leg:
    return vector.search(
        search.view,
        request.query,
        search.embedder,
        search.filter_of(request),
        depth,
        search.profile.search.unit,
    )


def _trigram(search: Search, request: SearchRequest, depth: int) -> Leg:
    settings = search.profile.search
    return trigram.search(
        search.view,
        request.query,
        settings.trigram,
        search.filter_of(request),
        depth,
        settings.unit,
    )


_ROADS: Mapping[str, Callable[[Search, SearchRequest, int], Leg]] = {
    "keyword": _keyword,
    "vector": _vector,
    "trigram": _trigram,
}
