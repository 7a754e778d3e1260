"""Settings of what comes after scoring: who reads again, how sure it is, what is packed."""

from __future__ import annotations

from typing import Literal

from trivium.errors import InvalidValue
from trivium.types import Unit
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """Which reranker reads the first hits again, and when; without a name there is none.

    It is used only where the user's settings describe a reranker of this name.
    """

    reranker: str = ""
    when: Literal["never", "always", "unsure"] = "never"
    depth: int = 20
    keep: int = 0
    """How many are left after it; 0 leaves all, the unread ones after the read ones."""
    time_out: float | None = None
    """Seconds that a search waits for it; None: as long as the reranker's own settings say."""

    def __post_init__(self) -> None:
        wrong = self.time_out is not None and not self.time_out > 0
        if not 1 <= self.depth <= 1000 or self.keep < 0 or wrong:
            raise InvalidValue("search.rerank: depth is 1 to 1000, keep from 0, time_out above 0")


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """What a passage of `trivium context` is, from how many it chooses, what is said twice."""

    unit: Unit = "chunk"
    depth: int = 50
    near_duplicate: float = 0.85


@dataclass(frozen=True, slots=True)
class ConfidenceSettings:
    """Below which confidence a result is called ambiguous."""

    threshold: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InvalidValue("search.confidence.threshold must be from 0 to 1")
