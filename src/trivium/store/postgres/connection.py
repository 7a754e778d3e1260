"""Connections to PostgreSQL: a pool of them, one writer at a time, and a view's own transaction."""

from __future__ import annotations

import logging
import random
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager as Context
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel, sql
from psycopg.errors import InFailedSqlTransaction
from psycopg_pool import ConnectionPool, PoolTimeout

from trivium.errors import LibraryReadOnly, LibraryUnavailable, NotALibrary, TriviumError, command
from trivium.store.postgres import schema as tables
from trivium.store.postgres.adapting import Row, Vector, adapt
from trivium.store.postgres.address import Address
from trivium.store.postgres.reaching import ARGUMENTS, reach
from trivium.store.postgres.refusals import in_our_words, is_lost
from trivium.store.record.statements import statements
from trivium.vectors import Floats32, pack, unpack

MOST_CONNECTIONS = 16
"""For each process: as many readers at once as a small server has threads."""

MOST_CONFLICTS = 5
"""How often a write that the server undid for another's sake is tried again."""

WAIT_SECONDS = 30
"""How long a writer waits for another one, and a reader for a connection, before it gives up."""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # errors come to the caller

Values = Mapping[str, Any] | Sequence[Any]
Before = Callable[[Connection[Row]], None]


class Transaction:
    """Named statements on one connection, inside its transaction."""

    def __init__(
        self, connection: Connection[Row], statements: Mapping[str, str], shown: str
    ) -> None:
        self.connection = connection
        self.ended = False
        self._statements = statements
        self._shown = shown
        self._failure: TriviumError | None = None

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Errors in our words. After one of them the server answers nothing more in this
        transaction; then it is the reason that is told again.
        """
        try:
            with in_our_words(self._shown):
                yield
        except TriviumError as error:
            if self._failure and isinstance(error.__cause__, InFailedSqlTransaction):
                raise self._failure  # noqa: B904  # with a cause of its own
            self._failure = error
            raise

    def execute(self, statement: str, values: Values = (), /) -> psycopg.Cursor[Row]:
        """Run the statement of this name."""
        query = placeholders(self._statements[statement])
        return self.connection.execute(query, values, binary=True)

    def executemany(self, statement: str, values: Iterable[Values], /) -> object:
        """Run it once for each of the values."""
        query = placeholders(self._statements[statement])
        with self.connection.cursor() as cursor:
            cursor.executemany(query, values)
            return cursor.rowcount

    def vector(self, vector: Floats32, /) -> Vector:
        return Vector(pack(vector))

    def floats(self, stored: bytes, /) -> Floats32:
        return unpack(stored)

    def roomy(self) -> Context[None]:
        return nullcontext()


_PLACES = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|::|:(\w+)|\?|%")


@cache
def placeholders(statement: str) -> str:
    """`?` and `:name` as psycopg writes them; what stands in quotes stays as it is."""

    def written(match: re.Match[str]) -> str:
        text = match[0]
        if match[1]:
            return f"%({match[1]})s"
        return "%s" if text == "?" else text.replace("%", "%%")

    return _PLACES.sub(written, statement)


def own_statements(file: str) -> dict[str, str]:
    """The statements of a `.sql` file in this folder, as psycopg takes them."""
    found = statements(Path(__file__).parent / file)
    return {name: placeholders(statement) for name, statement in found.items()}


class Connections:
    """The connections of one library; each statement that fails says so in our words.

    `before_commit` is called in each writing transaction when all is written: whatever is derived
    from the record is brought up to date there, in the same transaction.
    """

    def __init__(
        self,
        address: Address,
        *,
        create: bool = False,
        named: Mapping[str, str] | None = None,
        before_commit: Before | None = None,
        refusal: str = "",
    ) -> None:
        self.address = address
        self.writable = not refusal
        self._refusal = refusal
        self._statements = named or {}
        self._before_commit = before_commit
        self._local = threading.local()
        self._write_lock = threading.RLock()
        with in_our_words(address.shown):
            self._prepare(create)
        self._pool: ConnectionPool[Connection[Row]] = ConnectionPool(
            address.connection,
            connection_class=Connection[Row],
            kwargs=ARGUMENTS,
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=0,
            num_workers=1,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            open=True,
        )

    def _prepare(self, create: bool) -> None:
        schema, shown = self.address.schema, self.address.shown
        with reach(self.address) as connection:
            if not tables.exists(connection, schema):
                if not create:
                    raise NotALibrary(
                        f"{shown} holds no library; make one with {command('init', shown)}"
                    )
                tables.prepare(connection, schema, shown)
            tables.complete(connection, shown)
            tables.search_path(connection, schema)
            tables.migrate(connection, schema, shown)

    def _configure(self, connection: Connection[Row]) -> None:
        tables.search_path(connection, self.address.schema)
        connection.execute(sql.SQL("SET lock_timeout TO {}").format(f"{WAIT_SECONDS}s"))
        adapt(connection)

    # --- reading ---------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """What this thread reads in: the state of its view, or each statement the newest one."""
        if inside := self._inside():
            with inside[-1].asking():
                yield inside[-1]
            return
        with in_our_words(self.address.shown):
            connection = self._take()
            try:
                yield self._on(connection)
            finally:
                self._pool.putconn(connection)

    def begin(self) -> Transaction:
        """A transaction that sees one state until `end`; this thread reads in it meanwhile."""
        with in_our_words(self.address.shown):
            connection = self._take()
            try:
                connection.autocommit = False
                connection.isolation_level = IsolationLevel.REPEATABLE_READ
                connection.read_only = True
            except BaseException:
                self._give_back(connection)
                raise
        transaction = self._on(connection)
        self._local.inside = [*self._inside(), transaction]
        return transaction

    def end(self, transaction: Transaction) -> None:
        """Whichever thread ends it, nobody reads in it any more."""
        if not transaction.ended:
            transaction.ended = True
            self._give_back(transaction.connection)

    def _inside(self) -> list[Transaction]:
        """The transactions that this thread has begun and that are not ended."""
        begun: list[Transaction] = getattr(self._local, "inside", [])
        self._local.inside = [one for one in begun if not one.ended]
        found: list[Transaction] = self._local.inside
        return found

    def streaming(self, statement: str, values: Values = (), where: str = "") -> Iterator[Row]:
        """The rows of a statement, a few at a time however many there are."""
        query = self._statements[statement].replace("{where}", where)
        with in_our_words(self.address.shown):
            connection = self._take()
            try:
                connection.autocommit = False
                with connection.cursor("streaming", binary=False) as cursor:
                    cursor.execute(placeholders(query), values)
                    yield from cursor
            finally:
                self._give_back(connection)

    # --- writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction: committed as a whole or not at all. One writer at a time."""
        if not self.writable:
            raise LibraryReadOnly(self._refusal)
        with self._write_lock, in_our_words(self.address.shown):
            connection = self._take()
            all_is_said = False
            try:
                with connection.transaction():
                    connection.execute(
                        "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))",
                        (self.address.schema,),
                    )
                    yield self._on(connection)
                    if self._before_commit:
                        self._before_commit(connection)
                    all_is_said = True
            except psycopg.OperationalError as error:
                if all_is_said and is_lost(error):
                    raise LibraryUnavailable(
                        f"the connection to {self.address.shown} was lost at the commit; "
                        "see whether it was stored, then try again"
                    ) from None  # so that nobody tries again unasked
                raise
            finally:
                self._pool.putconn(connection)

    def again(self, error: TriviumError, attempt: int) -> float | None:
        """A lost connection is replaced once; who stood in another's way gives way a few times."""
        cause = error.__cause__
        if not isinstance(cause, psycopg.Error):
            return None
        in_the_way = (cause.sqlstate or "")[:2] == "40"  # serialisation failures, deadlocks
        lost = is_lost(cause) and cause.pgconn is None  # else none could be made
        tries = MOST_CONFLICTS if in_the_way else int(lost)
        return random.uniform(0, 0.05 * 2**attempt) if attempt < tries else None

    @contextmanager
    def beside(self) -> Iterator[Transaction]:
        """Where each statement is committed by itself and waits for no writer.

        For what stands beside the record and is found by its content.
        """
        if not self.writable:
            raise LibraryReadOnly(self._refusal)
        with in_our_words(self.address.shown):
            connection = self._take()
            try:
                yield self._on(connection)
            finally:
                self._pool.putconn(connection)

    def alone(self) -> Connection[Row]:
        """A connection of its own, outside of any transaction, for building an index."""
        with in_our_words(self.address.shown):
            connection = reach(self.address)
            try:
                self._configure(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def size(self) -> int:
        """The bytes that the library takes on the server."""
        with in_our_words(self.address.shown):
            connection = self._take()
            try:
                row = connection.execute(
                    "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint "
                    "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                    "WHERE n.nspname = %s AND c.relkind = 'r'",
                    (self.address.schema,),
                ).fetchone()
            finally:
                self._pool.putconn(connection)
        return int(row[0]) if row else 0

    def compact(self) -> None:
        """The server's own vacuum uses freed space again."""

    def close(self) -> None:
        self._pool.close()

    # --- connections -----------------------------------------------------------------------------

    def _on(self, connection: Connection[Row]) -> Transaction:
        return Transaction(connection, self._statements, self.address.shown)

    def _take(self) -> Connection[Row]:
        """A connection that answers. One that was lost is replaced; if that fails, why it does."""
        try:
            return self._pool.getconn(timeout=_PATIENCE)
        except PoolTimeout:
            self.alone().close()  # says what is wrong
            return self._pool.getconn(timeout=WAIT_SECONDS)

    def _give_back(self, connection: Connection[Row]) -> None:
        try:
            if not connection.closed:
                connection.rollback()
                connection.read_only = None
                connection.isolation_level = None
                connection.autocommit = True
        except psycopg.Error as error:
            if not is_lost(error):
                raise
        finally:
            self._pool.putconn(connection)


_PATIENCE = 3.0  # then a connection is tried by hand, to learn what keeps the pool from making one
