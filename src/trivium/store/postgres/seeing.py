"""The chunks that a vector search in PostgreSQL may find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trivium.index.documents import Mask
from trivium.index.snapshot import Seen

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Chunks that a search may find, as a mask over the record's numbers."""

    mask: NDArray[np.bool_]
    count: int

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> Allowed:
        return cls(mask, int(np.count_nonzero(mask)))

    @classmethod
    def to_be_embedded(cls, seen: Seen, allowed: Sequence[Mask]) -> Allowed:
        """Those of the allowed rows that are meant to have a vector."""
        pairs = list(zip(seen.snapshot.segments, allowed, strict=True))
        highest = max((int(one.segment.numbers.max(initial=0)) for one, _ in pairs), default=0)
        mask = np.zeros(highest + 1, bool)
        for living, rows in pairs:
            mask[living.segment.numbers[rows & living.segment.arrays["row.embedded"]]] = True
        return cls.of(mask)

    def without(self, numbers: Numbers) -> Allowed:
        """All but these."""
        if not len(numbers):
            return self
        mask = self.mask.copy()
        mask[numbers[numbers < len(mask)]] = False
        return Allowed.of(mask)

    @property
    def numbers(self) -> Numbers:
        return np.flatnonzero(self.mask)

    def holds(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of these are allowed; -1 never is."""
        inside = (numbers >= 0) & (numbers < len(self.mask))
        return inside & self.mask[np.where(inside, numbers, 0)]

    def bits(self) -> bytes:
        """For `get_bit`: the bit of each number."""
        return np.packbits(self.mask, bitorder="little").tobytes()
