"""Statements, where they were read, and which of them are meant."""

from __future__ import annotations

from datetime import datetime

from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Quad:
    """A statement; `object` is an IRI or blank node when `datatype` is empty, else a literal."""

    subject: str
    predicate: str
    object: str
    datatype: str = ""
    language: str = ""
    graph: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a statement was read: the document, which of its versions, and when that was made."""

    document: str
    uri: str
    version: int
    made: datetime


@dataclass(frozen=True, slots=True)
class Statement:
    """A quad with every visible document that states it."""

    quad: Quad
    sources: tuple[Provenance, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which statements are meant; None leaves a place open, "" as graph is the default graph.

    `object` is compared with IRIs and with the text of literals alike; `source` is a document id.
    """

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    graph: str | None = None
    source: str | None = None
