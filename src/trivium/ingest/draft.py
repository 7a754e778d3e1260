"""Extraction, entry or plain text → Draft: all that a store needs to write a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from trivium.config import IndexSettings
from trivium.ingest.blocks import Extraction
from trivium.ingest.chunk import ESTIMATE, Chunking, Ruler, chunk
from trivium.ingest.entries import Entry
from trivium.ingest.fields import Fields, document_fields
from trivium.template import hash_of
from trivium.text import content_hash
from trivium.types import PUBLIC_SCOPE, Chunk, Document, Draft, Passage


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller says about everything in this `add`; it wins over the source's own words."""

    scope: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    kind: str | None = None


Fill: TypeAlias = Callable[[Fields], Fields]


def as_they_are(fields: Fields) -> Fields:
    return fields


def of_extraction(
    extraction: Extraction,
    path: Path,
    uri: str,
    data: bytes,
    given: Given,
    settings: IndexSettings,
    ruler: Ruler = ESTIMATE,
    fill: Fill = as_they_are,
    modified: datetime | None = None,
) -> Draft:
    """The draft of a file; `fill` adds what others say about it where it says nothing itself.

    With `modified` it need not lie on disk.
    """
    fields = fill(document_fields(extraction.fields, str(path)))
    changed = 0
    if modified is None:
        state = path.stat()
        changed, modified = state.st_mtime_ns, datetime.fromtimestamp(state.st_mtime, UTC)
    document = Document(
        id=document_id(uri),
        uri=uri,
        title=fields.title or extraction.title or path.stem,
        kind=given.kind or fields.kind or "note",
        key=uri.partition(":")[2].removesuffix(path.suffix),
        media_type=extraction.media_type,
        source_hash=sha256(data).hexdigest(),
        source_size=len(data),
        source_mtime=changed,
    )
    return cut(with_fields(document, fields, given, modified), extraction, settings, ruler)


def cut(document: Document, extraction: Extraction, settings: IndexSettings, ruler: Ruler) -> Draft:
    """The document with the passages of its text."""
    chunking = Chunking(settings.chunk_size, settings.chunk_overlap)
    passages = chunk(extraction, chunking, ruler.count)
    passages = passages or (Passage(""),)  # its title and tags can still be found
    sizes = f"{chunking.size}/{chunking.overlap} {ruler.name}"
    pipeline = f"{extraction.extractor} {Chunking.version} {sizes}"
    return with_hashes(
        Draft(document, passages, ("",) * len(passages), extraction.text, pipeline), settings
    )


def of_entry(
    entry: Entry,
    given: Given,
    settings: IndexSettings,
    now: datetime,
    fill: Fill = as_they_are,
) -> Draft:
    """The draft of a knowledge entry: one chunk, its description."""
    fields = fill(entry.fields)
    source = repr((entry.description, entry.fields))
    document = Document(
        id=entry.id,
        uri=f"entry:{entry.id}",
        title=entry.fields.title or entry.id,
        kind=given.kind or fields.kind or "entry",
        key=entry.id,
        media_type="application/json",
        source_hash=content_hash(source),
    )
    document = with_fields(document, fields, given, now)
    return whole(document, entry.description, settings)


def whole(document: Document, text: str, settings: IndexSettings) -> Draft:
    """A document of one chunk."""
    passages = (Passage(text, end=len(text)),)
    return with_hashes(Draft(document, passages, ("",), text, "whole/1"), settings)


def of_stored(document: Document, chunks: Sequence[Chunk], settings: IndexSettings) -> Draft:
    """What an `amend` needs of a stored document: its embedding inputs as they are today."""
    passages = tuple(
        Passage(chunk.text, chunk.heading, subject=chunk.subject, predicate=chunk.predicate)
        for chunk in chunks
    )
    return with_hashes(Draft(document, passages, ("",) * len(passages)), settings)


def with_hashes(draft: Draft, settings: IndexSettings) -> Draft:
    """The draft with the hash of each passage's embedding input."""
    hashes = [hash_of(draft.document, passage, settings) for passage in draft.passages]
    return replace(draft, embedding_hashes=tuple(hashes))


def document_id(uri: str) -> str:
    """The id of a document that has no id of its own: a hash of its first uri."""
    return content_hash(uri)[:16]


def with_fields(document: Document, fields: Fields, given: Given, dated: datetime) -> Document:
    """The document with its source's own fields, and the caller's words over them."""
    said = {"scope": given.scope, "category": given.category, "tags": list(given.tags)}
    return replace(
        document,
        given={name: value for name, value in said.items() if value},
        category=given.category or fields.category,
        scope=given.scope or fields.scope or PUBLIC_SCOPE,
        type=fields.type,
        domain=fields.domain,
        severity=fields.severity,
        context=fields.context or "",
        tags=tuple(dict.fromkeys((*fields.tags, *given.tags))),
        metadata=fields.metadata,
        valid_from=fields.valid_from,
        valid_until=fields.valid_until,
        created=fields.created or dated,
        updated=fields.updated or fields.created or dated,
    )


def with_earlier_words(draft: Draft, stored: Document, settings: IndexSettings) -> Draft:
    """The draft with what was said of the document before and not taken back now.

    A note that was added as a secret does not become public because it is added again.
    """
    document = draft.document
    given = {**stored.given, **document.given}
    tags = dict.fromkeys((*stored.given.get("tags", ()), *document.given.get("tags", ())))
    if tags:
        given["tags"] = list(tags)
    if given == document.given:
        return draft
    kept = replace(
        document,
        given=given,
        scope=given.get("scope", document.scope),
        category=given.get("category", document.category),
        tags=(*(tag for tag in document.tags if tag not in tags), *tags),
    )
    return with_hashes(replace(draft, document=kept), settings)


def filled(stored: Document, fields: Fields) -> Fields:
    """What the folder of a file that is gone once said of it: it must not be lost with the file."""
    return replace(
        fields,
        scope=fields.scope or stored.scope,
        category=fields.category or stored.category,
        kind=fields.kind or stored.kind,
        tags=fields.tags or stored.tags,
    )


def with_its_date(drafted: Document, stored: Document) -> Document:
    """What has no file here, and no date of its own, keeps the one of its first arrival."""
    if drafted.uri.startswith(("entry:", "text:", "memory:", "upload:")):
        return replace(drafted, created=stored.created, updated=stored.updated)
    return drafted


def same_fields(stored: Document, drafted: Document) -> bool:
    """Whether a stored document already says what the draft says."""
    kept = replace(drafted, number=stored.number, version=stored.version)
    return stored == replace(kept, source_mtime=stored.source_mtime)
