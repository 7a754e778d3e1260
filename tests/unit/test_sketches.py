"""Who shares a sketch with a text is told at the same price, however many do."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from trivium.store.sqlite import SqliteStore
from trivium.types import Document, Draft, Passage

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def steps(store: SqliteStore) -> int:
    """How many hundreds of steps SQLite takes to name those that share a band."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    reader = store._connections.reader()
    reader.set_progress_handler(count, 100)
    found = store.catalogue.sharing([7, 8], 32)
    reader.set_progress_handler(None, 0)
    assert [len(found[band]) for band in (7, 8)] == [32, 32]
    return taken


@pytest.mark.parametrize("settled", [False, True])
def test_copies_of_one_text_cost_no_more_the_more_there_are(tmp_path: Path, settled: bool) -> None:
    """They cost as much as there were: ten thousand notes of one template took half an hour."""
    taken = []
    for count in (100, 1000):
        folder = tmp_path / str(count)
        folder.mkdir()
        store = SqliteStore(folder, create=True)
        names = [f"n{number}" for number in range(count)]
        drafts = [
            Draft(Document(name, f"x:{name}", name), (Passage("an axe"),), ("",)) for name in names
        ]
        store.put(drafts, NOW)
        store.catalogue.keep_sketches({name: [7, 8] for name in names})
        if settled:
            store.catalogue.settle_sketches()
        taken.append(steps(store))
        store.close()
    few, many = taken
    assert many <= 2 * few + 10
