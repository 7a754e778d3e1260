"""Rows of positions: as counted one by one, compiled or not."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium import kernels
from trivium.kernels import WIDTH
from trivium.kernels.cells import rows_of

lengths = st.lists(st.tuples(*[st.sampled_from([0, 0, 1, 3, 90])] * WIDTH), min_size=1, max_size=30)
weights = st.tuples(*[st.sampled_from([0.0, 0.3, 1.0, 2.0])] * WIDTH)


@given(lengths, weights, st.integers(0, 10_000), st.floats(0, 1))
def test_rows_are_those_of_counting(
    texts: list[tuple[int, ...]], weighed: tuple[float, ...], seed: int, share: float
) -> None:
    """Each text is the lengths of its columns; between columns the stream has a gap."""
    starts = np.cumsum([0, *(length + 1 for text in texts for length in text)])
    chosen = np.flatnonzero(np.random.default_rng(seed).random(starts[-1]) < share)
    counts: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for position in chosen.tolist():
        cell = int(np.flatnonzero(starts <= position)[-1])
        counts[cell // WIDTH][cell % WIDTH] += 1
    expected = {
        row: sum(n * weighed[column] for column, n in columns.items())
        for row, columns in counts.items()
        if any(weighed[column] > 0 for column in columns)
    }
    native = kernels.native
    for used in (native, None):
        kernels.native = used
        try:
            rows, often = rows_of(chosen, starts, np.array(weighed))
        finally:
            kernels.native = native
        assert dict(zip(rows.tolist(), often.tolist(), strict=True)) == expected
        assert rows.tolist() == sorted(expected)


@pytest.mark.skipif(not kernels.COMPILED, reason="installed without a C compiler")
@pytest.mark.parametrize("positions", [[-1], [6], [3, 2], [0, 5, 4]])
def test_positions_of_a_damaged_file_are_refused(positions: list[int]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        rows_of(np.array(positions), np.arange(7), np.ones(WIDTH))


@pytest.mark.skipif(not kernels.COMPILED, reason="installed without a C compiler")
def test_starts_of_a_damaged_file_may_be_any_numbers() -> None:
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    starts = np.array([least, 1, 2, 3, 4, 5, most])
    assert rows_of(np.array([2]), starts, np.ones(WIDTH))[0].tolist() == [0]
