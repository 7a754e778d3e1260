"""Both rankings and their fusion in a single statement, as document 003 has it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trivium.store.record.rows import parts_of
from trivium.store.sqlite.connection import Connections, in_our_words, statements
from trivium.store.sqlite.view import SqliteView
from trivium.types import Filter


class SqliteFused:
    """The statement, what it binds, and its answer."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @property
    def sql(self) -> str:
        return statements()["fused"]

    def run(self, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(self.sql, dict(parameters))
            return [dict(row) for row in rows]


def places(chunks: Sequence[str]) -> str:
    """Chunk ids as the statement takes them: document, version and ordinal of each, in order."""
    return json.dumps([parts_of(chunk) for chunk in chunks])


def allowed(view: SqliteView, filter: Filter) -> str | None:
    """The chunks that a filter leaves, as the statement takes them; NULL is all of them."""
    numbers = view.numbers(filter)
    return None if numbers is None else json.dumps(numbers)
