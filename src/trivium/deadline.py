"""Work that must not take longer than somebody would wait."""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

Given = TypeVar("Given")


def within(seconds: float, work: Callable[[], Given]) -> Given:
    """What `work` gives, or `TimeoutError` when the time is over, whatever it hangs in.

    Work that is given up goes on in a thread that nobody waits for, so it must change nothing.
    """
    results = SimpleQueue[tuple[bool, Given | BaseException]]()

    def run() -> None:
        try:
            results.put((True, work()))
        except BaseException as error:
            results.put((False, error))

    Thread(target=run, daemon=True, name="trivium-within").start()
    try:
        done, given = results.get(timeout=max(seconds, 0.001))
    except Empty:
        raise TimeoutError(f"not done within {seconds:g} seconds") from None
    if done:
        return given  # type: ignore[return-value]  # the flag says which of the two it is
    raise given  # type: ignore[misc]
