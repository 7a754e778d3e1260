"""`trivium watch`: a real process, a real watcher, real files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from time import monotonic
from typing import Any

import pytest

import trivium
from trivium.errors import InvalidValue
from trivium.types import Document

PATIENCE = 30  # seconds; a loaded machine is slow, a broken watcher says nothing at all
QUIET = 2.5  # seconds without a word, when nothing should happen
AXE = "The battle axe of the dwarf king lies at the bottom of the cold river, they say."


class Watcher:
    """A `trivium watch` under way, and what it says."""

    def __init__(self, library: Path, *folders: Path) -> None:
        command = [sys.executable, "-m", "trivium", "watch", "--json", "--no-embed"]
        self.process = subprocess.Popen(
            [*command, "-L", str(library), *map(str, folders)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: Queue[str] = Queue()
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()
        self.caught_up = self.next()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)

    def next(self, seconds: float = PATIENCE) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._lines.get(timeout=seconds))
        return found

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first report that fits; a save may take more than one."""
        end = monotonic() + PATIENCE
        while True:
            report = self.next(max(end - monotonic(), 0.1))
            if wanted(report):
                return report

    def says_nothing(self) -> bool:
        try:
            self.next(QUIET)
        except Empty:
            return True
        return False

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()

    def stop(self, number: int = signal.SIGINT) -> tuple[int, str]:
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        assert self.process.stderr
        with self.process.stderr as stream:
            return code, stream.read()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "axe.md").write_text(AXE, encoding="utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Path:
    trivium.init(tmp_path / "x.trivium", model="none").close()
    return tmp_path / "x.trivium"


@pytest.fixture
def watcher(library: Path, notes: Path) -> Iterator[Watcher]:
    with closing(Watcher(library, notes)) as started:
        yield started


def stored(library: Path) -> dict[str, Document]:
    with trivium.open(library) as opened:
        return {document.uri: document for document in opened.documents()}


def test_the_life_of_a_file(watcher: Watcher, library: Path, notes: Path) -> None:
    assert len(watcher.caught_up["added"]) == 1
    [id] = watcher.caught_up["added"]

    (notes / "bow.md").write_text("An elven bow.", encoding="utf-8")
    watcher.until(lambda report: bool(report["added"]))
    assert sorted(stored(library)) == ["notes:axe.md", "notes:bow.md"]

    (notes / "axe.md").write_text(AXE + " It is rusty.", encoding="utf-8")
    assert watcher.until(lambda report: bool(report["updated"]))["updated"] == [id]
    with trivium.open(library) as opened:
        assert opened.search("rusty").hits[0].id == id

    (notes / "deep").mkdir()
    (notes / "axe.md").rename(notes / "deep" / "old axe.md")
    assert watcher.until(lambda report: bool(report["renamed"]))["renamed"] == [id]
    assert stored(library)["notes:deep/old axe.md"].id == id
    with trivium.open(library) as opened:
        assert len(opened.versions(id)) == 2

    (notes / "deep" / "old axe.md").unlink()
    assert watcher.until(lambda report: bool(report["removed"]))["removed"] == [id]
    assert sorted(stored(library)) == ["notes:bow.md"]
    assert watcher.stop() == (0, f"watching {notes}; Ctrl-C stops\nstopped\n")


def test_a_save_by_renaming_is_an_edit(watcher: Watcher, library: Path, notes: Path) -> None:
    """As vim, emacs and Word do it: a backup, a temporary file, a rename over the old one."""
    (notes / "axe.md").rename(notes / "axe.md~")
    (notes / ".axe.md.swp").write_text("swap", encoding="utf-8")
    (notes / "#axe.md#").write_text("auto-save", encoding="utf-8")
    (notes / "~$axe.docx").write_text("lock", encoding="utf-8")
    (notes / "axe.md.tmp").write_text(AXE + " It is sharp.", encoding="utf-8")
    (notes / "axe.md.tmp").rename(notes / "axe.md")
    (notes / "axe.md~").unlink()
    report = watcher.until(lambda report: bool(report["updated"]))
    assert report["updated"] == watcher.caught_up["added"]
    assert watcher.says_nothing()
    assert sorted(stored(library)) == ["notes:axe.md"]


def test_a_folder_that_moves_takes_its_documents_along(
    watcher: Watcher, library: Path, notes: Path
) -> None:
    (notes / "old").mkdir()
    (notes / "old" / "bow.md").write_text("An elven bow.", encoding="utf-8")
    [id] = watcher.until(lambda report: bool(report["added"]))["added"]
    (notes / "old").rename(notes / "new")
    assert watcher.until(lambda report: bool(report["renamed"]))["renamed"] == [id]
    assert watcher.says_nothing()
    assert stored(library)["notes:new/bow.md"].id == id


def test_what_a_folder_says_takes_effect_at_once(
    watcher: Watcher, library: Path, notes: Path
) -> None:
    (notes / ".trivium.toml").write_text('scope = "dm-only"', encoding="utf-8")
    watcher.until(lambda report: bool(report["updated"]))
    assert stored(library)["notes:axe.md"].scope == "dm-only"
    (notes / ".trivium.toml").unlink()
    watcher.until(lambda report: bool(report["updated"]))
    assert stored(library)["notes:axe.md"].scope == "all"


def test_it_catches_up_with_what_it_missed(library: Path, notes: Path) -> None:
    (notes / "bow.md").write_text("An elven bow.", encoding="utf-8")
    with closing(Watcher(library, notes)) as first:
        first.stop(signal.SIGTERM)
    before = stored(library)
    (notes / "axe.md").rename(notes / "moved.md")
    (notes / "bow.md").unlink()
    (notes / "cup.md").write_text("A cup.", encoding="utf-8")
    with closing(Watcher(library, notes)) as again:
        assert again.caught_up["renamed"] == [before["notes:axe.md"].id]
        assert again.caught_up["removed"] == [before["notes:bow.md"].id]
        assert len(again.caught_up["added"]) == 1
        assert again.stop()[0] == 0


@pytest.mark.skipif(os.name == "nt", reason="a folder that is watched cannot be moved away")
def test_a_drive_that_is_pulled_out_takes_nothing_along(
    watcher: Watcher, library: Path, notes: Path
) -> None:
    notes.rename(notes.with_name("elsewhere"))
    watcher.says_nothing()
    assert sorted(stored(library)) == ["notes:axe.md"]


def test_a_broken_file_is_told_and_the_rest_goes_on(watcher: Watcher, notes: Path) -> None:
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nonsense")
    report = watcher.until(lambda report: bool(report["errors"]))
    assert report["errors"][0]["name"] == str(notes / "broken.pdf")
    (notes / "bow.md").write_text("An elven bow.", encoding="utf-8")
    watcher.until(lambda report: bool(report["added"]))


def test_a_file_cannot_be_watched(library: Path, notes: Path) -> None:
    with trivium.open(library) as opened, pytest.raises(InvalidValue, match="is not a folder"):
        opened.watch(notes / "axe.md", told=lambda report: None)


def test_it_stops_from_python(library: Path, notes: Path) -> None:
    stop = Event()
    reports = []

    def told(report: object) -> None:
        reports.append(report)
        stop.set()

    with trivium.open(library) as opened:
        opened.watch(notes, told=told, stop=stop)
    assert len(reports) == 1
