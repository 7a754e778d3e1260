"""Who is nearest, begun before anybody asks: a pass over codes has threads of its own.

They never hold Python's lock, so words are searched meanwhile; whoever asks does what is left.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium import kernels
from trivium.kernels import ROOM, Array, Fine, Floats, Floats32, Rows, byte_products, nearest, sums
from trivium.processors import processors

if kernels.native is not None:
    kernels.native.use_processors(processors())


class Halves(NamedTuple):
    """Codes of two numbers in a byte, and the query for them; as `byte_products` reads them, whose
    products lie within `spread` of the cosines.
    """

    codes: NDArray[np.uint8]
    steps: Floats32
    query: NDArray[np.int8]
    line: tuple[int, int]
    scale: float
    spread: float


class UnderWay:
    """A search for the `count` nearest of all rows of a matrix, or of the given ones."""

    def __init__(
        self,
        halves: Halves,
        fine: Fine,
        rows: Rows | None,
        count: int,
        matrix: Floats32,
        query: Floats,
    ) -> None:
        self._halves, self._fine, self._matrix, self._query = halves, fine, matrix, query
        self._rows = None if rows is None else rows.astype(np.int64, copy=False)
        self._count = count
        self._middle = np.empty(len(matrix) if rows is None else len(rows), np.float32)
        self._begun = self._begin()

    def _begin(self) -> Any:
        if kernels.native is None or not len(self._middle):
            return None
        given, fine = self._halves, self._fine
        return kernels.native.begin_nearest(
            given.codes, given.query, *given.line, given.scale, self._middle, given.spread,
            self._rows, self._count, fine.codes, fine.steps, fine.query, fine.scale, fine.spread,
            ROOM, self._matrix, self._query,
        )  # fmt: skip

    @cached_property
    def _ended(self) -> tuple[tuple[Array, Array] | None, float, float]:
        ended = None if self._begun is None else kernels.native.end_nearest(self._begun)
        if ended is not None:
            (rows, cosines), total, square = ended
            found = np.frombuffer(rows, np.int64), np.frombuffer(cosines, np.float64)
            return found, total, square
        given = self._halves
        self._middle = byte_products(
            given.codes, given.steps, self._rows, given.query, given.line, given.scale
        )
        return None, *sums(self._middle)

    @property
    def middle(self) -> Floats32:
        """About the cosine of each row, by its half-bytes."""
        assert self._ended
        return self._middle

    @property
    def sums(self) -> tuple[float, float]:
        """The sum of these and that of their squares, about right."""
        return self._ended[1:]

    def nearest(self, count: int) -> tuple[Rows, Floats]:
        """As `kernels.nearest`; at hand for the count that it was begun with."""
        found = self._ended[0]
        if found is not None and count == self._count:
            return found
        given = self._middle, self._halves.spread, self._rows, count
        return nearest(*given, self._fine, self._matrix, self._query)
