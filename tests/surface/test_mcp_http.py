"""Agents over HTTP: the official client against a real server, with and without a key."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from subprocess import CompletedProcess

import anyio
import httpx2
import pytest
from http_served import Served, serving, without_times
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from trivium.present import to_text

Run = Callable[..., CompletedProcess[str]]
PATIENCE = 60.0


@pytest.fixture(scope="module")
def served(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for tests that leave the documents as they are."""
    world = tmp_path_factory.mktemp("agents") / "world.trivium"
    shutil.copytree(pattern, world)
    yield from serving(world)


@asynccontextmanager
async def agent(
    url: str, headers: dict[str, str] | None = None, mode: str = "auto"
) -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=headers or {}, timeout=PATIENCE) as http:
        place = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(place, read_timeout_seconds=PATIENCE, mode=mode) as client:
            yield client


def told(story: Callable[[], Awaitable[None]]) -> None:
    anyio.run(story)


def titles(result: CallToolResult) -> list[str]:
    assert not result.is_error, result.content
    return [hit["title"] for hit in result.structured_content["hits"]]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_key_decides_what_an_agent_sees_and_does(served: Served, mode: str) -> None:
    reader = served.key(f"reader-{mode}", "dm-only")
    writer = served.key(f"writer-{mode}", role="writer")
    asked = {"query": "poisoned axe", "limit": 20}

    async def story() -> None:
        async with agent(served.url, mode=mode) as nobody:
            names = [tool.name for tool in (await nobody.list_tools()).tools]
            assert names == ["search", "get", "context", "facts", "status", "feedback"]
            assert "Vole's cellar" not in titles(await nobody.call_tool("search", asked))
            refused = await nobody.call_tool("remember", {"text": "It rained."})
            assert refused.is_error
        async with agent(served.url, reader, mode) as with_scope:
            assert "Vole's cellar" in titles(await with_scope.call_tool("search", asked))
        async with agent(served.url, writer, mode) as hand:
            assert "Vole's cellar" not in titles(await hand.call_tool("search", asked))
            kept = await hand.call_tool("remember", {"text": f"It rained ({mode})."})
            assert len(kept.structured_content["added"]) == 1

    told(story)


def test_the_bytes_are_those_of_the_command_and_of_http(served: Served, run: Run) -> None:
    everything = served.owner()
    printed = run(
        *("search", "-L", served.library.folder, "--json", "-n", "3", "--category", "places"),
        *("--include-memories", "axe of the smiths"),
    ).stdout

    async def story() -> None:
        async with agent(served.url, everything) as client:
            asked = {"query": "axe of the smiths", "limit": 3, "category": ["places"]}
            found = await client.call_tool("search", {**asked, "include_memories": True})
            own = to_text(found.structured_content) + "\n"
            assert without_times(own) == without_times(printed)

    told(story)


def test_who_has_a_wrong_key_or_another_method_is_refused(served: Served) -> None:
    wrong = served.client.post("/mcp", json={}, headers={"Authorization": "Bearer trv_no"})
    assert (wrong.status_code, wrong.json()["code"]) == (401, "unknown_key")
    assert wrong.headers["www-authenticate"].startswith("Bearer")
    foreign = served.client.post("/mcp", json={}, headers={"Origin": "http://evil.example"})
    assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign_origin")
    rebound = served.client.post("/mcp", json={}, headers={"Host": "evil.example"})
    assert (rebound.status_code, rebound.json()["code"]) == (401, "no_key")
    large = served.client.post("/mcp", content=b" " * (1 << 21))
    assert (large.status_code, large.json()["code"]) == (413, "too_large")
    for method in ("GET", "DELETE", "PUT"):
        other = served.client.request(method, "/mcp")
        assert (other.status_code, other.headers["allow"]) == (405, "POST")


def test_a_revoked_key_opens_nothing_any_more(served: Served) -> None:
    headers = served.key("short-lived")

    async def story() -> None:
        async with agent(served.url, headers) as client:
            assert not (await client.call_tool("status", {})).is_error
            served.library.revoke_key("short-lived")
            with pytest.raises(Exception, match=r"."):
                await client.call_tool("status", {})

    told(story)


def test_the_command_serves_agents_alone(world: Path) -> None:
    command = [sys.executable, "-m", "trivium", "mcp", "-L", str(world), "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = iter(process.stderr.readline, "")
            url = next(m[1] for line in lines if (m := re.search(r"at (http://\S+)/mcp$", line)))

            async def story() -> None:
                async with agent(url) as client:
                    assert titles(await client.call_tool("search", {"query": "bridge of chains"}))
                async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                    other = await http.get(f"{url}/search?q=axe")
                    assert other.status_code == 404

            told(story)
        finally:
            process.terminate()
            process.stderr.read()
    assert process.returncode in (0, -15)


def test_flags_of_a_local_agent_mean_nothing_over_http(world: Path, run: Run) -> None:
    answer = run("mcp", "-L", world, "--http", "--write")
    assert answer.returncode == 1
    assert "'trivium key create'" in answer.stderr
