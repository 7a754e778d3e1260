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


class Divided(NamedTuple):
    """Documents that have chunks in several segments: where they stand, ascending, as `segment <<
    ROW_BITS | document`, and which of these documents each is.
    """

    places: Rows
    which: Rows


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
    entities = entities_at(segments, found.places[order])
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


def units_at(segments: Segments, places: Rows, unit: Unit, divided: Divided) -> Sequence[Hashable]:
    """What tells the units of these places apart: their numbers, where they have any."""
    if unit == "chunk":
        return list(places.tolist())
    if unit == "document":
        numbers = places & ~ROW_MASK
        for segment, here in _by_segment(segments, places):
            numbers[here] += segment.document[places[here] & ROW_MASK]
        if len(divided.places):
            at = divided.places.searchsorted(numbers).clip(max=len(divided.places) - 1)
            numbers = np.where(divided.places[at] == numbers, -1 - divided.which[at], numbers)
        return list(numbers.tolist())
    return entities_at(segments, places)


def divided(segments: Segments) -> Divided:
    """The documents that have chunks, living or dead, in several of these segments."""
    where: dict[str, list[int]] = {}
    for index, segment in enumerate(segments if len(segments) > 1 else ()):
        for document in segment.stating.tolist():
            stands = where.setdefault(segment.document_id(document), [])
            stands.append((index << ROW_BITS) + document)
    several = [stands for stands in where.values() if len(stands) > 1]
    pairs = sorted((place, which) for which, stands in enumerate(several) for place in stands)
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return Divided(found[:, 0].copy(), found[:, 1].copy())


def counted_again(segments: Segments, scores: Sequence[Floats], divided: Divided) -> int:
    """How many documents too many are counted, if each segment counts its own that have a score."""
    if not len(divided.places):
        return 0
    held = np.zeros(len(divided.places), bool)
    for index, (segment, here) in enumerate(_by_segment(segments, divided.places)):
        has_some = np.zeros(len(segment.documents), bool)
        has_some[segment.document[scores[index] > 0]] = True
        held[here] = has_some[divided.places[here] & ROW_MASK]
    counts = np.bincount(divided.which[held])
    return int(np.maximum(counts - 1, 0).sum())


def entities_at(segments: Segments, places: Rows) -> list[str]:
    """The entity that stands at each of these places; "" where nothing does."""
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
