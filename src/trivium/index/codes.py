"""Vectors as bytes and as half-bytes: an eighth of the size, so that a pass over all is quick.

A row is `step · codes` plus a rest whose length (`slack`) is kept with it. Together with what is
left out of the query that bounds how far any cosine can be from the product of the codes. The upper
half of each code bounds it less tightly (`loose`), and takes half the time to read: a pass over
halves tells which rows are worth a look at their codes, and these which need the vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trivium.kernels import Fine, byte_products, coded
from trivium.kernels.underway import Halves
from trivium.vectors import Floats32

HIGHEST = 127
FINER = 2047
"""The same for a query that is held against whole codes: sixteen bits take no longer to multiply
than eight there, and what is left out of the query was half of the bound. Sums of 8,000 dimensions
fit into 32 bits."""
LONGEST_FINE = 8_000
PIECE = 512  # rows encoded at a time: in float64 they stay in a processor's cache
UNSURE = 2.0**-19  # a unit vector may be a little longer than one, and float32 rounds three times
ROUNDING = 1 + 2.0**-20  # slack and steps are float32: rounded up by more than that can lose
SHIFT = 128  # makes codes positive: 16 · upper half + lower half
MIDDLE = 7.5  # what an unknown lower half, 0 … 15, is taken for

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Codes:
    """The rows of a matrix as bytes; row ≈ `steps` · `codes`, off by at most `slack` in length.

    `halves` has the upper halves of two codes in a byte, that of component i below that of
    i + width / 2; with the lower ones unknown a row is off by at most `loose`.
    """

    codes: NDArray[np.int8]
    steps: Floats32
    slack: Floats32
    halves: NDArray[np.uint8]
    loose: Floats32

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def most_slack(self) -> float:
        """The highest: one for all rows, since a pass over so many costs more than it rules out."""
        return float(self.slack.max(initial=0.0))

    @cached_property
    def most_loose(self) -> float:
        return float(self.loose.max(initial=0.0))


ARRAYS = ("codes", "steps", "slack", "halves", "loose")
"""The arrays of the codes by the names that they have in a file."""


def layout(count: int, width: int) -> dict[str, tuple[np.dtype[np.generic], tuple[int, ...]]]:
    """Type and shape of each."""
    single: np.dtype[np.generic] = np.dtype(np.float32)
    return {
        "codes": (np.dtype(np.int8), (count, width)),
        "steps": (single, (count,)),
        "slack": (single, (count,)),
        "halves": (np.dtype(np.uint8), (count, (width + 1) // 2)),
        "loose": (single, (count,)),
    }


def encode(matrix: Floats32) -> Codes:
    """The codes of each row; a row's codes depend on nothing but the row."""
    count, width = matrix.shape
    made = Codes(*(np.empty(shape, dtype) for dtype, shape in layout(count, width).values()))
    for start in range(0, count, PIECE):
        piece = slice(start, start + PIECE)
        rows = matrix[piece].astype(np.float64)
        steps = np.abs(matrix[piece]).max(axis=1, initial=0.0) / np.float32(HIGHEST)
        wide = steps.astype(np.float64)[:, None]
        codes = np.rint(matrix[piece] / np.where(steps > 0, steps, 1)[:, None])
        codes = codes.clip(-HIGHEST, HIGHEST)
        upper = (codes.astype(np.int16) + SHIFT) >> 4
        made.codes[piece], made.steps[piece] = codes, steps
        made.halves[piece] = _packed(upper.astype(np.uint8))
        made.slack[piece] = _length(rows - wide * codes) * ROUNDING
        made.loose[piece] = _length(rows - wide * (16.0 * upper + (MIDDLE - SHIFT))) * ROUNDING
    return made


def _packed(upper: NDArray[np.uint8]) -> NDArray[np.uint8]:
    half = (upper.shape[1] + 1) // 2
    packed = upper[:, :half].copy()
    packed[:, : upper.shape[1] - half] |= upper[:, half:] << 4
    return packed


def _length(rest: Floats) -> Floats:
    length: Floats = np.sqrt((rest * rest).sum(axis=1))
    return length


@dataclass(frozen=True, slots=True)
class Bounds:
    """The cosine of each row lies within `spread` of its `middle`, for certain."""

    middle: Floats32
    spread: float

    def __len__(self) -> int:
        return len(self.middle)


@dataclass(frozen=True, slots=True)
class Rounded:
    """A unit vector in whole numbers: `step` · `codes`, off by at most `slack` in length."""

    codes: NDArray[np.int16]
    step: float
    slack: float
    length: float
    total: int

    @classmethod
    def of(cls, vector: Floats32, highest: int) -> Rounded:
        codes, step, rest, squares, total = coded(vector, highest)
        return cls(codes, step, math.sqrt(rest) * ROUNDING, step * math.sqrt(squares), total)

    def spread(self, slack: float) -> float:
        """How far the cosine of a row with so much slack can be from the product of the codes."""
        return slack * self.length + self.slack * ROUNDING + UNSURE


@dataclass(frozen=True, slots=True)
class Query:
    """A unit vector to be compared with codes: roughly with their halves, finely with the whole."""

    vector: Floats32
    rough: Rounded
    fine: Rounded

    @classmethod
    def of(cls, vector: Floats32) -> Query:
        finer = FINER if len(vector) <= LONGEST_FINE else HIGHEST
        return cls(vector, Rounded.of(vector, HIGHEST), Rounded.of(vector, finer))

    @property
    def halved(self) -> NDArray[np.int8]:
        """As many codes as the halves of a row have places: one more where the width is odd."""
        codes = self.rough.codes.astype(np.int8)
        return np.concatenate([codes, codes[:1] * 0]) if len(codes) % 2 else codes

    @property
    def exactly(self) -> Floats:
        """The vector to take exact products with."""
        return self.vector.astype(np.float64)


def as_halves(codes: Codes, query: Query) -> Halves:
    """What is needed to bound every cosine by the upper halves of the codes alone."""
    rough = query.rough
    # in halves, so that all are whole numbers until they are scaled: 16 · upper + 7.5 − 128
    line = 32, round(2 * (MIDDLE - SHIFT)) * rough.total
    spread = rough.spread(codes.most_loose)
    return Halves(codes.halves, codes.steps, query.halved, line, rough.step / 2, spread)


def as_fine(codes: Codes, query: Query) -> Fine:
    """What is needed to look at single rows by their whole codes."""
    spread = query.fine.spread(codes.most_slack)
    return Fine(codes.codes, codes.steps, query.fine.codes, query.fine.step, spread)


def fine(codes: Codes, rows: Rows | None, query: Query) -> Bounds:
    """Bounds by the whole codes."""
    asked = query.fine
    middle = byte_products(codes.codes, codes.steps, rows, asked.codes, (1, 0), asked.step)
    return Bounds(middle, asked.spread(codes.most_slack))
