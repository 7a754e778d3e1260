"""Chunks on their way into a ranking: told by where they stand until it is known who is in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.index.placing import ROW_BITS, ROW_MASK
from trivium.index.segment import Segment
from trivium.types import Unit

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Segments = Sequence[Segment]
_NONE, _NOTHING = np.empty(0, np.int64), np.empty(0)


class Standing(NamedTuple):
    """Chunks with their scores; a place is `segment << ROW_BITS | row`."""

    places: Rows
    scores: Floats

    @classmethod
    def of(cls, rows: Sequence[Rows], scores: Sequence[Floats]) -> Standing:
        """These rows of each segment, out of the scores of all its rows."""
        if len(rows) == 1:
            return cls(rows[0], scores[0][rows[0]])
        places = [some.astype(np.int64) + (index << ROW_BITS) for index, some in enumerate(rows)]
        found = [given[some] for given, some in zip(scores, rows, strict=True)]
        return cls(np.concatenate([_NONE, *places]), np.concatenate([_NOTHING, *found]))

    def at(self, order: Rows | slice) -> Standing:
        return Standing(self.places[order], self.scores[order])


def first_units(
    segments: Segments, best: Callable[[int], Standing], total: int, units: int, unit: Unit
) -> Standing:
    """The shortest beginning of a ranking of `total` chunks that holds so many units.

    `best(count)` gives at least the `count` best chunks; it is asked for more until that is enough.
    """
    count = units
    while True:
        ranked = in_order(segments, best(min(count, total))).at(slice(count))
        length = _holding(units_at(segments, ranked.places, unit), units)
        if length or count >= total:
            return ranked.at(slice(length or None))
        count *= 4


def in_order(segments: Segments, found: Standing) -> Standing:
    """Best first, ties by id: the rows of a segment are in the order of their ids."""
    ranked = found.at(np.lexsort((found.places, -found.scores)))
    if len(segments) > 1 and _ties_across(ranked):
        pairs = zip((-ranked.scores).tolist(), ids_at(segments, ranked.places), strict=True)
        order = [place for place, _ in sorted(enumerate(pairs), key=lambda one: one[1])]
        return ranked.at(np.array(order, np.int64))
    return ranked


def ids_at(segments: Segments, places: Rows) -> list[str]:
    """The chunk ids of these places."""
    if len(segments) == 1:
        return segments[0].ids(places)
    ids = [""] * len(places)
    for segment, here in _by_segment(segments, places):
        for place, id in zip(here.tolist(), segment.ids(places[here] & ROW_MASK), strict=True):
            ids[place] = id
    return ids


def units_at(segments: Segments, places: Rows, unit: Unit) -> Sequence[Hashable]:
    """What tells the units of these places apart: their numbers, where they have any."""
    if unit == "chunk":
        return list(places.tolist())
    if unit == "document":  # which lies in one segment as a whole
        numbers = np.empty(len(places), np.int64)
        for index, (segment, here) in enumerate(_by_segment(segments, places)):
            numbers[here] = segment.document[places[here] & ROW_MASK]
            numbers[here] += index << ROW_BITS
        return list(numbers.tolist())
    names: list[Hashable] = [""] * len(places)
    for segment, here in _by_segment(segments, places):
        found = units_of(segment, places[here] & ROW_MASK, unit)
        for place, name in zip(here.tolist(), found, strict=True):
            names[place] = name
    return names


def units_of(segment: Segment, rows: Rows, unit: Unit) -> list[str]:
    """The unit that each of these rows belongs to."""
    if unit == "chunk":
        return segment.ids(rows)
    documents = [segment.document_id(one) for one in segment.document[rows].tolist()]
    if unit == "document":
        return documents
    subjects = segment.arrays["row.subject"][rows].tolist()
    return [
        segment.iris[subject] if subject else document
        for subject, document in zip(subjects, documents, strict=True)
    ]


def _by_segment(segments: Segments, places: Rows) -> list[tuple[Segment, Rows]]:
    """Each segment, and which of the places are in it."""
    if len(segments) == 1:
        return [(segments[0], np.arange(len(places)))]
    owners = places >> ROW_BITS
    return [(one, np.flatnonzero(owners == index)) for index, one in enumerate(segments)]


def _ties_across(ranked: Standing) -> bool:
    """Whether chunks of different segments have the same score."""
    level = ranked.scores[1:] == ranked.scores[:-1]
    return bool(level.any()) and bool(
        (level & (ranked.places[1:] >> ROW_BITS != ranked.places[:-1] >> ROW_BITS)).any()
    )


def _holding(units: Sequence[Hashable], wanted: int) -> int:
    """How much of a ranking holds so many units; 0 if all of it does not."""
    if len(set(units)) == len(units):  # the usual case, and quickly told
        return wanted if len(units) >= wanted else 0
    seen: set[Hashable] = set()
    for place, unit in enumerate(units, start=1):
        seen.add(unit)
        if len(seen) == wanted:
            return place
    return 0
