"""Searches that a server cuts off: asked once more, or answered by what is left, or told why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import trivium
from trivium.errors import LibraryBusy, LibraryUnavailable, StorageFull
from trivium.store.postgres.address import Address
from trivium.types import NO_FILTER, Filter, Grant

psycopg = pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

LATER = datetime(2100, 1, 1, tzinfo=UTC)
AS_OF = {"now": NO_FILTER, "as of": Filter(as_of=LATER)}

END_ALL = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE application_name = 'trivium' AND pid <> pg_backend_pid()
"""


@pytest.fixture
def library(postgres: str) -> Iterator[trivium.Library]:
    with trivium.init(postgres, model="hashing") as made:
        made.add_text("the axe of the king", title="Axe", id="axe")
        made.embed()
        yield made


@pytest.fixture
def server(postgres: str) -> Iterator[Any]:
    """Its administrator, in the library's schema."""
    address = Address.parse(postgres)
    with psycopg.connect(address.connection, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {address.schema}, public")
        connection.execute("SET lock_timeout TO '20s'")  # a test that hangs says so
        yield connection


class Losing:
    """A model that takes its time: when it has an answer, the server has ended all connections."""

    def __init__(self, model: Any, server: Any, times: int) -> None:
        self.name, self.fingerprint = model.name, model.fingerprint
        self.dimension, self.documents = model.dimension, model.documents
        self.asked = 0
        self._model, self._server, self._times = model, server, times

    def query(self, text: str) -> Any:
        self.asked += 1
        if self.asked <= self._times:
            self._server.execute(END_ALL)
        return self._model.query(text)


def losing(library: trivium.Library, server: Any, times: int) -> Losing:
    library._embedder = Losing(library._model(), server, times)
    return library._embedder


@pytest.mark.parametrize("filter", AS_OF.values(), ids=AS_OF)
@pytest.mark.parametrize("legs", [(), ("vector",)], ids=["hybrid", "vector"])
def test_a_search_whose_connection_was_lost_is_asked_once_more(
    library: trivium.Library, server: Any, legs: tuple[str, ...], filter: Filter
) -> None:
    before = library.search("axe", legs=legs, filter=filter)
    model = losing(library, server, times=1)
    result = library.search("axe", legs=legs, filter=filter)
    assert [(hit.id, hit.score) for hit in result] == [(hit.id, hit.score) for hit in before]
    assert (result.degraded, model.asked) == ((), 2)


@pytest.mark.parametrize("legs", [(), ("vector",)], ids=["hybrid", "vector"])
def test_one_that_is_lost_again_is_reported(
    library: trivium.Library, server: Any, legs: tuple[str, ...]
) -> None:
    model = losing(library, server, times=1000)
    with pytest.raises(LibraryUnavailable, match=r"was lost .* try again"):
        library.search("axe", legs=legs)
    assert model.asked == 2


def test_whatever_only_reads_is_asked_once_more(
    library: trivium.Library, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these looks at a view, whose connection is lost as soon as it is open."""
    opened = type(library._store).view
    lost: list[bool] = []

    def losing(*arguments: Any, **named: Any) -> Any:
        view = opened(*arguments, **named)
        if not lost:
            server.execute(END_ALL)
            lost.append(True)
        return view

    monkeypatch.setattr(type(library._store), "view", losing)
    asked: list[Callable[[], list[str]]] = [
        lambda: [document.id for document in library.documents()],
        lambda: [document.id for document in library.page()[0]],
        lambda: [one.id for one in library.suggest("ax") if one.id],
        lambda: [hit.id for hit in library.search("*", filter=Filter(kind=("note",)))],
        lambda: list(library.known(["axe", "none"], as_of=LATER)),
    ]
    for ask in asked:
        lost.clear()
        assert ask() == ["axe"]
        assert lost


# --- what takes too long -------------------------------------------------------------------------


@pytest.fixture
def limited(library: trivium.Library, postgres: str) -> Iterator[trivium.Library]:
    """The same library, for a user whose statements may take .3 seconds."""
    with trivium.open(f"{postgres}&options=-cstatement_timeout%3D300") as opened:
        yield opened


def test_meaning_takes_too_long_and_words_answer(limited: trivium.Library, server: Any) -> None:
    with server.transaction():
        server.execute("LOCK TABLE vectors IN ACCESS EXCLUSIVE MODE")
        result = limited.search("axe")
    assert [hit.id for hit in result] == ["axe"]
    [missing] = result.degraded
    assert missing.startswith("vector: ")
    assert "raise statement_timeout" in missing


@pytest.mark.parametrize("as_of", [None, LATER], ids=AS_OF)
def test_what_took_too_long_is_said_however_often_one_asks(
    limited: trivium.Library, as_of: datetime | None
) -> None:
    """The server only repeats that the transaction is aborted."""
    opened: Any = limited._store.view(Grant(), as_of)
    with opened as view:
        with pytest.raises(LibraryBusy), view._transaction.asking():
            view._connection.execute("SELECT pg_sleep(60)")
        for _ in range(2):
            with pytest.raises(LibraryBusy, match="raise statement_timeout"):
                view.records(["axe@1/0"])


@pytest.mark.parametrize("filter", AS_OF.values(), ids=AS_OF)
@pytest.mark.parametrize("profile", ["default", "jicklejime"])
def test_a_search_that_takes_too_long_says_so_at_every_step(
    limited: trivium.Library, server: Any, filter: Filter, profile: str
) -> None:
    for table in ("postings, words, activations", "segments, activations", "chunks"):
        with server.transaction():
            server.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(LibraryBusy, match="raise statement_timeout"):
                limited.search("axe", profile=profile, filter=filter)
        assert limited.search("axe", profile=profile, filter=filter).hits


# --- what is read in ------------------------------------------------------------------------------

FULL = """
CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON archive FOR EACH ROW EXECUTE FUNCTION full();
"""


def test_what_is_wrong_with_the_server_is_no_fault_of_each_file(
    library: trivium.Library, server: Any, tmp_path: Path
) -> None:
    """Of thousands of files each waited for a server that was gone, and was named."""
    for name in "abc":
        (tmp_path / f"{name}.md").write_text(f"A note called {name}.")
    server.execute(FULL.replace("full()", "full_disk()"))
    for source in (None, "obsidian"):
        with pytest.raises(StorageFull, match="free some space"):
            library.add(tmp_path, source=source)
    server.execute("DROP TRIGGER full_disk ON archive")
    assert len(library.add(tmp_path).added) == 3
    assert library.doctor() == []


# --- what is written -----------------------------------------------------------------------------

LOSS = """
CREATE SEQUENCE attempts;  -- it goes on counting when a write is undone
CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF nextval('attempts') <= 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
  RETURN new;
END $$;
CREATE TRIGGER trouble AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION trouble();
"""


@pytest.mark.parametrize("table", ["feedback", "keys", "quads"])
def test_every_write_is_tried_once_more(
    library: trivium.Library, server: Any, table: str, tmp_path: Path
) -> None:
    server.execute(LOSS.format(table=table))
    if table == "feedback":
        library.feedback("accepted", "axe", query="axe")
        assert library.feedback_stats(profile="vault")["accepted"] == 1
    elif table == "keys":
        library.create_key("ida")
        [key] = library.keys()
        assert key.name == "ida"
    else:
        facts = tmp_path / "facts.ttl"
        facts.write_text('@prefix m: <http://march/> . m:axe m:called "Gravewind" ; m:of [] .')
        assert library.import_facts(facts).errors == ()
        assert len(list(library.statements())) == 2
        assert library.prefixes() == {"m": "http://march/"}
    assert server.execute("SELECT last_value > 1 FROM attempts").fetchone() == (True,)
