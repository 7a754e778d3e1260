"""Blocks of vectors and their exact nearest neighbours.

A pass over all by half-bytes (`codes.py`), a look at the bytes of what may be near, float64 for
what is left: each bounds the cosine for certain, so no result hangs on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, MappedArrays
from trivium.index.codes import ARRAYS, Codes, Query, as_fine, as_halves, encode, fine
from trivium.kernels import COMPILED, float_products, nearest, sums
from trivium.kernels.underway import UnderWay
from trivium.vectors import Floats32

FLOAT32_STEP = 2.0**-23
CODED_FROM = 4_096 if COMPILED else 1 << 62
"""Rows of a block: with fewer, or in NumPy, a pass over float32 is as quick as one over codes."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

_NONE, _NOTHING = np.empty(0, np.int64), np.empty(0)

Precision = Literal["rough", "fine", "exact"]


class Block:
    """Unit vectors of chunks, in ascending order of the store's chunk numbers; immutable.

    Mapped from a file or held in memory; nothing is read before it is needed.
    """

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    @classmethod
    def of(cls, numbers: Rows, matrix: Floats32) -> Block:
        return cls({"numbers": numbers, "matrix": matrix})

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def numbers(self) -> Rows:
        return self._arrays["numbers"]

    @cached_property
    def matrix(self) -> Floats32:
        return self._arrays["matrix"]

    @cached_property
    def width(self) -> int:
        """The dimension of the vectors."""
        return int(self.matrix.shape[1])

    @cached_property
    def codes(self) -> Codes:
        if "codes" not in self._arrays:
            return encode(self.matrix)
        return Codes(*(self._arrays[name] for name in ARRAYS))

    @property
    def is_coded(self) -> bool:
        """Whether its codes are at hand, or so few that none are wanted."""
        return len(self) < CODED_FROM or "codes" in self._arrays

    def arrays(self) -> dict[str, Array]:
        """What a file of this block holds."""
        arrays: dict[str, Array] = {"numbers": self.numbers, "matrix": self.matrix}
        if len(self) >= CODED_FROM:
            codes = self.codes
            arrays |= {name: getattr(codes, name) for name in ARRAYS}
        return arrays

    def release(self) -> None:
        """Let go of what was read from the file so far; it is there."""
        if isinstance(self._arrays, MappedArrays):
            self._arrays.release()


class Pass:
    """One block and a query: about the cosine of each allowed row, then who is nearest.

    It is begun when it is made. `rows` are the allowed ones, ascending; None where all are.
    """

    def __init__(
        self, block: Block, rows: Rows | None, query: Query, wanted: int, coded_from: int
    ) -> None:
        self.block, self.rows = block, rows
        self._query = query
        self._count = len(block) if rows is None else len(rows)
        self._under_way: UnderWay | None = None
        if self._count and len(block) >= coded_from:
            halves, closer = as_halves(block.codes, query), as_fine(block.codes, query)
            wanted = min(wanted, self._count)
            self._under_way = UnderWay(halves, closer, rows, wanted, block.matrix, query.exactly)

    def __len__(self) -> int:
        return self._count

    @property
    def is_rough(self) -> bool:
        """Whether what is told is further from the cosines than float32 is."""
        return self._under_way is not None

    @cached_property
    def _single(self) -> Floats32:
        return float_products(self.block.matrix, self.rows, self._query.vector)

    def middles(self, precision: Precision) -> Floats32:
        """About the cosine of every allowed row, or as exact as bytes or float32 make it."""
        if self._under_way is None or precision == "exact":
            return self._single
        if precision == "fine":
            return fine(self.block.codes, self.rows, self._query).middle
        return self._under_way.middle

    def sums(self, precision: Precision) -> tuple[float, float]:
        """The sum of these and that of their squares, about right."""
        if self._under_way and precision == "rough":
            return self._under_way.sums
        return sums(self.middles(precision))

    def nearest(self, count: int) -> tuple[Rows, Floats]:
        """Chunk numbers and float64 cosines of at least the `count` nearest."""
        count = min(count, len(self))
        if self._under_way:
            rows, cosines = self._under_way.nearest(count)
        else:
            error, vector = _error(self._query.vector), self._query.exactly
            rows, cosines = nearest(
                self._single, error, self.rows, count, None, self.block.matrix, vector
            )
        return self.block.numbers[rows], cosines


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Who is near to a query among the allowed vectors: exact, and begun before it is asked."""

    query: Floats32
    passes: Sequence[Pass]
    considered: int

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        rows: Sequence[Rows | None],
        query: Floats32,
        wanted: int,
        coded_from: int = CODED_FROM,
    ) -> Neighbours:
        """Of the allowed rows of each block; `wanted` is how many will probably be asked for."""
        coded = Query.of(query)
        passes = [
            Pass(block, chosen, coded, wanted, coded_from)
            for block, chosen in zip(blocks, rows, strict=True)
        ]
        return cls(query, passes, sum(map(len, passes)))

    @property
    def is_rough(self) -> bool:
        """Whether any of it is rough."""
        return any(one.is_rough for one in self.passes)

    def nearest(self, count: int) -> tuple[Rows, Floats]:
        """Chunk numbers and float64 cosines of at least the `count` nearest."""
        found = [one.nearest(count) for one in self.passes if len(one)]
        if len(found) == 1:
            return found[0]
        numbers, cosines = zip(*found, strict=True) if found else ((), ())
        return np.concatenate([_NONE, *numbers]), np.concatenate([_NOTHING, *cosines])


def _error(query: Floats32) -> float:
    """How far a float32 product can be off.

    The sum of |products| of two unit vectors is at most 1, so a sum is off by less than this.
    """
    return len(query) * FLOAT32_STEP
