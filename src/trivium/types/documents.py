"""What is stored of a document, what one write brings, and what people thought of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, TypeAlias

from trivium.types.facts import Quad
from trivium.values import dataclass

PUBLIC_SCOPE = "all"
COLUMNS = ("key", "title", "heading", "body", "context", "tags")
"""The one schema of searchable columns; field weights name these."""


@dataclass(frozen=True, slots=True)
class Document:
    """A note, an entry, a source of facts or a memory.

    `number` and `version` are given by the store; 0 means "not stored yet".
    """

    id: str
    uri: str
    title: str
    kind: str = "note"
    key: str = ""
    context: str = ""
    media_type: str = "text/plain"
    category: str | None = None
    scope: str = PUBLIC_SCOPE
    type: str | None = None
    domain: str | None = None
    severity: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    """What was said when it was added (scope, category, tags): it outlives the next `add`."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    created: datetime | None = None
    updated: datetime | None = None
    source_hash: str = ""
    source_size: int = 0
    source_mtime: int = 0
    number: int = 0
    version: int = 0

    def is_called(self, name: str) -> bool:
        """Whether a name means the document itself, and not one of its chunks."""
        return name in (self.id, self.uri, f"#{self.number}", str(self.number))

    def stored_as(self, number: int, version: int) -> Document:
        """The same with what the store gave it; a library has as many of these as documents."""
        values: list[Any] = [*_ALL_BUT_THESE(self), number, version]
        return Document(*values)

    def brought_back(self, today: Document) -> Document:
        """This earlier state of a document as it becomes the present one.

        Its place stays today's: another document may have the old one by now. So does its scope,
        unless that is public: what was made a secret meanwhile does not come out this way, and
        what was one then does not either.
        """
        back = replace(self, number=today.number)
        if today.uri != self.uri:
            back = replace(back, uri=today.uri, key=today.key)
        if today.scope == PUBLIC_SCOPE:
            return back
        given = {name: value for name, value in self.given.items() if name != "scope"}
        if "scope" in today.given:
            given["scope"] = today.given["scope"]
        return replace(back, scope=today.scope, given=given)


_ALL_BUT_THESE = attrgetter(*(one.name for one in fields(Document)[:-2]))


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk before it is stored: a piece of the extracted text and where it stands in it."""

    text: str
    heading: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    start: int = 0
    end: int = 0
    subject: str | None = None
    predicate: str | None = None
    graph: str | None = None
    ordinal: int | None = None
    """Its number in the document, where it has one of its own; otherwise they are counted."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored passage of one version of a document; `id` is `document@version/ordinal`."""

    id: str
    document: str
    version: int
    ordinal: int
    text: str
    heading: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    start: int = 0
    end: int = 0
    subject: str | None = None
    predicate: str | None = None
    graph: str | None = None
    embedding_hash: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """One reading of a document (the *interpretation* of document 001)."""

    document: str
    version: int
    pipeline: str
    source_hash: str
    made: datetime
    active: bool
    chunks: int
    archived: bool = False
    """Whether the source file is kept in the library's archive."""
    blob: str = ""
    """Where the source file lies in blob storage, if it does."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything one `put` writes for a document, in one transaction."""

    document: Document
    passages: tuple[Passage, ...]
    embedding_hashes: tuple[str, ...]
    text: str = ""
    pipeline: str = ""
    quads: tuple[Quad, ...] = ()

    def __post_init__(self) -> None:
        if len(self.passages) != len(self.embedding_hashes):
            raise ValueError("a draft needs one embedding hash for each passage")


@dataclass(frozen=True, slots=True)
class Record:
    """A chunk together with the document it belongs to, as it is stored now."""

    document: Document
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as it is read: the chunks that were asked for and their text."""

    document: Document
    chunks: tuple[Chunk, ...]
    text: str
    tier: str | None = None


def chunk_id(document: str, version: int, ordinal: int) -> str:
    return f"{document}@{version}/{ordinal}"


def document_of(chunk: str) -> str:
    """The document part of a chunk id; document ids may contain "@" themselves."""
    return chunk.rpartition("@")[0]


def documents_of(chunks: Iterable[str]) -> list[str]:
    """The same for many."""
    return [chunk.rpartition("@")[0] for chunk in chunks]


def owner_of(name: str) -> str:
    """The document whose chunk has this name; "" if it is not the name of a chunk."""
    return document_of(name) if _CHUNK_ID.fullmatch(name) else ""


_CHUNK_ID = re.compile(r".+@[0-9]{1,9}/[0-9]{1,9}", re.DOTALL)


Verdict: TypeAlias = Literal["accepted", "dismissed", "modified", "failed"]
VERDICTS: tuple[Verdict, ...] = ("accepted", "dismissed", "modified", "failed")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody thought of a document that a query had found."""

    document: str
    verdict: Verdict
    query: str = ""
