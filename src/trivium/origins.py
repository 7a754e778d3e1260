"""Where documents come from: sources that can be read, and what a store knows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Protocol

from trivium.types import Document
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """From a document to another: the target's id, or its name where there is no such document."""

    target: str
    relation: str = "links to"


@dataclass(frozen=True, slots=True)
class AdapterState:
    """A source that an adapter reads, and how far it has read."""

    source: str
    root: str
    adapter: str
    watermark: str


@dataclass(frozen=True, slots=True)
class SourceChanges:
    """What a source has to say since it was last asked; paths are relative, with slashes.

    `errors` are (path, message). The watermark is given back the next time.
    """

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()
    watermark: str = ""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A document as its source has it.

    `fields` say more about it than its own words do, and `links` lead to paths in the source, or to
    names that nothing there has.
    """

    data: bytes
    modified: datetime
    fields: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[str, ...] = ()


class DocumentSource(Protocol):
    """Where documents come from: a folder, a vault, a repository, whatever an entry point names."""

    def sync(self, watermark: str, known: Mapping[str, str]) -> SourceChanges:
        """What changed since the watermark ("" at first); `known` is path → SHA-256 of content."""

    def read(self, path: str) -> SourceItem:
        """The document at a path that `sync` named; `SourceError` where that is impossible."""


class Catalogue(Protocol):
    """What a store knows of its sources, for whoever keeps it in step with them."""

    def with_content(self, hashes: Sequence[str]) -> list[Document]:
        """The documents whose source has one of these hashes."""

    def below(self, uri: str) -> list[Document]:
        """The documents whose uri begins so."""

    def keep_sketches(self, sketches: Mapping[str, Sequence[int]]) -> None:
        """Remember the bands of documents' sketches."""

    def settle_sketches(self) -> None:
        """Put those that were remembered last in their places: nothing more comes for now."""

    def sharing(self, bands: Sequence[int], most: int) -> dict[int, list[str]]:
        """The ids of documents with each of these bands, the oldest first; at most so many."""

    def adapters(self) -> list[AdapterState]: ...
    def keep_adapter(self, source: str, adapter: str, watermark: str) -> None: ...
    def keep_links(self, links: Mapping[str, Iterable[Link]]) -> None:
        """Replace the links of these documents."""

    def links(self, document: str) -> list[Link]: ...
    def links_to(self, target: str) -> list[tuple[str, str]]:
        """(document, relation) of all that link to this one."""
