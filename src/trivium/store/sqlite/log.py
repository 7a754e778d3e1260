"""Moves the log of a growing library to its places in a thread, while the writer goes on.

SQLite would do it after a commit, in the thread that wrote: it reads and writes all that the log
holds and waits for the disk, which is a tenth of a long write. A passive checkpoint stands in
nobody's way, and lets go of Python's lock, so the writer need only move what came in meanwhile.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress

GROWTH = 8_192
"""Pages by which a library grows until its log is moved. More is written to the log than new pages
(each batch touches old ones, too), so this is before the writer would do it itself.
"""

FEW = 4_096
"""Pages that the writer moves itself, in an instant: the log begins anew only when a commit finds
nothing left to be moved, and a thread comes too late for that while others are written.
"""

MOVE = "PRAGMA wal_checkpoint(PASSIVE)"


class LogMover:
    """Told of each commit by the one who writes; `close` waits until the thread is done."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._thread: threading.Thread | None = None
        self._pages = 0  # of the library, when its log was last begun to be moved
        self._nearly = False  # whether what is left is little

    def committed(self, connection: sqlite3.Connection, pages: int) -> None:
        """A commit of this connection has left the library with so many pages."""
        if self._nearly:
            self._nearly = False
            with suppress(sqlite3.Error):  # it stays in the log
                connection.execute(MOVE)
        if not self._pages or pages < self._pages:  # it may have been compacted
            self._pages = pages
        elif pages - self._pages >= GROWTH and not self._is_moving():
            self._pages = pages
            with suppress(RuntimeError):  # no thread is to be had: it is moved as ever
                thread = threading.Thread(target=self._move, name="log")
                thread.start()
                self._thread = thread

    def close(self) -> None:
        """Wait until nothing is moved; a commit after this begins anew."""
        if self._thread is not None:
            self._thread.join()
        self._thread, self._nearly = None, False

    def _is_moving(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _move(self) -> None:
        with suppress(sqlite3.Error), closing(self._connect()) as connection:
            moved, more = 0, FEW
            while more >= FEW:  # what was committed during one pass is moved by the next
                busy, logged, done = connection.execute(MOVE).fetchone()
                moved, more = done, done - moved
            # somebody who reads an old state holds the rest back, or another process moves it
            self._nearly = not busy and 0 <= logged - done < FEW
