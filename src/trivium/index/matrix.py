"""Blocks of vectors and their exact nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, MappedArrays
from trivium.index.best import reached
from trivium.index.codes import Bounds, Codes, bounds, encode, products
from trivium.vectors import Floats32, cosines

FLOAT32_STEP = 2.0**-23
CODED_FROM = 4_096  # numbers of a block (rows): below, a pass over float32 is as quick as codes

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


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
        return Codes(*(self._arrays[name] for name in ("codes", "steps", "slack")))

    @property
    def is_coded(self) -> bool:
        """Whether its codes are at hand, or so few that none are wanted."""
        return len(self) < CODED_FROM or "codes" in self._arrays

    def arrays(self) -> dict[str, Array]:
        """What a file of this block holds."""
        arrays: dict[str, Array] = {"numbers": self.numbers, "matrix": self.matrix}
        if len(self) >= CODED_FROM:
            codes = self.codes
            arrays |= {"codes": codes.codes, "steps": codes.steps, "slack": codes.slack}
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
        coded = encode(query[None, :])
        rough = [
            _single_precision(block, chosen, query)
            if len(block) < coded_from
            else _coded(block, chosen, coded)
            for block, chosen in zip(blocks, rows, strict=True)
        ]
        return cls(blocks, rows, query, rough, sum(len(one) for one in rough))

    @property
    def is_rough(self) -> bool:
        """Whether the middles of the bounds are further from the cosines than float32 is."""
        return any(len(one) and one.spread > 1e-3 for one in self.rough)

    def middles(self, *, exact: bool) -> list[Floats | Floats32]:
        """About the cosine of every allowed row, or as exact as float32 makes it."""
        if not exact:
            return [one.middle for one in self.rough]
        pairs = zip(self.blocks, self.rows, strict=True)
        return [_single_precision(block, rows, self.query).middle for block, rows in pairs]

    def nearest(self, count: int) -> tuple[Rows, Floats]:
        """Chunk numbers and float64 cosines of all that can be among the `count` nearest."""
        if not self.considered:
            return np.empty(0, np.int64), np.empty(0)
        count = min(count, self.considered)
        spread = max(one.spread for one in self.rough)
        cut = reached([one.middle for one in self.rough], count) - 2 * spread
        numbers, near = [], []
        for block, rows, rough in zip(self.blocks, self.rows, self.rough, strict=True):
            places = np.flatnonzero(rough.middle >= cut)
            chosen = places if rows is None else rows[places]
            numbers.append(block.numbers[chosen])
            near.append(block.matrix[chosen])
        return self._exact(np.concatenate(numbers), np.concatenate(near), count)

    def _exact(self, numbers: Rows, near: Floats32, count: int) -> tuple[Rows, Floats]:
        """Of these rows, which hold the nearest, those that single precision does not rule out."""
        similarity = products(near, self.query[None, :])
        if len(similarity) > count:
            place = len(similarity) - count
            lowest = float(np.partition(similarity, place)[place])
            kept = similarity >= lowest - 2 * _error(self.query)
            numbers, near = numbers[kept], near[kept]
        return numbers, cosines(near, self.query)


def _error(query: Floats32) -> float:
    """How far a float32 product can be off.

    The sum of |products| of two unit vectors is at most 1, so a sum is off by less than this.
    """
    return len(query) * FLOAT32_STEP


def _coded(block: Block, rows: Rows | None, coded: Codes) -> Bounds:
    if rows is not None and 4 * len(rows) <= len(block):
        return bounds(block.codes.take(rows), coded)
    found = bounds(block.codes, coded)
    return found if rows is None else Bounds(found.middle[rows], found.spread)


def _single_precision(block: Block, rows: Rows | None, query: Floats32) -> Bounds:
    matrix = block.matrix if rows is None else block.matrix[rows]
    middle = products(matrix, query[None, :])
    return Bounds(middle, _error(query))
