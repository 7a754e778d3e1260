"""What `status` and `doctor` ask: counts, and what is wrong."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from trivium.errors import LibraryError
from trivium.store.sqlite.connection import Connections, in_our_words, statements


def status(connections: Connections) -> dict[str, Any]:
    """Counts of what is stored, by kind and scope, and how far the cache reaches."""
    with in_our_words(connections.path):
        reader = connections.reader()
        counts = dict(reader.execute(statements()["counts"]).fetchone())
        (generation,) = reader.execute(statements()["generation"]).fetchone()
        return {
            **counts,
            "kinds": dict(tuple(row) for row in reader.execute(statements()["counts_by_kind"])),
            "scopes": dict(tuple(row) for row in reader.execute(statements()["counts_by_scope"])),
            "generation": generation,
            "bytes": connections.path.stat().st_size,
            "writable": connections.writable,
        }


def check(connections: Connections) -> list[str]:
    """What is wrong with the record; an unreadable one is described as far as it can be read."""
    try:
        with in_our_words(connections.path):
            damage = _integrity(connections.reader())
            if not damage:
                return _consistency(connections.reader())
    except LibraryError as error:
        damage = [str(error).partition("; run 'trivium doctor'")[0]]
    return [*damage, *_what_is_left(connections)]


def examine_record(path: Path) -> list[str]:
    """The same for a record that cannot be opened as a library."""
    connections = Connections(path, writable=False)
    try:
        return check(connections)
    finally:
        connections.close()


def _integrity(reader: sqlite3.Connection) -> list[str]:
    problems = [row[0] for row in reader.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
    problems += [
        f"table {row[0]} has a row that points to nothing ({row[2]})"
        for row in reader.execute("PRAGMA foreign_key_check")
    ]
    return problems


_QUESTIONS = {
    "unindexed_chunks": "active chunks are missing from the word index",
    "orphaned_words": "rows of the word index belong to no active chunk",
    "lost_waiting": "texts have no vector and do not wait for one",
    "misfit_vectors": "vectors do not have their model's dimension",
}


def _consistency(reader: sqlite3.Connection) -> list[str]:
    problems = []
    for name, meaning in _QUESTIONS.items():
        (count,) = reader.execute(statements()[name]).fetchone()
        if count:
            problems.append(f"{count} {meaning}")
    return problems


def _what_is_left(connections: Connections) -> list[str]:
    left = []
    for table in ("documents", "versions", "chunks", "vectors", "quads", "feedback"):
        try:
            with in_our_words(connections.path):
                reader = connections.reader()
                rows = reader.execute(f"SELECT rowid FROM {table}")  # a name from this list
                left.append(f"{table}: {sum(1 for _ in rows)} rows can be read")
        except (LibraryError, sqlite3.Error):
            left.append(f"{table}: cannot be read")
    return left
