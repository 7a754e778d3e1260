"""One suite of requests, the same bytes from every surface."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from http_served import Served, problem, serving
from same_requests import REQUESTS, Request, command, python, tool, without_times

from trivium.mcp.server import Caller, call
from trivium.opening import connect
from trivium.present import to_text


@pytest.fixture(scope="module")
def served(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    world = tmp_path_factory.mktemp("same") / "world.trivium"
    shutil.copytree(pattern, world)
    yield from serving(world)


@pytest.fixture(scope="module")
def owner(served: Served) -> dict[str, str]:
    return served.owner()


@pytest.mark.parametrize("name", REQUESTS)
def test_the_command_prints_what_a_program_gets(
    served: Served, run: Callable[..., CompletedProcess[str]], name: str
) -> None:
    asked = REQUESTS[name]
    assert command(run, Path(served.library.folder), asked) == python(served.library, asked)


@pytest.mark.parametrize("name", REQUESTS)
def test_the_server_answers_what_a_program_gets(
    served: Served, owner: dict[str, str], name: str
) -> None:
    asked: Request = REQUESTS[name]
    answer = served.client.post("/search", json=dict(asked), headers=owner)
    said = problem(answer)["detail"] if answer.is_error else without_times(answer.text)
    assert said == python(served.library, asked)


@pytest.mark.parametrize("name", REQUESTS)
def test_a_served_library_answers_as_one_that_lies_here(
    served: Served, owner: dict[str, str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("TRIVIUM_KEY", owner["Authorization"].removeprefix("Bearer "))
    with connect(served.url) as remote:
        assert python(remote, REQUESTS[name]) == python(served.library, REQUESTS[name])


@pytest.mark.parametrize("name", [name for name in REQUESTS if tool(REQUESTS[name])])
def test_an_agent_gets_what_a_program_gets(served: Served, name: str) -> None:
    answer = call(served.library, Caller(), "search", tool(REQUESTS[name]) or {})
    expected = python(served.library, REQUESTS[name])
    if answer.is_error:  # the same sentence, with a step that an agent can take
        assert answer.content[0].text.startswith(expected.partition(";")[0])  # type: ignore[union-attr]
    else:
        assert without_times(to_text(answer.structured_content) + "\n") == expected
