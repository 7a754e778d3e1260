"""What the surface tests share: a small world on disk, a library of it, and the command itself."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

import pytest
import typer

import trivium
from trivium.cli import main
from trivium.cli.app import command_line

COMMAND = typer.main.get_command(command_line())
"""What `app()` builds anew at every call, which costs more than most commands."""

EMBERFOLD = """---
title: Emberfold
category: places
tags: [forge, dwarves]
region: north
floors: 9
created: 2024-05-31
---
The city of smiths lies under the mountain.

## The nine forges

Hedda drew the battle axe Gravewind from the first forge in the year of the long frost.

## The gate

Two towers guard the bridge of chains.
"""

QUILLHAVEN = """---
title: Quillhaven
category: places
tags: [books]
region: coast
floors: 2
created: 2025-01-15
---
A town of libraries by the sea. Its keeper is Osmund Tace.
"""

COMBAT = """---
title: Combat
category: rules
created: 2023-02-01
---
An axe does eight points of damage. A short sword does six.
"""

VOLE = """---
title: Vole's cellar
category: places
scope: dm-only
tags: [poison]
created: 2024-11-11
---
The doctor hides a poisoned axe behind the stills.
"""

ENTRIES = [
    {
        "id": "clock-01",
        "title": "Hand the clock in",
        "description": "Code that asks for the time cannot be tested; pass it the time.",
        "type": "rule",
        "domain": "testing",
        "severity": "warning",
        "tags": ["time"],
    },
    {
        "id": "tie-02",
        "title": "Break ties by id",
        "description": "Equal scores are put in the order of their ids.",
        "type": "pattern",
        "domain": "ranking",
        "severity": "suggestion",
    },
]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory where there is such a thing: these tests make and drop many files."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with TemporaryDirectory(dir=place, prefix="trivium-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder to work in, so that no library of the machine is ever found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRIVIUM_LIBRARY", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def write_notes(folder: Path) -> Path:
    for name, text in {
        "places/emberfold.md": EMBERFOLD,
        "places/quillhaven.md": QUILLHAVEN,
        "places/hidden/vole.md": VOLE,
        "rules/combat.md": COMBAT,
        "entries.json": json.dumps(ENTRIES),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))  # the same in every copy
    return folder


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Four notes in folders, and `entries.json` with two entries."""
    return write_notes(tmp_path / "notes")


@pytest.fixture(scope="session")
def pattern(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of the notes that nobody writes to."""
    folder = tmp_path_factory.mktemp("pattern")
    with trivium.init(folder / "world.trivium", model="hashing") as library:
        library.add(write_notes(folder / "notes"))
    return folder / "world.trivium"


@pytest.fixture
def world(tmp_path: Path, notes: Path, pattern: Path) -> Path:
    """A library of the notes. Numbers are given in the order of the paths, from #1 to #6."""
    folder = tmp_path / "world.trivium"
    shutil.copytree(pattern, folder)
    with closing(sqlite3.connect(folder / "index.db")) as record, record:
        record.execute("PRAGMA synchronous = OFF")
        record.execute("UPDATE sources SET root = ?", (str(notes),))  # as if it was made here
    return folder


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., CompletedProcess[str]]:
    """The console script, in this process: its exit code and what it said where."""

    def command(*arguments: str | Path) -> CompletedProcess[str]:
        monkeypatch.setattr("trivium.cli.app.command_line", lambda names: COMMAND)
        monkeypatch.setattr(sys, "argv", ["trivium", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        code = stopped.value.code
        return CompletedProcess(arguments, code if isinstance(code, int) else 0, out, err)

    return command
