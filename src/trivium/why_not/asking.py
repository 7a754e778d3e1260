"""Why a search does not show a document: the stage that lost it, and what would show it.

Every claim is tried before it is made: a remedy is a search that was run, and its rank is the one
that came out. Everything is asked of the caller's own view, so what it may not see plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from trivium.abilities import serves
from trivium.checks import MOST_HITS
from trivium.pipeline import EVERYTHING, Search, Trail
from trivium.present import afforded
from trivium.protocols import VectorLookup
from trivium.types import (
    Chunk,
    Document,
    Filter,
    Leg,
    LegState,
    Ranking,
    SearchRequest,
    document_of,
)
from trivium.why_not.conditions import Condition, conditions

TRIES = 12  # doublings from 1 to the most hits that can be asked for

Lost: TypeAlias = Literal[
    "shown", "past", "text", "filter", "pool", "guard", "verify", "memories", "group", "rerank",
    "rank", "budget",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class OnRoad:
    """How a leg sees the document: its place among all units that the leg could ever find.

    `rank` is None where the leg cannot find it at all; `why` says so, or why it does not count.
    """

    leg: str
    state: LegState
    depth: int
    rank: int | None = None
    score: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of the search, and the document's rank when it was tried."""

    change: str
    rank: int | None
    shown: bool


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The stage that lost a document; `stage` is "shown" if none did.

    `needed` is the score of the last hit that is shown; `filters` are the conditions that would
    have to go together.
    """

    document: str
    query: str
    stage: Lost
    why: str
    rank: int | None = None
    score: float | None = None
    needed: float | None = None
    filters: tuple[str, ...] = ()
    legs: tuple[OnRoad, ...] = ()
    remedies: tuple[Remedy, ...] = ()


def why_not(search: Search, request: SearchRequest, document: Document, name: str) -> WhyNot:
    """Why `request` does not show a document that the caller may see; `name` may be a chunk's."""
    return _Question(search, search.checked(request), document, name).answer()


@dataclass(frozen=True, slots=True)
class _Question:
    search: Search
    request: SearchRequest
    document: Document
    name: str

    def answer(self) -> WhyNot:
        chunks = self._chunks()
        if not chunks and self.request.filter.as_of:
            return self._said("past", "it was not there to be searched at that time")
        if not chunks:
            return self._said("text", "it has no text, and nothing else of it is searched")
        failed = self._failed(chunks)
        if failed:
            return self._filtered(failed, chunks)
        trail = self._trail(self.request)
        place = _place(trail.page, chunks)
        if place and not self._over_budget(trail, chunks):
            return self._said("shown", f"it is shown, as number {place[0]}", *place)
        if place:
            why = f"it is number {place[0]}, but the hits before it use up the budget of tokens"
            raised = Remedy("without --budget", place[0], True)
            return replace(self._said("budget", why, *place), remedies=(raised,))
        return self._lost(trail, chunks)

    def _lost(self, trail: Trail, chunks: frozenset[str]) -> WhyNot:
        """The stage between retrieving and the page that it did not get through."""
        place = _place(trail.judged.ranking, chunks)
        if place:
            return self._outranked(trail, *place, chunks)
        if place := _place(trail.ranked, chunks):
            kept = self.search.profile.search.rerank.keep
            why = f"it was number {place[0]}, and the reranker leaves only its first {kept}"
            return self._with_remedies("rerank", why, trail, chunks, [self._unread()], place)
        other = self._grouped_under(trail, chunks)
        if other:
            return self._said("group", f"its unit is shown, or ranked, by another chunk: {other}")
        if self._comes_as_memory():
            why = "it is a memory, and those come in by their words alone, only so many of them"
            more = ("--most-memories 1000", replace(self.request, most_memories=1000))
            return self._with_remedies("memories", why, trail, chunks, [more])
        holding = [leg for leg in trail.legs if _place(leg.ranking, chunks)]
        if any(leg.trust > 0 for leg in holding):
            why = "facts that it states are in dispute, and the profile drops those"
            effect = self._changed("verify.effect", "mark")
            return self._with_remedies("verify", why, trail, chunks, [effect])
        if holding:
            names = " and ".join(leg.name for leg in holding)
            why = f"only the {names} leg has it, which has nothing to say about this query"
            off = self._changed("fuse.guard", False)
            return self._with_remedies("guard", why, trail, chunks, [off])
        return self._out_of_reach(trail, chunks)

    def _outranked(self, trail: Trail, rank: int, score: float, chunks: frozenset[str]) -> WhyNot:
        limit = self.request.limit
        last = trail.judged.ranking.candidates[limit - 1]
        short = last.score - score
        gap = f"{short:.4f} below" if short > 0 else "by its id after"
        why = f"it is number {rank}, {gap} number {limit}, the last that is shown"
        if trail.small:
            why += " for its rank; the others hold a word of the query, and it does not"
        found = self._with_remedies("rank", why, trail, chunks, [], (rank, score))
        return replace(found, needed=last.score)

    def _out_of_reach(self, trail: Trail, chunks: frozenset[str]) -> WhyNot:
        legs = self._legs(trail, chunks)
        reach = [leg for leg in legs if leg.rank is not None]
        changes: list[tuple[str, SearchRequest | _Question]] = []
        asked = set(self.request.legs)
        within = [leg for leg in reach if not asked or leg.leg in asked]
        if within:
            best = min(within, key=lambda leg: (leg.rank or 0) - leg.depth)
            why = (
                f"no leg goes deep enough: {best.leg} has it at {best.rank}, "
                f"and stops at {best.depth}"
            )
            changes.append(self._changed(f"{best.leg}.depth", best.rank))
        elif reach:
            names, one = " and ".join(leg.leg for leg in reach), len(reach) == 1
            why = (
                f"only the {names} {'leg' if one else 'legs'} can find it, "
                f"which {'was' if one else 'were'} not asked"
            )
            changes.append(("without --leg", replace(self.request, legs=())))
        else:
            why = "no leg can find it: " + "; ".join(f"{leg.leg}: {leg.why}" for leg in legs)
            return replace(self._said("pool", why), legs=tuple(legs))
        return replace(self._with_remedies("pool", why, trail, chunks, changes), legs=tuple(legs))

    def _filtered(self, failed: Sequence[Condition], chunks: frozenset[str]) -> WhyNot:
        dropped = self.request
        for condition in failed:
            dropped = condition.dropped(dropped)
        why = "; ".join(condition.why(self._then(chunks)) for condition in failed)
        change = " and ".join(condition.remedy for condition in failed)
        tried = self._tried((change, dropped), chunks)
        names = tuple(condition.name for condition in failed)
        return replace(self._said("filter", why), filters=names, remedies=(tried,))

    # --- what is asked of the view ---------------------------------------------------------------

    def _chunks(self) -> frozenset[str]:
        """The chunks in question that can be searched in this view."""
        mine = self._passing(Filter())
        return mine if self.document.is_called(self.name) else mine & {self.name}

    def _passing(self, filter: Filter) -> frozenset[str]:
        """The document's chunks that a filter without sources leaves."""
        own = replace(filter, source=(f"#{self.document.number}",))
        found = self.search.view.browse(own, "chunk", EVERYTHING).scored
        return frozenset(id for id, _ in found if document_of(id) == self.document.id)

    def _then(self, chunks: frozenset[str]) -> Document:
        """The document as this view has it, which may be a view of the past."""
        return self.search.view.documents([min(chunks)])[0]

    def _failed(self, chunks: frozenset[str]) -> list[Condition]:
        """The fewest conditions that would have to go for one of the chunks to be searched."""
        wanted = conditions(self.search.filter_of(self.request))
        then = self._then(chunks)
        passing = [
            (chunks if one.source_fits(then) else frozenset())
            if one.test.source
            else self._passing(one.test)
            for one in wanted
        ]
        failed = [
            [one for one, left in zip(wanted, passing, strict=True) if chunk not in left]
            for chunk in sorted(chunks)
        ]
        return min(failed, key=len)

    def _trail(self, request: SearchRequest) -> Trail:
        return self.search.trail(request, self.search.depths(request))

    def _over_budget(self, trail: Trail, chunks: frozenset[str]) -> bool:
        if self.request.budget is None:
            return False
        hits = self.search.hits(trail.legs, trail.page, 0)
        afford, _ = afforded(hits, self.request.mode, self.request.budget)
        return not any(hit.chunk.id in chunks for hit in afford)

    def _grouped_under(self, trail: Trail, chunks: frozenset[str]) -> str | None:
        unit, view = self.search.profile.search.unit, self.search.view
        units = set(view.units(sorted(chunks), unit))
        ranked = [one.id for one in trail.ranked.candidates]
        pairs = zip(ranked, view.units(ranked, unit), strict=True)
        return next((chunk for chunk, name in pairs if name in units), None)

    def _comes_as_memory(self) -> bool:
        mixed = self.search.profile.search.memory.method == "same"
        return self.document.kind == "memory" and not mixed

    def _legs(self, trail: Trail, chunks: frozenset[str]) -> list[OnRoad]:
        """Every leg of the profile, asked for everything it could find."""
        whole = replace(self.request, legs=())
        found = []
        for name in self.search.profile.search.legs:
            leg = self.search.retrieved(name, whole, EVERYTHING)
            depth = self.search.profile.search.depth(name, self.request.limit)
            found.append(self._on_road(leg, depth, chunks))
        return found

    def _on_road(self, leg: Leg, depth: int, chunks: frozenset[str]) -> OnRoad:
        plain = OnRoad(leg.name, leg.state, depth)
        ids = [one.id for one in leg.ranking.candidates]
        units = self.search.view.units(ids, self.search.profile.search.unit)
        for at, one in enumerate(leg.ranking.candidates):
            if one.id in chunks:
                return replace(plain, rank=len(set(units[: at + 1])), score=one.score)
        if leg.state in (LegState.SKIPPED, LegState.FAILED):
            return replace(plain, why=leg.note or "it was not asked")
        if leg.name == "vector":
            return replace(plain, why=self._without_vector(chunks))
        words = "the words of the query" if leg.name == "keyword" else "words that look like those"
        says = "its text does" if self._has_text(chunks) else "it has no text, and its fields do"
        return replace(plain, why=f"{says} not hold {words}")

    def _without_vector(self, chunks: frozenset[str]) -> str:
        view = self.search.view
        if not self._has_text(chunks):
            return "it has no text, and so no vector"
        if not any(one.embedding_hash for one in self._stored(chunks)):
            return "it is too short to be worth a vector"
        if serves(view, VectorLookup) and not view.vectors(sorted(chunks)).any():
            return "it waits for its vector; 'trivium embed' makes it"
        return "its vector cannot be compared with the query's"

    def _has_text(self, chunks: frozenset[str]) -> bool:
        return any(one.text.strip() for one in self._stored(chunks))

    def _stored(self, chunks: frozenset[str]) -> list[Chunk]:
        return [one.chunk for one in self.search.view.records(sorted(chunks)).values()]

    # --- remedies --------------------------------------------------------------------------------

    def _changed(self, setting: str, value: Any) -> tuple[str, _Question]:
        """The question under a profile with one setting changed."""
        profile = _set(self.search.profile, f"search.{setting}", value)
        shown = str(value).lower()
        changed = replace(self, search=replace(self.search, profile=profile))
        return f"--set search.{setting}={shown}", changed

    def _unread(self) -> tuple[str, _Question]:
        return "--no-rerank", replace(self, search=replace(self.search, reranker=None))

    def _with_remedies(
        self,
        stage: Lost,
        why: str,
        trail: Trail,
        chunks: frozenset[str],
        changes: Sequence[tuple[str, SearchRequest | _Question]],
        place: tuple[int, float] | None = None,
    ) -> WhyNot:
        remedies = [self._tried(change, chunks) for change in changes]
        if larger := self._larger(trail, chunks):
            remedies.append(larger)
        rank, score = place or (None, None)
        return replace(self._said(stage, why, rank, score), remedies=tuple(remedies))

    def _tried(
        self, change: tuple[str, SearchRequest | _Question], chunks: frozenset[str]
    ) -> Remedy:
        name, instead = change
        other = instead if isinstance(instead, _Question) else replace(self, request=instead)
        trail = other._trail(other.request)
        place = _place(trail.judged.ranking, chunks)
        return Remedy(name, place and place[0], _place(trail.page, chunks) is not None)

    def _larger(self, trail: Trail, chunks: frozenset[str]) -> Remedy | None:
        """The number of hits that shows it; depths grow with it, so it is tried until it holds."""
        limit = self.request.limit
        for _ in range(TRIES):
            place = _place(trail.judged.ranking, chunks)
            if limit > self.request.limit and _place(trail.page, chunks):
                return Remedy(f"-n {limit}", place and place[0], True)
            wanted = max(place[0] if place else 2 * limit, limit + 1)
            if limit == MOST_HITS or (place and wanted > MOST_HITS):
                return None
            limit = min(wanted, MOST_HITS)
            trail = self._trail(replace(self.request, limit=limit))
        return None

    def _said(
        self, stage: Lost, why: str, rank: int | None = None, score: float | None = None
    ) -> WhyNot:
        return WhyNot(self.document.id, self.request.query, stage, why, rank, score)


def _place(ranking: Ranking, chunks: frozenset[str]) -> tuple[int, float] | None:
    """Rank and score of the first of these chunks."""
    return next(((rank, one.score) for rank, one in ranking.ranked() if one.id in chunks), None)


def _set(settings: Any, path: str, value: Any) -> Any:
    """Frozen settings with one of them changed."""
    name, _, rest = path.partition(".")
    inner = _set(getattr(settings, name), rest, value) if rest else value
    return replace(settings, **{name: inner})


def why_not_json(found: WhyNot) -> dict[str, Any]:
    """What all surfaces print."""
    return {
        "document": found.document,
        "query": found.query,
        "stage": found.stage,
        "why": found.why,
        "rank": found.rank,
        "score": found.score,
        "needed": found.needed,
        "filters": list(found.filters),
        "legs": [
            {
                "name": leg.leg,
                "state": str(leg.state),
                "depth": leg.depth,
                "rank": leg.rank,
                "score": leg.score,
                "why": leg.why,
            }
            for leg in found.legs
        ],
        "remedies": [
            {"change": one.change, "rank": one.rank, "shown": one.shown} for one in found.remedies
        ],
    }
