"""Which texts are nearly the same: Jaccard similarity of their runs of three words.

The similarity is exact. Whom to compare with is proposed by MinHash sketches: two texts share one
of 16 bands of 3 minima with a probability of 98 % at a similarity of .6, of 99.999 % at .8 and of
1.6 % at .1, so the cost of a document does not depend on how many there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from trivium.origins import Catalogue
from trivium.text import words
from trivium.types import Document

REFUSED = 0.8
WARNED = 0.6

_FEWEST_WORDS = 8  # shorter texts are alike by chance
_MOST_WORDS = 10_000  # of a book the beginning is compared: it is the same book or it is not
_BANDS, _ROWS = 16, 3
_MOST_SHARING = 32  # documents of one band: a library of copies must not be read whole
_MOST_COMPARED = 16
_MIX = np.random.Generator(np.random.PCG64(3)).integers(
    1, 1 << 63, (2, _BANDS * _ROWS), dtype=np.uint64
)


def shingles(text: str) -> frozenset[str]:
    """The runs of three words; nothing where there are too few words to judge by.

    Two words are shared by texts on the same subject, four by little but copies.
    """
    found = words(text[: _MOST_WORDS * 40])[:_MOST_WORDS]
    if len(found) < _FEWEST_WORDS:
        return frozenset()
    return frozenset(map(" ".join, zip(found, found[1:], found[2:], strict=False)))


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all their runs that both have."""
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared) if shared else 0.0


def bands(runs: frozenset[str]) -> list[int]:
    """The same for the same runs, anywhere; nothing for no runs."""
    if not runs:
        return []
    hashes = np.fromiter((crc32(run.encode("utf-8", "replace")) for run in runs), np.uint64)
    factors, shifts = _MIX | np.uint64(1)  # odd factors lose nothing
    minima = (np.multiply.outer(factors, hashes) + shifts[:, None]).min(axis=1)
    rows = minima.reshape(_BANDS, _ROWS).astype("<u8")
    return [_signed(row.tobytes(), number) for number, row in enumerate(rows)]


def _signed(row: bytes, number: int) -> int:
    """Two checksums as one number that SQLite can hold."""
    mark = bytes([number])
    return (crc32(mark + row) << 31) ^ crc32(row + mark)


def compared_text(document: Document, text: str) -> str:
    """What of a document is compared: of an entry all it says, of everything else the text."""
    if document.uri.startswith("entry:"):
        return "\n".join((document.title, text, document.context))
    return text


@dataclass(frozen=True, slots=True)
class Sketch:
    """What a text is compared by."""

    runs: frozenset[str]
    bands: list[int]


def sketch_of(document: Document, text: str) -> Sketch:
    runs = shingles(compared_text(document, text))
    return Sketch(runs, bands(runs))


@dataclass(frozen=True, slots=True)
class Alike:
    """A document that says nearly the same."""

    document: Document
    similarity: float

    def sentence(self) -> str:
        share = f"{self.similarity:.0%}" if self.similarity < 1 else "word for word"
        return f"{share} the same as '{self.document.title}' ({self.document.uri})"


@dataclass
class Likeness:
    """Finds what a new text is like, among what is stored and what is about to be.

    `find` gives the visible ones of the named documents with their texts.
    """

    catalogue: Catalogue
    find: Callable[[Sequence[str]], list[tuple[Document, str]]]
    _fresh: dict[int, list[str]] = field(default_factory=dict)
    _drafts: dict[str, tuple[Document, frozenset[str]]] = field(default_factory=dict)
    _kept: dict[str, list[int]] = field(default_factory=dict)

    def nearest(self, document: Document, sketch: Sketch) -> Alike | None:
        """The most similar other document from a similarity of .6 on; ties by id."""
        counts: Counter[str] = Counter()
        stored_ones = self.catalogue.sharing(sketch.bands, _MOST_SHARING) if sketch.bands else {}
        for band in sketch.bands:
            counts.update(self._fresh.get(band, ()))
            counts.update(stored_ones.get(band, ()))
        del counts[document.id]
        names = sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_COMPARED]
        stored = [name for name in names if name not in self._drafts]
        others = [self._drafts[name] for name in names if name in self._drafts]
        for other, its_text in self.find(stored) if stored else ():
            others.append((other, shingles(compared_text(other, its_text))))
        alike = [Alike(other, similarity(sketch.runs, its_runs)) for other, its_runs in others]
        best = min(alike, key=lambda one: (-one.similarity, one.document.id), default=None)
        return best if best and best.similarity >= WARNED else None

    def keep(self, document: Document, sketch: Sketch) -> None:
        """Let what comes after be compared with this one, too."""
        self._kept[document.id] = sketch.bands
        self._drafts[document.id] = document, sketch.runs
        for band in sketch.bands:
            self._fresh.setdefault(band, []).append(document.id)

    def save(self) -> None:
        """Write down what was kept; its documents are stored by now."""
        if any(self._kept.values()):
            self.catalogue.keep_sketches(self._kept)
        self._kept, self._fresh, self._drafts = {}, {}, {}
