"""One suite of requests, the same bytes from every surface."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from http_served import Served, problem, serving
from same_requests import REQUESTS, Request, command, python, without_times


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
    assert command(run, served.library.folder, asked) == python(served.library, asked)


@pytest.mark.parametrize("name", REQUESTS)
def test_the_server_answers_what_a_program_gets(
    served: Served, owner: dict[str, str], name: str
) -> None:
    asked: Request = REQUESTS[name]
    answer = served.client.post("/search", json=dict(asked), headers=owner)
    said = problem(answer)["detail"] if answer.is_error else without_times(answer.text)
    assert said == python(served.library, asked)
