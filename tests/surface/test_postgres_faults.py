"""What a server may do to a library: each fault in our words, and nothing half written."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from postgres import own_server
from psycopg import sql

import trivium
from trivium.errors import (
    InvalidValue,
    LibraryBusy,
    LibraryCorrupt,
    LibraryError,
    LibraryReadOnly,
    LibraryUnavailable,
    ModelMismatch,
    NotALibrary,
    StorageFull,
)
from trivium.opening import examine
from trivium.protocols import Model
from trivium.store.postgres import reaching, schema
from trivium.store.postgres.address import Address
from trivium.store.postgres.nearest import Model as Indexed
from trivium.store.postgres.nearest import make_graph
from trivium.store.postgres.refusals import translated
from trivium.store.postgres.store import PostgresStore
from trivium.text import content_hash
from trivium.types import Bm25, Clause, Document, Draft, Filter, Grant, Passage, Phrase, WordQuery

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def draft(id: str, text: str) -> Draft:
    document = Document(id=id, uri=f"march:{id}", title=id)
    return Draft(document, (Passage(text),), (content_hash(text),))


def found(store: PostgresStore, term: str) -> list[str]:
    query = WordQuery.any_of([Clause((Phrase((term,)),))])
    with store.view(Grant()) as view:
        return [id for id, _ in view.words(query, Bm25(), Filter(), 10, "chunk").scored]


@contextmanager
def opened(url: str, **how: Any) -> Iterator[PostgresStore]:
    store = PostgresStore(Address.parse(url), **how)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def administrator(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Somebody else at the same database, in the library's schema."""
    address = Address.parse(url)
    with psycopg.connect(address.connection, autocommit=True) as connection:
        connection.execute(
            sql.SQL("SET search_path TO {}, public").format(sql.Identifier(address.schema))
        )
        yield connection


def write_and_lose(store: PostgresStore, url: str) -> None:
    """Lose the connection in the middle of a write."""
    with store._connections.writing() as transaction:
        transaction.execute("set_state", ("half", "written"))
        with administrator(url) as connection:
            connection.execute(_END_ALL)
        transaction.execute("set_state", ("other half", "written"))


def as_role(url: str, role: str) -> str:
    return url.replace("postgres@", f"{role}@", 1)


class TestTheAddress:
    def test_a_password_is_never_shown(self) -> None:
        address = Address.parse(
            "postgresql://ann:s3cret@db.example/notes?schema=lore&sslmode=require"
        )
        assert address.shown == "postgresql://ann@db.example/notes?schema=lore"
        assert address.schema == "lore"
        assert address.connection == "postgresql://ann:s3cret@db.example/notes?sslmode=require"

    def test_without_a_schema_it_is_trivium(self) -> None:
        assert Address.parse("postgres://db/notes").schema == "trivium"

    @pytest.mark.parametrize("name", ["Lore", "a-b", "", "pg_catalog", 'x"; DROP', "1a"])
    def test_a_schema_has_a_plain_name(self, name: str) -> None:
        with pytest.raises(InvalidValue, match="cannot be a schema"):
            Address.parse(f"postgresql://db/notes?schema={name}")

    def test_a_port_is_a_number(self) -> None:
        with pytest.raises(InvalidValue, match="cannot be read"):
            Address.parse("postgresql://db:many/notes")


class TestOpening:
    def test_a_server_that_is_down(self) -> None:
        with socket.socket() as taken:  # bound and not listening: nobody else answers there
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            with pytest.raises(LibraryUnavailable, match=r"cannot be reached .* start it") as error:
                PostgresStore(Address.parse(f"postgresql://ann:s3cret@127.0.0.1:{port}/notes"))
        assert "s3cret" not in str(error.value)

    def test_a_server_that_never_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It takes connections and says nothing: stopped, or another program altogether."""
        monkeypatch.setitem(reaching.ARGUMENTS, "connect_timeout", 2)  # the least there is
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            url = f"postgresql://127.0.0.1:{silent.getsockname()[1]}/notes"
            with pytest.raises(LibraryUnavailable, match=r"cannot be reached .*timeout.* start it"):
                PostgresStore(Address.parse(url))

    def test_a_database_that_does_not_exist(self, postgres_server: str) -> None:
        parts = urlsplit(postgres_server)
        url = f"postgresql://{parts.netloc}/nowhere"
        with pytest.raises(NotALibrary, match="make it with 'createdb'"):
            PostgresStore(Address.parse(url))

    def test_a_login_that_is_refused(self, postgres_server: str) -> None:
        with pytest.raises(LibraryUnavailable, match=r"refused the login .* check user"):
            PostgresStore(Address.parse(as_role(postgres_server, "nobody_knows_me")))

    def test_a_database_without_a_library(self, postgres: str) -> None:
        with pytest.raises(NotALibrary, match=r"make one with trivium init 'post.*=test_\w+'"):
            PostgresStore(Address.parse(postgres))

    def test_who_has_no_rights_at_all_is_told_so(self, postgres: str) -> None:
        with opened(postgres, create=True):
            pass
        with administrator(postgres) as connection:
            connection.execute("CREATE ROLE stranger LOGIN")
        try:
            with pytest.raises(LibraryReadOnly, match=r"permission denied.*GRANT it to you"):
                PostgresStore(Address.parse(as_role(postgres, "stranger")))
        finally:
            with administrator(postgres) as connection:
                connection.execute("DROP ROLE stranger")

    def test_a_schema_from_a_newer_version(self, postgres: str) -> None:
        opened(postgres, create=True).__enter__().close()
        with administrator(postgres) as connection:
            connection.execute("INSERT INTO migrations VALUES ('9999_future')")
        with pytest.raises(LibraryError, match=r"newer Trivium \(9999_future\); upgrade"):
            PostgresStore(Address.parse(postgres))

    def test_several_at_once_make_one_library(self, postgres: str) -> None:
        with ThreadPoolExecutor(3) as pool:
            made = pool.map(lambda _: PostgresStore(Address.parse(postgres), create=True), range(3))
            for number, store in enumerate(made):
                store.put([draft(f"a{number}", "axe")], NOW)
                store.close()
        with opened(postgres) as store:
            assert found(store, "ax") == ["a0@1/0", "a1@1/0", "a2@1/0"]

    def test_missing_extensions_name_who_can_make_them(self, postgres_server: str) -> None:
        """A database without extensions, opened by somebody who may not make them."""
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE bare TEMPLATE template0")
            connection.execute("CREATE ROLE guest LOGIN")
        netloc = urlsplit(postgres_server).netloc
        url = as_role(f"postgresql://{netloc}/bare", "guest")
        try:
            with pytest.raises(NotALibrary) as error:
                PostgresStore(Address.parse(url), create=True)
            said = str(error.value)
            assert "a superuser runs: CREATE EXTENSION vector" in said
            assert "the owner of database bare runs: CREATE EXTENSION pg_trgm" in said
        finally:
            with psycopg.connect(postgres_server, autocommit=True) as connection:
                connection.execute("DROP DATABASE bare WITH (FORCE)")
                connection.execute("DROP ROLE guest")

    def test_an_extension_that_is_gone(self, postgres_server: str) -> None:
        """Dropped under a library that is open, and under one that is to be opened."""
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE stripped TEMPLATE template0")
        url = f"postgresql://{urlsplit(postgres_server).netloc}/stripped"
        try:
            with opened(url, create=True) as store:
                with administrator(url) as connection:
                    connection.execute("DROP EXTENSION vector CASCADE")
                with pytest.raises(LibraryCorrupt, match="runs: CREATE EXTENSION vector"):
                    found(store, "ax")
            with pytest.raises(LibraryCorrupt, match=r"no extension vector .* CREATE EXTENSION"):
                PostgresStore(Address.parse(url))
            assert examine(url)[0].endswith("restore it from a copy")
        finally:
            with psycopg.connect(postgres_server, autocommit=True) as connection:
                connection.execute("DROP DATABASE stripped WITH (FORCE)")

    def test_an_old_extension_or_none_at_all(
        self, postgres_server: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wanted = {"vector": (99, 0), "no_such_extension": (1, 0)}
        monkeypatch.setattr(schema, "EXTENSIONS", wanted)
        monkeypatch.setitem(schema._PACKAGES, "no_such_extension", "no-such-package")
        with psycopg.connect(postgres_server) as connection:
            old, none = schema.missing(connection)
        assert "must be 99.0 or later; a superuser runs: ALTER EXTENSION vector UPDATE" in old
        assert "its administrator installs the package (no-such-package)" in none


class TestWhileItRuns:
    def test_a_lost_connection_is_replaced(self, postgres: str) -> None:
        with opened(postgres, create=True) as store:
            store.put([draft("a", "axe")], NOW)
            assert found(store, "ax") == ["a@1/0"]
            with administrator(postgres) as connection:
                connection.execute(_END_ALL)
            assert found(store, "ax") == ["a@1/0"]
            store.put([draft("b", "axe")], NOW)
            assert found(store, "ax") == ["a@1/0", "b@1/0"]

    def test_a_connection_lost_in_the_middle_is_reported(self, postgres: str) -> None:
        with opened(postgres, create=True) as store:
            store.put([draft("a", "axe")], NOW)
            with store.view(Grant()) as view:
                with administrator(postgres) as connection:
                    connection.execute(_END_ALL)
                with pytest.raises(LibraryUnavailable, match="try again"):
                    view.records(["a@1/0"])
            with pytest.raises(LibraryUnavailable):
                write_and_lose(store, postgres)
            with store._connections.reading() as reader:
                assert reader.execute("state", ("half",)).fetchone() is None

    def test_a_server_that_goes_and_comes_back(self) -> None:
        with own_server() as server, opened(server.url, create=True) as store:
            store.put([draft("a", "axe")], NOW)
            server.stop()
            with pytest.raises(LibraryUnavailable, match="cannot be reached"):
                found(store, "ax")
            with pytest.raises(LibraryUnavailable):
                store.put([draft("b", "axe")], NOW)
            server.start()
            assert found(store, "ax") == ["a@1/0"]
            server.kill()
            server.start_again()
            store.put([draft("c", "axe")], NOW)
            assert found(store, "ax") == ["a@1/0", "c@1/0"]

    def test_a_statement_that_takes_too_long(self, postgres: str) -> None:
        limited = f"{postgres}&options=-cstatement_timeout%3D100"
        with opened(postgres, create=True):
            pass
        with (
            opened(limited) as store,
            pytest.raises(LibraryBusy, match="raise statement_timeout"),
            store._connections.reading() as reader,
        ):
            reader.connection.execute("SELECT pg_sleep(60)")

    @pytest.mark.parametrize("as_of", [None, NOW], ids=["now", "as of"])
    def test_a_search_that_takes_too_long(self, postgres: str, as_of: datetime | None) -> None:
        """Somebody holds a table, and the server gives up waiting; then it is free again."""
        with opened(postgres, create=True) as store:
            store.put([draft("a", "axe")], NOW)
        limited = f"{postgres}&options=-cstatement_timeout%3D300"
        with opened(limited) as store, administrator(postgres) as other:
            with other.transaction():
                other.execute("LOCK TABLE segments, activations IN ACCESS EXCLUSIVE MODE")
                with pytest.raises(LibraryBusy, match="raise statement_timeout"):
                    store.view(Grant(), as_of)
            with store.view(Grant(), as_of) as view:
                assert list(view.records(["a@1/0"])) == ["a@1/0"]

    def test_who_may_only_read_is_told_so(self, postgres: str) -> None:
        with opened(postgres, create=True) as store:
            store.put([draft("a", "axe")], NOW)
            assert store.status()["writable"]
        schema_name = sql.Identifier(Address.parse(postgres).schema)
        role = sql.Identifier(f"reader_{Address.parse(postgres).schema}")
        with administrator(postgres) as connection:
            for statement in (
                "CREATE ROLE {role} LOGIN",
                "GRANT USAGE ON SCHEMA {schema} TO {role}",
                "GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
            ):
                connection.execute(sql.SQL(statement).format(role=role, schema=schema_name))
        try:
            with opened(as_role(postgres, role._obj[0])) as store:
                assert found(store, "ax") == ["a@1/0"]
                assert not store.status()["writable"]
                with pytest.raises(LibraryReadOnly, match="ask its owner to GRANT"):
                    store.put([draft("b", "axe")], NOW)
                assert found(store, "ax") == ["a@1/0"]
        finally:
            with administrator(postgres) as connection:
                connection.execute(sql.SQL("DROP OWNED BY {role}").format(role=role))
                connection.execute(sql.SQL("DROP ROLE {role}").format(role=role))

    def test_a_full_disk_undoes_the_whole_write(self, postgres: str) -> None:
        """The server says so in the middle of a write: at the second document of three."""
        with opened(postgres, create=True) as store:
            store.put([draft("a", "axe")], NOW)
            with administrator(postgres) as connection:
                connection.execute(_DISK_FULL)
            with pytest.raises(StorageFull, match="free some space"):
                store.put([draft("b", "axe"), draft("c", "overfull axe"), draft("d", "axe")], NOW)
            assert found(store, "ax") == ["a@1/0"]
            assert store.find(["b", "c", "d"], Grant()) == {}
            assert store.check() == []

    def test_vectors_of_another_dimension(self, postgres: str) -> None:
        with opened(postgres, create=True) as store:
            store.use_model(Model("three", "three/1", 3, active=True))
            with store._connections.alone() as connection:
                model = Indexed.read(connection)
                assert model is not None
                make_graph(connection, model)
            with (
                pytest.raises(ModelMismatch, match="run 'trivium embed'"),
                store._connections.writing() as transaction,
            ):
                transaction.connection.execute("INSERT INTO vectors VALUES ('h', 1, '[1,0]')")

    def test_vectors_that_somebody_spoilt_are_made_anew(self, postgres: str) -> None:
        with trivium.init(postgres, model="hashing") as library:
            for name in ("axe", "sword", "bow"):
                library.add_text(f"the {name} of the king", title=name, id=name)
            before = [(hit.id, hit.score) for hit in library.search("sword")]
            with administrator(postgres) as connection:
                connection.execute("UPDATE vectors SET vector = '[1,2,3]' WHERE ctid = '(0,1)'")
                connection.execute("DELETE FROM vectors WHERE ctid = '(0,2)'")
            result = library.search("sword")
            assert result.hits[0].id == "sword"
            assert "run 'trivium embed'" in result.degraded[0]
            assert library.doctor() == [
                "1 texts have no vector and do not wait for one; run 'trivium embed'",
                "1 vectors do not have their model's dimension; run 'trivium embed'",
            ]
            assert library.embed().embedded == 2
            assert library.doctor() == []
            assert [(hit.id, hit.score) for hit in library.search("sword")] == before

    def test_a_name_that_no_index_can_hold(self, postgres: str) -> None:
        name = "".join(content_hash(str(n)) for n in range(100))  # 6,400 letters, nothing repeats
        with opened(postgres, create=True) as store:
            with pytest.raises(InvalidValue, match="shorten the id"):
                store.put([draft(name, "axe")], NOW)
            assert store.documents(Filter(), Grant()) == []

    def test_texts_that_postgresql_cannot_hold_are_taken_in(self, postgres: str) -> None:
        """NUL, a word without end, and every other sign."""
        endless = "x" * 20_000
        with opened(postgres, create=True) as store:
            store.put([draft("a", f"axe\0sword {endless} \U0001f5e1 кот")], NOW)
            for term in ("ax", "sword", endless, "кот"):
                assert found(store, term) == ["a@1/0"]
            assert found(store, "x" * 19_999) == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("57014", LibraryBusy),
        ("55P03", LibraryBusy),
        ("40001", LibraryBusy),
        ("53100", StorageFull),
        ("53300", LibraryBusy),
        ("42501", LibraryReadOnly),
        ("25006", LibraryReadOnly),
        ("3D000", NotALibrary),
        ("28P01", LibraryUnavailable),
        ("08006", LibraryUnavailable),
        ("57P01", LibraryUnavailable),
        ("22000", ModelMismatch),
        ("54000", InvalidValue),
        ("XX001", LibraryCorrupt),
        ("42P01", LibraryCorrupt),
    ],
)
def test_a_refusal_is_known_by_its_code_in_any_language(code: str, kind: type[Exception]) -> None:
    error = psycopg.errors.lookup(code)("DATEI: nicht möglich")
    assert type(translated(error, "postgresql://db/notes")) is kind


_END_ALL = """
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
WHERE application_name = 'trivium' AND pid <> pg_backend_pid()
"""

_DISK_FULL = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'could not extend file "base/1/1": No space left on device'
  USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER no_room BEFORE INSERT ON chunks
FOR EACH ROW WHEN (new.text LIKE '%overfull%') EXECUTE FUNCTION no_room();
"""


def test_a_server_that_knows_no_letters_beyond_ascii_finds_them_all_the_same(
    postgres_server: str,
) -> None:
    """In the C locale pg_trgm takes Cyrillic for blanks; words are then looked at one by one."""
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE plain TEMPLATE template0 ENCODING 'UTF8' "
            "LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C'"
        )
    try:
        with opened(f"postgresql://{urlsplit(postgres_server).netloc}/plain", create=True) as store:
            store.put([draft("a", "кошка naïveté straße"), draft("b", "short sword")], NOW)
            with store.view(Grant()) as view:
                for word, like in (("кошко", "кошка"), ("strasse", "straße"), ("swrod", "sword")):
                    assert [one.word for one in view.similar(word, (1, 9), 1)] == [like]
    finally:
        with psycopg.connect(postgres_server, autocommit=True) as connection:
            connection.execute("DROP DATABASE plain WITH (FORCE)")


def test_the_statement_in_the_documentation_finds_what_it_says(postgres: str) -> None:
    """Words are there for everyone who asks in SQL, as docs/stores.md shows."""
    page = (Path(__file__).parents[2] / "docs" / "stores.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    _, statement = block.split(";", 1)
    with opened(postgres, create=True) as store:
        texts = ("a short sword", "an axe", "the axe of a goblin", "a sword, and it is short")
        store.put([draft(name, text) for name, text in zip("abcd", texts, strict=True)], NOW)
    with administrator(postgres) as connection:
        rows = connection.execute(statement.strip().rstrip(";")).fetchall()
    assert sorted(text for _, text in rows) == ["a short sword", "an axe"]
