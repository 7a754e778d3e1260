"""The six signals of document 004, each from 0 to 1, and the score that is their weighted sum.

A signal whose preference was not given is 0, and the weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from trivium.config import SIGNALS
from trivium.types import MEMORY_STAGE, Part, Ranking, ScoreKind

STAGE = "score"


def severity(level: str | None, levels: Mapping[str, float]) -> float:
    """What the level is worth; 0 for none."""
    return levels.get(level, 0.0) if level else 0.0


def tag_overlap(preferred: Collection[str], tags: Collection[str]) -> float:
    """Jaccard: the tags that both have over the tags that either has, whatever their case."""
    wanted, given = ({tag.casefold() for tag in each} for each in (preferred, tags))
    return len(wanted & given) / len(wanted | given) if wanted else 0.0


def domain_match(preferred: str | None, domain: str | None) -> float:
    """1 if it is the preferred domain, whatever its case."""
    return float(bool(preferred and domain and preferred.casefold() == domain.casefold()))


def beside(ranking: Ranking, memories: Ranking, fixed: float) -> Ranking:
    """Memories put in at one score, in their own order, after what has the same."""
    known = (
        one.replaced([Part(MEMORY_STAGE, MEMORY_STAGE, fixed, rank=rank, value=one.score)])
        for rank, one in memories.ranked()
    )
    kind = ScoreKind.SIGNALS if ranking.kind is ScoreKind.NONE else ranking.kind
    together = sorted((*ranking.candidates, *known), key=lambda one: -one.score)
    return replace(ranking, candidates=tuple(together), kind=kind)


def score(
    ranking: Ranking, values: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]
) -> Ranking:
    """The candidates by the weighted sum of their signals; earlier stages give nothing more."""
    scored = (
        candidate.replaced(
            Part(
                STAGE,
                name,
                weights.get(name, 0.0) * values[candidate.id][name],
                value=values[candidate.id][name],
                weight=weights.get(name, 0.0),
            )
            for name in SIGNALS
        )
        for candidate in ranking.candidates
    )
    return Ranking.sorted(scored, ScoreKind.SIGNALS)
