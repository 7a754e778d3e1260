"""Vectors as bytes: a quarter of the size, so a pass over all of them takes a quarter of the time.

A row is `step · codes` plus a rest whose length (`slack`) is kept with it. Together with what is
left out of the query that bounds how far any cosine can be from the product of the codes, so a
pass over the codes tells for certain which rows are worth a closer look.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.vectors import Floats32

HIGHEST = 127
PIECE = 8_192  # rows encoded at a time: bounds the memory that it takes
ROUNDING = 1 + 2.0**-20  # slack and steps are float32: rounded up by more than that can lose

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Codes:
    """The rows of a matrix as bytes; row ≈ `steps` · `codes`, off by at most `slack` in length."""

    codes: NDArray[np.int8]
    steps: Floats32
    slack: Floats32

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[np.int64]) -> Codes:
        return Codes(self.codes[rows], self.steps[rows], self.slack[rows])


def encode(matrix: Floats32) -> Codes:
    """The codes of each row; a row's codes depend on nothing but the row."""
    count, width = matrix.shape
    made = Codes(
        np.empty((count, width), np.int8), np.empty(count, np.float32), np.empty(count, np.float32)
    )
    for start in range(0, count, PIECE):
        piece = slice(start, start + PIECE)
        rows = matrix[piece]
        steps = np.abs(rows).max(axis=1, initial=0.0) / np.float32(HIGHEST)
        codes = np.rint(rows / np.where(steps > 0, steps, 1)[:, None])
        codes = codes.clip(-HIGHEST, HIGHEST)
        rest = rows.astype(np.float64) - steps[:, None].astype(np.float64) * codes
        made.codes[piece], made.steps[piece] = codes, steps
        made.slack[piece] = np.sqrt((rest * rest).sum(axis=1)) * ROUNDING
    return made


@dataclass(frozen=True, slots=True)
class Bounds:
    """For each row: the cosine lies within `spread` of `middle`, for certain."""

    middle: Floats
    spread: Floats

    def __len__(self) -> int:
        return len(self.middle)


def bounds(rows: Codes, query: Floats32) -> Bounds:
    """One pass over the codes of unit vectors."""
    coded = encode(query[None, :])
    step = float(coded.steps[0])
    middle = products(rows.codes, coded.codes)
    middle *= rows.steps
    middle *= step
    length = step * float(np.sqrt((coded.codes.astype(np.float64) ** 2).sum()))
    spread = rows.slack * np.float64(length)
    spread += float(coded.slack[0]) * ROUNDING + 2.0**-20  # a unit vector may be a little longer
    return Bounds(middle, spread)


def products(rows: NDArray[np.int8] | Floats32, query: NDArray[np.int8] | Floats32) -> Floats:
    """The product of each row with the one row of `query`: of bytes exactly, else as float32 does.

    One thread, whatever NumPy's own library is set to: two sets of threads only wait.
    """
    import simsimd  # words alone are searched without it

    if not len(rows):
        return np.empty(0)
    found: Floats = np.asarray(simsimd.cdist(query, rows, metric="dot"), np.float64).reshape(-1)
    return found
