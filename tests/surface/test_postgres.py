"""A library in PostgreSQL is a library: the same answers, the same commands, and many writers."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue
from subprocess import CompletedProcess
from typing import Any

import pytest
from postgres import own_server

import trivium
from trivium.errors import LibraryBusy, LibraryExists, LibraryUnavailable, NotALibrary
from trivium.federation import Federation
from trivium.federation.tiers import Tier
from trivium.present import result_json
from trivium.types import PUBLIC, Filter

psycopg = pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

Run = Callable[..., CompletedProcess[str]]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
PATIENCE = 120  # seconds; a busy machine is slow
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))


@pytest.fixture
def library(postgres: str) -> Iterator[trivium.Library]:
    with trivium.init(postgres, model="hashing") as made:
        yield made


def answer(library: trivium.Library, query: str, **options: Any) -> dict[str, Any]:
    """An answer as JSON, without what differs from one moment to the next."""
    found = result_json(library.search(query, now=NOW, **options))
    legs = [{key: leg[key] for key in leg if key != "ms"} for leg in found["legs"]]
    return {**found, "took_ms": 0, "legs": legs, "next_cursor": None}


# --- the same as in a folder ---------------------------------------------------------------------


def test_it_answers_as_a_folder_does(
    library: trivium.Library, world: Path, notes: Path, tmp_path: Path
) -> None:
    assert len(library.add(notes).added) == 6
    with trivium.open(world) as folder:
        for query in ("battle axe", "gravewynd", "towers guard a bridge", '"nine forges"', "*"):
            for grant in (trivium.Grant(), PUBLIC):
                assert answer(library, query, grant=grant) == answer(folder, query, grant=grant)
        for profile in ("omnidata", "vault"):
            asked = {"profile": profile, "filter": Filter(category=("places",))}
            assert answer(library, "axe", **asked) == answer(folder, "axe", **asked)
        pairs = zip(library.documents(), folder.documents(), strict=True)
        for mine, theirs in pairs:
            assert (mine.id, mine.uri, mine.title, mine.scope, mine.tags) == (
                theirs.id,
                theirs.uri,
                theirs.title,
                theirs.scope,
                theirs.tags,
            )
    assert library.doctor() == []
    library.export_bundle(tmp_path / "w.omnidata")
    with trivium.open(tmp_path / "w.omnidata") as bundle:
        assert len(bundle.documents()) == 6


def test_versions_sources_rollback_and_pruning(library: trivium.Library, tmp_path: Path) -> None:
    note = tmp_path / "axe.md"
    for text in ("The axe lies in the river.", "The axe hangs in the hall."):
        note.write_text(text)
        library.add(note)
    [document] = library.documents()
    assert [(v.version, v.active, v.archived) for v in library.versions(document.id)] == [
        (1, False, True),
        (2, True, True),
    ]
    assert library.source(document.id, 1) == b"The axe lies in the river."
    first = library.versions(document.id)[0].made
    before = library.search("axe", filter=Filter(as_of=first + timedelta(milliseconds=1)))
    assert "river" in before.hits[0].snippet
    library.rollback(document.id)
    assert "river" in library.search("axe").hits[0].snippet
    assert library.waiting() == 0
    assert library.prune(keep=0, dry_run=True).versions == ((document.id, 2),)
    assert library.prune(keep=0).versions == ((document.id, 2),)
    assert [v.version for v in library.versions(document.id)] == [1]
    assert library.remove(document.id) == 1
    assert library.status()["documents"] == 0
    assert library.doctor() == []


def stated(library: trivium.Library, subject: str) -> list[Any]:
    return [statement.quad for statement in library.facts(subject).statements]


def test_facts_conflicts_and_the_ledger(postgres: str, tmp_path: Path) -> None:
    with (
        trivium.init(postgres, profile="worlds", model="none") as library,
        trivium.init(tmp_path / "w.trivium", profile="worlds", model="none") as folder,
    ):
        for one in (library, folder):
            assert one.import_facts(EXAMPLES / "facts.ttl").errors == ()
        heron = library.resolve("march:Heron")
        assert stated(library, heron) == stated(folder, heron) != []
        query = "SELECT ?s WHERE { ?s a march:Place } ORDER BY ?s"
        assert library.sparql(query) == folder.sparql(query)
        found = [(v.id, v.anomaly.kind) for v in library.verifications()]
        assert found == [(v.id, v.anomaly.kind) for v in folder.verifications()]
        rdf = {"filter": Filter(rdf_types=(library.resolve("march:Place"),), subclasses=True)}
        assert answer(library, "white stone", **rdf) == answer(folder, "white stone", **rdf)
        for one in (library, folder):
            one.decide(found[0][0], "rejected", why="told so", by="Ida", statements=[1])
        assert answer(library, "compass") == answer(folder, "compass")
        assert library.audit().problems == ()
        with psycopg.connect(postgres.partition("?")[0]) as connection:
            schema = postgres.rpartition("=")[2]
            with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
                connection.execute(f"DELETE FROM {schema}.ledger")
        assert library.doctor() == []


def test_feedback_memories_and_models(library: trivium.Library, notes: Path) -> None:
    library.add_text("the first word", title="First")  # from here on its model is known
    library.add(notes, embed=False)
    assert library.waiting() > 0
    library.embed()
    assert library.waiting() == 0
    library.feedback("accepted", "clock-01", query="time")
    assert library.feedback_stats(profile="vault")["accepted"] == 1
    library.remember("The clock was wrong last week.", id="m1")
    hits = library.search("clock", profile="vault", include_memories=True, now=NOW)
    assert "m1" in [hit.id for hit in hits]
    [model] = library.status()["models"]
    assert (model["name"], model["active"]) == ("hashing", True)


# --- at the terminal -----------------------------------------------------------------------------


def test_the_commands_take_an_address(
    run: Run, postgres: str, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "holds no library; make one with trivium init '" in run("status", "-L", postgres).stderr
    assert run("init", postgres, "--model", "hashing").returncode == 0
    again = run("init", postgres)
    assert (again.returncode, "already; choose another schema" in again.stderr) == (1, True)
    monkeypatch.setenv("TRIVIUM_LIBRARY", postgres)
    assert run("add", notes).returncode == 0
    found = json.loads(run("search", "gravewind", "--json").stdout)
    assert found["hits"][0]["title"] == "Emberfold"
    assert run("doctor").stdout.endswith("is well\n")
    assert json.loads(run("status", "--json").stdout)["documents"] == 6
    judged = notes.parent / "judged.json"
    emberfold = found["hits"][0]["id"]
    question = {"queries": {"q": "gravewind"}, "judgements": {"q": {emberfold: 1}}}
    judged.write_text(json.dumps(question))
    measured = run("eval", judged, "--json")
    assert measured.returncode == 0, measured.stderr


def test_a_password_is_never_shown(run: Run) -> None:
    refused = run("status", "-L", "postgresql://ida:secret@127.0.0.1:9/none")
    assert refused.returncode == 1
    assert "cannot be reached" in refused.stderr
    assert "secret" not in refused.stdout + refused.stderr


def test_it_follows_a_folder(library: trivium.Library, tmp_path: Path) -> None:
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "a.md").write_text("The axe of the dwarf king.")
    told: Queue[Any] = Queue()
    stop = threading.Event()
    watching = threading.Thread(
        target=lambda: library.watch(folder, told=told.put, stop=stop, embed=False)
    )
    watching.start()
    try:
        assert len(told.get(timeout=PATIENCE).added) == 1
        (folder / "b.md").write_text("A sword of the river elves.")
        while not told.get(timeout=PATIENCE).added:
            pass
        assert library.search("elves", legs=["keyword"]).hits[0].title == "b"
    finally:
        stop.set()
        watching.join(PATIENCE)


# --- several libraries, several writers ----------------------------------------------------------


def test_libraries_lie_side_by_side_in_schemas(postgres: str) -> None:
    other = postgres + "_b"
    with trivium.init(postgres, model="none") as one, trivium.init(other, model="none") as two:
        one.add_text("the axe", title="A", id="a")
        two.add_text("the sword", title="B", id="b")
        assert [d.id for d in one.documents()] == ["a"]
        assert [d.id for d in two.documents()] == ["b"]
        with pytest.raises(LibraryExists, match="choose another schema"):
            trivium.init(other)
    with psycopg.connect(postgres.partition("?")[0], autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {other.rpartition('=')[2]} CASCADE")
    with pytest.raises(NotALibrary, match="holds no library"):
        trivium.open(other)


def test_a_folder_a_server_and_a_bundle_are_tiers_of_one_search(
    library: trivium.Library, postgres: str, tmp_path: Path
) -> None:
    library.add_text("the axe of the team", title="Theirs", id="theirs")
    with trivium.init(tmp_path / "mine.trivium", model="hashing") as mine:
        mine.add_text("the axe of mine", title="Mine", id="mine")
    with trivium.init(tmp_path / "given.trivium", model="hashing") as given:
        given.add_text("the axe of everybody", title="Given", id="given")
        given.add_text("the axe of the team, as it was", title="Theirs", id="theirs")
        given.export_bundle(tmp_path / "given.omnidata")
    tiers = [
        Tier("agent", tmp_path / "mine.trivium"),
        Tier("project", postgres),
        Tier("global", tmp_path / "given.omnidata"),
    ]
    with Federation(tiers) as federation:
        found = {hit.id: hit.tier for hit in federation.search("axe")}
    assert found == {"mine": "agent", "theirs": "project", "given": "global"}


WRITER = """
import sys, trivium
address, name = sys.argv[1:]
with trivium.open(address) as library:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(6):
        library.add_text(f"the axe number{number} of {name}", title=f"{name} {number}",
                         id=f"{name}-{number}")
        library.add_text(f"said by {name}, {number}", title="Shared", id="shared")
"""


def test_writers_at_once_lose_nothing(library: trivium.Library, postgres: str) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, postgres, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("ida", "olaf")
    ]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.communicate("go\n", timeout=PATIENCE)
        assert writer.returncode == 0
    names = {f"{name}-{number}" for name in ("ida", "olaf") for number in range(6)}
    assert {document.id for document in library.documents()} == names | {"shared"}
    assert [v.version for v in library.versions("shared")] == list(range(1, 13))
    assert library.search("axe", limit=100, legs=["keyword"]).total == 12
    assert (library.waiting(), library.doctor()) == (0, [])


def test_a_writer_that_waits_too_long_says_so(library: trivium.Library, postgres: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trivium.store.postgres.connection.WAIT_SECONDS", 1)
        other = trivium.open(postgres)  # its connection is made with this patience
    with (
        other,
        library._store._database.writing(),
        pytest.raises(LibraryBusy, match="written by another process; try again when"),
    ):
        other.add_text("words", title="Second")
    assert library.add_text("words", title="Second").added == ("Second",)


# --- a server that goes away ---------------------------------------------------------------------


TROUBLE = """
SET search_path TO {schema};
CREATE SEQUENCE attempts;  -- it goes on counting when a write is undone
CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('{schema}.attempts') <= {times} THEN {what}; END IF;
  RETURN new;
END $$;
CREATE TRIGGER trouble AFTER INSERT ON documents FOR EACH ROW EXECUTE FUNCTION trouble();
"""
CONFLICT = "RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '{code}'"
LOSS = "PERFORM pg_terminate_backend(pg_backend_pid())"


@pytest.mark.parametrize(
    ("what", "times", "tried"),
    [
        (CONFLICT.format(code="40001"), 3, 4),
        (CONFLICT.format(code="40P01"), 1, 2),
        (LOSS, 1, 2),
    ],
    ids=["serialisation", "deadlock", "lost"],
)
def test_a_write_that_the_server_undid_is_tried_again(
    library: trivium.Library, postgres: str, what: str, times: int, tried: int
) -> None:
    server, _, schema = postgres.partition("?schema=")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(TROUBLE.format(schema=schema, what=what, times=times))
        assert library.add_text("the axe", title="A", id="a").added == ("a",)
        row = connection.execute(f"SELECT last_value FROM {schema}.attempts").fetchone()
    assert row == (tried,)
    assert [one.version for one in library.versions("a")] == [1]
    assert library.doctor() == []


@pytest.mark.parametrize(
    ("what", "error", "tried"),
    [
        (CONFLICT.format(code="40001"), LibraryBusy, 6),
        (LOSS, LibraryUnavailable, 2),
    ],
    ids=["serialisation", "lost"],
)
def test_if_it_never_succeeds_that_is_said(
    library: trivium.Library, postgres: str, what: str, error: type[Exception], tried: int
) -> None:
    server, _, schema = postgres.partition("?schema=")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(TROUBLE.format(schema=schema, what=what, times=1000))
        with pytest.raises(error, match="try again"):
            library.add_text("the axe", title="A", id="a")
        row = connection.execute(f"SELECT last_value FROM {schema}.attempts").fetchone()
    assert row == (tried,)
    assert library.documents() == []


class Writer(threading.Thread):
    """Adds one document after the other, and notes each that was said to be stored."""

    def __init__(self, library: trivium.Library, round: int) -> None:
        super().__init__()
        self.library, self.round = library, round
        self.acknowledged: list[str] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            for number in range(1_000_000):
                id = f"{self.round}-{number}"
                self.library.add_text(f"the axe number{number}", title=id, id=id, embed=False)
                self.acknowledged.append(id)
        except BaseException as error:
            self.error = error


def test_a_killed_server_has_lost_nothing_that_was_acknowledged() -> None:
    acknowledged: set[str] = set()
    with own_server() as server:
        with trivium.init(server.url, model="hashing") as library:
            for round in range(2):
                writer = Writer(library, round)
                writer.start()
                while len(writer.acknowledged) < 5 and writer.is_alive():
                    writer.join(0.01)
                server.kill()
                writer.join(PATIENCE)
                assert isinstance(writer.error, LibraryUnavailable)
                server.start_again()
                acknowledged |= set(writer.acknowledged)
                stored = {document.id for document in library.documents()}
                assert acknowledged <= stored
                assert len(stored) <= len(acknowledged) + round + 1  # one was not acknowledged
                found = library.search("axe", limit=1000, legs=["keyword"])
                assert (found.total, library.doctor()) == (len(stored), [])
        server.stop()
        with pytest.raises(LibraryUnavailable, match="cannot be reached"):
            trivium.open(server.url)
