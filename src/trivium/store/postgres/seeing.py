"""What a view in PostgreSQL asks of a seen state: the record's numbers of chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.index.documents import Mask
from trivium.index.snapshot import Seen

Numbers = NDArray[np.int64]


def visible(seen: Seen) -> int:
    """How many chunks can be seen."""
    return sum(int(np.count_nonzero(mask)) for mask in seen.visible)


def numbers_of(seen: Seen, chunks: Sequence[str]) -> Numbers:
    """The record's number of each chunk; -1, which no chunk has, for what is not visible."""
    numbers = np.full(len(chunks), -1, np.int64)
    segments, rows = seen.places(chunks)
    for index, living in enumerate(seen.snapshot.segments):
        here = np.flatnonzero(segments == index)
        numbers[here] = living.segment.numbers[rows[here]]
    return numbers


def to_be_embedded(seen: Seen, allowed: Sequence[Mask]) -> Numbers:
    """The record's numbers of those allowed chunks that are meant to have a vector."""
    numbers = [
        living.segment.numbers[mask & living.segment.arrays["row.embedded"]]
        for living, mask in zip(seen.snapshot.segments, allowed, strict=True)
    ]
    return np.sort(np.concatenate(numbers)) if numbers else np.empty(0, np.int64)
