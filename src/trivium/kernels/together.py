"""Lists of several segments brought together, for a merge; each with its twin in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium import kernels
from trivium.kernels import Array

STRETCH = 5
"""A stretch has two to the power of this many positions: less than the words of most chunks."""

MOST_COUNTED = 2**30 - 1  # of a word in a column: with its row and column it fits one number
COLUMNS_FIT = 8

Numbers = NDArray[np.int64]


class Positions(NamedTuple):
    """Lists of positions of a segment: where each begins, its number in the whole, their values.

    For each row its new place, or -1 for a dead one, by how much its positions move, and where they
    end; and the row at the beginning of each stretch.
    """

    offsets: Numbers
    numbers: Numbers
    values: Array
    place: Numbers
    shift: Numbers
    ends: Numbers
    stretches: Numbers


class Postings(NamedTuple):
    """Lists of postings of a segment, and of what is beyond the body, in the same manner."""

    offsets: Numbers
    extra_offsets: Numbers
    numbers: Numbers
    rows: Array
    body: Array
    extra_posting: Array
    extra_column: Array
    extra_count: Array
    place: Numbers


class Together(NamedTuple):
    """How many postings and extras each term has, and what they say; an extra tells its posting by
    its place among those of the term.
    """

    counts: Numbers
    extra_counts: Numbers
    rows: Array
    body: Array
    extra_posting: Array
    extra_column: Array
    extra_count: Array


def positions_together(parts: Sequence[Positions], first: int, last: int, length: int) -> Array:
    """The living positions of the forms from first to last, by form and then ascending; all are
    less than the length.
    """
    if kernels.native and length < 2**32 and all(one.values.itemsize <= 4 for one in parts):
        to = np.empty(sum(len(one.values) for one in parts), np.uint32)
        given = tuple(
            tuple(one._replace(values=one.values.astype(np.uint32, copy=False))) for one in parts
        )
        return to[: kernels.native.positions_together(given, first, last, to)]
    found = [(number - first) * length + at for number, at in map(living_positions, parts)]
    together = np.concatenate(found)
    together.sort()  # a form and its place in one number sort as both
    return together % max(length, 1)


def postings_together(
    parts: Sequence[Postings], first: int, last: int, rows: int, highest: tuple[int, int]
) -> Together:
    """What lives of the terms from first to last, in the same manner; `highest` are those of the
    counts in the body and beyond it.
    """
    if kernels.native and highest[0] < 2**32 and highest[1] <= MOST_COUNTED:
        return _natively(parts, first, last)
    heads, body = _postings(parts, first, rows, highest[0])
    term, row = np.divmod(heads, max(rows, 1))
    counts = np.bincount(term, minlength=last - first)
    place, column, count = _extras(parts, first, rows, heads)
    posting = place - (np.cumsum(counts) - counts)[term[place]]
    extra_counts = np.bincount(term[place], minlength=last - first)
    return Together(counts, extra_counts, row, body, posting, column, count)


def _natively(parts: Sequence[Postings], first: int, last: int) -> Together:
    most = sum(len(one.rows) for one in parts)
    extras = sum(len(one.extra_posting) for one in parts)
    types = (np.int64, np.int64, np.int32, np.uint32, np.int32, np.uint8, np.uint32)
    sizes = (last - first, last - first, most, most, extras, extras, extras)
    to: list[Any] = [np.empty(size, type) for size, type in zip(sizes, types, strict=True)]
    given = tuple(
        tuple(
            one._replace(
                rows=one.rows.astype(np.int32, copy=False),
                body=one.body.astype(np.uint32, copy=False),
                extra_posting=one.extra_posting.astype(np.int32, copy=False),
                extra_column=one.extra_column.astype(np.uint8, copy=False),
                extra_count=one.extra_count.astype(np.uint32, copy=False),
            )
        )
        for one in parts
    )
    written, extra = kernels.native.postings_together(given, first, last, *to)
    return Together(*to[:2], *(array[:written] for array in to[2:4]), *(a[:extra] for a in to[4:]))


def _postings(
    parts: Sequence[Postings], first: int, rows: int, highest: int
) -> tuple[Numbers, Numbers]:
    """Term · rows + row of each posting, ascending, and its count in the body."""
    found = []
    for number, row, body in map(living_postings, parts):
        found.append(((number - first) * rows + row) * (highest + 1) + body)
    together = np.concatenate(found)
    together.sort()
    return np.divmod(together, highest + 1)


def _extras(
    parts: Sequence[Postings], first: int, rows: int, heads: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """The posting that each belongs to, its column and count; by posting and column."""
    found = []
    for number, row, column, count in map(living_extras, parts):
        place = np.searchsorted(heads, (number - first) * rows + row)
        found.append(np.stack([place, column, count]))
    together = np.concatenate(found, axis=1)
    place, column, count = together[:, np.argsort(together[0] * COLUMNS_FIT + together[1])]
    return place, column, count


def living_positions(part: Positions) -> tuple[Numbers, Numbers]:
    """The number of the list, and the position as it is now."""
    values = part.values.astype(np.int64)
    row = _rows(part, values)
    values += part.shift[row]
    number = _listed(part.offsets, part.numbers)
    living = part.place[row] >= 0
    return _only(living, number), _only(living, values)


def _rows(part: Positions, values: Numbers) -> Numbers:
    """The row of each position: that at the beginning of its stretch, or one soon after.

    A search by halves would take a quarter of the whole merge.
    """
    row: Numbers = part.stretches[values >> STRETCH]
    while (beyond := values >= part.ends[row]).any():
        row += beyond
    return row


def living_postings(part: Postings) -> tuple[Numbers, Numbers, Numbers]:
    """The number of the list, the row as it is now, the count in the body."""
    row = part.place[part.rows]
    number = _listed(part.offsets, part.numbers)
    living = row >= 0
    return _only(living, number), _only(living, row), _only(living, part.body.astype(np.int64))


def living_extras(part: Postings) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The same beyond the body: number, row, column, count."""
    starts = part.offsets[:-1] - part.offsets[0]
    row = part.place[part.rows[_listed(part.extra_offsets, starts) + part.extra_posting]]
    number = _listed(part.extra_offsets, part.numbers)
    column, count = part.extra_column.astype(np.int64), part.extra_count.astype(np.int64)
    living = row >= 0
    return (
        _only(living, number),
        _only(living, row),
        _only(living, column),
        _only(living, count),
    )


def _listed(offsets: Numbers, values: Numbers) -> Numbers:
    """For each item of the lists what is said of its list."""
    return np.repeat(values, np.diff(offsets))


def _only(mask: NDArray[np.bool_], values: Numbers) -> Numbers:
    return values if mask.all() else values[mask]
