"""Asking and answering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Literal, TypeAlias

from trivium.types.documents import Chunk, Document
from trivium.types.filters import NO_FILTER, Filter
from trivium.types.rankings import Leg, Part, ScoreKind
from trivium.values import dataclass

Unit: TypeAlias = Literal["chunk", "document", "entity"]
Mode: TypeAlias = Literal["scan", "full"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question, as every surface puts it."""

    query: str
    limit: int = 10
    filter: Filter = NO_FILTER
    mode: Mode = "scan"
    legs: tuple[str, ...] = ()
    """Only these legs of the profile; empty means all of them."""
    include_memories: bool = False
    facets: bool = False
    cursor: str | None = None
    prefer_tags: tuple[str, ...] = ()
    """Wishes, not filters: a profile with signals ranks what has them higher."""
    prefer_domain: str | None = None
    most_memories: int | None = None
    """How many memories may come in; None leaves it to the profile."""
    budget: int | None = None
    """Tokens that the hits may cost together; what does not fit is left out, and named."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Code-point offsets into the snippet, and the leg that matched there."""

    leg: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One unit of the answer. `id` is the unit's id, `chunk` its best chunk's."""

    rank: int
    id: str
    score: float
    document: Document
    chunk: Chunk
    parts: tuple[Part, ...]
    snippet: str
    highlights: tuple[Highlight, ...]
    tokens: int
    freshness: str = "unverified"
    verifications: tuple[str, ...] = ()
    """Open conflicts among the facts about its subject."""
    tier: str | None = None

    @property
    def title(self) -> str:
        """The document's; of a fact what its subject is called."""
        if self.chunk.predicate and self.chunk.heading:
            return self.chunk.heading[0]
        return self.document.title

    @property
    def heading(self) -> str:
        start = 1 if self.chunk.predicate else 0
        return " › ".join(self.chunk.heading[start:])

    @property
    def text(self) -> str:
        return self.chunk.text


@dataclass(frozen=True, slots=True)
class Result:
    """The answer: hits in order, and how it came about."""

    query: str
    profile: str
    score_kind: ScoreKind
    hits: tuple[Hit, ...]
    legs: tuple[Leg, ...]
    total: int
    matched: int
    took_ms: float
    mode: Mode = "scan"
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
    ambiguous: tuple[str, ...] = ()
    told_apart: tuple[Mapping[str, Any], ...] = ()
    """Of competing entities: what each is called and is, and facts that only it has."""
    facets: Mapping[str, Mapping[str, int]] | None = None
    """For each dimension how many units of `total` have each value; None unless asked for."""
    next_cursor: str | None = None
    timing: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    """Milliseconds for each stage of the search, in order."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
