"""Blocks of vectors and their exact nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.index.documents import Mask
from trivium.vectors import Floats32, cosines

FLOAT32_STEP = 2.0**-23
OUT = np.float32(-2.0)  # below every cosine: what the filter does not allow


@dataclass(frozen=True, slots=True)
class Block:
    """Unit vectors of chunks, in ascending order of the store's chunk numbers; immutable."""

    numbers: NDArray[np.int64]
    matrix: Floats32

    def __len__(self) -> int:
        return len(self.numbers)


def merge_blocks(blocks: Sequence[Block], alive: Sequence[Mask]) -> Block:
    """The living vectors of several blocks as one."""
    numbers = np.concatenate([b.numbers[m] for b, m in zip(blocks, alive, strict=True)])
    matrix = np.concatenate([b.matrix[m] for b, m in zip(blocks, alive, strict=True)])
    order = np.argsort(numbers, kind="stable")
    return Block(numbers[order], matrix[order])


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A fast float32 pass over the allowed vectors, from which exact neighbours are taken."""

    blocks: Sequence[Block]
    allowed: Sequence[Mask]
    query: Floats32
    rough: Sequence[NDArray[np.float32]]
    considered: int

    @classmethod
    def of(cls, blocks: Sequence[Block], allowed: Sequence[Mask], query: Floats32) -> Neighbours:
        rough = [
            np.where(mask, block.matrix @ query, OUT)
            for block, mask in zip(blocks, allowed, strict=True)
        ]
        considered = sum(int(np.count_nonzero(mask)) for mask in allowed)
        return cls(blocks, allowed, query, rough, considered)

    def nearest(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Chunk numbers and float64 cosines of all that can be among the `count` nearest."""
        if not self.considered:
            return np.empty(0, np.int64), np.empty(0)
        cut = self._cut(min(count, self.considered))
        numbers, exact = [], []
        for block, mask, similarity in zip(self.blocks, self.allowed, self.rough, strict=True):
            rows = np.flatnonzero((similarity >= cut) & mask)
            numbers.append(block.numbers[rows])
            exact.append(cosines(block.matrix[rows], self.query))
        return np.concatenate(numbers), np.concatenate(exact)

    def _cut(self, count: int) -> float:
        """The similarity below which no row can be among the `count` nearest."""
        together = np.concatenate(self.rough) if len(self.rough) > 1 else self.rough[0]
        place = len(together) - count
        lowest = float(np.partition(together, place)[place])
        # The sum of |products| of two unit vectors is at most 1, so each float32 sum is off by
        # less than dimension · 2⁻²³; two sums are compared.
        return lowest - 2 * len(self.query) * FLOAT32_STEP
