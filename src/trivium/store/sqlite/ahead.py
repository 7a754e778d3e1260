"""Brings the derived index along while a writer goes on, so that `flush` finds most of it done.

A child process makes of what is committed what the next search or `flush` would make. It is not a
thread: rows are written and read one by one, each time with Python's lock let go and taken again,
and two threads that do that wait for each other most of the time. Whatever goes wrong with the
child only means that the index is made later, in the ordinary way.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import finalize

if TYPE_CHECKING:
    from subprocess import Popen

ENOUGH = 20_000
"""Chunks that are worth a child process, and then a piece of the index each: a second's work."""

PATIENCE = 60.0
"""Seconds that `wait` gives the child: what takes longer is not what was meant to be quick."""


class Ahead:
    """Counts what is written to a library, and has a child index it whenever that is enough.

    Safe to use from several threads. The child ends with `close`, or when this object is gone.
    """

    def __init__(self, folder: Path, library: str, *, with_vectors: bool) -> None:
        self._arguments = (str(folder.absolute()), library, "vectors" if with_vectors else "words")
        self._guard = threading.Lock()
        self._written = 0
        self._asked = 0  # and not answered yet
        self._child: Popen[bytes] | None = None
        self._given_up = bool(getattr(sys, "frozen", False))  # no interpreter to be started

    @property
    def busy(self) -> bool:
        """Whether something that was asked for may not be done."""
        return self._asked > 0

    def count(self, chunks: int) -> None:
        """So many chunks were committed."""
        with self._guard:
            self._written += chunks

    def ask(self) -> bool:
        """Have what is committed indexed, if it is enough; at a moment when it is complete. Whether
        the disk may soon have a later index than this process knows.
        """
        with self._guard:
            if self._written < ENOUGH or self._given_up:
                return False
            self._written = 0
            try:
                self._send()
            except (OSError, ValueError):
                self._end()
            return not self._given_up

    def forget(self) -> None:
        """What was written so far is indexed by this process."""
        self._written = 0

    def wait(self) -> None:
        """Until all that was asked for is on the disk, or the child has failed."""
        with self._guard:
            if self._child is None or not self._asked:
                return
            assert self._child.stdout is not None
            alarm = threading.Timer(PATIENCE, self._child.kill)
            alarm.daemon = True
            alarm.start()
            try:
                while self._asked and self._child.stdout.readline():
                    self._asked -= 1
            finally:
                alarm.cancel()
            if self._asked:
                self._end()

    def close(self) -> None:
        """End the child, whatever it does: half a file is nobody's, and is cleared away."""
        with self._guard:
            self._end()

    def _send(self) -> None:
        if self._child is None:
            self._child = _started(self._arguments)
            finalize(self, _ended, self._child)
        assert self._child.stdin is not None
        self._child.stdin.write(b"\n")
        self._child.stdin.flush()
        self._asked += 1

    def _end(self) -> None:
        self._given_up = True
        self._asked = 0
        if self._child is not None:
            _ended(self._child)


def _started(arguments: tuple[str, ...]) -> Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen

    return Popen(
        [sys.executable, "-P", "-m", "trivium.store.sqlite.helper", *arguments],
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        process_group=0,  # Ctrl-C is for whoever writes
    )


def _ended(child: Popen[bytes]) -> None:
    with suppress(OSError):
        child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
