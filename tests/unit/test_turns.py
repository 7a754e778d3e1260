"""Searches take turns: never more at once than there are, and none lost by waiting or failing."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from trivium.processors import processors
from trivium.turns import TURNS, Turns, turn_of, waiting


def test_no_more_are_at_work_than_there_are_turns() -> None:
    turns, lock = Turns(2), threading.Lock()
    at_work, most = 0, 0

    def work(_: int) -> None:
        nonlocal at_work, most
        with turns.taken():
            with lock:
                at_work += 1
                most = max(most, at_work)
            time.sleep(0.002)
            with lock:
                at_work -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(40)))
    assert most == 2


def test_who_waits_gives_the_turn_away() -> None:
    turns, all_wait = Turns(1), threading.Barrier(3, timeout=10)

    def work(_: int) -> int:
        with turns.taken(), turns.lent():
            return all_wait.wait()  # breaks unless all three get here

    with ThreadPoolExecutor(3) as threads:
        assert sorted(threads.map(work, range(3))) == [0, 1, 2]


def test_a_search_within_a_search_needs_no_second_turn() -> None:
    turns = Turns(1)
    with turns.taken(), turns.taken():
        pass
    with turns.lent(), turns.taken():  # lending what one does not have is nothing
        pass


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns(1)
    for _ in range(3):
        with pytest.raises(RuntimeError), turns.taken(), turns.lent():
            raise RuntimeError
    with turns.taken():
        pass


class Interrupted(Exception):
    """What Ctrl-C does to a thread that waits."""


def test_a_turn_that_is_not_had_back_is_not_given_back_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = Turns(1)

    def interrupted() -> None:
        raise Interrupted

    with pytest.raises(Interrupted), turns.taken(), turns.lent():
        monkeypatch.setattr(turns, "_take", interrupted)
    assert turns._free.qsize() == 1


def test_what_is_worked_out_elsewhere_takes_no_turn() -> None:
    with turn_of(object()), waiting(object()):
        assert not TURNS._has_one


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_has_all_turns() -> None:
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with TURNS.taken():
            taken.set()
            done.wait(30)

    holders = [threading.Thread(target=hold) for _ in range(processors())]
    for one in holders:
        one.start()
    taken.wait(30)
    child = os.fork()
    if not child:
        with TURNS.taken():
            os._exit(0)
    ended = os.waitpid(child, 0)[1]
    done.set()
    for one in holders:
        one.join()
    assert ended == 0
