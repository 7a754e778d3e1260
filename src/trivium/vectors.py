"""Unit vectors and their cosine: one definition for every store, so that all give the same bytes.

Stored vectors are float32 of unit length. A cosine that leaves a leg is computed from them in
float64, element by element in one order, whatever the layout of the matrix they came from.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trivium.errors import InvalidValue
from trivium.kernels import exact_products

Floats32 = NDArray[np.float32]

ROUNDING = 1e-7
"""How far from one the length of a unit vector can be in float32: 2⁻²⁴ and a little."""

PIECE = 256
"""Rows scaled at a time: in float64 they fit into a processor's cache, four times as quick."""


def unit(vectors: NDArray[np.floating]) -> Floats32:
    """The rows scaled to length one; a zero row stays zero. NaN or infinity is an error.

    A row that has this length already stays as it is, bit by bit, so that a vector which was
    stored once can be stored again elsewhere.
    """
    if np.ndim(vectors) > 1:
        scaled = np.empty(np.shape(vectors), "<f4")
        for start in range(0, len(vectors), PIECE):
            scaled[start : start + PIECE] = _unit_rows(vectors[start : start + PIECE])
        return scaled
    wide = np.asarray(vectors, np.float64)
    length = math.sqrt((wide * wide).sum())  # a query: numbers are quicker than arrays of one
    if not math.isfinite(length):
        raise _not_a_vector()
    return (wide if _is_unit(length) else wide / length).astype("<f4")


def _unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    wide = np.asarray(vectors, np.float64)
    squares = (wide * wide).sum(axis=-1)
    lengths = np.sqrt(squares)[..., None]
    if not np.isfinite(lengths).all():
        raise _not_a_vector()
    as_it_is = (lengths == 0) | (abs(lengths - 1.0) < ROUNDING)
    return wide / np.where(as_it_is, 1.0, lengths)


def _is_unit(length: float) -> bool:
    return length == 0 or abs(length - 1.0) < ROUNDING


def _not_a_vector() -> InvalidValue:
    return InvalidValue("a vector holds NaN or infinity; embed the text again")


def cosines(
    matrix: Floats32, query: Floats32, rows: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """The cosine of each row, or of the given ones, with the query: the same to the last bit."""
    found = exact_products(matrix, rows, query.astype(np.float64))
    return found.clip(-1.0, 1.0, out=found)


def pack(vector: Floats32) -> bytes:
    return vector.astype("<f4", copy=False).tobytes()


def unpack(blob: bytes) -> Floats32:
    return np.frombuffer(blob, "<f4")
