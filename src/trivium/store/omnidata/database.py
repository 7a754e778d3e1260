"""A SQLite file that somebody else wrote: opened for reading only, and without a trace.

SQLite would put side files next to a database in WAL mode, even to read it. So a database that
has no log is opened as immutable, and one that has is copied first, log and all.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from trivium.errors import SourceError
from trivium.store.omnidata.columns import LONGEST_TEXT
from trivium.store.record.statements import statements

_ATTEMPTS = 5
_HEADER = 100  # bytes; they hold SQLite's own count of changes


def named_statements() -> dict[str, str]:
    """The statements of `bundle.sql` by name."""
    return statements(Path(__file__).parent / "bundle.sql")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about a bundle's database into `SourceError`."""
    try:
        yield
    except sqlite3.DataError as error:
        raise SourceError(
            f"{path} holds a value that is too large; get the bundle again"
        ) from error
    except sqlite3.OperationalError as error:
        raise SourceError(f"{path} cannot be read ({error}); get the bundle again") from error
    except sqlite3.DatabaseError as error:
        raise SourceError(f"{path} is damaged ({error}); get the bundle again") from error


def state_of(path: Path) -> tuple[object, ...]:
    """What changes when the database does, without reading all of it."""
    states: list[object] = []
    for file in (path, *_logs(path)):
        try:
            found = file.stat()
            with file.open("rb") as opened:
                header = opened.read(_HEADER).hex()
        except OSError:
            states.append(None)
            continue
        state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, header)
        states.append(state if found.st_size else None)  # an empty log is as good as none
    return tuple(states)


class Database:
    """One state of a database, as `check_unchanged` confirms. Use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._copy: Path | None = None
        self._connection: sqlite3.Connection | None = None
        self._state = state_of(path)
        try:
            with readable(path):
                self._connection = self._connect()
                self._prepare()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._copy is not None:
            shutil.rmtree(self._copy, ignore_errors=True)

    def check_unchanged(self) -> None:
        """`SourceError` if somebody wrote to the database since it was opened."""
        if self._copy is None and state_of(self.path) != self._state:
            raise SourceError(f"{self.path} was written while it was read; import it again")

    def execute(self, query: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        assert self._connection is not None
        return self._connection.execute(query, values)

    def named(self, name: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """A statement of `bundle.sql`."""
        return self.execute(named_statements()[name], values)

    def _connect(self) -> sqlite3.Connection:
        path, mode = self.path, "ro&immutable=1"
        if any(log.is_file() and log.stat().st_size for log in _logs(path)):
            path, mode = self._settled_copy(), "rw"
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode={mode}", uri=True, isolation_level=None
        )
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_TEXT)
        return connection

    def _prepare(self) -> None:
        for pragma in ("PRAGMA trusted_schema = OFF", "PRAGMA query_only = ON", "BEGIN"):
            self.execute(pragma)
        self.execute("SELECT count(*) FROM sqlite_master")

    def _settled_copy(self) -> Path:
        """The database and its log, copied while nobody wrote."""
        self._copy = Path(tempfile.mkdtemp(prefix="trivium-"))
        target = self._copy / self.path.name
        for _ in range(_ATTEMPTS):
            before = state_of(self.path)
            try:
                shutil.copyfile(self.path, target)
                for log, copy in zip(_logs(self.path), _logs(target), strict=True):
                    copy.unlink(missing_ok=True)
                    if log.is_file():
                        shutil.copyfile(log, copy)
            except FileNotFoundError:
                continue  # its writer was done with the log
            except OSError as error:
                raise SourceError(
                    f"{self.path} cannot be copied for reading: {error.strerror}; free some space"
                ) from error
            if state_of(self.path) == before:
                return target
        raise SourceError(f"{self.path} is being written without a pause; try again later")


def _logs(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + ending) for ending in ("-wal", "-journal"))
