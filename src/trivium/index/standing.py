"""Chunks on their way into a ranking: told by where they stand until it is known who is in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.index.placing import ROW_BITS, ROW_MASK
from trivium.index.segment import Segment
from trivium.kernels.names import Beginning
from trivium.kernels.names import first_units as beginning
from trivium.types import Unit

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Segments = Sequence[Segment]
Divided = tuple[int, ...]
"""Where a document stands: `segment << ROW_BITS | document` of each segment that has some of it."""

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


def first_units(
    segments: Segments, best: Callable[[int], Standing], total: int, units: int, unit: Unit
) -> Beginning:
    """The shortest beginning of a ranking of `total` chunks that holds so many units, or more of it
    where documents are wanted and one is divided: that counts once in each segment.

    `best(count)` gives at least the `count` best chunks; it is asked for more until that is enough.
    """
    count, named = units, tuple(segment.named for segment in segments)
    while True:
        found = best(min(count, total))
        if unit == "entity":
            chosen = _first_entities(segments, found, count, units)
        else:
            chosen = beginning(named, *found, count, units, unit == "document")
        if chosen is not None:
            return chosen
        if count >= total:  # all there are, and they do not hold so many
            wanted = min(count, len(found.places))
            return beginning(named, *found, count, wanted, False) or Beginning((), _NONE, ())
        count *= 4


def _first_entities(
    segments: Segments, found: Standing, count: int, units: int
) -> Beginning | None:
    """The beginning of the first `count` that holds so many entities; None if they do not."""
    ids = ids_at(segments, found.places)
    ranked = sorted(zip((-found.scores).tolist(), ids, range(len(ids)), strict=True))[:count]
    order = np.array([place for _, _, place in ranked], np.int64)
    entities = _entities_at(segments, found.places[order])
    seen: set[str] = set()
    for length, entity in enumerate(entities, start=1):
        seen.add(entity)
        if len(seen) == units:
            first = order[:length]
            worth = tuple(found.scores[first].tolist())
            return Beginning(tuple(ids[one] for one in first), found.places[first], worth)
    return None


def ids_at(segments: Segments, places: Rows) -> list[str]:
    """The chunk ids of these places."""
    ids = [""] * len(places)
    for segment, here in _by_segment(segments, places):
        for place, id in zip(here.tolist(), segment.ids(places[here] & ROW_MASK), strict=True):
            ids[place] = id
    return ids


def units_at(
    segments: Segments, places: Rows, unit: Unit, divided: Sequence[Divided]
) -> Sequence[Hashable]:
    """What tells the units of these places apart: their numbers, where they have any."""
    if unit == "chunk":
        return list(places.tolist())
    if unit == "document":
        numbers = places & ~ROW_MASK
        for segment, here in _by_segment(segments, places):
            numbers[here] += segment.document[places[here] & ROW_MASK]
        for first, *others in divided:
            for other in others:
                numbers[numbers == other] = first
        return list(numbers.tolist())
    return _entities_at(segments, places)


def divided(segments: Segments) -> tuple[Divided, ...]:
    """The documents that have chunks, living or dead, in several of these segments."""
    where: dict[str, list[int]] = {}
    for index, segment in enumerate(segments):
        for document in segment.stating.tolist():
            stands = where.setdefault(segment.document_id(document), [])
            stands.append((index << ROW_BITS) + document)
    return tuple(tuple(stands) for stands in where.values() if len(stands) > 1)


def counted_again(segments: Segments, scores: Sequence[Floats], divided: Sequence[Divided]) -> int:
    """How many documents too many are counted, if each segment counts its own that have a score.
    The rows of each document stand together.
    """
    again = 0
    for stands in divided:
        held = 0
        for one in stands:
            index, document = one >> ROW_BITS, one & ROW_MASK
            first, last = np.searchsorted(segments[index].document, [document, document + 1])
            held += bool((scores[index][first:last] > 0).any())
        again += max(held - 1, 0)
    return again


def _entities_at(segments: Segments, places: Rows) -> list[str]:
    names = [""] * len(places)
    for segment, here in _by_segment(segments, places):
        found = units_of(segment, places[here] & ROW_MASK, "entity")
        for place, name in zip(here.tolist(), found, strict=True):
            names[place] = name
    return names


def units_of(segment: Segment, rows: Rows, unit: Unit) -> list[str]:
    """The unit that each of these rows belongs to."""
    if unit == "chunk":
        return list(segment.ids(rows))
    if unit == "document":
        return [segment.document_id(one) for one in segment.document[rows].tolist()]
    entities = segment.entities
    return list(map(entities.name, entities.of_row[rows].tolist()))


def _by_segment(segments: Segments, places: Rows) -> list[tuple[Segment, Rows]]:
    """Each segment, and which of the places are in it."""
    owners = places >> ROW_BITS
    return [(one, np.flatnonzero(owners == index)) for index, one in enumerate(segments)]
