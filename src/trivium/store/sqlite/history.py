"""The record's past, as a part of the store: when versions were active, what can be let go."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from trivium.clock import format_time, parse_time
from trivium.errors import LibraryError
from trivium.protocols import Pruned
from trivium.store.sqlite.connection import (
    HISTORY,
    WAIT_SECONDS,
    Connections,
    in_our_words,
    statements,
)

ALL = 1 << 60
"""More versions than there are."""

MOMENT = 1000
"""Milliseconds to wait for others before the disk keeps its pages: nobody is stopped for that."""


class SqliteHistory:
    """Moments, sources and blobs of all versions."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def became_active(self, document: str, version: int) -> datetime | None:
        with in_our_words(self._connections.path):
            query = statements(HISTORY)["became_active"]
            row = self._connections.reader().execute(query, (document, version)).fetchone()
        return parse_time(row["at"]) if row else None

    def source_hashes(self, but: Sequence[tuple[str, int]] = ()) -> set[str]:
        gone = set(but)
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(statements(HISTORY)["source_hashes"])
            return {hash for id, version, hash in rows if (id, version) not in gone}

    def blobs(self, hashes: Iterable[str]) -> dict[str, str]:
        with in_our_words(self._connections.path):
            values = (json.dumps(list(hashes)),)
            rows = self._connections.reader().execute(statements(HISTORY)["blobs"], values)
            return {row["hash"]: row["uri"] for row in rows}

    def add_blob(self, hash: str, uri: str) -> None:
        with self._connections.write() as connection:
            connection.execute(statements(HISTORY)["add_blob"], (hash, uri))

    def prune(self, keep: int | None, before: datetime | None, *, dry_run: bool) -> Pruned:
        """One transaction, undone when it is only for show."""
        asked = keep is not None or before is not None
        values = {
            "keep": (keep or 0) if asked else ALL,
            "before": format_time(before) if before else "9999",
        }
        try:
            with self._connections.write() as connection:
                old = connection.execute(statements(HISTORY)["old_versions"], values).fetchall()
                numbers = [(row["document"], row["version"]) for row in old]
                freed = 0
                for place in numbers:
                    query = statements(HISTORY)["version_bytes"]
                    freed += connection.execute(query, place * 2).fetchone()[0]
                    for name in ("delete_chunks", "delete_quads", "delete_version", "bury"):
                        connection.execute(statements(HISTORY)[name], place)
                query = statements(HISTORY)["idle_vectors"]
                vectors, size = connection.execute(query).fetchone()
                connection.execute(statements(HISTORY)["delete_idle_vectors"])
                if dry_run:
                    raise _OnlyForShow
        except _OnlyForShow:
            pass
        return Pruned(
            tuple((row["id"], row["version"]) for row in old), vectors, freed + (size or 0)
        )

    def compact(self) -> None:
        """Give the freed pages back to the disk; if somebody is writing, they are used again."""
        try:
            with in_our_words(self._connections.path):
                reader = self._connections.reader()
                reader.execute(f"PRAGMA busy_timeout = {MOMENT}")
                try:
                    reader.execute("VACUUM")
                    reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    reader.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")
        except LibraryError:
            return


class _OnlyForShow(Exception):
    """Undoes the transaction of a dry run."""
