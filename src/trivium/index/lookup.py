"""Named chunks, wherever they stand in a ranking: their scores in a leg, and their vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.index.documents import Mask
from trivium.index.matrix import Neighbours
from trivium.types import Yardstick
from trivium.vectors import Floats32, cosines

if TYPE_CHECKING:
    from trivium.index.snapshot import Seen

Floats = NDArray[np.float64]

_FINE = 1 << 20  # steps of a millionth: finer than any use of a mean, and no sum overflows


def of_words(
    seen: Seen, found: Sequence[tuple[NDArray[np.int64], Floats]], allowed: Sequence[Mask]
) -> Yardstick:
    """The yardstick of an answer: what is not in it scores 0."""

    def score_of(chunks: Sequence[str]) -> list[float]:
        return [_score(seen, found, chunk) for chunk in chunks]

    count = sum(int(np.count_nonzero(mask)) for mask in allowed)
    return yardstick(score_of, [scores for _, scores in found], count)


def _score(seen: Seen, found: Sequence[tuple[NDArray[np.int64], Floats]], chunk: str) -> float:
    stands = seen.place(chunk)
    if stands is None:
        return 0.0
    rows, scores = found[stands[0]]
    index = int(np.searchsorted(rows, stands[1]))
    return float(scores[index]) if index < len(rows) and rows[index] == stands[1] else 0.0


def of_vectors(seen: Seen, neighbours: Neighbours) -> Yardstick:
    """The yardstick of cosines: exact ones for named chunks, rough ones for mean and deviation."""

    def score_of(chunks: Sequence[str]) -> list[float]:
        given = [0.0] * len(chunks)
        for index, block, rows in _rows(seen, chunks, neighbours.allowed):
            matrix = neighbours.blocks[block].matrix[rows]
            for place, cosine in zip(index, cosines(matrix, neighbours.query), strict=True):
                given[place] = float(cosine)
        return given

    rough = [
        cosine[mask].astype(np.float64)
        for cosine, mask in zip(neighbours.rough, neighbours.allowed, strict=True)
    ]
    return yardstick(score_of, rough, neighbours.considered)


def vectors(seen: Seen, chunks: Sequence[str]) -> Floats32:
    blocks = seen.snapshot.blocks
    width = blocks[0].block.matrix.shape[1] if blocks else 0
    given = np.zeros((len(chunks), width), np.float32)
    for index, block, rows in _rows(seen, chunks, [living.alive for living in blocks]):
        given[index] = blocks[block].block.matrix[rows]
    return given


def _rows(
    seen: Seen, chunks: Sequence[str], allowed: Sequence[Mask]
) -> list[tuple[list[int], int, list[int]]]:
    """For each block: which of the chunks have a vector there, and in which rows."""
    stands = [seen.place(chunk) for chunk in chunks]
    numbers = np.array(
        [
            seen.snapshot.segments[at[0]].segment.numbers[at[1]] if at else -1  # no chunk has it
            for at in stands
        ],
        np.int64,
    )
    found = []
    for block, (living, mask) in enumerate(zip(seen.snapshot.blocks, allowed, strict=True)):
        known = living.block.numbers
        if not len(known):
            continue
        places = np.searchsorted(known, numbers).clip(max=len(known) - 1)
        index = np.flatnonzero((known[places] == numbers) & mask[places])
        found.append((index.tolist(), block, places[index].tolist()))
    return found


def yardstick(
    score_of: Callable[[Sequence[str]], list[float]], scores: Sequence[Floats], count: int
) -> Yardstick:
    """With mean and deviation over `count` chunks; those that have no score here have 0.

    Sums of whole numbers come out the same in whatever segments the chunks lie.
    """
    if not count:
        return Yardstick(score_of, 0.0, 0.0, 0)
    total = sum(int(np.rint(some * _FINE).astype(np.int64).sum()) for some in scores)
    squares = sum(int(np.rint(some * some * _FINE).astype(np.int64).sum()) for some in scores)
    mean, square = total / _FINE / count, squares / _FINE / count
    return Yardstick(score_of, mean, math.sqrt(max(0.0, square - mean * mean)), count)
