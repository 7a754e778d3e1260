"""The best of many numbers, without sorting through all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

GROUPS = 4  # groups of numbers for each one wanted, whose maxima tell where the cut may be

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


def reached(values: Sequence[NDArray[np.floating]], count: int) -> float:
    """A value that at least `count` of these reach; seldom much lower than need be.

    The maxima of groups are a few hundred numbers, where a whole partition would sort through all.
    """
    size = sum(map(len, values)) // (GROUPS * count)
    few = [one for some in values for one in _maxima(some, size)]
    together = np.concatenate(few)
    place = len(together) - count
    return float(np.partition(together, place)[place])


def _maxima(values: NDArray[np.floating], size: int) -> list[NDArray[np.floating]]:
    """The greatest of each group of so many, and what is left over."""
    if size < 2:
        return [values]
    whole = len(values) // size * size
    return [values[:whole].reshape(-1, size).max(axis=1), values[whole:]]


def top(found: Sequence[tuple[Rows, Floats]], count: int) -> list[tuple[Rows, Floats]]:
    """Of several lists of (rows, scores) those that hold the `count` best scores of all.

    Of equal ones at the cut each list gives its first, so many as could be among the best.
    """
    if sum(len(rows) for rows, _ in found) <= count:
        return list(found)
    lowest = reached([scores for _, scores in found], count)
    near = [_kept(rows, scores, scores >= lowest) for rows, scores in found]
    together = np.concatenate([scores for _, scores in near])
    cut = np.partition(together, len(together) - count)[len(together) - count]
    level = count - int(np.count_nonzero(together > cut))
    return [
        _kept(rows, scores, (scores > cut) | _first(scores == cut, level)) for rows, scores in near
    ]


def _kept(rows: Rows, scores: Floats, mask: NDArray[np.bool_]) -> tuple[Rows, Floats]:
    places = np.flatnonzero(mask)
    return rows[places], scores[places]


def _first(mask: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """The first `count` that are True."""
    beyond = np.flatnonzero(mask)[count:]
    mask[beyond] = False
    return mask
