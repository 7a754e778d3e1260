"""Named chunks, wherever they stand in a ranking: their scores in a leg, and their vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.index.matrix import Neighbours, Precision
from trivium.index.placing import pieces
from trivium.kernels import FINE, Tally, measured
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
        for segment, here, rows in pieces(seen.places(chunks), len(scores)):
            given[here] = scores[segment][rows]
        return given.tolist()

    return tallied(score_of, tallies, count)


def of_vectors(seen: Seen, neighbours: Neighbours) -> Yardstick:
    """The yardstick of cosines: exact ones for named chunks.

    Mean and deviation are rough where the vectors were passed over as half-bytes; where that is not
    enough bytes tell them, and where that is not enough, either, the vectors.
    """

    def score_of(chunks: Sequence[str]) -> list[float]:
        given = np.zeros(len(chunks))
        for block, here, rows in _pieces(seen, chunks):
            held = neighbours.passes[block]
            found = cosines(held.block.matrix, neighbours.query, rows)
            given[here] = found if held.rows is None else np.where(_in(rows, held.rows), found, 0.0)
        return given.tolist()

    def exact() -> Yardstick:
        middles = [one.middles("exact") for one in neighbours.passes]
        return yardstick(score_of, middles, neighbours.considered)

    def about(precision: Precision, doubt: float, closer: Callable[[], Yardstick]) -> Yardstick:
        told = [one.sums(precision) for one in neighbours.passes]
        totals, squares = zip(*told, strict=True)
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
    for block, here, rows in _pieces(seen, chunks):
        given[here] = blocks[block].block.matrix[rows]
    return given


def likeness(seen: Seen, query: Floats32, chunks: Sequence[str]) -> dict[str, float]:
    """The cosine of each chunk that has a vector."""
    given: dict[str, float] = {}
    for block, here, rows in _pieces(seen, chunks):
        found = cosines(seen.snapshot.blocks[block].block.matrix, query, rows).tolist()
        places = np.arange(len(chunks))[here].tolist()
        given.update((chunks[place], one) for place, one in zip(places, found, strict=True))
    return given


def _pieces(seen: Seen, chunks: Sequence[str]) -> Iterator[tuple[int, Rows | slice, Rows]]:
    """For each block: which of the chunks have a living vector there, and in which rows."""
    places = seen.snapshot.embedded[seen.numbers_of(chunks)]
    return pieces(places, len(seen.snapshot.blocks))


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
