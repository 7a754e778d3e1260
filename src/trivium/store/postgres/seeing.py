"""What a view in PostgreSQL asks of a seen state beyond what the state answers by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.index.documents import Mask
from trivium.index.snapshot import Scored, Seen
from trivium.types import Unit, Yardstick

Numbers = NDArray[np.int64]

_FINE = 1 << 20  # whole steps of a millionth: their sum is the same in whatever order


def visible(seen: Seen) -> int:
    """How many chunks can be seen."""
    return sum(int(np.count_nonzero(mask)) for mask in seen.visible)


def numbers_of(seen: Seen, chunks: Sequence[str]) -> Numbers:
    """The record's number of each chunk; -1, which no chunk has, for what is not visible."""
    segments = seen.snapshot.segments
    stands = [seen.place(chunk) for chunk in chunks]
    return np.array(
        [segments[at[0]].segment.numbers[at[1]] if at else -1 for at in stands], np.int64
    )


def to_be_embedded(seen: Seen, allowed: Sequence[Mask]) -> Numbers:
    """The record's numbers of those allowed chunks that are meant to have a vector."""
    numbers = [
        living.segment.numbers[mask & living.segment.arrays["row.embedded"]]
        for living, mask in zip(seen.snapshot.segments, allowed, strict=True)
    ]
    return np.sort(np.concatenate(numbers)) if numbers else np.empty(0, np.int64)


def named(seen: Seen, numbers: Numbers, scores: NDArray[np.float64], unit: Unit) -> list[Scored]:
    """Chunks by number, as (chunk id, score, unit id)."""
    order = np.argsort(numbers)
    ascending, values = numbers[order], scores[order]
    found: list[Scored] = []
    for living in seen.snapshot.segments:
        segment = living.segment
        rows = segment.rows_of(numbers)
        rows = rows[living.alive[rows]]
        given = values[np.searchsorted(ascending, segment.numbers[rows])]
        ids = segment.ids(rows)
        segment.known_rows.update(zip(ids, rows.tolist(), strict=True))
        found += zip(ids, given.tolist(), seen.units_of(segment, rows, unit), strict=True)
    return found


def yardstick(
    score_of: Callable[[Sequence[str]], list[float]], scores: NDArray[np.float64], count: int
) -> Yardstick:
    """A yardstick for `count` chunks with the mean and deviation of these scores."""
    if not len(scores):
        return Yardstick(score_of, 0.0, 0.0, count)
    total = int(np.rint(scores * _FINE).astype(np.int64).sum())
    squares = int(np.rint(scores * scores * _FINE).astype(np.int64).sum())
    mean, square = total / _FINE / len(scores), squares / _FINE / len(scores)
    return Yardstick(score_of, mean, math.sqrt(max(0.0, square - mean * mean)), count)
