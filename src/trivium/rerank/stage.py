"""The rerank stage: Ranking → Ranking, and asking a reranker without ever being let down by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.deadline import within
from trivium.protocols import Reranker
from trivium.types import Part, Ranking, ScoreKind

STAGE = "rerank"
NOT_READ = "not read"
"""The part of what comes after the reranked ones, in the order in which it was."""


HIGHEST = 1e6
"""No reranker's logit is near it; beyond 1e15 the order of the others could not be told."""


TIME_OUT = 10.0
"""Seconds that a search waits where neither the profile nor the reranker's settings say."""


class Failed(Exception):
    """The reranker gave nothing to go by; the text says why."""


def asked(reranker: Reranker, query: str, texts: Sequence[str], time_out: float) -> list[float]:
    """One finite score a text; `Failed` for an error, a time-out or a nonsense answer."""
    try:
        scores = within(time_out, lambda: [float(s) for s in reranker.scores(query, list(texts))])
    except TimeoutError as error:
        raise Failed(
            f"no answer within {time_out:g} seconds; raise search.rerank.time_out if the profile "
            "sets it, else the time_out of the reranker's own settings"
        ) from error
    # A model is somebody else's code: whatever it does, the fused order is there.
    except Exception as error:
        raise Failed(str(error) or type(error).__name__) from error
    if len(scores) != len(texts):
        raise Failed(f"it gave {len(scores)} scores for {len(texts)} texts")
    if not all(abs(score) <= HIGHEST for score in scores):  # NaN is not below anything
        raise Failed("it gave a score that is not a number, or beyond all reason")
    return scores


def rerank(ranking: Ranking, scores: Mapping[str, float], name: str, keep: int = 0) -> Ranking:
    """The candidates that have a score by it, the others after them as they were.

    Earlier contributions become 0 and keep rank and value. The others get what is below the
    lowest score, one less for each place, so that the order can be told from the scores. `keep`
    leaves only the first so many; 0 leaves all.
    """
    chosen = [one for one in ranking.candidates if one.id in scores]
    if not chosen:
        return ranking
    chosen.sort(key=lambda one: (-scores[one.id], one.id))
    lowest = scores[chosen[-1].id]
    parts = {one.id: (name, scores[one.id]) for one in chosen}
    rest = [one for one in ranking.candidates if one.id not in scores]
    for place, one in enumerate(rest, start=1):
        parts[one.id] = (NOT_READ, lowest - place)
    ranked = [
        one.replaced([Part(STAGE, parts[one.id][0], parts[one.id][1], rank, parts[one.id][1])])
        for rank, one in enumerate([*chosen, *rest], start=1)
    ]
    return Ranking(tuple(ranked[:keep] if keep else ranked), ScoreKind.RERANK)
