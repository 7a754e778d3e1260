"""Making a connection; and if there is none, why, whatever language the server speaks."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.errors import ConnectionTimeout
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
    if isinstance(error, ConnectionTimeout) or _ping(address) != Ping.OK:
        return LibraryUnavailable(
            f"the server of {address.shown} cannot be reached ({message}); "
            "start it or check the address"
        )
    if _lacks_database(address, error):
        return NotALibrary(
            f"{address.shown}: {message}; make it with 'createdb', then 'trivium init'"
        )
    return LibraryUnavailable(
        f"{address.shown} refused the login ({message}); check user and password, "
        "or how many connections the server allows"
    )


def _ping(address: Address) -> int:
    """Whether a server answers there, however long libpq would wait for one that does not."""
    return PGconn.ping(_patient(address).encode())


def _patient(address: Address, **named: str) -> str:
    return make_conninfo(address.connection, connect_timeout=ARGUMENTS["connect_timeout"], **named)


def _lacks_database(address: Address, error: psycopg.OperationalError) -> bool:
    """Whether the server has no such database, as far as it tells whoever asks."""
    name = error.pgconn.db.decode() if error.pgconn else ""
    patient = _patient(address, dbname="postgres")
    try:
        with psycopg.connect(patient) as other:
            row = other.execute(
                "SELECT EXISTS (SELECT FROM pg_database WHERE datname = %s)", (name,)
            ).fetchone()
    except psycopg.Error:
        return False
    return row is not None and not row[0]
