"""Searches for the nearest in threads of their own: the same answers, and no accidents."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from textwrap import dedent

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trivium import kernels
from trivium.index.codes import Query, as_fine, as_halves, encode
from trivium.kernels.underway import UnderWay
from trivium.vectors import Floats32, unit

compiled = pytest.mark.skipif(
    not kernels.COMPILED, reason="the kernels were installed without a C compiler"
)
SIZE = 9_000  # three pieces, the last of which is not full


def vectors(seed: int, count: int = SIZE, width: int = 8) -> Floats32:
    return unit(np.random.default_rng(seed).normal(size=(count, width)))


def begun(
    matrix: Floats32, query: Floats32, rows: NDArray[np.int64] | None = None, count: int = 10
) -> UnderWay:
    codes, coded = encode(matrix), Query.of(query)
    halves, closer = as_halves(codes, coded), as_fine(codes, coded)
    return UnderWay(halves, closer, rows, count, matrix, coded.exactly)


@compiled
@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1_000), st.integers(1, SIZE), st.booleans())
def test_they_find_what_is_found_without_them(seed: int, size: int, filtered: bool) -> None:
    matrix, query = vectors(seed, size), vectors(seed + 1, 1)[0]
    chosen = np.arange(0, size, 3) if filtered else None
    count = min(10, size if chosen is None else len(chosen))
    ahead, native = begun(matrix, query, chosen, count), kernels.native
    try:
        kernels.native = None
        plain = begun(matrix, query, chosen, count)
        rows, cosines = plain.nearest(count)
        middle, sums = plain.middle, plain.sums
    finally:
        kernels.native = native
    found, exact = ahead.nearest(count)
    assert (found.tolist(), exact.tolist()) == (rows.tolist(), cosines.tolist())
    assert ahead.middle.tobytes() == middle.tobytes()
    assert ahead.sums == pytest.approx(sums, rel=1e-4, abs=1e-2)


def test_many_at_once_do_not_meet() -> None:
    matrix = vectors(1)
    expected = [begun(matrix, matrix[row]).nearest(10)[0].tolist() for row in range(40)]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(3):
            runs = [threads.submit(begun, matrix, matrix[row]) for row in range(40)]
            found = [run.result().nearest(10)[0].tolist() for run in runs]
            assert found == expected


def test_what_nobody_asks_for_is_given_up() -> None:
    matrix = vectors(2)
    for row in range(200):
        begun(matrix, matrix[row])
    assert 5 in begun(matrix, matrix[5]).nearest(10)[0]


def test_more_may_be_asked_for_than_was_begun_with() -> None:
    matrix = vectors(3)
    rows = begun(matrix, matrix[7], count=1).nearest(25)[0]
    assert len(rows) >= 25
    assert 7 in rows


@compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_has_threads_of_its_own() -> None:
    matrix = vectors(4)
    expected = begun(matrix, matrix[3]).nearest(10)[0].tolist()
    child = os.fork()
    if not child:
        found = begun(matrix, matrix[3]).nearest(10)[0].tolist()
        os._exit(0 if found == expected else 1)
    assert os.waitpid(child, 0)[1] == 0


@compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("asked", [True, False])
def test_a_child_process_does_anew_what_its_parent_has_begun(asked: bool) -> None:
    matrix = vectors(4, 300_000)
    expected = begun(matrix, matrix[3]).nearest(10)[0].tolist()
    for _ in range(3):
        search = begun(matrix, matrix[3])
        child = os.fork()
        if not child:
            signal.alarm(30)  # it would wait for threads that it does not have
            found = search.nearest(10)[0].tolist() if asked else expected
            del search
            os._exit(0 if found == expected else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert search.nearest(10)[0].tolist() == expected


@compiled
def test_arrays_that_do_not_fit_are_refused() -> None:
    matrix, query = vectors(5, 50), vectors(6, 1)[0]
    for rows, count in ((np.array([50]), 1), (np.array([-1]), 1), (None, 51), (None, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            begun(matrix, query, rows, count)
    ended = begun(matrix, query)
    assert len(ended.nearest(10)[0]) >= 10
    with pytest.raises(ValueError, match="PyCapsule"):
        kernels.native.end_nearest(ended._begun)


@compiled
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="threads are counted by Linux")
def test_a_process_that_may_use_one_processor_has_no_threads_for_others() -> None:
    script = dedent("""
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        import numpy as np
        from trivium.index.matrix import Block, Neighbours
        matrix = np.eye(8_192, 8, dtype=np.float32)
        before = len(os.listdir("/proc/self/task"))
        block = Block(Block.of(np.arange(len(matrix)), matrix).arrays())
        print(len(Neighbours.of([block], [None], matrix[0], 1).nearest(1)[0]))
        print(len(os.listdir("/proc/self/task")) - before)
    """)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert ended.stdout.split() == [b"1", b"0"]
