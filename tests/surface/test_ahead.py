"""A writer of much has a child process index what is committed; nothing depends on it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from trivium.protocols import Model
from trivium.store.sqlite import SqliteStore, ahead, connection
from trivium.types import OWNER, Bm25, Clause, Document, Draft, Filter, Passage, Phrase, WordQuery

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODEL = Model("given", "given/4", 4, True)
AXE = WordQuery.any_of([Clause((Phrase(("ax",)),))])


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten chunks are many."""
    monkeypatch.setattr(ahead, "ENOUGH", 10)


def write(store: SqliteStore, first: int, count: int = 10) -> None:
    """Notes with these numbers and the vectors of their only chunks."""
    hashes = [f"hash-{number}" for number in range(first, first + count)]
    drafts = [
        Draft(
            Document(f"note-{number}", f"notes:{number}", f"Note {number}"),
            (Passage("an axe" + " and a shield" * (number % 5)),),
            (hash,),
        )
        for number, hash in enumerate(hashes, first)
    ]
    store.put(drafts, NOW)
    vectors = np.random.default_rng(first).normal(size=(count, 4)).astype(np.float32)
    store.save_vectors(MODEL.fingerprint, hashes, vectors)


def answers(store: SqliteStore) -> object:
    with store.view(OWNER) as view:
        found = view.words(AXE, Bm25(), Filter(), 100, "chunk")
        near = view.nearest(np.array([1, 2, 3, 4], np.float32), Filter(), 100, "chunk")
        return found.scored, near.scored


def written_down(folder: Path) -> int:
    """Up to which generation the index on the disk reaches; 0 if there is none."""
    try:
        return int(json.loads((folder / "cache" / "manifest.json").read_text())["generation"])
    except FileNotFoundError:
        return 0


def files_in(folder: Path) -> set[str]:
    return {file.name for file in (folder / "cache").glob("*.arrays*")}


def files_named(folder: Path) -> set[str]:
    manifest = json.loads((folder / "cache" / "manifest.json").read_text())
    return {manifest["alive"], *manifest["segments"], *manifest["blocks"]}


def until(true: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it never came true")


@pytest.fixture
def right(tmp_path: Path) -> object:
    """The answers of a library of fifty notes that nobody helped with."""
    store = made(tmp_path / "alone")
    for first in range(0, 50, 10):
        write(store, first)
    found = answers(store)
    store.close()
    return found


def made(folder: Path) -> SqliteStore:
    folder.mkdir()
    store = SqliteStore(folder, create=True)
    store.use_model(MODEL)
    return store


@pytest.mark.usefixtures("eager")
def test_most_of_the_index_is_there_before_anybody_asks(tmp_path: Path, right: object) -> None:
    store = made(tmp_path / "helped")
    for first in range(0, 40, 10):
        write(store, first)
    until(lambda: written_down(tmp_path / "helped") >= 8)  # the last `put` of four
    write(store, 40)
    store.close()
    assert written_down(tmp_path / "helped") == 11
    assert files_in(tmp_path / "helped") == files_named(tmp_path / "helped")  # no half-way ones
    again = SqliteStore(tmp_path / "helped")
    assert answers(again) == right
    assert again.check() == []
    again.close()


@pytest.mark.usefixtures("eager")
def test_a_search_takes_what_was_written_down_meanwhile(tmp_path: Path, right: object) -> None:
    store = made(tmp_path / "helped")
    write(store, 0)
    answers(store)  # of this state the process has an index of its own
    for first in range(10, 50, 10):
        write(store, first)
    until(lambda: written_down(tmp_path / "helped") >= 10)
    assert answers(store) == right
    store.close()


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("moment", ["before it is asked", "while it is asked"])
def test_a_child_that_is_gone_is_missed_by_nobody(
    tmp_path: Path, right: object, moment: str
) -> None:
    store = made(tmp_path / "helped")
    write(store, 0)
    child = store._ahead._child
    assert child is not None
    if moment == "before it is asked":
        until(lambda: written_down(tmp_path / "helped") > 0)
    os.kill(child.pid, signal.SIGKILL)
    for first in range(10, 50, 10):
        write(store, first)
    store.flush()
    assert answers(store) == right
    store.close()


@pytest.mark.usefixtures("eager")
def test_a_child_with_nothing_to_do_changes_nothing(tmp_path: Path) -> None:
    """Neither is the manifest read again for each search, nor written for nothing."""
    store = made(tmp_path / "helped")
    for first in range(0, 50, 10):
        write(store, first)
    store.flush()
    write(store, 50, 5)
    assert not store._derived.helped
    store.flush()
    manifest = tmp_path / "helped" / "cache" / "manifest.json"
    written = manifest.stat().st_mtime_ns
    store._go_ahead()
    store.flush()
    assert manifest.stat().st_mtime_ns == written
    store.close()


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("python", ["/no/such/python", "/bin/true"])
def test_where_no_child_can_be_started_all_is_as_ever(
    tmp_path: Path, right: object, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    store = made(tmp_path / "helped")
    for first in range(0, 50, 10):
        write(store, first)
    store.flush()
    assert answers(store) == right
    store.close()


@pytest.mark.usefixtures("eager")
def test_a_child_that_hangs_is_not_waited_for(
    tmp_path: Path, right: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "PATIENCE", 0.2)
    store = made(tmp_path / "helped")
    write(store, 0)
    child = store._ahead._child
    assert child is not None
    os.kill(child.pid, signal.SIGSTOP)
    for first in range(10, 50, 10):
        write(store, first)
    store.flush()
    assert child.poll() is not None
    assert answers(store) == right
    store.close()


@pytest.mark.usefixtures("eager")
def test_what_the_child_wrote_may_be_damaged(tmp_path: Path, right: object) -> None:
    store = made(tmp_path / "helped")
    for first in range(0, 50, 10):
        write(store, first)
    store._ahead.wait()
    (tmp_path / "helped" / "cache" / "manifest.json").write_text("{")
    store.flush()
    assert answers(store) == right
    shutil.rmtree(tmp_path / "helped" / "cache")
    store.close()
    again = SqliteStore(tmp_path / "helped")
    assert answers(again) == right
    again.close()


@pytest.mark.usefixtures("eager")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="only Linux tells what is open")
def test_a_child_keeps_no_more_files_open_however_much_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LOG_PAGES", 20)  # the file itself changes again and again
    store = made(tmp_path / "helped")
    for first in range(0, 200, 10):
        write(store, first)
        store._ahead.wait()
    child = store._ahead._child
    assert child is not None
    opened = [os.readlink(one) for one in Path(f"/proc/{child.pid}/fd").iterdir()]
    assert len([one for one in opened if "index.db" in one]) <= 3  # with its log
    store.close()


WRITER = """
    import sys
    sys.path[:0] = sys.argv[2:]
    from pathlib import Path
    from test_ahead import ahead, made, write
    ahead.ENOUGH = 10
    store = made(Path(sys.argv[1]))
    for first in range(0, 1_000_000, 10):
        write(store, first)
        print(first + 10, store._ahead._child.pid, flush=True)
"""


def test_a_writer_that_is_killed_leaves_what_it_reported_and_no_child(tmp_path: Path) -> None:
    folder = tmp_path / "helped"
    writer = subprocess.Popen(
        [sys.executable, "-c", dedent(WRITER), str(folder), str(Path(__file__).parent)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    until(lambda: written_down(folder) > 0)
    for line in writer.stdout:
        written, child = map(int, line.split())
        if written >= 200:
            break
    writer.kill()
    said = writer.communicate()[0].split()
    written = int(said[-2]) if len(said) >= 2 else written
    until(lambda: is_dead(child))
    store = SqliteStore(folder)
    assert store.check() == []
    with store.view(OWNER) as view:
        found = view.words(AXE, Bm25(), Filter(), 1_000_000, "chunk")
        assert len(found.scored) in (written, written + 10)
    store.close()
    with sqlite3.connect(folder / "index.db") as record:  # as any tool sees it
        (count,) = record.execute("SELECT count(*) FROM words WHERE words MATCH 'axe'").fetchone()
    assert count in (written, written + 10)


def is_dead(process: int) -> bool:
    """Whether it has ended, also if that is between opening its file and reading it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
