"""The best of many numbers, without sorting through all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


def least(values: NDArray[np.floating], count: int) -> float:
    """The least of the `count` highest."""
    place = len(values) - count
    return float(np.partition(values, place)[place])


def top(found: Sequence[tuple[Rows, Floats]], count: int) -> list[tuple[Rows, Floats]]:
    """Of several lists of (rows, scores) those that hold the `count` best scores of all.

    Of equal ones at the cut each list gives its first, so many as could be among the best.
    """
    if sum(len(rows) for rows, _ in found) <= count:
        return list(found)
    together = np.concatenate([scores for _, scores in found])
    cut = least(together, count)
    level = count - int(np.count_nonzero(together > cut))
    return [
        _kept(rows, scores, (scores > cut) | _first(scores == cut, level)) for rows, scores in found
    ]


def _kept(rows: Rows, scores: Floats, mask: NDArray[np.bool_]) -> tuple[Rows, Floats]:
    places = np.flatnonzero(mask)
    return rows[places], scores[places]


def _first(mask: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """The first `count` that are True."""
    beyond = np.flatnonzero(mask)[count:]
    mask[beyond] = False
    return mask
