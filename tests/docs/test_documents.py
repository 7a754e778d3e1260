"""The documentation is under test: what it names exists, and what exists is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from trivium.cli.app import app
from trivium.embed import EMBEDDERS

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_path_in_a_page_exists(page: str) -> None:
    named = re.findall(r"`((?:src|tests|tools|examples|bench|docs)/[\w./-]*)`", text(page))
    links = re.findall(r"\]\((?!http)([^)#]+)\)", text(page))
    missing = [path for path in (*named, *links) if not (ROOT / path).exists()]
    assert missing == []


def test_architecture_is_headed_by_questions_and_names_every_room() -> None:
    page = text("ARCHITECTURE.md")
    assert len(re.findall(r"^## .*\?$", page, re.MULTILINE)) >= 8
    rooms = {p.name for p in (ROOT / "src/trivium").iterdir() if p.is_dir()} - {"__pycache__"}
    assert {room for room in rooms if room not in page} <= {"profiles", "stopwords"}


def test_commands_of_the_readme_are_the_commands_there_are() -> None:
    table = set(re.findall(r"^\| `trivium ([\w-]+)` \|", text("README.md"), re.MULTILINE))
    commands = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert table == commands


def test_models_of_the_readme_are_the_models_there_are() -> None:
    models = text("README.md").partition("## Models")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", models, re.MULTILINE))
    assert named == {*EMBEDDERS, "none"}


def test_make_targets_named_in_the_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"^make (\w+)", text(page), re.MULTILINE)) <= targets
