"""Source files in the database, so that every machine that has the library has them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from hashlib import sha256

from trivium.store.postgres.connection import Connections
from trivium.store.record.database import listed, repeatable

GRACE = "1 hour"
"""For how long a file that no version refers to is left alone: an `add` may be under way."""


class PostgresArchive:
    """The table `archive`. A file is written once, beside the record's transactions."""

    def __init__(self, database: Connections) -> None:
        self._database = database

    @repeatable
    def put(self, data: bytes) -> str:
        hash = sha256(data).hexdigest()
        with self._database.beside() as transaction:
            if not transaction.execute("touch_source", (hash,)).rowcount:
                transaction.execute("keep_source", (hash, data))
        return hash

    def get(self, hash: str) -> bytes | None:
        with self._database.reading() as reader:
            row = reader.execute("source", (hash,)).fetchone()
        data = bytes(row["data"]) if row else None
        return data if data is not None and sha256(data).hexdigest() == hash else None

    def kept(self, hashes: Iterable[str]) -> set[str]:
        with self._database.reading() as reader:
            rows = reader.execute("sources_kept", (listed(hashes),))
            return {row["hash"] for row in rows}

    def prune(self, referenced: Collection[str], *, dry_run: bool) -> tuple[int, int]:
        values = {"referenced": listed(referenced), "grace": GRACE}
        with self._database.beside() as transaction:
            unused = transaction.execute("unused_sources", values).fetchall()
            if not dry_run:
                for row in unused:
                    transaction.execute("forget_source", (row["hash"],))
        return len(unused), sum(row["bytes"] for row in unused)

    @repeatable
    def remove(self, hash: str) -> None:
        with self._database.beside() as transaction:
            transaction.execute("forget_source", (hash,))
