"""The statements of one write, inside the transaction that the store has begun."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from trivium.clock import format_time
from trivium.errors import UnknownDocument
from trivium.store.record.database import Transaction, select
from trivium.store.record.rows import (
    chunk_values,
    columns,
    document_of_row,
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
    document = draft.document
    row = transaction.execute("document_by_id", (document.id,)).fetchone()
    if row is None:
        version = 1
        values = document_values(document, version)
        (number,) = transaction.execute("insert_document", values).fetchone()
    else:
        number = row["number"]
        unindex_words(transaction, number, row["version"], generation)
        keep_fields(transaction, number)
        last = transaction.execute("last_version", (number,)).fetchone()
        version = last[0] + 1
        values = document_values(document, version) | {"number": number}
        transaction.execute("update_document", values)
    at = format_time(now)
    transaction.execute(
        "insert_version",
        (number, version, draft.pipeline, document.source_hash, draft.text, at),
    )
    note_activation(transaction, number, version, now)
    transaction.executemany(
        "insert_chunk",
        [
            chunk_values(
                number, version, nth if passage.ordinal is None else passage.ordinal, passage, hash
            )
            for nth, (passage, hash) in enumerate(
                zip(draft.passages, draft.embedding_hashes, strict=True)
            )
        ],
    )
    transaction.executemany(
        "insert_quad",
        [
            (number, version, q.subject, q.predicate, q.object, q.datatype, q.language, q.graph)
            for q in draft.quads
        ],
    )
    index_words(transaction, document, number, version, generation)
    return replace(document, number=number, version=version)


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
