"""What is asked once for each document or batch is looked up: by the first letters of a hash, in
old libraries too, and never by reading a whole table.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from trivium.protocols import Model
from trivium.store.record.copying import TABLES
from trivium.store.sqlite import SqliteStore, connection
from trivium.store.sqlite.connection import statements
from trivium.types import OWNER, Document, Draft, Filter, Passage

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LOOKUPS = {
    "documents_by_source_hash": "documents_by_source_hash",
    "pending": "chunks_by_embedding_hash",
    "problems": "chunks_by_embedding_hash",
    "note_vector_changes": "chunks_by_embedding_hash",
    "stop_waiting_for_version": "chunks_by_embedding_hash",
    "stop_waiting_in_vain": "chunks_by_embedding_hash",
}


def put(store: SqliteStore, name: str, hash: str) -> None:
    document = Document(name, f"notes:{name}", name, source_hash=hash)
    store.put([Draft(document, (Passage("an axe"),), (hash,))], NOW)


def plan_of(folder: Path, statement: str) -> str:
    """How SQLite goes about a statement."""
    store = SqliteStore(folder, create=True)
    query = statements()[statement]
    names = ("generation", "hashes", "document", "version", "hash", "fingerprint", "limit")
    values = [""] * query.count("?") if "?" in query else dict.fromkeys(names, "")
    rows = store._connections.reader().execute(f"EXPLAIN QUERY PLAN {query}", values)
    plan = " ".join(row["detail"] for row in rows)
    store.close()
    return plan


@pytest.mark.parametrize("statement", LOOKUPS)
def test_a_hash_is_looked_up_and_not_looked_for(tmp_path: Path, statement: str) -> None:
    assert f"INDEX {LOOKUPS[statement]} (<expr>=?)" in plan_of(tmp_path, statement)


@pytest.mark.parametrize("statement", ["stop_waiting_for_version", "stop_waiting_in_vain"])
def test_a_text_that_waits_no_more_is_not_looked_for_among_all(
    tmp_path: Path, statement: str
) -> None:
    assert "SEARCH waiting USING PRIMARY KEY (model=? AND hash=?)" in plan_of(tmp_path, statement)


@pytest.mark.parametrize("table", TABLES)
def test_the_next_rows_of_a_copy_are_found_without_those_before(tmp_path: Path, table: str) -> None:
    plan = plan_of(tmp_path, f"rows_of_{table}")
    assert plan.startswith(f"SEARCH {table} USING ")
    assert "TEMP B-TREE" not in plan


def test_hashes_that_begin_alike_are_told_apart(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, create=True)
    model = Model("given", "given/1", 1, True)
    store.use_model(model)
    for name, hash in (("one", "abcdefgh-1"), ("other", "abcdefgh-2")):
        put(store, name, hash)
    [found] = store.catalogue.with_content(["abcdefgh-2"])
    assert found.id == "other"
    [first, _] = store.pending(model.fingerprint, 10)
    store.remove(["one"])
    assert [one.document.id for one in store.pending(model.fingerprint, 10)] == ["other"]
    assert first.chunk.embedding_hash == "abcdefgh-1"
    store.close()


def test_a_library_of_before_gets_them_when_it_is_opened_for_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older"
    (older / "migrations").mkdir(parents=True)
    for file in (connection._HERE / "migrations").glob("*.sql"):
        if file.name < "0009":
            (older / "migrations" / file.name).write_text(file.read_text())
    with monkeypatch.context() as before:
        before.setattr(connection, "statements", lambda: statements())
        before.setattr(connection, "_HERE", older)
        store = SqliteStore(tmp_path, create=True)
    put(store, "one", "abcdefgh-1")
    store.close()
    store = SqliteStore(tmp_path)
    put(store, "other", "abcdefgh-2")
    assert store.check() == []
    with store.view(OWNER) as view:
        assert len(view.browse(Filter(), "chunk", 10).scored) == 2
    [row] = store._connections.reader().execute(
        "SELECT sql FROM sqlite_master WHERE name = 'chunks_by_embedding_hash'"
    )
    assert "substr(embedding_hash, 1, 8)" in row["sql"]
    store.close()
