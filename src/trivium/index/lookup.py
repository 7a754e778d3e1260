"""Named chunks, wherever they stand in a ranking: their scores in a leg, and their vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.index.matrix import Neighbours, Precision
from trivium.index.placing import ROW_BITS, ROW_MASK
from trivium.kernels import FINE, Tally, measured, sums
from trivium.types import Yardstick
from trivium.vectors import Floats32, cosines

if TYPE_CHECKING:
    from trivium.index.snapshot import Seen

ROUGH = 0.005  # half-bytes tell mean and deviation to .002, and a verdict is off by twice that
FINE_ENOUGH = 0.001  # bytes to .0005

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


def of_words(
    seen: Seen, scores: Sequence[Floats], tallies: Sequence[Tally], count: int
) -> Yardstick:
    """The yardstick of scores over `count` allowed chunks: what does not match has 0."""

    def score_of(chunks: Sequence[str]) -> list[float]:
        given = np.zeros(len(chunks))
        segments, places = seen.places(chunks)
        for segment, scored in enumerate(scores):
            here = np.flatnonzero(segments == segment)
            given[here] = scored[places[here]]
        return given.tolist()

    return tallied(score_of, tallies, count)


def of_vectors(seen: Seen, neighbours: Neighbours) -> Yardstick:
    """The yardstick of cosines: exact ones for named chunks.

    Mean and deviation are rough where the vectors were passed over as half-bytes; where that is not
    enough bytes tell them, and where that is not enough, either, the vectors.
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
        return yardstick(score_of, neighbours.middles("exact"), neighbours.considered)

    def about(precision: Precision, doubt: float, closer: Callable[[], Yardstick]) -> Yardstick:
        totals, squares = zip(*map(sums, neighbours.middles(precision)), strict=True)
        mean, square = sum(totals) / neighbours.considered, sum(squares) / neighbours.considered
        deviation = math.sqrt(max(0.0, square - mean * mean))
        return Yardstick(score_of, mean, deviation, neighbours.considered, closer, doubt)

    if not neighbours.is_rough:
        return exact()
    return about("rough", ROUGH, lambda: about("fine", FINE_ENOUGH, exact))


def vectors(seen: Seen, chunks: Sequence[str]) -> Floats32:
    blocks = seen.snapshot.blocks
    width = blocks[0].block.matrix.shape[1] if blocks else 0
    given = np.zeros((len(chunks), width), np.float32)
    for index, block, rows in _rows(seen, chunks):
        given[index] = blocks[block].block.matrix[rows]
    return given


def _rows(seen: Seen, chunks: Sequence[str]) -> Iterator[tuple[Rows, int, Rows]]:
    """For each block: which of the chunks have a living vector there, and in which rows."""
    places = seen.snapshot.embedded[seen.numbers_of(chunks)]
    blocks = places >> ROW_BITS
    for block in range(len(seen.snapshot.blocks)):
        index = np.flatnonzero(blocks == block)
        yield index, block, places[index] & ROW_MASK


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
    """With mean and deviation over `count` chunks; those that have no score here have 0."""
    return tallied(score_of, [measured(some) for some in scores], count)


def tallied(
    score_of: Callable[[Sequence[str]], list[float]], tallies: Sequence[Tally], count: int
) -> Yardstick:
    """The same of what is counted already.

    Sums of whole numbers come out the same in whatever segments the chunks lie.
    """
    if not count:
        return Yardstick(score_of, 0.0, 0.0, 0)
    mean = sum(one.total for one in tallies) / FINE / count
    square = sum(one.squares for one in tallies) / FINE / count
    return Yardstick(score_of, mean, math.sqrt(max(0.0, square - mean * mean)), count)
