"""What is in dispute counts for less, or not at all."""

from __future__ import annotations

from dataclasses import replace

from trivium.factual import VerifySettings
from trivium.types import Candidate, Part, Ranking


def settled(ranking: Ranking, disputed: frozenset[str], settings: VerifySettings) -> Ranking:
    """The ranking with the disputed chunks dropped, or their contributions multiplied."""
    if settings.effect == "drop":
        kept = tuple(one for one in ranking.candidates if one.id not in disputed)
        return Ranking(kept, ranking.kind, ranking.ceiling)
    lowered = (
        _lowered(one, settings.factor) if one.id in disputed else one for one in ranking.candidates
    )
    return Ranking.sorted(lowered, ranking.kind)


def _lowered(one: Candidate, factor: float) -> Candidate:
    parts = [replace(part, contribution=part.contribution * factor) for part in one.parts]
    return Candidate.of(one.id, [*parts, Part("verify", "disputed", 0.0, weight=factor)])
