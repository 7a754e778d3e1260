"""Each hit says how it stands to its live source."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

import trivium
from trivium.freshness import freshness
from trivium.library import Library


@pytest.fixture
def note(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    path = tmp_path / "notes" / "axe.md"
    path.write_text("An axe.")
    return path


@pytest.fixture
def library(tmp_path: Path, note: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "t.trivium", model="none") as made:
        made.add(note.parent)
        yield made


def fresh(library: Library) -> str:
    return library.search("axe").hits[0].freshness


def test_current_stale_missing_and_current_again(library: Library, note: Path) -> None:
    assert fresh(library) == "current"
    note.write_text("An axe and a sword.")
    assert fresh(library) == "stale"
    note.unlink()
    assert fresh(library) == "missing"
    note.write_text("An axe and a sword.")
    library.add(note)
    assert fresh(library) == "current"


def test_a_file_that_was_only_touched_is_current(library: Library, note: Path) -> None:
    os.utime(note, (1, 1))
    assert fresh(library) == "current"


def test_a_change_that_keeps_the_size_is_stale(library: Library, note: Path) -> None:
    note.write_text("An ace.")
    assert fresh(library) == "stale"


def test_what_came_from_no_file_is_unverified(library: Library) -> None:
    library.add_text("A sword.", title="sword")
    assert library.search("sword").hits[0].freshness == "unverified"


def test_it_takes_less_than_a_millisecond_a_hit(library: Library) -> None:
    document = library.search("axe").hits[0].document
    sources = {"notes": str(Path(document.uri).parent)}
    started = perf_counter()
    for _ in range(100):
        freshness(document, sources)
    assert (perf_counter() - started) / 100 < 0.001
