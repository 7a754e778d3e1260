"""What `doctor` asks of a file: whether SQLite can read it, and what is left where it cannot."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from trivium.errors import LibraryError
from trivium.store.record.inspect import consistency
from trivium.store.sqlite.connection import Connections, in_our_words


def check(connections: Connections) -> list[str]:
    """What is wrong with the record; an unreadable one is described as far as it can be read."""
    try:
        with in_our_words(connections.path):
            damage = _integrity(connections.reader())
            if not damage:
                with connections.reading() as reader:
                    return consistency(reader)
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
