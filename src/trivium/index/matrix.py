"""Blocks of vectors and their exact nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from trivium.index.documents import Mask
from trivium.vectors import Floats32, cosines

FLOAT32_STEP = 2.0**-23


@dataclass(frozen=True, slots=True)
class Block:
    """Unit vectors of chunks, in ascending order of the store's chunk numbers; immutable."""

    numbers: NDArray[np.int64]
    matrix: Floats32

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class Near:
    """Chunk numbers with their cosines: all that can be among the `depth` best, ties included."""

    numbers: NDArray[np.int64]
    cosines: NDArray[np.float64]
    considered: int


def merge_blocks(blocks: Sequence[Block], alive: Sequence[Mask]) -> Block:
    """The living vectors of several blocks as one."""
    numbers = np.concatenate([b.numbers[m] for b, m in zip(blocks, alive, strict=True)])
    matrix = np.concatenate([b.matrix[m] for b, m in zip(blocks, alive, strict=True)])
    order = np.argsort(numbers, kind="stable")
    return Block(numbers[order], matrix[order])


def nearest(blocks: Sequence[Block], allowed: Sequence[Mask], query: Floats32, depth: int) -> Near:
    """Exact neighbours: a fast float32 pass, then float64 for all within its error of the cut."""
    considered = sum(int(np.count_nonzero(mask)) for mask in allowed)
    if not considered:
        return Near(np.empty(0, np.int64), np.empty(0), 0)
    rough = [
        np.where(mask, block.matrix @ query, np.float32(-2.0))
        for block, mask in zip(blocks, allowed, strict=True)
    ]
    cut = _cut(rough, min(depth, considered), len(query))
    numbers, exact = [], []
    for block, mask, similarity in zip(blocks, allowed, rough, strict=True):
        rows = np.flatnonzero((similarity >= cut) & mask)
        numbers.append(block.numbers[rows])
        exact.append(cosines(block.matrix[rows], query))
    return Near(np.concatenate(numbers), np.concatenate(exact), considered)


def _cut(rough: Sequence[NDArray[np.float32]], depth: int, dimension: int) -> float:
    """The similarity below which no row can be among the `depth` best."""
    together = np.concatenate(rough) if len(rough) > 1 else rough[0]
    place = len(together) - depth
    lowest = cast(float, np.partition(together, place)[place])
    # The sum of |products| of two unit vectors is at most 1, so each float32 sum is off by less
    # than dimension · 2⁻²³; two sums are compared.
    return float(lowest) - 2 * dimension * FLOAT32_STEP
