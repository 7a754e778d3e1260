"""Folders that may no longer be read: one line says so, and nothing in them is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import TypeAlias

import pytest

import trivium
from trivium.ingest.files import denied, is_gone

Run: TypeAlias = Callable[..., "subprocess.CompletedProcess[str]"]

RIGHTS = "-dac_override,-dac_read_search"
"""What lets root read everything."""


def without_rights() -> list[str]:
    """What to put before a command so that it may not read everything."""
    if not hasattr(os, "geteuid"):
        pytest.skip("needs folders that can be closed")
    if os.geteuid():
        return []
    if not shutil.which("setpriv"):
        pytest.skip("root may read everything, and setpriv is not there to take that away")
    return ["setpriv", f"--bounding-set={RIGHTS}", f"--inh-caps={RIGHTS}"]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Path]:
    """A folder that was added with all it holds; a part of it is closed since then."""
    folder = tmp_path / "nb"
    for name in ("a", "locked", "z"):
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}.md").write_text(f"# Note {name}\n\nThe words of note {name}.")
    with trivium.init(tmp_path / "n.trivium", model="none") as library:
        library.add(folder)
    (folder / "locked").chmod(0)
    yield folder
    (folder / "locked").chmod(0o755)


@pytest.fixture
def run(tmp_path: Path, notes: Path) -> Run:
    before = without_rights()
    try:
        seen = subprocess.run([*before, "ls", notes / "locked"], capture_output=True, check=False)
    except OSError:
        pytest.skip("rights cannot be given up here")
    if not seen.returncode or b"ermission" not in seen.stderr:
        pytest.skip("rights cannot be given up here")

    def call(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, sys.executable, "-m", "trivium", *map(str, words)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def uris(run: Run) -> list[str]:
    return sorted(one["uri"] for one in json.loads(run("list", "--json").stdout))


EVERYTHING = ["nb:a/a.md", "nb:locked/locked.md", "nb:z/z.md"]


@pytest.mark.parametrize("flags", [(), ("--sync",), ("--sync", "--force"), ("--as", "folder")])
def test_a_closed_folder_is_named_and_the_rest_goes_on(
    run: Run, notes: Path, flags: tuple[str, ...]
) -> None:
    (notes / "z" / "new.md").write_text("A note about something else altogether.")
    added = run("add", "nb", *flags)
    assert added.stderr == (
        f"! {notes if flags[:1] == ('--as',) else 'nb'}/locked: Permission denied. "
        "Check that it exists and that you may read it.\n"
    )
    assert (added.returncode, added.stdout) == (1, "1 added, 2 unchanged, 1 failed\n")
    assert uris(run) == sorted([*EVERYTHING, "nb:z/new.md"])


@pytest.mark.parametrize("name", ["nb/locked", "nb/locked/locked.md"])
@pytest.mark.parametrize("flags", [(), ("--sync",), ("--as", "folder")])
def test_what_is_closed_is_named_where_it_was_asked_for(
    run: Run, name: str, flags: tuple[str, ...]
) -> None:
    if flags == ("--as", "folder"):
        name = f"{name}/deeper"
    added = run("add", name, *flags)
    assert added.stderr.startswith(f"! {name}: Permission denied. Check that it exists")
    assert (added.returncode, added.stdout) == (1, "1 failed\n")
    assert uris(run) == EVERYTHING


def test_a_note_alike_does_not_take_the_place_of_one_that_is_closed(run: Run, notes: Path) -> None:
    (notes / "copy.md").write_text("# Note locked\n\nThe words of note locked.")
    assert "1 added, 2 unchanged, 1 failed" in run("add", "nb").stdout
    assert uris(run) == sorted([*EVERYTHING, "nb:copy.md"])


def test_a_closed_folder_is_named_and_the_rest_is_followed(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    command = [*without_rights(), sys.executable, "-m", "trivium", "watch", "--json", "nb"]
    watcher = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    lines: Queue[str] = Queue()
    assert watcher.stdout
    reader = Thread(target=lambda out: deque(map(lines.put, out)), args=(watcher.stdout,))
    reader.start()

    def added_then(path: Path) -> None:
        path.write_text(f"These words stand in {path.name} and nowhere else.")
        while not json.loads(lines.get(timeout=30))["added"]:
            pass

    try:
        caught_up = json.loads(lines.get(timeout=30))
        assert caught_up["errors"] == [
            {
                "name": str(notes / "locked"),
                "message": "Permission denied. Check that it exists and that you may read it.",
            }
        ]
        assert (len(caught_up["unchanged"]), caught_up["removed"]) == (2, [])
        for folder in ("a", "z", "."):
            added_then(notes / folder / f"new-{folder}.md")
        (notes / "late").mkdir()
        added_then(notes / "late" / "new-late.md")
        (notes / "locked").chmod(0o755)  # what is opened is followed from then on
        while not json.loads(lines.get(timeout=30))["unchanged"]:
            pass
        (notes / "locked" / "locked.md").write_text("These words are here since it was opened.")
        while not json.loads(lines.get(timeout=30))["updated"]:
            pass
    finally:
        with suppress(ProcessLookupError):
            watcher.terminate()
        watcher.wait(30)
        reader.join(30)
        watcher.stdout.close()
    assert watcher.returncode == 0
    assert len(uris(run)) == 7


def test_what_cannot_be_looked_at_is_not_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (is_gone(tmp_path), denied(tmp_path)) == (False, "")
    assert (is_gone(tmp_path / "x"), denied(tmp_path / "x")) == (True, "")
    assert (is_gone(tmp_path / "\0"), denied(tmp_path / "\0")) == (True, "")

    def refused(path: Path, **_: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refused)
    assert not is_gone(tmp_path)
    assert denied(tmp_path).startswith("Permission denied. Check that it exists")


def test_reading_a_closed_file_again_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "nb" / "a.md"
    note.parent.mkdir()
    note.write_text("The words of a note.")
    look = Path.stat

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path == note:
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, follow_symlinks=follow_symlinks)

    with trivium.init(tmp_path / "n.trivium", model="none") as library:
        [id] = library.add(note.parent).added
        monkeypatch.setattr(Path, "stat", refused)
        [(name, message)] = library.reingest(id).errors
        assert (name, message.partition(".")[0]) == ("nb:a.md", "Permission denied")
        assert len(library.versions(id)) == 1


def test_a_library_near_by_that_may_not_be_looked_into(run: Run, tmp_path: Path) -> None:
    (tmp_path / "n.trivium").chmod(0)
    refused = run("search", "words")
    (tmp_path / "n.trivium").chmod(0o755)
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        f"error: {tmp_path / 'n.trivium'}/library.toml cannot be read: Permission denied"
    ]
    assert run("list").returncode == 0
