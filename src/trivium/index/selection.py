"""What a filter leaves of a snapshot, worked out once: masks over segments, rows of blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from trivium.clock import microseconds
from trivium.index.documents import Mask
from trivium.index.segment import Segment
from trivium.types import Filter
from trivium.values import replace

if TYPE_CHECKING:
    from trivium.index.snapshot import Snapshot

SubjectsOfTypes = Callable[[tuple[str, ...], bool], frozenset[str]]
"""Resolves RDF types (and their subclasses, if so asked) to the subjects that visibly have one, in
the state that the snapshot is of."""

KEPT = 32  # selections kept for a snapshot: a few filters come again and again


@dataclass(frozen=True)
class Selection(Sequence[Mask]):
    """The allowed rows of each segment, as masks; and what follows from them."""

    snapshot: Snapshot
    masks: tuple[Mask, ...]

    @overload
    def __getitem__(self, index: int) -> Mask: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mask]: ...
    def __getitem__(self, index: int | slice) -> Mask | Sequence[Mask]:
        return self.masks[index]

    def __len__(self) -> int:
        return len(self.masks)

    @cached_property
    def total(self) -> int:
        """How many chunks are allowed."""
        return sum(int(np.count_nonzero(mask)) for mask in self.masks)

    @cached_property
    def every(self) -> tuple[bool, ...]:
        """For each segment whether all its rows are allowed."""
        return tuple(bool(mask.all()) for mask in self.masks)

    @cached_property
    def embedded(self) -> int:
        """How many of the allowed chunks are meant to have a vector."""
        pairs = zip(self.snapshot.segments, self.masks, strict=True)
        return sum(
            int(np.count_nonzero(mask & living.segment.arrays["row.embedded"]))
            for living, mask in pairs
        )

    @cached_property
    def vectors(self) -> tuple[NDArray[np.int64] | None, ...]:
        """The rows of each block that belong to an allowed chunk; None where all do."""
        by_number = self.by_number
        found = []
        for living in self.snapshot.blocks:
            mask = living.alive & by_number[living.block.numbers.clip(max=len(by_number) - 1)]
            found.append(None if mask.all() else np.flatnonzero(mask))
        return tuple(found)

    @cached_property
    def by_number(self) -> Mask:
        """The allowed rows as a mask over the store's chunk numbers; the last entry is False."""
        pairs = zip(self.snapshot.segments, self.masks, strict=True)
        numbers = [living.segment.numbers[mask] for living, mask in pairs]
        highest = max((int(n.max()) for n in numbers if len(n)), default=0)
        by_number = np.zeros(highest + 2, bool)
        for found in numbers:
            by_number[found] = True
        return by_number


def select(
    snapshot: Snapshot, visible: Sequence[Mask], filter: Filter, subjects_of: SubjectsOfTypes
) -> Selection:
    """The rows that the filter leaves of the visible ones."""
    pairs = zip(snapshot.segments, visible, strict=True)
    masks = (seen & _matching(one.segment, filter, subjects_of) for one, seen in pairs)
    return Selection(snapshot, tuple(masks))


def moments(snapshot: Snapshot) -> NDArray[np.int64]:
    """The moments at which a document of the snapshot begins or ceases to be valid, ascending.

    Those of several documents come several times: `np.unique` would load `numpy.ma`, and with it
    10 ms go by before the first answer of a process.
    """
    found = [living.segment.documents.moments for living in snapshot.segments]
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def key_of(filter: Filter, moments: NDArray[np.int64]) -> object:
    """What filters have in common that leave the same rows.

    "Now" is another moment in every search, but seldom one that makes a difference.
    """
    if filter.valid_at is None:
        return filter
    at = microseconds(filter.valid_at)
    between = (int(moments.searchsorted(at)), int(moments.searchsorted(at, side="right")))
    return replace(filter, valid_at=None), between


def _matching(segment: Segment, filter: Filter, subjects_of: SubjectsOfTypes) -> Mask:
    mask = segment.documents.matching(filter)[segment.document]
    for name, wanted in (
        ("row.subject", filter.subjects),
        ("row.predicate", filter.predicates),
        ("row.graph", filter.graphs),
    ):
        if wanted:
            mask &= _with_iri(segment, name, wanted)
    if filter.rdf_types:
        of_types = subjects_of(filter.rdf_types, filter.subclasses)
        mask &= _with_iri(segment, "row.subject", list(of_types))
    for excluded in filter.exclude:
        if excluded.narrows():
            mask &= ~_matching(segment, excluded, subjects_of)
    return mask


def _with_iri(segment: Segment, column: str, wanted: Sequence[str]) -> Mask:
    chosen = np.zeros(len(segment.iris), bool)
    codes = segment.iris.numbers_of(wanted)
    chosen[codes[codes > 0]] = True
    return chosen[segment.arrays[column]]
