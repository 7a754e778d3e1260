"""The statements of one write, inside the transaction that the store has begun."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from trivium.clock import format_time
from trivium.errors import UnknownDocument
from trivium.store.sqlite.connection import HISTORY, statements
from trivium.store.sqlite.rows import (
    chunk_values,
    columns,
    document_of_row,
    document_values,
    searchable,
)
from trivium.types import Document, Draft


def new_generation(connection: sqlite3.Connection, now: datetime | None) -> int:
    at = format_time(now) if now else ""
    (generation,) = connection.execute(statements()["add_commit"], (at,)).fetchone()
    return int(generation)


def put_draft(
    connection: sqlite3.Connection, draft: Draft, generation: int, now: datetime
) -> Document:
    document = draft.document
    row = connection.execute(statements()["document_by_id"], (document.id,)).fetchone()
    if row is None:
        version = 1
        values = document_values(document, version)
        (number,) = connection.execute(statements()["insert_document"], values).fetchone()
    else:
        number = row["number"]
        unindex_words(connection, number, row["version"], generation)
        keep_fields(connection, number)
        last = connection.execute(statements()["last_version"], (number,)).fetchone()
        version = last[0] + 1
        values = document_values(document, version) | {"number": number}
        connection.execute(statements()["update_document"], values)
    at = format_time(now)
    connection.execute(
        statements()["insert_version"],
        (number, version, draft.pipeline, document.source_hash, draft.text, at),
    )
    note_activation(connection, number, version, now)
    connection.executemany(
        statements()["insert_chunk"],
        [
            chunk_values(
                number, version, nth if passage.ordinal is None else passage.ordinal, passage, hash
            )
            for nth, (passage, hash) in enumerate(
                zip(draft.passages, draft.embedding_hashes, strict=True)
            )
        ],
    )
    connection.executemany(
        statements()["insert_quad"],
        [
            (number, version, q.subject, q.predicate, q.object, q.datatype, q.language, q.graph)
            for q in draft.quads
        ],
    )
    index_words(connection, document, number, version, generation)
    return replace(document, number=number, version=version)


def amend_draft(
    connection: sqlite3.Connection, draft: Draft, generation: int, now: datetime
) -> None:
    number, version = number_and_version(connection, draft.document.id)
    unindex_words(connection, number, version, generation)
    keep_fields(connection, number)
    values = document_values(draft.document, version)
    connection.execute(statements()["update_document"], values | {"number": number})
    place = (number, version)
    old = [hash for (hash,) in connection.execute(statements(HISTORY)["hashes_of_version"], place)]
    if old != list(draft.embedding_hashes):
        keeping = {"document": number, "version": version}
        connection.execute(statements(HISTORY)["keep_hashes"], keeping)
        set_hashes(connection, number, version, draft.embedding_hashes)
    note_activation(connection, number, version, now)
    index_words(connection, draft.document, number, version, generation)


def activate_version(
    connection: sqlite3.Connection, document: str, version: int, now: datetime
) -> None:
    """Make a version the active one, with the fields that the document had when it last was."""
    number, old = number_and_version(connection, document)
    keep_fields(connection, number)
    row = connection.execute(statements(HISTORY)["fields_of_version"], (number, version)).fetchone()
    exists = connection.execute(statements(HISTORY)["version_exists"], (number, version)).fetchone()
    if row is None or exists is None:
        raise UnknownDocument(f"{document} has no version {version}; 'trivium versions' lists them")
    generation = new_generation(connection, now)
    unindex_words(connection, number, old, generation)
    [today] = map(document_of_row, select_json(connection, "documents_by_number", [number]))
    back = document_of_row(json.loads(row["fields"])).brought_back(today)
    values = document_values(back, version) | {"number": number}
    connection.execute(statements()["update_document"], values)
    note_activation(connection, number, version, now)
    index_words(connection, back, number, version, generation)


def keep_fields(connection: sqlite3.Connection, number: int) -> None:
    """Write down what a document says, before it says something else."""
    connection.execute(statements(HISTORY)["keep_fields"], {"document": number})


def note_activation(
    connection: sqlite3.Connection, number: int, version: int, now: datetime
) -> None:
    """From now on the document is as it stands in its row."""
    at = format_time(now)
    connection.execute(statements(HISTORY)["insert_activation"], (number, version, at))


def index_words(
    connection: sqlite3.Connection, document: Document, number: int, version: int, generation: int
) -> None:
    """Make the chunks of a version searchable by words, and note them for the derived index."""
    rows = connection.execute(statements()["texts_of_version"], (number, version)).fetchall()
    connection.executemany(
        statements()["index_words"],
        [
            (
                row["number"],
                *searchable(columns(document, tuple(json.loads(row["heading"])), row["text"])),
            )
            for row in rows
        ],
    )
    connection.execute(statements()["wait_for_vectors"], (number, version))
    _note(connection, number, version, generation)


def set_hashes(
    connection: sqlite3.Connection, number: int, version: int, hashes: Sequence[str]
) -> None:
    """New embedding hashes for the chunks of a version, in the order of their ordinals."""
    found = connection.execute(statements()["ordinals_of_version"], (number, version)).fetchall()
    rows = [(hash, number, version, row[0]) for hash, row in zip(hashes, found, strict=True)]
    connection.executemany(statements()["set_embedding_hash"], rows)


def unindex_words(
    connection: sqlite3.Connection, number: int, version: int, generation: int
) -> None:
    """Take the chunks of a version out of the word index, and note them."""
    connection.execute(statements()["unindex_words"], (number, version))
    values = {"document": number, "version": version}
    connection.execute(statements()["stop_waiting_for_version"], values)
    _note(connection, number, version, generation)


def _note(connection: sqlite3.Connection, number: int, version: int, generation: int) -> None:
    for what in ("w", "v"):
        values = {"generation": generation, "what": what, "document": number, "version": version}
        connection.execute(statements()["note_changes"], values)


def number_and_version(connection: sqlite3.Connection, document: str) -> tuple[int, int]:
    row = connection.execute(statements()["document_by_id"], (document,)).fetchone()
    if row is None:
        raise UnknownDocument(f"there is no document '{document}'; 'trivium list' shows them")
    return row["number"], row["version"]


def select_json(
    connection: sqlite3.Connection, query: str, values: Iterable[object]
) -> list[sqlite3.Row]:
    return connection.execute(statements()[query], (json.dumps(list(values)),)).fetchall()
