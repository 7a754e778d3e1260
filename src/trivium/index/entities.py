"""The entities of a segment: what its facts are about, or the document of what is about nothing.

They are told apart by number, so that counting those of many rows decodes no string.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Strings

Numbers = NDArray[np.int64]


class Names:
    """Strings in any order, looked up by their hashes; it takes one pass over them, once."""

    def __init__(self, strings: Strings) -> None:
        self._strings = strings

    def __len__(self) -> int:
        return len(self._strings)

    def __getitem__(self, number: int) -> str:
        return self._strings[number]

    def all(self) -> list[str]:
        """Every name; one pass."""
        return self._strings.all()

    @cached_property
    def _by_hash(self) -> tuple[Numbers, Numbers]:
        hashes = _hashes(self._strings.all())
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order

    def numbers_of(self, wanted: Sequence[str]) -> Numbers:
        """The number of each of these; -1 for what is not there."""
        hashes, order = self._by_hash
        asked = _hashes(wanted)
        first = hashes.searchsorted(asked)
        last = hashes.searchsorted(asked, side="right")
        numbers = np.full(len(wanted), -1, np.int64)
        for place in np.flatnonzero(first < last).tolist():
            for number in order[first[place] : last[place]].tolist():
                if self._strings[number] == wanted[place]:
                    numbers[place] = number
        return numbers


def _hashes(strings: Sequence[str]) -> Numbers:
    return np.fromiter(map(hash, strings), np.int64, len(strings))


class Entities:
    """The entity of each row, as a number: that of its subject, else a number for its document."""

    def __init__(
        self, iris: Names, documents: Strings, subject: NDArray[np.int32], of: NDArray[np.int32]
    ) -> None:
        self._iris, self._documents = iris, Names(documents)
        self._subject, self._of = subject, of
        self._shared: WeakKeyDictionary[Entities, tuple[Numbers, Numbers]] = WeakKeyDictionary()

    def __len__(self) -> int:
        """One more than the highest number."""
        return len(self._iris) + len(self._documents)

    @cached_property
    def of_row(self) -> Numbers:
        """The entity of each row."""
        numbers = self._subject.astype(np.int64)
        plain = np.flatnonzero(numbers == 0)
        numbers[plain] = self._of_document[self._of[plain]]
        return numbers

    @cached_property
    def _of_document(self) -> Numbers:
        """That of each document; one that is called like a subject is this subject."""
        numbers = np.arange(len(self._documents), dtype=np.int64) + len(self._iris)
        if len(self._iris) > 1:  # some are named
            alike = self._iris.numbers_of(self._documents.all())
            numbers = np.where(alike > 0, alike, numbers)
        return numbers

    def name(self, number: int) -> str:
        """What an entity is called: the id of hits, and the same in every segment."""
        known = len(self._iris)
        return self._iris[number] if number < known else self._documents[number - known]

    def held(self, rows: Numbers) -> NDArray[np.bool_]:
        """Which entities these rows are about."""
        held = np.zeros(len(self), bool)
        held[self.of_row[rows]] = True
        return held

    def shared_with(self, other: Entities) -> tuple[Numbers, Numbers]:
        """The numbers here and there of what both have; worked out once for two segments."""
        if other not in self._shared:
            few, many = (self, other) if len(self.of_row) < len(other.of_row) else (other, self)
            here = np.flatnonzero(few.held(np.arange(len(few.of_row))))
            there = many.numbers_of([few.name(number) for number in here.tolist()])
            pair = here[there >= 0], there[there >= 0]
            self._shared[other] = pair if few is self else pair[::-1]
        return self._shared[other]

    def numbers_of(self, names: Sequence[str]) -> Numbers:
        """The number of each entity of these names; -1 for what is none."""
        documents = self._documents.numbers_of(names)
        numbers = np.where(documents >= 0, self._of_document[documents], -1)
        iris = self._iris.numbers_of(names)
        return np.where(iris > 0, iris, numbers)


def count(entities: Sequence[Entities], rows: Sequence[Numbers]) -> int:
    """How many entities these rows of each segment are about; each counts once."""
    held: list[NDArray[np.bool_]] = []
    for place, (one, some) in enumerate(zip(entities, rows, strict=True)):
        own = one.held(some)
        for before, there in zip(entities[:place], held, strict=True):
            here, known = one.shared_with(before)
            own[here] &= ~there[known]
        held.append(own)
    return sum(int(np.count_nonzero(own)) for own in held)
