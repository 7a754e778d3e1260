"""What only facts need: how they are read, where they are kept, and what is a label."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Literal, Protocol

from trivium.types import Document, Grant, Passage, Pattern, Quad, Statement
from trivium.values import dataclass

LABELS = (  # what says how a subject is called, the best first
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "https://schema.org/name",
    "http://schema.org/name",
)


@dataclass(frozen=True, slots=True)
class VerifySettings:
    """What counts as a conflict besides what the graph's own axioms say, and what it does to hits.

    Properties are named by IRI or by local name. `exclusive` properties have one holder at a time:
    the value names the properties that say from when and until when a subject holds it.
    """

    functional: tuple[str, ...] = ()
    acyclic: tuple[str, ...] = ()
    exclusive: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effect: Literal["off", "mark", "lower", "drop"] = "mark"
    factor: float = 0.5
    """What the score of a hit with an open verification is multiplied by, if it is lowered."""


class FactReader(Protocol):
    """How statements become passages, and which of a subject's labels it is called by."""

    @property
    def labels(self) -> Sequence[str]:
        """The properties that are labels."""

    @property
    def pipeline(self) -> str: ...
    def label(self, found: Sequence[Quad]) -> str:
        """The one to use among a resource's label statements."""

    def passage(self, quad: Quad, labels: Mapping[str, str]) -> Passage: ...
    def hash(self, document: Document, passage: Passage) -> str: ...


class FactSource(Protocol):
    """Statements, read from front to back; the prefixes are known when all are read."""

    @property
    def prefixes(self) -> Mapping[str, str]: ...
    def __iter__(self) -> Iterator[Quad]: ...


class GraphStore(Protocol):
    """The statements of a library. Every write is one transaction, in bounded memory."""

    def put(
        self, document: Document, source: FactSource, reader: FactReader, now: datetime
    ) -> Document:
        """Store a new version of a document of facts; if reading fails, nothing is stored."""

    def strike(
        self,
        quads: Sequence[Quad],
        reader: FactReader,
        now: datetime,
        decision: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """New versions, without these statements, of the documents that state them; their ids.

        A decision is an entry of the ledger, written in the same transaction; imports leave out
        from now on what it struck.
        """

    def statements(self, pattern: Pattern, grant: Grant) -> Iterator[Statement]:
        """What is stated now and visible, in the order of its parts."""

    def labels(self, resources: Sequence[str], reader: FactReader, grant: Grant) -> dict[str, str]:
        """What resources are called, where something visible says so."""

    def prefixes(self, grant: Grant) -> dict[str, str]:
        """Prefixes as visible documents declare them; of two meanings the older document's."""

    def documents_about(self, subject: str, grant: Grant) -> tuple[str, ...]:
        """The uris of visible documents, other than facts, that are about a subject."""

    def predicates(self) -> list[str]:
        """Every property that any statement has, in order."""

    def dangling(self, subjects: Collection[str] | None, grant: Grant) -> Iterator[Statement]:
        """Visible statements that lead to an IRI of which nothing visible is stated."""

    def stamp(self, grant: Grant) -> str:
        """Changes when the statements visible through a grant change."""
