"""The answers of several tiers → one. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from trivium.config import Profile
from trivium.federation.tiers import Tier
from trivium.pages import Cursor, by_words
from trivium.score.feedback import adapted
from trivium.types import Candidate, Document, Filter, Hit, Leg, Result, ScoreKind, SearchRequest

_BETWEEN = "\x1f"
"""Stands between the names of a tier and of a chunk."""


def scaled(hit: Hit, tier: Tier) -> Hit:
    """The hit as its tier counts: every contribution times the priority, which is named."""
    given = Candidate(hit.chunk.id, hit.score, hit.parts).scaled(tier.factor, "tier", tier.name)
    return replace(hit, score=given.score, parts=given.parts, tier=tier.name)


def sources_of(filter: Filter) -> Iterator[str]:
    """The sources that a filter names, also those to leave out."""
    yield from filter.source
    for one in filter.exclude:
        yield from sources_of(one)


def is_valid(document: Document, moment: datetime) -> bool:
    """Whether the moment lies in the document's validity window."""
    begun = document.valid_from is None or document.valid_from <= moment
    return begun and (document.valid_until is None or moment < document.valid_until)


def with_few_memories(hits: Sequence[Hit], request: SearchRequest, profile: Profile) -> list[Hit]:
    """As many memories as one library would give, not as many from each tier."""
    settings = profile.search.memory
    asked_for = "memory" in request.filter.kind and request.most_memories is None
    if settings.method == "same" or asked_for:
        return list(hits)
    left = settings.most if request.most_memories is None else request.most_memories
    kept = []
    for hit in hits:
        if hit.document.kind == "memory":
            left -= 1
            if left < 0:
                continue
        kept.append(hit)
    return kept


def with_weights_moved(profile: Profile, shift: float) -> Profile:
    """The profile as feedback has moved it, which no feedback moves any further."""
    settings = profile.search.score
    moved = replace(
        settings,
        weights=adapted(settings.weights, shift),
        hybrid=adapted(settings.hybrid, shift),
        adapt_after=0,
    )
    return replace(profile, search=replace(profile.search, score=moved))


def place_of(hit: Hit) -> str:
    """Where a page ended, as a cursor keeps it."""
    return f"{hit.tier}{_BETWEEN}{hit.chunk.id}"


@dataclass(frozen=True, slots=True)
class Order:
    """The one order of a merged list, in which it is sorted and in which a page goes on.

    Best first, equal scores by tier and then by id; without a query by id and then by tier.
    """

    tiers: Mapping[str, int]
    browsing: bool

    @classmethod
    def of(cls, tiers: Sequence[Tier], request: SearchRequest) -> Order:
        places = {tier.name: place for place, tier in enumerate(tiers)}
        return cls(places, not request.query.strip())

    def of_hit(self, hit: Hit) -> tuple[float, int, str, int]:
        return self._key(hit.score, hit.tier or "", hit.chunk.id)

    def rest(self, hits: Sequence[Hit], cursor: Cursor) -> list[Hit]:
        """What comes after the last hit that was shown, also if that is gone by now."""
        tier, _, chunk = cursor.chunk.partition(_BETWEEN)
        last = self._key(cursor.score, tier, chunk)
        return [hit for hit in hits if self.of_hit(hit) > last]

    def _key(self, score: float, tier: str, chunk: str) -> tuple[float, int, str, int]:
        place = self.tiers.get(tier, len(self.tiers))
        return (0.0, 0, chunk, place) if self.browsing else (-score, place, chunk, 0)


def is_small(answers: Iterable[Result], kept: Sequence[Hit], profile: Profile, limit: int) -> bool:
    """Whether so few hold a word of the query that a page should not drop most of them."""
    most = profile.search.small_corpus
    found = sum(by_words(hit.parts) for hit in kept)
    return 2 * limit < found < most and all(one.matched < most for one in answers)


def kind_of(answers: Iterable[Result]) -> ScoreKind:
    kinds = (one.score_kind for one in answers)
    return next((kind for kind in kinds if kind is not ScoreKind.NONE), ScoreKind.NONE)


def legs_of(answers: Mapping[str, Result]) -> Iterator[Leg]:
    for name, result in answers.items():
        for leg in result.legs:
            yield replace(leg, name=f"{name}:{leg.name}")


def said(answers: Mapping[str, Result]) -> list[str]:
    """The tiers' warnings: what all of them say is said once, anything else by name."""
    texts = dict.fromkeys(text for one in answers.values() for text in one.warnings)
    said = []
    for text in texts:
        names = [name for name, one in answers.items() if text in one.warnings]
        everywhere = len(names) == len(answers)
        said.append(text if everywhere else f"tier {', '.join(names)}: {text}")
    return said


def missing(failed: Mapping[str, str], answers: Mapping[str, Result]) -> Iterator[str]:
    """What no tier could say, by name: whole tiers first, then roads of those that answered."""
    for name, why in failed.items():
        yield f"tier {name}: {why}"
    for name, result in answers.items():
        for text in result.degraded:
            yield f"tier {name}: {text}"
