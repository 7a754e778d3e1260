"""What the record is written with is there in every database: the same tables, all statements."""

from __future__ import annotations

import ast
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from test_stores import Fresh
from worlds import NOW

import trivium
from trivium.store.record.statements import SHARED, dialect
from trivium.store.sqlite import SqliteStore
from trivium.types import Document, Draft, Passage

OWN = {"fresh_sketches", "words", "migrations", "changes"}
"""Tables that each database has in its own way."""


def named(file: Path) -> Iterator[str]:
    """The statements that a module runs by name."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            function = node.func
            called = function.attr if isinstance(function, ast.Attribute) else ""
            called = function.id if isinstance(function, ast.Name) else called
            place = {"execute": 0, "executemany": 0, "streaming": 0, "select": 1}.get(called)
            if place is not None and place < len(node.args):
                first = node.args[place]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_every_statement_is_there(database: str) -> None:
    used = {name for file in SHARED.glob("*.py") for name in named(file)}
    assert len(used) > 80  # they are found
    folder = Path(trivium.__file__).parent / "store" / database
    assert used <= dialect(folder).keys()


def test_the_tables_are_the_same(tmp_path: Path, fresh_postgres: Fresh) -> None:
    SqliteStore(tmp_path, create=True).close()
    with closing(sqlite3.connect(tmp_path / "index.db")) as record:
        rows = record.execute(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
            "WHERE m.type = 'table' AND m.name NOT LIKE 'words%' AND m.name NOT LIKE 'sqlite%'"
        ).fetchall()
    mine = {(table, column) for table, column in rows if table not in OWN}
    with fresh_postgres() as reopen:
        connections = reopen()._connections
        with connections.reading() as reader:
            found = reader.connection.execute(
                "SELECT table_name::text, column_name::text FROM information_schema.columns "
                "WHERE table_schema = current_schema()"
            ).fetchall()
    theirs = {(table, column) for table, column in found}
    assert mine <= theirs


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_who_shares_a_band_is_told_oldest_first_and_without_those_removed(
    database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A library of copies must not be read whole: so many of each band, and the others too."""
    with ExitStack() as closing_later:
        if database == "sqlite":
            store: Any = closing_later.enter_context(closing(SqliteStore(tmp_path, create=True)))
        else:
            fresh: Fresh = request.getfixturevalue("fresh_postgres")
            store = closing_later.enter_context(fresh())()
        names = ["z", "a", "m", "c"]
        drafts = [Draft(Document(id, f"text:{id}", id), (Passage(id),), ("",)) for id in names]
        store.put(drafts, NOW)
        store.catalogue.keep_sketches({"z": [7, -5], "a": [7], "m": [7], "c": [-5]})
        assert store.catalogue.sharing([7, -5, 9, 7], 2) == {7: ["z", "a"], -5: ["z", "c"]}
        store.catalogue.settle_sketches()
        assert store.catalogue.sharing([7, -5, 9, 7], 2) == {7: ["z", "a"], -5: ["z", "c"]}
        store.catalogue.keep_sketches({"c": [7], "z": [7], "m": [9]})
        assert store.catalogue.sharing([7, 9], 2) == {7: ["z", "a"], 9: ["m"]}
        store.remove(["z"])
        assert store.catalogue.sharing([7, -5], 2) == {7: ["a", "m"], -5: ["c"]}
