"""The documentation is under test: what it names exists, and what exists is named."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer.main

import trivium
from trivium.cli.app import command_line
from trivium.embed import EMBEDDERS
from trivium.present import result_json

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "docs/how-to.md",
    "docs/http.md",
    "docs/portal.md",
    "docs/stores.md",
    "docs/mcp.md",
    "docs/tutorial.md",
)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_path_in_a_page_exists(page: str) -> None:
    named = re.findall(r"`((?:src|tests|tools|examples|bench|docs)/[\w./-]*)`", text(page))
    links = re.findall(r"\]\((?!http)([^)#]+)\)", text(page))
    here = (ROOT / page).parent
    missing = [path for path in named if not (ROOT / path).exists()]
    missing += [link for link in links if not (here / link).exists()]
    assert missing == []


def test_architecture_is_headed_by_questions_and_names_every_room() -> None:
    page = text("ARCHITECTURE.md")
    assert len(re.findall(r"^## .*\?$", page, re.MULTILINE)) >= 8
    rooms = {p.name for p in (ROOT / "src/trivium").iterdir() if p.is_dir()} - {"__pycache__"}
    assert {room for room in rooms if room not in page} <= {"profiles", "stopwords"}


def test_commands_of_the_readme_are_the_commands_there_are() -> None:
    table = set(re.findall(r"^\| `trivium ([\w-]+)` \|", text("README.md"), re.MULTILINE))
    commands = set(typer.main.get_command(command_line()).commands)  # type: ignore[attr-defined]
    assert table == commands


def test_models_of_the_readme_are_the_models_there_are() -> None:
    models = text("README.md").partition("## Models")[2].partition("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", models, re.MULTILINE))
    assert named == {*EMBEDDERS, "none"}


def test_make_targets_named_in_the_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    for page in PAGES:
        assert set(re.findall(r"^make (\w+)", text(page), re.MULTILINE)) <= targets


def test_extras_are_installed_from_the_clone_and_exist() -> None:
    """There is no package of this name to fetch; what is called so elsewhere is another one."""
    extras = tomllib.loads(text("pyproject.toml"))["project"]["optional-dependencies"]
    pages = [text(str(path.relative_to(ROOT))) for path in (ROOT / "docs").glob("*.md")]
    code = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    for said in (text("README.md"), *pages, *code):
        assert "trivium[" not in said
        named = re.findall(r"'\.\[([\w,-]+)\]'|install\(['\"]([\w,-]+)['\"]\)", said)
        assert {one for pair in named for one in "".join(pair).split(",")} <= set(extras)


def test_the_reference_is_what_the_code_says() -> None:
    path = ROOT / "tools" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert text("docs/reference.md") == module.reference(), "run tools/make_reference.py"


def keys_of(data: Any, prefix: str = "") -> set[str]:
    if isinstance(data, list):
        return set().union(*(keys_of(one, prefix) for one in data)) if data else set()
    if not isinstance(data, dict):
        return set()
    found = set()
    for key, value in data.items():
        found.add(prefix + key)
        if key not in ("facets", "fields"):  # their keys are the user's
            found |= keys_of(value, f"{prefix}{key}.")
    return found


def test_the_json_page_names_every_key_and_no_other(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "t.trivium", model="none") as library:
        library.add_text("An axe.", title="axe")
        result = library.search("axe", mode="full", facets=True)
        scored = library.search("axe", mode="full", profile="vault")
    namesakes = replace(result, told_apart=({},))  # only there where entities of facts compete
    found = keys_of(result_json(namesakes)) | keys_of(result_json(scored))
    named = set(re.findall(r"^\| `([\w.]+)` \|", text("docs/json.md"), re.MULTILINE))
    assert named == found


def test_the_http_page_names_every_route_and_no_other(tmp_path: Path) -> None:
    from trivium.serve.app import application
    from trivium.serve.running import service_of
    from trivium.serve.service import DEFAULTS

    with trivium.init(tmp_path / "t.trivium", model="none") as library:
        paths = application(service_of(library, DEFAULTS)).openapi()["paths"]
    routes = {f"{method.upper()} {path}" for path, found in paths.items() for method in found}
    named = set(re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", text("docs/http.md"), re.MULTILINE))
    assert named == routes


def test_llms_txt_links_to_pages_that_exist() -> None:
    links = re.findall(r"\]\(([^)]+)\)", text("llms.txt"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
