"""The word index of SQLite is left in many pieces, and finds the same in them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from trivium.store.sqlite import SqliteStore
from trivium.types import Document, Draft, Passage

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_pieces_are_merged_when_there_are_many(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, create=True)
    reader = store._connections.reader()

    def pieces() -> int:
        [(count,)] = reader.execute("SELECT count(DISTINCT segid) FROM words_idx")
        return int(count)

    def put(first: int, count: int) -> None:
        for number in range(first, first + count):
            document = Document(f"d{number}", f"notes:{number}", f"Note {number}")
            store.put([Draft(document, (Passage("an axe"),), ("",))], NOW)

    put(0, 40)
    assert pieces() == 40
    put(40, 160)
    assert pieces() < 128
    [(found,)] = reader.execute("SELECT count(*) FROM words WHERE words MATCH 'axe'")
    assert found == 200
    store.remove(["d7"])
    [(found,)] = reader.execute("SELECT count(*) FROM words WHERE words MATCH 'axe'")
    assert found == 199
    assert store.check() == []
    store.optimize()
    assert pieces() == 1
    store.close()
