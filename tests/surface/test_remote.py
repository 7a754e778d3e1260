"""A served library, used as one that lies here; and servers that are down, slow or lie."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from http_served import Served, serving
from hypothesis import given, settings
from hypothesis import strategies as st

import trivium
from trivium.config import load_profile
from trivium.context import context_json
from trivium.errors import (
    InvalidValue,
    LibraryError,
    ServerRefused,
    ServerUnavailable,
    UnknownDocument,
)
from trivium.federation import Federation, Tier
from trivium.present import document_json, reading_json, result_json, to_text
from trivium.remote import RemoteLibrary, answered
from trivium.remote.asked import profile_json
from trivium.remote.reaching import reach
from trivium.remote.server import Server
from trivium.types import SearchRequest

Run = Callable[..., CompletedProcess[str]]
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for tests that change nothing."""
    world = tmp_path_factory.mktemp("remote") / "world.trivium"
    shutil.copytree(pattern, world)
    yield from serving(world)


@pytest.fixture
def served(world: Path) -> Iterator[Served]:
    """A server of one's own, to write to."""
    yield from serving(world)


@pytest.fixture
def as_owner(shared: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    secret = shared.owner()["Authorization"].removeprefix("Bearer ")
    monkeypatch.setenv("TRIVIUM_KEY", secret)
    return shared


class TestReading:
    def test_documents_chunks_and_lists_are_the_same(self, as_owner: Served) -> None:
        here = as_owner.library
        with trivium.connect(as_owner.url) as there:
            for name in ("#1", "clock-01", "notes:rules/combat.md"):
                [own], [other] = here.get(name), there.get(name)
                assert to_text(reading_json(other)) == to_text(reading_json(own))
            chunk = here.get("#1")[0].chunks[0].id
            assert there.get(chunk)[0].text == here.get(chunk)[0].text
            listed = [document_json(one) for one in there.documents()]
            assert listed == [document_json(one) for one in here.documents()]
            places = trivium.Filter(category=("places",))
            assert [one.id for one in there.documents(places, limit=2)] == [
                one.id for one in here.documents(places, limit=2)
            ]
            with pytest.raises(UnknownDocument, match="there is no document 'nothing'"):
                there.get("nothing")

    def test_context_is_the_same(self, as_owner: Served) -> None:
        with trivium.connect(as_owner.url) as there:
            own = as_owner.library.context("who guards the bridge?", budget=200)
            other = there.context("who guards the bridge?", budget=200)
            assert to_text(context_json(other)) == to_text(context_json(own))

    def test_the_command_reads_it_as_a_folder(self, as_owner: Served, run: Run) -> None:
        for words in (
            ["get", "--json", "clock-01"],
            ["list", "--json", "--category", "places"],
            ["context", "--json", "axe"],
        ):
            there = run(*words, "-L", as_owner.url)
            assert there.returncode == 0, there.stderr
            assert there.stdout == run(*words, "-L", as_owner.library.folder).stdout
        status = json.loads(run("status", "-L", as_owner.url, "--json").stdout)
        assert (status["library"], status["documents"]) == (as_owner.url, 6)

    def test_pages_of_a_search_go_on(self, as_owner: Served) -> None:
        with trivium.connect(as_owner.url) as there:
            first = there.search("axe", limit=1)
            second = there.search("axe", limit=1, cursor=first.next_cursor)
        assert [hit.rank for hit in (*first.hits, *second.hits)] == [1, 2]

    def test_a_key_decides_what_is_seen(self, shared: Served, run: Run) -> None:
        with trivium.connect(shared.url) as nobody:
            found = [hit.title for hit in nobody.search("poisoned axe", limit=20)]
        assert found
        assert "Vole's cellar" not in found

    def test_what_it_cannot_do_is_said(self, shared: Served, run: Run, tmp_path: Path) -> None:
        answer = run("versions", "#1", "-L", shared.url)
        assert answer.returncode == 1
        assert "is a served library, which takes search, get, list" in answer.stderr
        with trivium.connect(shared.url) as there:
            with pytest.raises(InvalidValue, match="looks back to dates"):
                there.moment("clock-01@1")
            with pytest.raises(InvalidValue, match="profiles that ship with Trivium, not 'mine"):
                there.search("axe", profile="mine.toml")
            with pytest.raises(InvalidValue, match="cannot be told sync"):
                there.add(tmp_path, sync=True)
        with pytest.raises(LibraryError, match=r"trivium\.connect"):
            trivium.open(shared.url)


class TestWriting:
    def test_files_are_sent_judged_and_removed(
        self, served: Served, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = served.key("hand", role="writer")["Authorization"].removeprefix("Bearer ")
        monkeypatch.setenv("TRIVIUM_KEY", secret)
        folder = tmp_path / "more"
        folder.mkdir()
        (folder / "ferry.md").write_text("# Ferry\n\nThe ferry bell rings twice.")
        (folder / "mill.md").write_text("# Mill\n\nThe mill stands still in winter.")
        added = run("add", "-L", served.url, folder, "--tag", "new", "--json")
        assert added.returncode == 0, added.stderr
        ids = json.loads(added.stdout)["added"]
        assert len(ids) == 2
        again = run("add", "-L", served.url, folder / "mill.md", "--tag", "new")
        assert again.stdout == "1 unchanged\n"
        found = json.loads(run("search", "-L", served.url, "--json", "ferry bell").stdout)
        assert found["hits"][0]["tags"] == ["new"]
        judged = run("feedback", "accept", ids[0], "-L", served.url, "--query", "bell")
        assert judged.returncode == 0, judged.stderr
        assert served.library.feedback_stats()["accepted"] == 1
        removed = run("remove", ids[0], "-L", served.url)
        assert removed.stdout == "removed 1 document\n"
        assert len(served.library.documents()) == 7

    def test_a_reader_may_not_write(self, served: Served, run: Run, notes: Path) -> None:
        answer = run("add", "-L", served.url, notes / "rules" / "combat.md")
        assert answer.returncode == 1
        assert "this needs the role writer" in answer.stderr

    def test_two_files_of_one_name_are_not_sent(self, served: Served, tmp_path: Path) -> None:
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "note.md").write_text(folder)
        with (
            trivium.connect(served.url) as there,
            pytest.raises(InvalidValue, match="have one name"),
        ):
            there.add(tmp_path / "a", tmp_path / "b")


class TestTiers:
    def test_a_served_library_is_a_tier(
        self, shared: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TEAM_KEY", shared.owner()["Authorization"].removeprefix("Bearer "))
        with trivium.init(tmp_path / "own.trivium", model="none") as own:
            own.add_entries([{"id": "clock-01", "title": "Clock", "description": "My own time."}])
        local = [
            Tier("agent", tmp_path / "own.trivium"),
            Tier("team", Path(shared.library.folder)),
        ]
        remote = [local[0], Tier("team", shared.url, None, "TEAM_KEY")]
        with Federation(local) as here, Federation(remote) as there:
            for query in ("time", "axe", "equal scores"):
                asked = SearchRequest(query, 3, facets=True)
                one, other = (
                    tiers.answer(asked, profile="default", now=NOW) for tiers in (here, there)
                )
                assert to_text(untimed(one)) == to_text(untimed(other))
            found = there.search("time")  # ages are judged by the server's own clock
            assert [(hit.id, hit.tier) for hit in found][:1] == [("clock-01", "agent")]
            assert there.get("clock-01")[0].tier == "agent"
            assert there.get("tie-02")[0].tier == "team"

    def test_only_the_key_of_the_tier_is_sent(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRIVIUM_KEY", "trv_secret")
        with lying(b"{}") as (url, heard), reach(url) as there:
            with pytest.raises(ServerUnavailable):
                there.search("axe")
            assert "authorization" not in heard[0]
        with lying(b"{}") as (url, heard), trivium.connect(url) as there:
            with pytest.raises(ServerUnavailable):
                there.search("axe")
            assert heard[0]["authorization"] == "Bearer trv_secret"

    def test_a_tier_that_is_down_is_named_and_the_others_answer(
        self, world: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Federation([Tier("agent", world), Tier("team", nowhere())]) as tiers:
            result = tiers.search("axe")
        assert result.hits
        assert "tier team: http://127.0.0.1:" in result.degraded[0]
        assert "cannot be reached" in result.degraded[0]

    def test_a_tier_that_fails_after_it_answered_is_named_too(
        self, world: Path, shared: Served
    ) -> None:
        found = to_text(result_json(shared.library.search("axe", profile="vault"))).encode()
        with (
            lying(found) as (url, _),
            Federation([Tier("agent", world), Tier("team", url)]) as tiers,
        ):
            result = tiers.search("axe", profile="default")
        assert {hit.tier for hit in result} == {"agent"}
        assert "does not answer as 'trivium serve' does" in result.degraded[0]
        assert {leg.name.partition(":")[0] for leg in result.legs} == {"agent"}


class TestTrouble:
    def test_a_server_that_is_down(self, run: Run) -> None:
        answer = run("search", "-L", nowhere(), "axe")
        assert answer.returncode == 1
        assert "cannot be reached" in answer.stderr
        assert "whether the server runs" in answer.stderr

    def test_a_wrong_key(self, shared: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TRIVIUM_KEY", "trv_wrong")
        with (
            trivium.connect(shared.url) as there,
            pytest.raises(ServerRefused, match="this key is not known") as refused,
        ):
            there.search("axe")
        assert "TRIVIUM_KEY" in str(refused.value)
        assert "trv_wrong" not in str(refused.value)

    def test_a_key_stays_out_of_addresses_and_of_the_open_net(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRIVIUM_KEY", "trv_secret")
        for address in ("http://me:trv_x@host", "http://host?key=trv_x", "http://host/#trv_x"):
            with pytest.raises(InvalidValue, match="environment variable TRIVIUM_KEY") as refused:
                trivium.connect(address)
            assert "trv_x" not in str(refused.value)
        with (
            trivium.connect("http://library.invalid") as there,
            pytest.raises(ServerRefused, match=r"a key is not sent to http://library\.invalid"),
        ):
            there.search("axe")

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"no json",
            b"[]",
            b"null",
            b"{}",
            b'{"query": "axe"}',
            b"[" * 100_000,
            b'{"hits": [{"rank": "one"}]}',
            b'{"stamp": 1' + b"0" * 400 + b', "shift": -1' + b"0" * 400 + b"}",
            "\ud800".encode("utf-8", "surrogatepass"),
        ],
    )
    def test_garbage_is_not_believed(self, body: bytes) -> None:
        with lying(body) as (url, _), reach(url) as there:
            calls: list[Callable[[], Any]] = [
                lambda: there.search("axe"),
                lambda: there.get("x"),
                lambda: there.documents(),
                lambda: there.known(["x"]),
                lambda: there.stamp(),
                lambda: there.values("scope"),
                lambda: there.feedback("accepted", "x"),
                lambda: there.profile_name,
            ]
            for call in calls:
                with pytest.raises(ServerUnavailable, match="does not answer as 'trivium serve'"):
                    call()

    def test_errors_that_no_trivium_gives(self) -> None:
        for status in (404, 500, 418):
            with (
                lying(b"<h1>hello</h1>", status) as (url, _),
                reach(url) as there,
                pytest.raises(ServerUnavailable, match=f"status {status}"),
            ):
                there.search("axe")
        with (
            lying(b"", 302) as (url, _),
            reach(url) as there,
            pytest.raises(ServerUnavailable, match="sends elsewhere"),
        ):
            there.search("axe")
        steering = json.dumps({"code": "x", "detail": "\x1b[2Jgone" * 999, "next": "n"}).encode()
        with (
            lying(steering, 503) as (url, _),
            reach(url) as there,
            pytest.raises(ServerUnavailable) as said,
        ):
            there.search("axe")
        assert "\x1b" not in str(said.value)
        assert len(str(said.value)) < 1000

    def test_pages_that_do_not_end_are_cut(self, shared: Served) -> None:
        [one] = shared.library.documents(limit=1)
        page = {"total": 1, "documents": [document_json(one)], "next_cursor": "again"}
        for body in (page, {**page, "documents": []}):
            with (
                lying(to_text(body).encode()) as (url, _),
                reach(url) as there,
                pytest.raises(ServerUnavailable, match="its pages do not end"),
            ):
                there.documents()

    def test_a_server_that_says_nothing_is_given_up(self) -> None:
        with closing(socket.create_server(("127.0.0.1", 0))) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with (
                reach(url, time_out=0.2) as there,
                pytest.raises(ServerUnavailable, match="did not answer in time"),
            ):
                there.search("axe")

    def test_a_task_that_does_not_get_on_is_left(self, tmp_path: Path) -> None:
        (tmp_path / "note.md").write_text("note")
        waited: list[float] = []
        body = {"task": "1", "state": "running", "report": None}
        with lying(json.dumps(body).encode()) as (url, _):
            there = RemoteLibrary(Server(url), sleep=waited.append, patience=5)
            with pytest.raises(ServerUnavailable, match="does not get on"):
                there.add(tmp_path / "note.md")
        assert 4 < sum(waited) < 10


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def honest(pattern: Path) -> str:
    """An answer with nothing wrong in it."""
    with trivium.open(pattern) as library:
        return to_text(result_json(library.search("axe", mode="full", limit=2)))


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_an_answer_with_one_thing_wrong_is_an_error_or_a_result(
    data: st.DataObject, honest: str
) -> None:
    """Whatever stands in the place of a value: no other error comes out."""
    told = place = json.loads(honest)
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else [0]))
        below = place[key]
        if isinstance(below, dict | list) and below and data.draw(st.booleans()):
            place = below
            continue
        place[key] = data.draw(JSON)
        break
    try:
        result = answered.result_of(told, SearchRequest("axe", mode="full"))
    except (ValueError, TypeError, KeyError, AttributeError, InvalidValue):
        return
    assert isinstance(result.hits, tuple)


def test_a_profile_travels_by_its_name_and_what_was_changed() -> None:
    changed = ["search.score.weights.semantic=0.5", "search.score.weights.severity=0.05"]
    said = profile_json(load_profile("vault", [*changed, 'search.unit="chunk"']))
    assert said == {"profile": "vault", "set": ['search.unit="chunk"', *changed]}
    assert load_profile("vault", said["set"]) == load_profile("vault", sorted(said["set"]))


# --- what stands in for a server -----------------------------------------------------------------


def nowhere() -> str:
    """An address at which nobody listens."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


@contextmanager
def lying(body: bytes, status: int = 200) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that gives the same answer to everything, and the headers that it was sent."""
    heard: list[dict[str, str]] = []

    class Liar(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815  # what the base class looks for

        def log_message(self, format: str, *arguments: object) -> None:
            """Nobody wants to read it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Liar) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", heard
        server.shutdown()
        thread.join()


def untimed(result: trivium.Result) -> dict[str, Any]:
    data = result_json(result)
    return {**data, "took_ms": 0, "legs": [{**leg, "ms": 0} for leg in data["legs"]]}
