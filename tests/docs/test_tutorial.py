"""The tutorial is run as it is written: every command, and what it is said to print."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def steps() -> Iterator[tuple[str, list[str]]]:
    """Each command of the console blocks with the lines it is said to print."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *printed = step.rstrip("\n").split("\n")
            yield command, printed


def pattern(printed: list[str]) -> str:
    """`…` stands for anything; on a line of its own also for any number of lines."""
    lines = []
    for line in printed:
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            pieces = [re.escape(piece) for piece in line.rstrip().split("…")]
            lines.append(".*".join(pieces) + r"[ ]*\n")
    return "".join(lines) + (r"(?:.*\n)*" if printed and printed[-1].strip() == "…" else "")


@pytest.fixture(params=["with graph", "without graph"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Mapping[str, str]:
    """What the commands run in: with the extra that reads facts, and without."""
    if request.param == "with graph":
        return os.environ
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    (blocked / "pyoxigraph.py").write_text("raise ImportError")
    paths = (str(blocked), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def without_graph() -> str:
    """What the page says is printed where the extra is missing."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    [said] = re.findall(r"Without the extra it says `([^`]*)`", page)
    return str(said)


def test_the_tutorial_does_what_it_says(tmp_path: Path, environment: Mapping[str, str]) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    all_read = environment is os.environ
    commands = list(steps())
    assert len(commands) >= 15
    for command, printed in commands:
        words = shlex.split(command)
        assert words[0] == "trivium"
        run = subprocess.run(
            [sys.executable, "-m", "trivium", *words[1:]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"
        if words[-1] == "examples":
            assert ("facts.ttl: skipped: RDF needs pyoxigraph" in run.stderr) != all_read
            printed = printed if all_read else [without_graph()]
        assert re.fullmatch(pattern(printed), run.stdout), f"{command}\n{run.stdout}"
