"""The nearest chunks of a query among the allowed ones, from a LanceDB dataset.

Never fewer than exist: an answer that is too short is asked again, wider, up to every row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trivium.store.lance.dataset import Floats, Numbers, Vectors
from trivium.vectors import Floats32, cosines

FEW = 1000
"""So many vectors are fetched by number and compared one by one: exact, and quicker than a scan."""

SPARE = 1.3
"""Asked for above what a filter's share promises, because shares differ near a query."""


@dataclass(slots=True)
class LanceNeighbours:
    """`allowed` are chunk numbers in ascending order that have a vector, `scopes` the grant's."""

    vectors: Vectors
    query: Floats32
    allowed: Numbers
    scopes: frozenset[str] | None

    @property
    def considered(self) -> int:
        return len(self.allowed)

    def nearest(self, count: int) -> tuple[Numbers, Floats]:
        """Chunk numbers and cosines of about the `count` nearest; of all, if there are no more."""
        count = min(count, self.considered)
        if not count:
            return np.empty(0, np.int64), np.empty(0)
        if self.considered <= FEW:
            numbers, matrix = self.vectors.fetch(self.allowed)
            return numbers, cosines(matrix, self.query)
        every = len(self.vectors.numbers)
        wanted = min(every, math.ceil(count * every / self.considered * SPARE))
        # A lower grant reads every row it may see: where an index looks depends on hidden rows.
        everything = self.scopes is not None
        while True:
            numbers, found = self.vectors.search(
                self.query, wanted, self.scopes, everything=everything
            )
            among = np.isin(numbers, self.allowed)
            numbers, found = numbers[among], found[among]
            if len(numbers) >= count or (wanted == every and everything):
                return numbers, found
            everything = everything or wanted == every
            wanted = min(every, 4 * wanted)

    def typical(self) -> Floats:
        """Cosines of a few of the allowed chunks, spread evenly: what is usual here."""
        if not self.considered:
            return np.empty(0)
        known = np.isin(self.vectors.sample_numbers, self.allowed)
        if np.count_nonzero(known) >= min(32, self.considered):
            return cosines(self.vectors.sample[known], self.query)
        step = max(1, self.considered // 128)
        _, matrix = self.vectors.fetch(self.allowed[::step])
        return cosines(matrix, self.query)
