"""The statements of one write, inside the transaction that the store has begun."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from trivium.clock import format_time
from trivium.errors import UnknownDocument
from trivium.store.record.database import Transaction, listed, select
from trivium.store.record.rows import (
    chunk_values,
    columns,
    document_of_row,
    document_row,
    document_values,
    searchable,
)
from trivium.types import Document, Draft


def new_generation(transaction: Transaction, now: datetime | None) -> int:
    at = format_time(now) if now else ""
    (generation,) = transaction.execute("add_commit", (os.urandom(8).hex(), at)).fetchone()
    return int(generation)


def changed(transaction: Transaction, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts that would say something else than the active versions do."""
    rows = select(transaction, "active_pipelines", [draft.document.id for draft in drafts])
    known = {row["id"]: (row["source_hash"], row["pipeline"]) for row in rows}
    return [d for d in drafts if known.get(d.document.id) != (d.document.source_hash, d.pipeline)]


def put_draft(transaction: Transaction, draft: Draft, generation: int, now: datetime) -> Document:
    [stored] = put_drafts(transaction, [draft], generation, now)
    return stored


def put_drafts(
    transaction: Transaction, drafts: Sequence[Draft], generation: int, now: datetime
) -> list[Document]:
    """Store the drafts, in a few statements for all of them; a document may come twice.

    Rows are made as they are bound: lists of thousands would keep Python looking for cycles.
    """
    stored: list[Document] = []
    for batch in _each_once(drafts):
        stored += _put_batch(transaction, batch, generation, now)
    return stored


def _each_once(drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
    """The drafts in order, cut where a document comes again: its next version follows the first."""
    batch: dict[str, Draft] = {}
    for draft in drafts:
        if draft.document.id in batch:
            yield list(batch.values())
            batch = {}
        batch[draft.document.id] = draft
    if batch:
        yield list(batch.values())


def _put_batch(
    transaction: Transaction, drafts: Sequence[Draft], generation: int, now: datetime
) -> list[Document]:
    at = format_time(now)
    stored = _placed(transaction, drafts, generation)
    both = list(zip(stored, drafts, strict=True))
    transaction.executemany(
        "insert_version",
        (
            (one.number, one.version, draft.pipeline, one.source_hash, draft.text, at)
            for one, draft in both
        ),
    )
    transaction.executemany("insert_activation", ((one.number, one.version, at) for one in stored))
    chunks = (chunk for one, draft in both for chunk in _chunks(one, draft))
    transaction.executemany("insert_chunk", chunks)
    transaction.executemany(
        "insert_quad",
        (
            (
                one.number,
                one.version,
                q.subject,
                q.predicate,
                q.object,
                q.datatype,
                q.language,
                q.graph,
            )
            for one, draft in both
            for q in draft.quads
        ),
    )
    _index_batch(transaction, both, generation)
    return stored


def _placed(transaction: Transaction, drafts: Sequence[Draft], generation: int) -> list[Document]:
    """The documents with their number and new version; their rows say now what the drafts do.

    Those that are there come first: one of them may give up the uri that a new one has.
    """
    known = _versions(transaction, drafts)
    for draft in drafts:
        if draft.document.id in known:
            number, old = known[draft.document.id]
            unindex_words(transaction, number, old, generation)
            keep_fields(transaction, number)
            (last,) = transaction.execute("last_version", (number,)).fetchone()
            fields = document_values(draft.document, last + 1) | {"number": number}
            transaction.execute("update_document", fields)
            known[draft.document.id] = number, last + 1
    new = [draft for draft in drafts if draft.document.id not in known]
    if new:
        rows = (document_row(draft.document, 1) for draft in new)
        transaction.executemany("insert_document", rows)
        known |= _versions(transaction, new)
    stored = []
    for draft in drafts:
        number, version = known[draft.document.id]
        stored.append(draft.document.stored_as(number, version))
    return stored


def _versions(transaction: Transaction, drafts: Sequence[Draft]) -> dict[str, tuple[int, int]]:
    """Number and active version of those that there are."""
    rows = select(transaction, "versions_by_id", [draft.document.id for draft in drafts])
    return {row["id"]: (row["number"], row["version"]) for row in rows}


def _chunks(document: Document, draft: Draft) -> Iterator[tuple[Any, ...]]:
    pairs = zip(draft.passages, draft.embedding_hashes, strict=True)
    for nth, (passage, hash) in enumerate(pairs):
        ordinal = nth if passage.ordinal is None else passage.ordinal
        yield chunk_values(document.number, document.version, ordinal, passage, hash)


def _index_batch(
    transaction: Transaction, both: Sequence[tuple[Document, Draft]], generation: int
) -> None:
    """`index_words` for documents that were just written, without reading their text again."""
    numbers = select(transaction, "chunks_of_documents", [document.number for document, _ in both])
    chunks = [number for (number,) in numbers]  # ascending: in the order in which they were put
    passages = ((document, passage) for document, draft in both for passage in draft.passages)
    words = (
        (number, *searchable(columns(document, passage.heading, passage.text)))
        for number, (document, passage) in zip(chunks, passages, strict=True)
    )
    hashes = {hash for _, draft in both for hash in draft.embedding_hashes if hash}
    transaction.execute("wait_for_vectors_of", (listed(sorted(hashes)),))
    those = listed(chunks)
    for what in ("w", "v"):
        values = {"generation": generation, "what": what, "chunks": those}
        transaction.execute("note_changes_of", values)
    # last, because each statement about many rows makes FTS5 write down what it has so far
    transaction.executemany("index_words", words)


def amend_draft(transaction: Transaction, draft: Draft, generation: int, now: datetime) -> None:
    number, version = number_and_version(transaction, draft.document.id)
    unindex_words(transaction, number, version, generation)
    keep_fields(transaction, number)
    values = document_values(draft.document, version)
    transaction.execute("update_document", values | {"number": number})
    place = (number, version)
    old = [hash for (hash,) in transaction.execute("hashes_of_version", place)]
    if old != list(draft.embedding_hashes):
        keeping = {"document": number, "version": version}
        transaction.execute("keep_hashes", keeping)
        set_hashes(transaction, number, version, draft.embedding_hashes)
    note_activation(transaction, number, version, now)
    index_words(transaction, draft.document, number, version, generation)


def activate_version(transaction: Transaction, document: str, version: int, now: datetime) -> None:
    """Make a version the active one, with the fields that the document had when it last was."""
    number, old = number_and_version(transaction, document)
    keep_fields(transaction, number)
    row = transaction.execute("fields_of_version", (number, version)).fetchone()
    exists = transaction.execute("version_exists", (number, version)).fetchone()
    if row is None or exists is None:
        raise UnknownDocument(f"{document} has no version {version}; 'trivium versions' lists them")
    generation = new_generation(transaction, now)
    unindex_words(transaction, number, old, generation)
    [today] = map(document_of_row, select(transaction, "documents_by_number", [number]))
    back = document_of_row(json.loads(row["fields"])).brought_back(today)
    values = document_values(back, version) | {"number": number}
    transaction.execute("update_document", values)
    note_activation(transaction, number, version, now)
    index_words(transaction, back, number, version, generation)


def keep_fields(transaction: Transaction, number: int) -> None:
    """Write down what a document says, before it says something else."""
    transaction.execute("keep_fields", {"document": number})


def note_activation(transaction: Transaction, number: int, version: int, now: datetime) -> None:
    """From now on the document is as it stands in its row."""
    at = format_time(now)
    transaction.execute("insert_activation", (number, version, at))


def index_words(
    transaction: Transaction, document: Document, number: int, version: int, generation: int
) -> None:
    """Make the chunks of a version searchable by words, and note them for the derived index."""
    rows = transaction.execute("texts_of_version", (number, version)).fetchall()
    transaction.executemany(
        "index_words",
        [
            (
                row["number"],
                *searchable(columns(document, tuple(json.loads(row["heading"])), row["text"])),
            )
            for row in rows
        ],
    )
    transaction.execute("wait_for_vectors", (number, version))
    _note(transaction, number, version, generation)


def set_hashes(transaction: Transaction, number: int, version: int, hashes: Sequence[str]) -> None:
    """New embedding hashes for the chunks of a version, in the order of their ordinals."""
    found = transaction.execute("ordinals_of_version", (number, version)).fetchall()
    rows = [(hash, number, version, row[0]) for hash, row in zip(hashes, found, strict=True)]
    transaction.executemany("set_embedding_hash", rows)


def unindex_words(transaction: Transaction, number: int, version: int, generation: int) -> None:
    """Take the chunks of a version out of the word index, and note them."""
    transaction.execute("unindex_words", (number, version))
    values = {"document": number, "version": version}
    transaction.execute("stop_waiting_for_version", values)
    _note(transaction, number, version, generation)


def _note(transaction: Transaction, number: int, version: int, generation: int) -> None:
    for what in ("w", "v"):
        values = {"generation": generation, "what": what, "document": number, "version": version}
        transaction.execute("note_changes", values)


def number_and_version(transaction: Transaction, document: str) -> tuple[int, int]:
    row = transaction.execute("document_by_id", (document,)).fetchone()
    if row is None:
        raise UnknownDocument(f"there is no document '{document}'; 'trivium list' shows them")
    return row["number"], row["version"]
