"""Keys in the record: their hashes, and what they grant."""

from __future__ import annotations

import json
from datetime import datetime

from trivium.clock import format_time, parse_time
from trivium.errors import InvalidValue
from trivium.keys import Key
from trivium.store.record.database import Database, Row, repeatable
from trivium.types import Grant


class RecordKeys:
    """The table `keys`. A key that was revoked keeps its row and its name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def add(self, key: Key, hash: str) -> None:
        scopes = key.grant.scopes
        values = {
            "id": key.id,
            "name": key.name,
            "hash": hash,
            "role": key.role,
            "scopes": None if scopes is None else json.dumps(sorted(scopes)),
            "created": format_time(key.created),
            "expires": format_time(key.expires) if key.expires else None,
        }
        with self._database.writing() as transaction:
            if transaction.execute("key_name_is_taken", (key.name,)).fetchone():
                raise InvalidValue(f"there is a key named '{key.name}' already; choose another")
            transaction.execute("add_key", values)

    def all(self) -> list[Key]:
        with self._database.reading() as reader:
            return [_key(row) for row in reader.execute("keys")]

    def with_hash(self, hash: str) -> Key | None:
        with self._database.reading() as reader:
            row = reader.execute("key_by_hash", (hash,)).fetchone()
        return _key(row) if row else None

    @repeatable
    def revoke(self, id: str, now: datetime) -> None:
        with self._database.writing() as transaction:
            transaction.execute("revoke_key", (format_time(now), id))


def _key(row: Row) -> Key:
    scopes = row["scopes"]
    return Key(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        grant=Grant(None if scopes is None else frozenset(json.loads(scopes))),
        created=parse_time(row["created"]),
        expires=parse_time(row["expires"]) if row["expires"] else None,
        revoked=parse_time(row["revoked"]) if row["revoked"] else None,
    )
