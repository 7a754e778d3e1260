"""The record's past, as a part of the store: when versions were active, what can be let go."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from trivium.clock import format_time, parse_time
from trivium.protocols import Pruned
from trivium.store.record.database import Database, Transaction, listed, repeatable

ALL = 1 << 60
"""More versions than there are."""


class RecordHistory:
    """Moments, sources and blobs of all versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def became_active(self, document: str, version: int) -> datetime | None:
        with self._database.reading() as reader:
            row = reader.execute("became_active", (document, version)).fetchone()
        return parse_time(row["at"]) if row else None

    def scope_of(self, document: str, version: int) -> str | None:
        with self._database.reading() as reader:
            row = reader.execute("scope_of_version", (document, version)).fetchone()
        if row is None:
            return None
        if row["fields"] is None:  # as it is now
            return str(row["scope"])
        scope: str | None = json.loads(row["fields"]).get("scope")
        return scope

    def source_hashes(self, but: Sequence[tuple[str, int]] = ()) -> set[str]:
        gone = set(but)
        with self._database.reading() as reader:
            rows = reader.execute("source_hashes")
            return {hash for id, version, hash in rows if (id, version) not in gone}

    def blobs(self, hashes: Iterable[str]) -> dict[str, str]:
        with self._database.reading() as reader:
            rows = reader.execute("blobs", (listed(hashes),))
            return {row["hash"]: row["uri"] for row in rows}

    @repeatable
    def add_blob(self, hash: str, uri: str) -> None:
        with self._database.writing() as transaction:
            transaction.execute("add_blob", (hash, uri))

    @repeatable
    def prune(self, keep: int | None, before: datetime | None, *, dry_run: bool) -> Pruned:
        """One transaction, undone when it is only for show."""
        asked = keep is not None or before is not None
        values = {
            "keep": (keep or 0) if asked else ALL,
            "before": format_time(before) if before else "9999",
        }
        try:
            with self._database.writing() as transaction:
                old = transaction.execute("old_versions", values).fetchall()
                freed = sum(_let_go(transaction, row["document"], row["version"]) for row in old)
                vectors, size = transaction.execute("idle_vectors").fetchone()
                transaction.execute("delete_idle_vectors")
                if dry_run:
                    raise _OnlyForShow
        except _OnlyForShow:
            pass
        return Pruned(
            tuple((row["id"], row["version"]) for row in old), vectors, freed + (size or 0)
        )

    def compact(self) -> None:
        self._database.compact()


def _let_go(transaction: Transaction, document: int, version: int) -> int:
    """Delete a version; how many bytes it was."""
    place = {"document": document, "version": version}
    (freed,) = transaction.execute("version_bytes", place).fetchone()
    for name in ("delete_chunks", "delete_quads", "delete_version", "bury"):
        transaction.execute(name, place)
    return int(freed)


class _OnlyForShow(Exception):
    """Undoes the transaction of a dry run."""
