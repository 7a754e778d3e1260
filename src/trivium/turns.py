"""As many searches are worked out at once as there are processors.

More of them would only hand Python's lock to and fro: eight threads find less than one does. What
is waited for (a model, a reranker) is not work, so a search that waits gives its turn away.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue
from typing import Protocol, runtime_checkable

from trivium.abilities import serves
from trivium.processors import processors


class Turns:
    """So many turns, of which a thread takes one at a time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.renew()

    def renew(self) -> None:
        """All of them are free: those who had one are gone, as after a fork."""
        self._own = threading.local()
        self._free: SimpleQueue[None] = SimpleQueue()
        for _ in range(self._count):
            self._free.put(None)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for a turn and keeps it; nothing to a thread that has one."""
        if self._has_one:
            yield
            return
        self._take()
        try:
            yield
        finally:
            if self._has_one:  # it was lent and not had back, if somebody pressed Ctrl-C
                self._give_back()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Others have the turn meanwhile, if this thread has one."""
        if not self._has_one:
            yield
            return
        self._give_back()
        try:
            yield
        finally:
            self._take()

    @property
    def _has_one(self) -> bool:
        return getattr(self._own, "has_one", False)

    def _take(self) -> None:
        self._free.get()
        self._own.has_one = True

    def _give_back(self) -> None:
        self._own.has_one = False
        self._free.put(None)


TURNS = Turns(processors())

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=TURNS.renew)


@runtime_checkable
class WorkedOutHere(Protocol):
    """A view whose searches are work for this process, and not for a server."""

    turns: Turns


def turn_of(view: object) -> AbstractContextManager[None]:
    """A turn to search this view."""
    return view.turns.taken() if serves(view, WorkedOutHere) else nullcontext()


def waiting(view: object) -> AbstractContextManager[None]:
    """To wait for others in the middle of a search of this view."""
    return view.turns.lent() if serves(view, WorkedOutHere) else nullcontext()
