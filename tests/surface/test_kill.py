"""A hundred times kill -9 at random moments: what was reported as done is there, nothing twice."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import trivium
from trivium.errors import UnknownDocument
from trivium.types import Filter

KILLS = 100
NAMES = [f"note-{i}" for i in range(12)]


def work(folder: Path, first: int, report: Connection) -> None:
    """Add, edit and remove at random; say (number, name, what) after each that is done."""
    chance = random.Random(first)
    with trivium.open(folder) as library:
        report.send("ready")
        for number in range(first, first + 100_000):
            name = chance.choice(NAMES)
            if chance.random() < 0.2:
                try:
                    library.remove(name)
                except UnknownDocument:
                    continue
                report.send((number, name, "removed"))
            else:
                library.add_text(f"the axe of change {number}", title=name, id=name)
                report.send((number, name, "written"))
            if chance.random() < 0.1:
                library.search("axe")


def killed_after(
    folder: Path, first: int, reports: int, delay: float
) -> list[tuple[int, str, str]]:
    """Let a process work until it said so often that something is done, and a moment more; kill
    it, and give back what it said.
    """
    mine, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=work, args=(folder, first, theirs))
    process.start()
    theirs.close()
    assert mine.recv() == "ready"
    done: list[tuple[int, str, str]] = [mine.recv() for _ in range(reports)]
    time.sleep(delay)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    try:
        while True:
            done.append(mine.recv())
    except (EOFError, ConnectionResetError):
        return done


def check(folder: Path, states: dict[str, tuple[int, str]]) -> None:
    """The library holds for each name what was last reported, or the one write after it."""
    with trivium.open(folder) as library:
        assert library.doctor() == []
        documents = library.documents(Filter())
        assert len({document.id for document in documents}) == len(documents)
        present = {document.id for document in documents}
        for name, (number, what) in states.items():
            if name in present:
                [reading] = library.get(name)
                held = int(reading.text.rpartition(" ")[2])
                assert held > number if what == "removed" else held >= number
        hits = library.search("axe", limit=100, legs=["keyword"]) if present else ()
        assert {hit.id for hit in hits} == present


def test_nothing_reported_is_lost_and_nothing_is_there_twice(tmp_path: Path) -> None:
    folder = tmp_path / "t.trivium"
    with trivium.init(folder, model="hashing") as library:  # also loads what the forks will need
        library.add_text("the axe of change -1", title=NAMES[0], id=NAMES[0])
    chance = random.Random(7)
    states: dict[str, tuple[int, str]] = {}
    for round in range(KILLS):
        reports, delay = chance.randrange(4), chance.uniform(0, 0.05)
        done = killed_after(folder, round * 100_000, reports, delay)
        for number, name, what in done:
            states[name] = (number, what)
        if round % 10 == 9:
            check(folder, states)
    removed = {name for name, (_, what) in states.items() if what == "removed"}
    assert len(states) == len(NAMES)
    assert len(removed) < len(NAMES)
