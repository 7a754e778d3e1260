"""Making a connection; and if there is none, why, whatever language the server speaks."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import PGconn, Ping

from trivium.errors import LibraryUnavailable, NotALibrary, TriviumError
from trivium.store.postgres.adapting import Row, rows_with_names
from trivium.store.postgres.address import Address
from trivium.store.postgres.refusals import first_line

ARGUMENTS: dict[str, Any] = {
    "autocommit": True,
    "row_factory": rows_with_names,
    "connect_timeout": 10,
    "application_name": "trivium",
}


def reach(address: Address) -> Connection[Row]:
    """A connection of its own, outside of any transaction."""
    try:
        return Connection[Row].connect(address.connection, **ARGUMENTS)
    except psycopg.OperationalError as error:
        raise _refused(address, error) from error


def _refused(address: Address, error: psycopg.OperationalError) -> TriviumError:
    """Before there is a connection there is no SQLSTATE, only words: so the server is asked."""
    message = first_line(error)
    if PGconn.ping(address.connection.encode()) != Ping.OK:
        return LibraryUnavailable(
            f"the server of {address.shown} cannot be reached ({message}); "
            "start it or check the address"
        )
    if _lacks_database(address, error):
        return NotALibrary(
            f"{address.shown}: {message}; make it with 'createdb', then 'trivium init'"
        )
    return LibraryUnavailable(
        f"{address.shown} refused the login ({message}); check user and password"
    )


def _lacks_database(address: Address, error: psycopg.OperationalError) -> bool:
    """Whether the server has no such database, as far as it tells whoever asks."""
    name = error.pgconn.db.decode() if error.pgconn else ""
    try:
        with psycopg.connect(address.connection, dbname="postgres", connect_timeout=10) as other:
            row = other.execute(
                "SELECT EXISTS (SELECT FROM pg_database WHERE datname = %s)", (name,)
            ).fetchone()
    except psycopg.Error:
        return False
    return row is not None and not row[0]
