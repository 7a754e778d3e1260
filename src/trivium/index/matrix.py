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
from trivium.index.codes import ARRAYS, Bounds, Codes, Query, as_fine, encode, fine, rough
from trivium.kernels import COMPILED, float_products, nearest
from trivium.vectors import Floats32

FLOAT32_STEP = 2.0**-23
CODED_FROM = 4_096 if COMPILED else 1 << 62
"""Rows of a block: with fewer, or in NumPy, a pass over float32 is as quick as one over codes."""

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

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


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A fast pass over the allowed vectors, from which exact neighbours are taken.

    `rows` are the allowed rows of each block, ascending; None where all are.
    """

    blocks: Sequence[Block]
    rows: Sequence[Rows | None]
    query: Floats32
    coded: Query
    rough: Sequence[Bounds]
    considered: int

    @classmethod
    def of(
        cls,
        blocks: Sequence[Block],
        rows: Sequence[Rows | None],
        query: Floats32,
        coded_from: int = CODED_FROM,
    ) -> Neighbours:
        coded = Query.of(query)
        found = [
            _single_precision(block, chosen, query)
            if len(block) < coded_from
            else _by_halves(block, chosen, coded)
            for block, chosen in zip(blocks, rows, strict=True)
        ]
        return cls(blocks, rows, query, coded, found, sum(len(one) for one in found))

    @property
    def is_rough(self) -> bool:
        """Whether the middles of the bounds are further from the cosines than float32 is."""
        return any(len(one) and one.spread > 1e-3 for one in self.rough)

    def middles(self, precision: Precision) -> list[Floats32]:
        """About the cosine of every allowed row, or as exact as bytes or float32 make it."""
        triples = zip(self.blocks, self.rows, self.rough, strict=True)
        if precision == "exact":
            return [_single_precision(block, rows, self.query).middle for block, rows, _ in triples]
        if precision == "fine":
            return [self._fine(*triple).middle for triple in triples]
        return [one.middle for one in self.rough]

    def _fine(self, block: Block, rows: Rows | None, one: Bounds) -> Bounds:
        return one if self._is_exact(one) else fine(block.codes, rows, self.coded)

    def nearest(self, count: int) -> tuple[Rows, Floats]:
        """Chunk numbers and float64 cosines of at least the `count` nearest."""
        if not self.considered:
            return np.empty(0, np.int64), np.empty(0)
        query, numbers, cosines = self.query.astype(np.float64), [], []
        for block, chosen, one in zip(self.blocks, self.rows, self.rough, strict=True):
            if len(one):
                closer = None if self._is_exact(one) else as_fine(block.codes, self.coded)
                wanted = min(count, len(one))
                rows, found = nearest(
                    one.middle, one.spread, chosen, wanted, closer, block.matrix, query
                )
                numbers.append(block.numbers[rows])
                cosines.append(found)
        if len(numbers) == 1:
            return numbers[0], cosines[0]
        return np.concatenate(numbers), np.concatenate(cosines)

    def _is_exact(self, bounds: Bounds) -> bool:
        """Whether they are as exact as float32 already."""
        return bounds.spread <= _error(self.query)


def _error(query: Floats32) -> float:
    """How far a float32 product can be off.

    The sum of |products| of two unit vectors is at most 1, so a sum is off by less than this.
    """
    return len(query) * FLOAT32_STEP


def _by_halves(block: Block, rows: Rows | None, coded: Query) -> Bounds:
    if rows is None or 4 * len(rows) <= len(block):
        return rough(block.codes, rows, coded)
    found = rough(block.codes, None, coded)
    return Bounds(found.middle[rows], found.spread)


def _single_precision(block: Block, rows: Rows | None, query: Floats32) -> Bounds:
    return Bounds(float_products(block.matrix, rows, query), _error(query))
