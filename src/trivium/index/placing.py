"""Where chunks stand: from the store's number to a piece of the snapshot and a row in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.kernels import ROW_BITS as ROW_BITS
from trivium.values import dataclass

ROW_MASK = (1 << ROW_BITS) - 1
PAGE_BITS = 6  # numbers of a page: those of what was replaced leave gaps, which take no room

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Places:
    """The place of each living number, `piece << ROW_BITS | row`; -1 for any other.

    A table in pages: one step instead of a search for each number.
    """

    pages: NDArray[np.int32]
    table: Rows

    @classmethod
    def of(cls, pieces: Sequence[tuple[Rows, NDArray[np.bool_]]]) -> Places:
        """Of pieces that have these numbers in their rows, of which these are alive."""
        living = [(index, np.flatnonzero(alive)) for index, (_, alive) in enumerate(pieces)]
        numbers = [pieces[index][0][rows] for index, rows in living]
        highest = max((int(some.max()) for some in numbers if len(some)), default=-1)
        used = np.zeros((highest >> PAGE_BITS) + 1, bool)
        for some in numbers:
            used[some >> PAGE_BITS] = True
        pages = np.where(used, np.cumsum(used), 0).astype(np.int32)  # page 0 is empty
        table = np.full((int(used.sum()) + 1) << PAGE_BITS, -1, np.int64)
        made = cls(pages, table)
        for (index, rows), some in zip(living, numbers, strict=True):
            table[made._cells(some)] = rows + (index << ROW_BITS)
        return made

    def __getitem__(self, numbers: Rows) -> Rows:
        known = (numbers >= 0) & (numbers < len(self.pages) << PAGE_BITS)
        if known.all():
            return self.table[self._cells(numbers)]
        places = np.full(len(numbers), -1, np.int64)
        places[known] = self.table[self._cells(numbers[known])]
        return places

    def _cells(self, numbers: Rows) -> Rows:
        cells: Rows = (self.pages[numbers >> PAGE_BITS].astype(np.int64) << PAGE_BITS) + (
            numbers & ((1 << PAGE_BITS) - 1)
        )
        return cells


def pieces(places: Rows, count: int) -> Iterator[tuple[int, Rows | slice, Rows]]:
    """For each of so many pieces: which of the places are in it, and in which rows.

    Mostly one piece has all of them.
    """
    if count == 1 and len(places) and places.min() >= 0:
        yield 0, slice(None), places
        return
    owners = places >> ROW_BITS
    for piece in range(count):
        here = np.flatnonzero(owners == piece)
        yield piece, here, places[here] & ROW_MASK
