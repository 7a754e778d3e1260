"""What agents and their clients are told is true: it starts, it answers, and its names exist."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
import typer.main
import yaml
from mcp import Client, StdioServerParameters

import trivium
from trivium.cli.app import command_line
from trivium.mcp.tools import TOOLS
from trivium.serve.agents import PLACE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
SKILL = (ROOT / "skills" / "trivium" / "SKILL.md").read_text(encoding="utf-8")
LIBRARY = "/path/to/notes.trivium"


def entries(data: Any) -> list[dict[str, Any]]:
    """Every server that a configuration names."""
    return [one for table in data.values() for one in table.values()]


def configured() -> list[dict[str, Any]]:
    blocks = re.findall(r"```(json|toml)\n(.*?)```", PAGE, re.DOTALL)
    read = {"json": json.loads, "toml": tomllib.loads}
    return [entry for kind, text in blocks for entry in entries(read[kind](text))]


def test_what_clients_are_told_starts_and_answers(tmp_path: Path) -> None:
    commands = {(one["command"], *one["args"]) for one in configured() if "command" in one}
    [shown] = re.findall(r"`claude mcp add trivium -- ([^`]+)`", PAGE)
    assert commands == {tuple(shlex.split(shown))} == {("trivium", "mcp", "-L", LIBRARY)}
    place = tmp_path / "notes.trivium"
    with trivium.init(place, model="none") as library:
        library.add_text("The ferry bell rings twice.", title="Ferry")
    arguments = ["-m", *shlex.split(shown.replace(LIBRARY, str(place)))]

    async def ask() -> None:
        started = StdioServerParameters(command=sys.executable, args=arguments)
        async with Client(started, read_timeout_seconds=60) as client:
            found = await client.call_tool("search", {"query": "ferry bell"})
            assert [hit["title"] for hit in found.structured_content["hits"]] == ["Ferry"]

    anyio.run(ask)


def test_the_address_that_clients_are_told_is_where_it_answers() -> None:
    command: Any = typer.main.get_command(command_line())
    for name in ("mcp", "serve"):
        defaults = {one.name: one.default for one in command.commands[name].params}
        url = f"http://{defaults['host']}:{defaults['port']}{PLACE}"
        assert {one["url"] for one in configured() if "url" in one} == {url}


def test_the_page_lists_the_tools_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .* \| (yes|no) \|$", PAGE, re.MULTILINE)
    assert {name: writes == "yes" for name, writes in rows} == {
        name: tool.writes for name, tool in TOOLS.items()
    }


def test_the_skill_can_be_found() -> None:
    _, front, body = SKILL.split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["name"] == "trivium"
    assert 0 < len(about["description"]) <= 1024
    assert body.strip().startswith("# ")
    assert len(body) < 5000  # it is read into a model's context


def test_what_the_skill_names_exists() -> None:
    tools = SKILL.partition("## With tools")[2].partition("## With the command")[0]
    known = {argument.name for tool in TOOLS.values() for argument in tool.arguments}
    known |= set(TOOLS) | {name for tool in TOOLS.values() for name in tool.output["properties"]}
    known |= {"id", "chunk"}  # of a hit
    assert set(re.findall(r"`(\w+)`", tools)) <= known
    assert set(TOOLS) <= set(re.findall(r"`(\w+)`", tools))
    commands = re.findall(r"^trivium (.+)$", SKILL, re.MULTILINE)
    assert len(commands) >= 6
    for line in commands:
        words = shlex.split(line)
        command: Any = typer.main.get_command(command_line())
        while words and words[0] in getattr(command, "commands", {}):
            command = command.commands[words.pop(0)]
        options = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_tools_are_described_in_few_words(tool: Any) -> None:
    assert len(tool.description) < 400
    assert all(len(argument.description) < 120 for argument in tool.arguments)
