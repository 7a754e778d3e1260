"""Rows of the record ↔ values. No SQL here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, NamedTuple

from trivium.clock import format_time, parse_time
from trivium.index.building import Row as IndexRow
from trivium.store.record.database import Row
from trivium.text import bigrams
from trivium.types import Chunk, Document, Passage, chunk_id

DOCUMENT = tuple(field.name for field in fields(Document))
"""The columns of a document, in the order of its fields."""


def document_of_row(row: Row) -> Document:
    return document_of([row[name] for name in DOCUMENT])


def document_of(values: Sequence[Any]) -> Document:
    """Of what the columns of `DOCUMENT` hold: an answer makes one for each of its hits."""
    tags, metadata, given = values[12:15]
    made = [
        *values[:12],
        tuple(json.loads(tags)) if tags != "[]" else (),
        json.loads(metadata) if metadata != "{}" else {},
        json.loads(given) if given != "{}" else {},
        *[parse_time(time) if time else None for time in values[15:19]],
        *values[19:],
    ]
    return Document(*made)


class Filed(NamedTuple):
    """What the index takes of a document, in the order of `rows_to_index`.

    A library has as many of them as documents: they must be quickly made.
    """

    number: int
    id: str
    uri: str
    title: str
    key: str
    context: str
    scope: str
    kind: str
    category: str | None
    type: str | None
    domain: str | None
    severity: str | None
    tags: tuple[str, ...]
    metadata: Mapping[str, Any]
    created: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None


def filed(said: Sequence[Any]) -> Filed:
    """The document of a row of `rows_to_index`."""
    *plain, tags, metadata, created, valid_from, valid_until = said
    return Filed._make(
        (
            *plain,
            tuple(json.loads(tags)) if tags != "[]" else (),
            json.loads(metadata) if metadata != "{}" else {},
            _time(created),
            _time(valid_from),
            _time(valid_until),
        )
    )


STORED = (
    "id",
    "uri",
    "kind",
    "title",
    "key",
    "context",
    "media_type",
    "category",
    "scope",
    "type",
    "domain",
    "severity",
    "tags",
    "metadata",
    "given",
    "valid_from",
    "valid_until",
    "created",
    "updated",
    "source_hash",
    "source_size",
    "source_mtime",
    "version",
)
"""The columns of a document, in the order of `insert_document`."""


def document_row(document: Document, version: int) -> tuple[Any, ...]:
    """What `insert_document` binds."""
    return (
        document.id,
        document.uri,
        document.kind,
        document.title,
        document.key,
        document.context,
        document.media_type,
        document.category,
        document.scope,
        document.type,
        document.domain,
        document.severity,
        _json(list(document.tags)) if document.tags else "[]",
        _json(dict(document.metadata)) if document.metadata else "{}",
        _json(dict(document.given)) if document.given else "{}",
        _text(document.valid_from),
        _text(document.valid_until),
        _text(document.created),
        _text(document.updated),
        document.source_hash,
        document.source_size,
        document.source_mtime,
        version,
    )


def document_values(document: Document, version: int) -> dict[str, Any]:
    """What `update_document` binds."""
    return dict(zip(STORED, document_row(document, version), strict=True))


CHUNK = (
    *("version", "ordinal", "text", "heading", "page_first", "page_last", "start", "end"),
    *("subject", "predicate", "graph", "embedding_hash"),
)


def chunk_of_row(row: Row) -> Chunk:
    return chunk_of(row["document_id"], [row[name] for name in CHUNK])


def chunk_of(document: str, values: Sequence[Any]) -> Chunk:
    """The chunk of a document of which the columns of `CHUNK` hold this."""
    version, ordinal, text, heading, first, last, *rest = values
    return Chunk(
        chunk_id(document, version, ordinal),
        document,
        version,
        ordinal,
        text,
        tuple(json.loads(heading)) if heading != "[]" else (),
        (first, last) if first is not None else None,
        *rest,
    )


def chunk_values(
    number: int, version: int, ordinal: int, passage: Passage, embedding_hash: str
) -> tuple[Any, ...]:
    """What `insert_chunk` binds."""
    first, last = passage.pages or (None, None)
    return (
        number,
        version,
        ordinal,
        passage.text,
        _json(list(passage.heading)) if passage.heading else "[]",
        first,
        last,
        passage.start,
        passage.end,
        embedding_hash,
        passage.subject,
        passage.predicate,
        passage.graph,
    )


def columns(document: Document | Filed, heading: tuple[str, ...], text: str) -> tuple[str, ...]:
    """The searchable columns of a chunk, in the order of `COLUMNS`, as text to be tokenised."""
    return (
        document.key,
        document.title,
        " ".join(heading),
        text,
        document.context,
        " ".join(document.tags),
    )


def index_row(row: Row, document: Document) -> IndexRow:
    """A row that has all of its document with it."""
    return IndexRow(
        number=row["chunk_number"],
        version=row["chunk_version"],
        ordinal=row["ordinal"],
        document=document,
        columns=columns(document, tuple(json.loads(row["heading"])), row["text"]),
        subject=row["subject"],
        predicate=row["predicate"],
        graph=row["graph"],
        embedded=row["embedding_hash"] != "",
    )


def searchable(columns: tuple[str, ...]) -> list[str]:
    """The columns as the FTS5 table holds them."""
    return [bigrams(text) if text else "" for text in columns]


def parts_of(chunk: str) -> tuple[str, int, int]:
    """document, version and ordinal of a chunk id; numbers that cannot exist if it is not one."""
    document, _, rest = chunk.rpartition("@")
    version, _, ordinal = rest.partition("/")
    if version.isdecimal() and ordinal.isdecimal() and len(rest) < 20:
        return document, int(version), int(ordinal)
    return document, -1, -1


_json = json.JSONEncoder(ensure_ascii=False, default=str).encode  # `dumps` makes one each time


def _time(text: str | None) -> datetime | None:
    return parse_time(text) if text else None


def _text(time: datetime | None) -> str | None:
    return format_time(time) if time else None
