"""What a server meets on its edge: the slow, the large, the broken, the impatient."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar

import httpx
import pytest
from http_served import Served, problem, serving

import trivium
from trivium.serve.service import Options
from trivium.store.sqlite.connection import Connections

Found = TypeVar("Found")
PATIENCE = 60.0
SMALL = Options(most_body=2_000, most_upload=5_000)


@pytest.fixture(scope="module")
def served(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    world = tmp_path_factory.mktemp("edges") / "world.trivium"
    shutil.copytree(pattern, world)
    yield from serving(world, SMALL)


def connected(served: Served) -> socket.socket:
    host, port = served.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    connection.settimeout(PATIENCE)
    return connection


def all_of(connection: socket.socket) -> bytes:
    """Everything until the server hangs up."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def test_slow_heads_and_idle_connections_are_closed(world: Path) -> None:
    whole = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for served in serving(world, Options(header_seconds=0.5)):
        with connected(served) as slow, connected(served) as silent, connected(served) as second:
            slow.sendall(whole[:-2] + b"X-A: ")
            with suppress(OSError):  # where it was too slow for that already
                second.sendall(whole)
                second.recv(65536)
                second.sendall(whole[:10])  # a head that never ends, after one that did
            assert all_of(slow) == all_of(silent) == b""
            all_of(second)
        until(lambda url=served.url: answers(url))  # type: ignore[misc]


def test_a_body_that_does_not_come_is_given_up(world: Path) -> None:
    head = b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    for served in serving(world, Options(body_seconds=0.5)):
        with connected(served) as slow:
            slow.sendall(head + b"Content-Length: 100\r\n\r\n{")
            answer = all_of(slow)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"too_slow"' in answer


def test_bodies_that_are_too_large_are_refused(served: Served) -> None:
    large = {"query": "x" * 3_000}
    said = served.client.post("/search", json=large)
    assert (said.status_code, problem(said)["code"]) == (413, "too_large")

    def pieces() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 1_000

    for path, headers in (("/search", {}), ("/documents?name=a.md", served.owner())):
        with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
            said = client.post(path, content=pieces(), headers=headers)
        assert (said.status_code, problem(said)["code"]) == (413, "too_large")
    assert served.client.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_request"),
        (b"{", "malformed_json"),
        (b"[1]", "invalid_request"),
        (b'"text"', "invalid_request"),
        (b'{"query": "\xff"}', "malformed_json"),
        (b'{"query": "\\ud800"}', "invalid_request"),
        (b'{"query": 1e999}', "invalid_request"),
        (b'{"query": null}', "invalid_request"),
        (b'{"query": "a", "limit": NaN}', "invalid_request"),
        (b"[" * 1_900, "malformed_json"),
        (b'{"filter":' * 180, "malformed_json"),
    ],
)
def test_malformed_bodies_are_problems(served: Served, body: bytes, code: str) -> None:
    headers = {"Content-Type": "application/json"}
    said = served.client.post("/search", content=body, headers=headers)
    assert said.status_code in (400, 422)
    assert problem(said)["code"] == code


def test_a_body_without_its_media_type_is_told_to_name_it(served: Served) -> None:
    """What `curl -d '{"query": "axe"}'` sends calls itself a form."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    said = served.client.post("/search", content=b'{"query": "axe"}', headers=form)
    assert said.status_code == 422
    assert problem(said)["detail"] == "the body is no JSON object"
    assert problem(said)["next"] == "send one, with the header 'Content-Type: application/json'"


def test_values_of_the_wrong_type_are_named_in_plain_words(served: Served) -> None:
    said = served.client.get("/search?q=axe&limit=abc")
    assert problem(said)["detail"] == "'limit' must be a whole number"
    said = served.client.post("/search", json={"query": "axe", "facets": "perhaps"})
    assert problem(said)["detail"] == "'facets' must be true or false"
    said = served.client.post("/search", json={"query": 5})
    assert problem(said)["detail"] == "'query' must be a text"


@pytest.mark.parametrize(
    ("filter", "detail"),
    [
        ({"category": 5}, "'filter.category' must be a text or a list"),
        ({"tags": ["axe", None]}, "'filter.tags.1' must be a text"),
        (
            {"kind": ["note"] * 101},
            "'filter.kind' is not right: List should have at most 100 items",
        ),
        ({"kind": "n" * 501}, "'filter.kind' is not right: String should have at most 500 char"),
        (
            {"metadata": {"floors": [9]}},
            "'filter.metadata.floors' must be a text or a whole number or a number or true or",
        ),
        ({"exclude": [{"type": {}}]}, "'filter.exclude.0.type' must be a text or a list"),
    ],
)
def test_a_value_that_may_be_of_several_kinds_is_told_what_it_lacks(
    served: Served, filter: dict[str, Any], detail: str
) -> None:
    said = served.client.post("/search", json={"query": "axe", "filter": filter})
    assert problem(said)["detail"].startswith(detail)


def test_filters_within_filters_have_an_end(served: Served) -> None:
    def nested(depth: int) -> httpx.Response:
        filter: dict[str, Any] = {"category": "rules"}
        for _ in range(depth):
            filter = {"exclude": [filter]}
        return served.client.post("/search", json={"query": "axe", "filter": filter})

    assert nested(10).status_code == 200
    for depth in (11, 50, 100):
        assert nested(depth).status_code == 422
    assert problem(nested(11))["detail"].endswith("filters lie up to 10 deep in another")


def test_what_is_no_http_is_a_problem_too(served: Served) -> None:
    for sent in (
        b"\x16\x03\x01 hello\r\n\r\n",
        b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nbad header\r\n\r\n",
        b"POST /search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
    ):
        with connected(served) as connection:
            connection.sendall(sent)
            answer = all_of(connection)
        assert answer.startswith(b"HTTP/1.1 400"), sent[:40]
        assert b'"next"' in answer


def test_broken_forms_are_problems(served: Served) -> None:
    owner = served.owner()
    kind = {"Content-Type": "multipart/form-data; boundary=x", **owner}
    for body in (b"", b"--x", b"--x\r\n\r\nno head", b"junk" * 100):
        said = served.client.post("/documents", content=body, headers=kind)
        assert problem(said)["code"] == "malformed_form", body
    plain = {"Content-Type": "multipart/form-data", **owner}
    assert problem(served.client.post("/documents", content=b"x", headers=plain))["status"] == 400
    form = {"file": ("../../etc/passwd.md", b"A lamp.")}
    sent = served.client.post("/documents", files=form, headers=owner)
    assert sent.status_code == 202
    nameless = served.client.post("/documents", content=b"A lamp.", headers=owner)
    assert problem(nameless)["code"] == "no_name"


def test_those_who_ask_too_often_wait(world: Path) -> None:
    for served in serving(world, Options(rate=0.001)):
        assert served.client.get("/search?q=axe").status_code == 200
        refused = served.client.get("/search?q=axe")
        assert (refused.status_code, problem(refused)["code"]) == (429, "too_many_requests")
        assert int(refused.headers["retry-after"]) > 1
        assert served.client.get("/health").status_code == 200  # whoever looks after it may ask
        other = served.key("other")
        assert served.client.get("/search?q=axe", headers=other).status_code == 200


def test_long_answers_are_packed_for_those_who_can_unpack_them(served: Served) -> None:
    path = "/documents?limit=50"
    plain = served.client.get(path, headers={"Accept-Encoding": "identity"})
    with served.client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as sent:
        packed = b"".join(sent.iter_raw())
        assert sent.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == plain.content
    assert "accept-encoding" in plain.headers["vary"].lower()


def test_every_answer_says_what_a_page_may_do(served: Served) -> None:
    for path in ("/search?q=axe", "/nothing", "/health"):
        headers = served.client.get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("log_queries", [False, True])
def test_the_log_has_queries_only_if_asked(
    world: Path, capfd: pytest.CaptureFixture[str], log_queries: bool
) -> None:
    for served in serving(world, Options(log_queries=log_queries)):
        served.client.get("/search?q=gravewind&limit=3")
        served.client.post("/search", json={"query": "gravewind"})
        served.client.get("/suggest?q=gravewind")
    logged = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line[:1] == "{"]
    asked = [line for line in logged if line["event"] == "request"]
    assert sorted(line["route"] for line in asked) == ["/search", "/search", "/suggest"]
    assert {line["status"] for line in asked} == {200}
    assert ("gravewind" in json.dumps(logged)) is log_queries


def test_threads_that_are_gone_leave_no_connection(world: Path) -> None:
    connections = Connections(world / "index.db", writable=True)
    for _ in range(20):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda _: connections.reader().execute("SELECT 1"), range(4)))
    connections.reader()
    assert len(connections._all) == 1
    connections.close()


def test_it_finishes_what_it_has_begun(world: Path, tmp_path: Path) -> None:
    with trivium.open(world) as library:
        _, secret = library.create_key("scribe", role="writer")
    command = [sys.executable, "-m", "trivium", "serve", "-L", str(world), "--port", "0"]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)
    try:
        url = until(lambda: said_url(tmp_path / "log"))
        until(lambda: httpx.get(f"{url}/ready", timeout=PATIENCE).status_code == 200)
        host, port = url.removeprefix("http://").split(":")
        note = b"A lamp that was on its way when the server was told to stop."
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as upload:
            head = f"POST /documents?name=lamp.md HTTP/1.1\r\nHost: {host}:{port}\r\n"
            head += f"Authorization: Bearer {secret}\r\nContent-Length: {len(note)}\r\n\r\n"
            upload.sendall(head.encode() + note[:10])
            until(lambda: under_way(url) == 2)
            upload.sendall(note[10:20])  # each piece has its own half minute
            server.send_signal(signal.SIGTERM)
            until(lambda: not answers(url))
            upload.sendall(note[20:])
            assert all_of(upload).startswith(b"HTTP/1.1 202")
        assert server.wait(PATIENCE) == 0
    finally:
        server.kill()
        server.wait()
    with trivium.open(world) as library:
        [reading] = library.get("upload:scribe/lamp.md")
        assert reading.text.encode() == note


def until(condition: Callable[[], Found]) -> Found:
    """What a condition gives once it holds."""
    limit = monotonic() + PATIENCE
    while True:
        try:
            if found := condition():
                return found
        except httpx.HTTPError:
            pass
        assert monotonic() < limit
        sleep(0.05)


def said_url(log: Path) -> str:
    found = re.search(r"is served at (http://\S+);", log.read_text())
    return found[1] if found else ""


def under_way(url: str) -> int:
    text = httpx.get(f"{url}/metrics", timeout=PATIENCE).text
    found = re.search(r"^trivium_requests_under_way (\d+)$", text, re.MULTILINE)
    return int(found[1]) if found else 0


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=PATIENCE).status_code == 200
    except httpx.HTTPError:
        return False
