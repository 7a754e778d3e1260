"""From positions in the stream of words to the rows that they are in."""

from __future__ import annotations

import numpy as np

from trivium import kernels
from trivium.kernels import WIDTH, Array, Floats, Rows


def rows_of(positions: Rows, starts: Rows, weights: Floats) -> tuple[Rows, Floats]:
    """The rows that hold these positions, which ascend, in columns of positive weight; and how
    often, each column counted by its weight. `starts` are those of columns, row after row, and the
    end.
    """
    if kernels.native:
        rows, often = kernels.native.rows_of(positions, starts, weights)
        return np.frombuffer(rows, np.int64), np.frombuffer(often, np.float64)
    cells = np.searchsorted(starts, positions, side="right") - 1
    begins = _begins(cells)
    rows, columns = np.divmod(cells[begins], WIDTH)
    given = np.diff(begins, append=len(cells)) * weights[columns]
    rows, given = rows[given > 0], given[given > 0]
    begins = _begins(rows)
    often = np.zeros(len(begins))
    np.add.at(often, np.repeat(np.arange(len(begins)), np.diff(begins, append=len(rows))), given)
    return rows[begins], often


def _begins(ascending: Array) -> Array:
    """Where each value begins."""
    changed = np.flatnonzero(ascending[1:] != ascending[:-1]) + 1
    return np.concatenate([[0], changed]) if len(ascending) else changed
