"""The store of a library in PostgreSQL: the record, the index over it, and views of both."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from psycopg import Connection

from trivium.errors import InvalidValue, LibraryError, nearest
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.address import Address
from trivium.store.postgres.archive import PostgresArchive
from trivium.store.postgres.connection import Connections, Transaction
from trivium.store.postgres.indexing import index_new, tidy
from trivium.store.postgres.nearest import EXACT_BELOW, Model, has_graph, make_graph
from trivium.store.postgres.own_search import store_words_anew
from trivium.store.postgres.past_view import PastView
from trivium.store.postgres.states import States
from trivium.store.postgres.view import PostgresView
from trivium.store.record.database import repeatable
from trivium.store.record.inspect import consistency
from trivium.store.record.statements import dialect
from trivium.store.record.store import RecordStore
from trivium.types import Grant


class PostgresStore(RecordStore):
    """A schema of a database. Many processes on many machines may read and write it at once.

    So many vectors are compared one by one (`exact_below`); among more, a graph finds the nearest.
    """

    def __init__(
        self,
        address: Address,
        *,
        create: bool = False,
        refusal: str = "",
        exact_below: int = EXACT_BELOW,
    ) -> None:
        self._connections = Connections(
            address,
            create=create,
            named=dialect(Path(__file__).parent),
            before_commit=_index,
            refusal=refusal,
        )
        super().__init__(self._connections)
        self.address = address
        self.archive = PostgresArchive(self._connections)
        self._states = States()
        self._exact_below = exact_below

    def made_with(self) -> str | None:
        """How the library was made, as `library.toml` says it of a folder; None if it never was."""
        with self._connections.reading() as reader:
            row = reader.execute("state", ("library.toml",)).fetchone()
        return row["value"] if row else None

    @repeatable
    def keep_making(self, text: str, text_search: str) -> bool:
        """Say how the library is made, and in which text-search configuration its words are
        stored; False if that was said already.
        """
        with self._connections.writing() as transaction:
            self._check(transaction, text_search)
            new = transaction.execute("set_state_once", ("library.toml", text)).rowcount > 0
            if new:
                transaction.execute("set_state_once", ("text_search", text_search))
        return new and bool(self.id)  # made now, because somebody may come who can only read

    @repeatable
    def use_text_search(self, name: str, made_with: str) -> int:
        with self._connections.writing() as transaction:
            self._check(transaction, name)
            transaction.execute("allow_words_anew")
            transaction.execute("set_state", ("text_search", name))
            transaction.execute("set_state", ("library.toml", made_with))
            return store_words_anew(transaction.connection)

    def _check(self, transaction: Transaction, text_search: str) -> None:
        """Whether the server has such a configuration; if not, which it has."""
        known = [row["name"] for row in transaction.execute("text_searches")]
        if text_search not in known:
            hint = nearest(text_search, known) or f" It has: {', '.join(known)}."
            raise InvalidValue(
                f"{self.address.shown} has no text-search configuration '{text_search}'.{hint}"
            )

    def status(self) -> dict[str, Any]:
        with self._connections.reading() as reader:
            (may_write,) = reader.execute("may_write").fetchone() or (False,)
            row = reader.execute("state", ("text_search",)).fetchone()
        told = {"writable": self._connections.writable and may_write}
        return super().status() | told | {"text_search": row["value"] if row else "english"}

    def view(
        self,
        grant: Grant,
        as_of: datetime | None = None,
        *,
        instead: tuple[str, int] | None = None,
        model: str | None = None,
    ) -> PostgresView | PastView:
        if as_of is None and instead is None:
            return PostgresView(self._connections, self._states, grant, model, self._exact_below)
        return PastView(self._connections, grant, as_of, instead)

    def check(self) -> list[str]:
        with self._connections.reading() as reader:
            return consistency(reader)

    def settle(self) -> None:
        """Make one segment of many small ones, so that a search asks for few.

        Each merge is a transaction: other writers come in between.
        """
        merged = True
        while merged:
            with self._connections.writing() as transaction:
                merged = tidy(transaction.connection)

    def flush(self) -> None:
        """Tidy up, and give the active model a graph if it has so many vectors that it pays."""
        if not self._connections.writable:
            return
        self.settle()
        with self._connections.reading() as reader:
            model = Model.read(reader.connection)
            if model is None or has_graph(reader.connection, model):
                return
            (count,) = reader.execute("count_vectors", (model.number,)).fetchone() or (0,)
        if count > self._exact_below:
            with self._connections.alone() as connection:
                make_graph(connection, model)

    def close(self) -> None:
        if self._wrote:
            self._wrote = False
            with suppress(LibraryError):  # all is written; the next writer tidies up
                self.flush()
        self._connections.close()


def _index(connection: Connection[Row]) -> None:
    """Bring the index up to date with what was written, before it is committed."""
    index_new(connection)
    connection.execute("DELETE FROM changes")
