"""The best of many numbers without sorting them, and sums in one order: as by the plainest code."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.index.best import least, top
from trivium.vectors import cosines, unit

# few different numbers, so that there are ties at the cut
LISTS = st.lists(st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 7.0]), max_size=300), max_size=3)


@settings(deadline=None)
@given(LISTS, st.integers(1, 40))
def test_the_best_of_several_lists_are_those_of_a_sorted_one(
    lists: list[list[float]], count: int
) -> None:
    found = [(np.arange(len(some)), np.array(some, np.float64)) for some in lists]
    kept = [
        (-score, row, place)
        for place, (rows, scores) in enumerate(top(found, count))
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
    ]
    everything = sorted(
        (-score, row, place) for place, some in enumerate(lists) for row, score in enumerate(some)
    )
    assert sorted(kept)[:count] == everything[:count]
    assert len(kept) <= count * max(1, len(lists))


@settings(deadline=None)
@given(LISTS.filter(any), st.integers(1, 40))
def test_enough_numbers_reach_the_cut(lists: list[list[float]], count: int) -> None:
    everything = [one for some in lists for one in some]
    count = min(count, len(everything))
    cut = least(np.array(everything, np.float64), count)
    assert sum(one >= cut for one in everything) >= count


def test_a_cosine_is_the_same_alone_and_in_company() -> None:
    rows = unit(np.random.default_rng(1).normal(size=(50, 384)))
    together = cosines(rows, rows[7]).tolist()
    assert [cosines(rows[at : at + 1], rows[7])[0] for at in range(50)] == together
