"""The library over HTTP: a real server on this machine, asked by a real client."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from http_served import Served, problem, serving, without_times

import trivium

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def served(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for tests that leave the documents as they are."""
    world = tmp_path_factory.mktemp("served") / "world.trivium"
    shutil.copytree(pattern, world)
    yield from serving(world)


def test_an_answer_has_the_bytes_that_the_command_prints(served: Served, run: Run) -> None:
    world = served.library.folder
    printed = run("search", "-L", world, "--json", "--scope", "all", "-n", "3", "axe").stdout
    owner = served.owner()
    asked = {"query": "axe", "limit": 3, "filter": {"scope": "all"}}
    posted = served.client.post("/search", json=asked, headers=owner)
    got = served.client.get("/search?q=axe&limit=3&scope=all", headers=owner)
    assert without_times(posted.text) == without_times(printed)
    assert without_times(got.text) == without_times(printed)


def test_nobody_sees_what_is_public_and_a_key_sees_its_scopes(served: Served) -> None:
    def found(headers: dict[str, str]) -> list[str]:
        answer = served.client.get("/search?q=poisoned+axe&limit=20", headers=headers)
        return [hit["title"] for hit in answer.json()["hits"]]

    assert "Vole's cellar" not in found({})
    assert "Vole's cellar" in found(served.key("kitchen-table", "dm-only"))
    assert "Vole's cellar" not in found(served.key("garden", "other"))
    assert "Vole's cellar" in found(served.owner())


def test_what_is_hidden_cannot_be_told_from_what_is_not_there(served: Served) -> None:
    [hidden] = served.library.documents(trivium.Filter(scope=("dm-only",)))
    for name in (hidden.id, hidden.uri, f"%23{hidden.number}", f"{hidden.id}@1/0"):
        answer = served.client.get(f"/documents/{name}")
        absent = served.client.get("/documents/nothing")
        there, not_there = problem(answer), problem(absent)
        assert there["code"] == not_there["code"] == "unknown_document"
        plain = name.replace("%23", "#")
        assert str(there["detail"]).replace(plain, "nothing") == not_there["detail"]


def test_a_key_ends_when_it_is_revoked(served: Served, run: Run) -> None:
    world = served.library.folder
    made = json.loads(
        run("key", "create", "-L", world, "--name", "guest", "--grant", "dm-only", "--json").stdout
    )
    headers = {"X-API-Key": made["key"]}
    caller = served.client.get("/status", headers=headers).json()["caller"]
    assert caller == {"name": "guest", "role": "reader", "scopes": ["all", "dm-only"]}
    assert made["key"] not in run("key", "list", "-L", world, "--json").stdout
    assert made["key"].encode() not in Path(world, "index.db").read_bytes()
    assert run("key", "revoke", "-L", world, "guest").returncode == 0
    assert problem(served.client.get("/status", headers=headers))["code"] == "unknown_key"


def test_the_owners_link_is_good_once(served: Served) -> None:
    token = served.service.gate.owner_token()
    first = served.client.post("/session", json={"token": token})
    assert first.status_code == 200
    headers = {"Authorization": f"Bearer {first.json()['key']}"}
    assert served.client.get("/status", headers=headers).json()["library"]
    assert problem(served.client.post("/session", json={"token": token}))["code"] == "used_token"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Host": "evil.example"}, 401, "no_key"),
        ({"Host": "127.0.0.1.evil.example"}, 401, "no_key"),
        ({"X-Forwarded-For": "203.0.113.9"}, 401, "no_key"),
        ({"Origin": "http://evil.example"}, 403, "foreign_origin"),
        ({"Origin": "null"}, 403, "foreign_origin"),
        ({"Authorization": "Basic abc"}, 401, "malformed_key"),
        ({"Authorization": "Bearer trv_guess"}, 401, "unknown_key"),
    ],
)
def test_strangers_are_refused(
    served: Served, headers: dict[str, str], status: int, code: str
) -> None:
    answer = served.client.get("/search?q=axe", headers=headers)
    assert (answer.status_code, problem(answer)["code"]) == (status, code)


def test_the_servers_own_page_may_ask(served: Served) -> None:
    for host in (served.url.removeprefix("http://"), "localhost:80"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert served.client.get("/search?q=axe", headers=headers).status_code == 200


def test_others_are_let_in_only_with_keys(world: Path, run: Run) -> None:
    refused = run("serve", "-L", world, "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 1
    assert "trivium key create" in refused.stderr


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "hint"),
    [
        ("GET", "/search?q=axe&limt=3", None, 422, "unknown_field", "'limit'"),
        ("POST", "/search", {"query": "axe", "filters": {}}, 422, "unknown_field", "'filter'"),
        ("POST", "/search", {"query": "a", "filter": {"tag": "x"}}, 422, "unknown_field", "'tags'"),
        ("POST", "/search", {"query": "axe", "limit": "3"}, 422, "invalid_request", "limit"),
        ("POST", "/search", {"query": " "}, 400, "empty_query", "filter"),
        ("POST", "/search", {"query": "a", "profile": "/x.toml"}, 400, "unknown_name", "default"),
        ("POST", "/search", {"query": "a", "set": ["index.a=1"]}, 400, "invalid_value", "search."),
        ("POST", "/search", {"query": "a", "cursor": "zzz"}, 400, "invalid_value", "cursor"),
        ("GET", "/search?q=a&as_of=nonsense", None, 400, "invalid_value", "2024-05-31"),
        ("GET", "/nothing", None, 404, "unknown_path", ""),
        ("PATCH", "/search", None, 405, "wrong_method", ""),
    ],
)  # fmt: skip
def test_mistakes_are_answered_with_what_to_do(
    served: Served, method: str, path: str, body: object, status: int, code: str, hint: str
) -> None:
    answer = served.client.request(method, path, json=body)
    said = problem(answer)
    assert (answer.status_code, said["code"]) == (status, code)
    assert hint in f"{said['detail']} {said['next']}"


def test_why_a_leg_failed_is_for_the_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_MODELS__FAR__URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TRIVIUM_MODELS__FAR__MODEL", "some-model")
    monkeypatch.setenv("TRIVIUM_MODELS__FAR__DIMENSION", "8")
    with trivium.init(tmp_path / "far.trivium", model="far") as library:
        library.add_text("An axe hangs on the wall.", title="Axe", embed=False)
    for served in serving(tmp_path / "far.trivium"):
        mine = served.client.get("/search?q=axe", headers=served.owner()).json()
        others = served.client.get("/search?q=axe").json()
    assert "127.0.0.1:9" in str(mine["degraded"])
    assert others["degraded"] == ["vector: failed; the library's owner can see why"]
    assert "127.0.0.1:9" not in json.dumps(others)
    assert [hit["title"] for hit in others["hits"]] == ["Axe"]


def test_a_key_cannot_pass_for_somebody_else(served: Served, run: Run) -> None:
    for name in ("owner", "nobody", "a b", "", "../x"):
        made = run("key", "create", "-L", served.library.folder, "--name", name)
        assert made.returncode == 1
    twice = ("key", "create", "-L", served.library.folder, "--name", "twice")
    assert [run(*twice).returncode, run(*twice).returncode] == [0, 1]
    past = run(
        "key", "create", "-L", served.library.folder, "--name", "p", "--expires", "2001-01-01"
    )
    assert past.returncode == 1
