"""Connections to `index.db`: transactions, migrations, and SQLite's errors in our words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from trivium.errors import (
    LibraryBusy,
    LibraryCorrupt,
    LibraryError,
    LibraryReadOnly,
    NotALibrary,
    StorageFull,
    TriviumError,
)
from trivium.store.record.database import Values
from trivium.store.record.statements import dialect
from trivium.store.sqlite.log import MOVE, LogMover
from trivium.vectors import Floats32, pack, unpack

WAIT_SECONDS = 30.0
"""How long a writer waits for another one before it gives up."""

MOMENT = 1000
"""Milliseconds to wait for others before the disk keeps its pages: nobody is stopped for that."""

PAGE = 8_192
"""Bytes of a page of a new library: it holds five vectors of 384 dimensions, where 4 KB hold two,
and half as many pages go through the log.
"""

LOG_PAGES = 16_384
"""Pages in the log before they go to their places. Texts come with random keys (hashes), so each
batch touches pages all over the file; many batches touch the same ones, and these are moved once.
A library that grows has most of them moved by then (`log.py`).
"""

WRITER_CACHE = 32 * 1024
"""Kilobytes of page cache of the connection that writes: what a batch of thousands of documents
touches. With SQLite's own 2 MB most of it would go to the log twice.
"""

PAGE_CACHE = 128 * 1024
"""Kilobytes of page cache while millions of rows are written."""

_HERE = Path(__file__).parent


def statements() -> dict[str, str]:
    """Every statement of the record by name, as SQLite runs it."""
    return dialect(_HERE)


@contextmanager
def in_our_words(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours; the text ends with what to do next."""
    try:
        yield
    except sqlite3.OperationalError as error:
        message = str(error)
        if "locked" in message or "busy" in message:
            raise LibraryBusy(
                f"{path} is being written by another process; try again when it is done"
            ) from error
        if "readonly" in message:
            raise LibraryReadOnly(
                f"{path} cannot be written; change its permissions or copy it elsewhere"
            ) from error
        if "full" in message:
            raise StorageFull(
                f"the disk that holds {path} is full; the last write was undone, free some space"
            ) from error
        if "unable to open" in message:
            raise NotALibrary(f"{path} cannot be opened; check the path and permissions") from error
        raise LibraryError(f"{path}: {message}; run 'trivium doctor'") from error
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise LibraryCorrupt(
            f"{path} is damaged ({error}); run 'trivium doctor' to see what is left"
        ) from error


class SqliteTransaction:
    """A connection that knows the record's statements by name."""

    __slots__ = ("_connection", "_statements")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._statements = statements()

    def execute(self, statement: str, values: Values = (), /) -> sqlite3.Cursor:
        return self._connection.execute(self._statements[statement], values)

    def executemany(self, statement: str, values: Iterable[Values], /) -> object:
        return self._connection.executemany(self._statements[statement], values)

    def vector(self, vector: Floats32, /) -> bytes:
        return pack(vector)

    def floats(self, stored: bytes, /) -> Floats32:
        return unpack(stored)

    @contextmanager
    def roomy(self) -> Iterator[None]:
        """A larger page cache: the indexes of a million statements do not fit into SQLite's usual
        2 MB, and what does not fit is written and read again for every batch.
        """
        (before,) = self._connection.execute("PRAGMA cache_size").fetchone()
        self._connection.execute(f"PRAGMA cache_size = {-PAGE_CACHE}")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA cache_size = {int(before)}")


class _OfThread:
    """The connections that one thread opened; they are closed when the thread is gone."""

    def __init__(self, closed: Callable[[sqlite3.Connection], None]) -> None:
        self.connections: list[sqlite3.Connection] = []
        self._closed = closed

    def __del__(self) -> None:
        for connection in self.connections:
            self._closed(connection)


class Connections:
    """One writing connection behind a lock, and a reading one for each thread that lives."""

    def __init__(self, path: Path, *, writable: bool, refusal: str = "") -> None:
        self.path = path
        self.writable = writable
        self._refusal = (
            refusal or f"{path} cannot be written; change its permissions or copy it elsewhere"
        )
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.RLock()  # a thread may be found gone at any moment
        self._write_lock = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._log = LogMover(lambda: self._connect("rw"))

    def reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None or self._is_outdated():
            connection = self._local.connection = self._open()
            self._local.state = self._state()
            if not hasattr(self._local, "opened"):
                self._local.opened = _OfThread(self._close)
            self._local.opened.connections.append(connection)  # a view may still hold the last one
        return connection

    def _close(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if connection in self._all:
                self._all.remove(connection)
                connection.close()

    def _is_outdated(self) -> bool:
        """Whether a connection that takes the file for immutable looks at an old state of it."""
        return not self.writable and self._local.state != self._state()

    def _state(self) -> tuple[int, int, bool]:
        try:
            file = self.path.stat()
        except OSError:
            return 0, 0, False
        wal = self.path.with_name(self.path.name + "-wal").exists()
        return file.st_mtime_ns, file.st_size, wal

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: committed as a whole or not at all."""
        if not self.writable:
            raise LibraryReadOnly(self._refusal)
        with self._write_lock, in_our_words(self.path):
            if self._writer is None:
                self._writer = self._open()
                self._writer.execute(f"PRAGMA cache_size = {-WRITER_CACHE}")
                self._writer.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                (pages,) = connection.execute("PRAGMA page_count").fetchone()
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._log.committed(connection, pages)

    @contextmanager
    def reading(self) -> Iterator[SqliteTransaction]:
        with in_our_words(self.path):
            yield SqliteTransaction(self.reader())

    @contextmanager
    def writing(self) -> Iterator[SqliteTransaction]:
        with self.write() as connection:
            yield SqliteTransaction(connection)

    def again(self, error: TriviumError, attempt: int) -> float | None:
        """SQLite has waited already, and undoes nothing else."""
        return None

    def streaming(
        self, statement: str, values: Values = (), where: str = ""
    ) -> Iterator[sqlite3.Row]:
        query = statements()[statement].replace("{where}", where)
        with in_our_words(self.path):
            yield from self.reader().execute(query, values)

    def size(self) -> int:
        return self.path.stat().st_size

    def checkpoint(self) -> None:
        """Move what is in the log to its place, as far as nobody reads what it would replace."""
        with suppress(LibraryError), in_our_words(self.path):
            self.reader().execute(MOVE)

    def compact(self) -> None:
        """Give the freed pages back to the disk; if somebody is writing, they are used again."""
        try:
            with in_our_words(self.path):
                reader = self.reader()
                reader.execute(f"PRAGMA busy_timeout = {MOMENT}")
                try:
                    reader.execute("VACUUM")
                    reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                finally:
                    reader.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")
        except LibraryError:
            return

    def close(self) -> None:
        try:
            self._log.close()
        finally:  # whoever presses Ctrl-C while it waits leaves nothing open
            with self._guard:
                for connection in self._all:
                    connection.close()
                self._all.clear()
                self._writer = None
                self._local = threading.local()

    def _open(self) -> sqlite3.Connection:
        with in_our_words(self.path):
            connection = self._connect("rwc") if self.writable else self._connect_to_read()
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            if self.writable:
                connection.execute(f"PRAGMA page_size = {PAGE}")
                connection.execute("PRAGMA journal_mode = WAL")
        with self._guard:
            self._all.append(connection)
        return connection

    def _connect_to_read(self) -> sqlite3.Connection:
        """A connection that writes nothing, not even the side files that SQLite would like.

        Without a log the file is taken for immutable; `reader` opens it anew when it changes.
        """
        logged = self.path.with_name(self.path.name + "-wal").exists()
        connection = self._connect("ro" if logged else "ro&immutable=1")
        connection.execute("SELECT count(*) FROM sqlite_master")
        return connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{quote(str(self.path))}?mode={mode}",
            uri=True,
            timeout=WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )


def migrate(connections: Connections) -> None:
    """Bring the schema up to date, one named migration and one transaction at a time."""
    folder = _HERE / "migrations"
    migrations = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=str)
    names = [migration.name.removesuffix(".sql") for migration in migrations]
    if newer := set(_applied(connections)) - set(names):
        raise LibraryError(
            f"{connections.path} was written by a newer Trivium ({max(newer)}); upgrade to open it"
        )
    for name, migration in zip(names, migrations, strict=True):
        if name in _applied(connections):
            continue
        with connections.write() as connection:
            if name in _applied_in(connection):  # another process was quicker
                continue
            for statement in _split(migration.read_text(encoding="utf-8")):
                connection.execute(statement)
            connection.execute("INSERT INTO migrations (name) VALUES (?)", (name,))


def _applied(connections: Connections) -> list[str]:
    with in_our_words(connections.path):
        return _applied_in(connections.reader())


def _applied_in(connection: sqlite3.Connection) -> list[str]:
    exists = "SELECT 1 FROM sqlite_master WHERE name = 'migrations'"
    if connection.execute(exists).fetchone() is None:
        if not connection.in_transaction:
            return []
        connection.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
    return [name for (name,) in connection.execute("SELECT name FROM migrations")]


def _split(script: str) -> Iterator[str]:
    """Single statements, since `executescript` would commit the transaction around it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
