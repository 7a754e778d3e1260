"""Chunks on their way into a ranking: told by where they stand until it is known who is in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.index.placing import ROW_BITS, ROW_MASK
from trivium.index.segment import Segment
from trivium.kernels import first_units as beginning
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


class Chosen(NamedTuple):
    """The beginning of a ranking: ids, where they stand, scores."""

    ids: Sequence[str]
    places: Rows
    scores: Sequence[float]


def first_units(
    segments: Segments, best: Callable[[int], Standing], total: int, units: int, unit: Unit
) -> Chosen:
    """The shortest beginning of a ranking of `total` chunks that holds so many units.

    `best(count)` gives at least the `count` best chunks; it is asked for more until that is enough.
    """
    count = units
    while True:
        found = best(min(count, total))
        owner = _only_owner(segments, found.places)
        if owner is None or unit == "entity":
            chosen = _beginning(segments, found, count, units, unit, count >= total)
        else:
            chosen = _beginning_in(segments, owner, found, count, units, unit, count >= total)
        if chosen:
            return chosen
        count *= 4


def _beginning_in(
    segments: Segments,
    owner: int,
    found: Standing,
    count: int,
    units: int,
    unit: Unit,
    in_any_case: bool,
) -> Chosen | None:
    """`_beginning` where all chunks are in one segment, as mostly they are in the large one."""
    named, rows = segments[owner].named, found.places & ROW_MASK
    chosen = beginning(named, rows, found.scores, count, units, unit == "document")
    if chosen is None and in_any_case:
        chosen = beginning(named, rows, found.scores, count, min(count, len(rows)), False)
    if chosen is None:
        return None
    ids, rows, scores = chosen
    return Chosen(ids, rows + (owner << ROW_BITS), scores)


def _beginning(
    segments: Segments, found: Standing, count: int, units: int, unit: Unit, in_any_case: bool
) -> Chosen | None:
    """The beginning of the first `count` that holds so many units; if it does not, all or none."""
    ranked = in_order(segments, found).at(slice(count))
    length = _holding(units_at(segments, ranked.places, unit), units)
    if not length and not in_any_case:
        return None
    places, scores = ranked.at(slice(length or None))
    return Chosen(ids_at(segments, places), places, scores.tolist())


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
        numbers = places & ~ROW_MASK
        for segment, here in _by_segment(segments, places):
            numbers[here] += segment.document[places[here] & ROW_MASK]
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
        return list(segment.ids(rows))
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
    owners = places >> ROW_BITS
    return [(one, np.flatnonzero(owners == index)) for index, one in enumerate(segments)]


def _only_owner(segments: Segments, places: Rows) -> int | None:
    """Which segment all the places are in; None if there is none."""
    if not len(places):
        return None
    if len(segments) == 1:
        return 0
    first = int(places.min()) >> ROW_BITS
    return first if first == int(places.max()) >> ROW_BITS else None


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
