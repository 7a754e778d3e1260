"""Feedback moves the semantic weight: it is trusted more where what it found was taken up.

`accepted` counts as one and `modified` as a half: it was found rightly, and needed a change.
`dismissed` counts as nothing. `failed` has no part in the rate: it says that what was found did not
work, which is the fault of the entry and not of the search that found it.
"""

from __future__ import annotations

from collections.abc import Mapping

from trivium.config import ScoreSettings
from trivium.types import Verdict
from trivium.values import dataclass

WORTH: Mapping[str, float] = {"accepted": 1.0, "modified": 0.5, "dismissed": 0.0}


@dataclass(frozen=True, slots=True)
class Tally:
    """How many judgements count, and the share of them that speak for the search."""

    counted: int
    rate: float

    @classmethod
    def of(cls, counts: Mapping[Verdict, int]) -> Tally:
        judged = {verdict: n for verdict, n in counts.items() if verdict in WORTH}
        total = sum(judged.values())
        return cls(total, sum(WORTH[v] * n for v, n in judged.items()) / total if total else 0.0)


def shift(counts: Mapping[Verdict, int], settings: ScoreSettings) -> float:
    """How far the semantic weight moves: (rate − ½) · step within the limit, 0 while too few."""
    tally = Tally.of(counts)
    if settings.adapt_after == 0 or tally.counted < settings.adapt_after:
        return 0.0
    moved = (tally.rate - 0.5) * settings.adapt_step
    return max(-settings.adapt_limit, min(settings.adapt_limit, moved))


def adapted(weights: Mapping[str, float], shift: float) -> dict[str, float]:
    """The weights with the semantic one moved, the others scaled so that the sum stays 1."""
    semantic = weights.get("semantic", 0.0)
    if shift == 0.0 or semantic >= 1.0:
        return dict(weights)
    moved = max(0.0, min(1.0, semantic + shift))
    scale = (1.0 - moved) / (1.0 - semantic)
    others = {name: value * scale for name, value in weights.items() if name != "semantic"}
    return {"semantic": moved, **others}
