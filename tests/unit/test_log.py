"""The log of a library that grows is moved in a thread; nothing is lost or held up by it."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from trivium.store.sqlite import connection, log
from trivium.store.sqlite.connection import PAGE, Connections

BATCHES = 60


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen pages are much, and the writer itself would never move the log."""
    monkeypatch.setattr(log, "GROWTH", 16)
    monkeypatch.setattr(log, "FEW", 8)
    monkeypatch.setattr(connection, "LOG_PAGES", 1 << 30)


def made(folder: Path) -> Connections:
    connections = Connections(folder / "index.db", writable=True)
    with connections.write() as writer:
        writer.execute("CREATE TABLE things (thing TEXT)")
    return connections


def write(connections: Connections, count: int = BATCHES) -> None:
    """Four pages each time; what a thread has begun is done before the next."""
    for _ in range(count):
        with connections.write() as writer:
            writer.execute("INSERT INTO things VALUES (?)", ("a" * 4 * PAGE,))
        if connections._log._thread is not None:
            connections._log._thread.join()


def count(path: Path) -> int:
    reader = sqlite3.connect(path)
    (things,) = reader.execute("SELECT count(*) FROM things").fetchone()
    assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    reader.close()
    return int(things)


@pytest.mark.usefixtures("eager")
def test_the_log_of_what_grows_begins_anew(tmp_path: Path) -> None:
    connections = made(tmp_path)
    write(connections)
    log_pages = (tmp_path / "index.db-wal").stat().st_size // PAGE
    assert log_pages < 60  # of 250 that were written
    assert (tmp_path / "index.db").stat().st_size // PAGE > 200
    assert count(tmp_path / "index.db") == BATCHES
    connections.close()
    assert count(tmp_path / "index.db") == BATCHES


@pytest.mark.usefixtures("eager")
def test_who_reads_an_old_state_goes_on_seeing_it(tmp_path: Path) -> None:
    connections = made(tmp_path)
    write(connections, 10)
    reader = connections.reader()
    reader.execute("BEGIN")
    before = "SELECT count(*) FROM things"
    assert reader.execute(before).fetchone()[0] == 10
    write(connections)
    assert reader.execute(before).fetchone()[0] == 10
    reader.execute("COMMIT")
    assert reader.execute(before).fetchone()[0] == 10 + BATCHES
    connections.close()
    assert count(tmp_path / "index.db") == 10 + BATCHES


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("trouble", ["no connection", "no thread"])
def test_where_it_cannot_be_moved_it_stays(
    tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connections = made(tmp_path)

    def fails(*given: object) -> None:
        raise sqlite3.OperationalError if trouble == "no connection" else RuntimeError

    if trouble == "no connection":
        monkeypatch.setattr(connections._log, "_connect", fails)
    else:
        monkeypatch.setattr(threading.Thread, "start", fails)
    write(connections)
    assert (tmp_path / "index.db-wal").stat().st_size // PAGE > 200
    monkeypatch.undo()
    connections.close()
    assert count(tmp_path / "index.db") == BATCHES


@pytest.mark.usefixtures("eager")
def test_closing_waits_for_the_thread_and_leaves_no_log(tmp_path: Path) -> None:
    connections = made(tmp_path)
    for _ in range(BATCHES):
        with connections.write() as writer:
            writer.execute("INSERT INTO things VALUES (?)", ("a" * 4 * PAGE,))
    connections.close()
    assert not (tmp_path / "index.db-wal").exists()
    assert count(tmp_path / "index.db") == BATCHES


@pytest.mark.usefixtures("eager")
def test_a_library_that_was_compacted_grows_anew(tmp_path: Path) -> None:
    connections = made(tmp_path)
    write(connections)
    with connections.write() as writer:
        writer.execute("DELETE FROM things")
    connections.compact()
    write(connections, BATCHES // 2)
    assert (tmp_path / "index.db-wal").stat().st_size // PAGE < 60  # of 125 that were written
    connections.close()
    assert count(tmp_path / "index.db") == BATCHES // 2
