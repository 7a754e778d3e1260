"""The tutorial is run as it is written: every command, and what it is said to print."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = list(steps())
    assert len(commands) >= 15
    for command, printed in commands:
        words = shlex.split(command)
        assert words[0] == "trivium"
        run = subprocess.run(
            [sys.executable, "-m", "trivium", *words[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, f"{command}\n{run.stderr}"
        assert re.fullmatch(pattern(printed), run.stdout), f"{command}\n{run.stdout}"
