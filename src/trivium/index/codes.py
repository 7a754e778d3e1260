"""Vectors as bytes: a quarter of the size, so a pass over all of them takes a quarter of the time.

A row is `step · codes` plus a rest whose length (`slack`) is kept with it. Together with what is
left out of the query that bounds how far any cosine can be from the product of the codes, so a
pass over the codes tells for certain which rows are worth a closer look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trivium.vectors import Floats32

HIGHEST = 127
PIECE = 8_192  # rows encoded at a time: bounds the memory that it takes
UNSURE = 2.0**-19  # a unit vector may be a little longer than one, and float32 rounds three times
ROUNDING = 1 + 2.0**-20  # slack and steps are float32: rounded up by more than that can lose

Floats = NDArray[np.float64]
Precision = Literal["f32", "f64"]


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
    """The cosine of each row lies within `spread` of its `middle`, for certain."""

    middle: Floats | Floats32
    spread: float

    def __len__(self) -> int:
        return len(self.middle)


def bounds(rows: Codes, coded: Codes) -> Bounds:
    """One pass over the codes of unit vectors; `coded` is the query's code, as its only row."""
    step = float(coded.steps[0])
    middle = products(rows.codes, coded.codes, "f32")
    middle *= rows.steps
    middle *= np.float32(step)
    length = step * float(np.sqrt((coded.codes.astype(np.float64) ** 2).sum()))
    # one spread for all, that of the widest row: a pass over so many costs more than it rules out
    spread = float(rows.slack.max(initial=0.0)) * length + float(coded.slack[0]) * ROUNDING
    return Bounds(middle, spread + UNSURE)


def products(
    rows: NDArray[np.int8] | Floats32, query: NDArray[np.int8] | Floats32, given: Precision = "f64"
) -> Floats:
    """The product of each row with the one row of `query`, of the `given` precision: of bytes it is
    exact (as far as float32 can say it), of others as float32 has it.

    One thread, whatever NumPy's own library is set to: two sets of threads only wait.
    """
    import simsimd  # words alone are searched without it

    if not len(rows):
        return np.empty(0, np.float32 if given == "f32" else np.float64)
    found = simsimd.cdist(query, rows, metric="dot", out_dtype=given)
    return np.asarray(found).reshape(-1)
