"""Named chunks, wherever they stand in a ranking: their scores in a leg, and their vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.index.matrix import Neighbours
from trivium.types import Yardstick
from trivium.vectors import Floats32, cosines

if TYPE_CHECKING:
    from trivium.index.snapshot import Seen

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_FINE = 1 << 20  # steps of a millionth: finer than any use of a mean, and no sum overflows


def of_words(seen: Seen, found: Sequence[tuple[Rows, Floats]], count: int) -> Yardstick:
    """The yardstick of an answer over `count` chunks: what is not in it scores 0."""

    def score_of(chunks: Sequence[str]) -> list[float]:
        given = np.zeros(len(chunks))
        segments, places = seen.places(chunks)
        for segment, (rows, scores) in enumerate(found):
            here = np.flatnonzero(segments == segment)
            if len(here) and len(rows):
                index = np.searchsorted(rows, places[here]).clip(max=len(rows) - 1)
                held = rows[index] == places[here]
                given[here[held]] = scores[index[held]]
        return given.tolist()

    return yardstick(score_of, [scores for _, scores in found], count)


def of_vectors(seen: Seen, neighbours: Neighbours) -> Yardstick:
    """The yardstick of cosines: exact ones for named chunks.

    Mean and deviation are rough where the vectors were passed over as bytes; `exact` says better.
    """

    def score_of(chunks: Sequence[str]) -> list[float]:
        given = np.zeros(len(chunks))
        for index, block, rows in _rows(seen, chunks):
            allowed = neighbours.rows[block]
            if allowed is not None:
                kept = _in(rows, allowed)
                index, rows = index[kept], rows[kept]
            given[index] = cosines(neighbours.blocks[block].matrix[rows], neighbours.query)
        return given.tolist()

    def exact() -> Yardstick:
        return yardstick(score_of, neighbours.middles(exact=True), neighbours.considered)

    if not neighbours.is_rough:
        return exact()
    count = neighbours.considered
    middles = neighbours.middles(exact=False)
    mean = sum(float(some.sum()) for some in middles) / count
    square = sum(float(np.square(some).sum()) for some in middles) / count
    deviation = math.sqrt(max(0.0, square - mean * mean))
    return Yardstick(score_of, mean, deviation, count, exact)


def vectors(seen: Seen, chunks: Sequence[str]) -> Floats32:
    blocks = seen.snapshot.blocks
    width = blocks[0].block.matrix.shape[1] if blocks else 0
    given = np.zeros((len(chunks), width), np.float32)
    for index, block, rows in _rows(seen, chunks):
        alive = blocks[block].alive[rows]
        given[index[alive]] = blocks[block].block.matrix[rows[alive]]
    return given


def _rows(seen: Seen, chunks: Sequence[str]) -> Iterator[tuple[Rows, int, Rows]]:
    """For each block: which of the chunks have a vector there, and in which rows."""
    numbers = seen.numbers_of(chunks)
    for block, one in enumerate(seen.snapshot.blocks):
        known = one.block.numbers
        if not len(known):
            continue
        found = np.searchsorted(known, numbers).clip(max=len(known) - 1)
        index = np.flatnonzero(known[found] == numbers)
        yield index, block, found[index]


def _in(wanted: Rows, ascending: Rows) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(wanted), bool)
    held: NDArray[np.bool_] = (
        ascending[np.searchsorted(ascending, wanted).clip(max=len(ascending) - 1)] == wanted
    )
    return held


def yardstick(
    score_of: Callable[[Sequence[str]], list[float]],
    scores: Sequence[Floats | Floats32],
    count: int,
) -> Yardstick:
    """With mean and deviation over `count` chunks; those that have no score here have 0.

    Sums of whole numbers come out the same in whatever segments the chunks lie.
    """
    if not count:
        return Yardstick(score_of, 0.0, 0.0, 0)
    total = squares = 0.0
    for some in scores:
        fine = some * _FINE
        squared = fine * some  # a step is a power of two: multiplied in whatever order
        total += float(np.rint(fine, out=fine).sum())
        squares += float(np.rint(squared, out=squared).sum())
    mean, square = total / _FINE / count, squares / _FINE / count
    return Yardstick(score_of, mean, math.sqrt(max(0.0, square - mean * mean)), count)
