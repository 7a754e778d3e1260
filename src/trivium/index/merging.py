"""Several segments → one, a piece at a time.

All segments keep their vocabulary in the same order, so a run of terms is a run of positions and
postings in each of them. Such a run is brought together and passed on before the next is read:
what a merge needs at once is a few numbers for each row and word, not all that they say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, MappedArrays, Parcel, Strings
from trivium.index.building import Codes, grams, offsets_of, smallest
from trivium.index.documents import DocumentTable, Mask
from trivium.index.segment import Segment
from trivium.kernels import WIDTH
from trivium.kernels.indexing import Forms, forms_together
from trivium.kernels.together import (
    STRETCH,
    Positions,
    Postings,
    living_extras,
    living_positions,
    living_postings,
    positions_together,
    postings_together,
)

PIECE = 1 << 19
"""Positions brought together at a time: a few arrays of four megabytes each."""

MOST_TERMS = 1 << 16
"""Terms brought together at a time, so that a term, a row and a count fit one number."""

Numbers = NDArray[np.int64]


def merge(segments: Sequence[Segment], alive: Sequence[Mask]) -> Segment:
    """The living rows of several segments as one, in memory; equals `build` of the same rows."""
    return Segment(merged(segments, alive).unpacked())


def merged(segments: Sequence[Segment], alive: Sequence[Mask]) -> Parcel:
    """The same as a parcel."""
    parts, row_arrays = _parts(segments, alive)
    words = _Vocabulary.of(parts)
    small = {**row_arrays, **words.arrays}
    sizes = np.array([part.measures() for part in parts])
    postings, extras = sizes[:, 0].sum(), sizes[:, 2].sum()
    terms = len(small["term.surfaces"])
    layout: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {
        **{name: (array.dtype, array.shape) for name, array in small.items()},
        "positions": (_type_of_positions(small), (int(small["surface.positions"][-1]),)),
        "posting.offsets": (np.dtype(np.int64), (terms,)),
        "posting.rows": (np.dtype(np.int32), (int(postings),)),
        "posting.body": (smallest(sizes[:, 1].max()), (int(postings),)),
        "extra.offsets": (np.dtype(np.int64), (terms,)),
        "extra.posting": (np.dtype(np.int32), (int(extras),)),
        "extra.column": (np.dtype(np.uint8), (int(extras),)),
        "extra.count": (smallest(sizes[:, 3].max()), (int(extras),)),
    }
    highest = int(sizes[:, 1].max()), int(sizes[:, 3].max())
    return Parcel(layout, _pieces(small, parts, words, highest))


def _type_of_positions(arrays: Mapping[str, Array]) -> np.dtype[Any]:
    starts = arrays["stream.starts"]
    filled = np.flatnonzero(np.diff(starts) > 1)  # one place is the gap
    return smallest(int(starts[filled[-1] + 1]) - 2 if len(filled) else 0)


def _pieces(
    small: Mapping[str, Array], parts: Sequence[_Part], words: _Vocabulary, highest: tuple[int, int]
) -> Iterator[tuple[str, Array]]:
    yield from small.items()
    forms = small["term.surfaces"]
    rows, length = len(small["row.number"]), int(small["stream.starts"][-1])
    postings, extras = np.zeros((2, len(forms) - 1), np.int64)
    for first, last in _runs(small["surface.positions"][forms]):
        shares = [_Share.of(*one, first, last) for one in zip(parts, *words.numbers, strict=True)]
        inside = [share.positions() for share in shares]
        yield "positions", positions_together(inside, int(forms[first]), int(forms[last]), length)
        found = postings_together([one.postings() for one in shares], first, last, rows, highest)
        postings[first:last], extras[first:last] = found.counts, found.extra_counts
        yield "posting.rows", found.rows
        yield "posting.body", found.body
        yield "extra.posting", found.extra_posting
        yield "extra.column", found.extra_column
        yield "extra.count", found.extra_count
        for part in parts:
            part.release()
    yield "posting.offsets", offsets_of(postings)
    yield "extra.offsets", offsets_of(extras)


def _runs(offsets: Array) -> Iterator[tuple[int, int]]:
    """The lists that these offsets tell apart, some at a time: `PIECE` values at most, or one."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = int(np.searchsorted(offsets, offsets[first] + PIECE, side="right")) - 1
        last = min(max(last, first + 1), first + MOST_TERMS, count)
        yield first, last
        first = last


@dataclass(frozen=True, slots=True)
class _Part:
    """A segment on its way into another one: where its rows go, and by how much they move."""

    segment: Segment
    whole: bool  # no row is dead
    place: Numbers  # of each row; -1 for a dead one
    shift: Numbers  # of the positions of each row
    ends: Numbers  # of each row
    stretches: Numbers  # the row at the beginning of each

    def positions(self, first: int, last: int, numbers: Numbers) -> Positions:
        """The positions of these forms, which have these numbers in the whole."""
        arrays = self.segment.arrays
        offsets = arrays["surface.positions"][first : last + 1]
        values = arrays["positions"][offsets[0] : offsets[-1]]
        moves = (self.place, self.shift, self.ends, self.stretches)
        return Positions(offsets, numbers, values, *moves)

    def postings(self, first: int, last: int, numbers: Numbers) -> Postings:
        """The same of terms."""
        arrays = self.segment.arrays
        offsets = arrays["posting.offsets"][first : last + 1]
        extra_offsets = arrays["extra.offsets"][first : last + 1]
        of_body, beyond = slice(offsets[0], offsets[-1]), slice(extra_offsets[0], extra_offsets[-1])
        return Postings(
            offsets,
            extra_offsets,
            numbers,
            arrays["posting.rows"][of_body],
            arrays["posting.body"][of_body],
            arrays["extra.posting"][beyond],
            arrays["extra.column"][beyond],
            arrays["extra.count"][beyond],
            self.place,
        )

    def uses(self) -> Numbers:
        """How often each form stands in a living row."""
        offsets = self.segment.arrays["surface.positions"]
        counts = np.diff(offsets)
        for first, last in () if self.whole else _runs(offsets):
            form, _ = living_positions(self.positions(first, last, np.arange(last - first)))
            counts[first:last] = np.bincount(form, minlength=last - first)
        return counts

    def measures(self) -> Numbers:
        """Living postings, the highest of their counts, and the same of what is beyond the body."""
        arrays = self.segment.arrays
        if self.whole:
            body, count = arrays["posting.body"], arrays["extra.count"]
            return np.array([len(body), _highest(body), len(count), _highest(count)])
        totals = np.zeros(4, np.int64)
        for first, last in _runs(arrays["posting.offsets"]):
            those = self.postings(first, last, np.arange(last - first))
            body, count = living_postings(those)[-1], living_extras(those)[-1]
            totals[[0, 2]] += len(body), len(count)
            totals[[1, 3]] = np.maximum(totals[[1, 3]], (_highest(body), _highest(count)))
        return totals

    def release(self) -> None:
        if isinstance(self.segment.arrays, MappedArrays):
            self.segment.arrays.release()


def _highest(values: Array) -> int:
    return int(values.max()) if len(values) else 0


def _parts(
    segments: Sequence[Segment], alive: Sequence[Mask]
) -> tuple[list[_Part], dict[str, Array]]:
    """The segments as parts of the whole, and all that the whole keeps for each row."""
    chosen = [np.flatnonzero(living) for living in alive]
    ids = [id for one, rows in zip(segments, chosen, strict=True) for id in one.ids(rows)]
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    arrays = _row_arrays(segments, chosen, order)
    begins = arrays["stream.starts"][::WIDTH]
    parts, base = [], 0
    for segment, rows in zip(segments, chosen, strict=True):
        place = np.full(len(segment), -1, np.int64)
        place[rows] = places[base : base + len(rows)]
        base += len(rows)
        shift = begins[place] - segment.starts[:-1:WIDTH]
        ends = np.array(segment.starts[WIDTH::WIDTH])
        marks = np.arange(0, segment.starts[-1], 1 << STRETCH)
        stretches = np.searchsorted(ends, marks, side="right")
        parts.append(_Part(segment, len(rows) == len(segment), place, shift, ends, stretches))
    return parts, arrays


def _row_arrays(
    segments: Sequence[Segment], chosen: Sequence[Numbers], order: Numbers
) -> dict[str, Array]:
    iris = Codes()
    columns: dict[str, list[Array]] = {}
    tables: list[tuple[DocumentTable, Numbers]] = []
    widths, base = [], 0
    for segment, rows in zip(segments, chosen, strict=True):
        codes = iris.encode([text or None for text in segment.iris.all()])
        used, local = np.unique(segment.document[rows], return_inverse=True)
        tables.append((segment.documents, used.astype(np.int64)))
        columns.setdefault("row.document", []).append(local.astype(np.int32) + np.int32(base))
        base += len(used)
        for name in ("row.number", "row.version", "row.ordinal", "row.hash", "row.embedded"):
            columns.setdefault(name, []).append(segment.arrays[name][rows])
        for name in ("row.subject", "row.predicate", "row.graph"):
            columns.setdefault(name, []).append(codes[segment.arrays[name][rows]])
        widths.append(np.diff(segment.starts).reshape(-1, WIDTH)[rows])
    documents, places = DocumentTable.merge(tables)
    arrays = {name: np.concatenate(pieces)[order] for name, pieces in columns.items()}
    arrays["row.document"] = places[arrays["row.document"]].astype(np.int32)
    arrays["row.by_number"] = np.argsort(arrays["row.number"], kind="stable")
    arrays["stream.starts"] = offsets_of(np.concatenate(widths)[order].reshape(-1))
    return arrays | iris.strings().arrays("iri") | documents


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """All forms that living rows hold, in order; `numbers` are those of each part's forms and of
    its terms. What a part has and nothing uses any more gets the number of what stands before it,
    so that numbers ascend.
    """

    arrays: dict[str, Array]
    numbers: tuple[list[Numbers], list[Numbers]]

    @classmethod
    def of(cls, parts: Sequence[_Part]) -> _Vocabulary:
        known: list[Forms] = []
        for part in parts:
            stems, words = part.segment.terms, part.segment.surfaces
            starts = part.segment.arrays["term.surfaces"]
            those = (stems.blob, stems.offsets, starts, words.blob, words.offsets)
            known.append(Forms(*those, part.uses()))
        found = forms_together(known)
        surfaces = Strings(found.words, found.word_offsets)
        totals = np.zeros(len(surfaces), np.int64)
        form_numbers, term_numbers, base = [], [], 0
        for one in known:
            rank = found.rank[base : base + len(one.uses)].astype(np.int64)
            base += len(rank)
            used = np.flatnonzero(rank >= 0)
            totals[rank[used]] += one.uses[used]
            form_numbers.append(np.maximum.accumulate(rank))
            sizes = np.diff(one.forms_of)
            term_of = np.repeat(np.arange(len(sizes)), sizes)[used]
            terms_used = found.term[rank[used]].astype(np.int64)
            term_numbers.append(_ascending(len(sizes), term_of, terms_used))
        terms = Strings(found.stems, found.stem_offsets)
        forms = np.bincount(found.term, minlength=len(terms))
        arrays = {
            **terms.sorted_arrays("term"),
            "term.surfaces": offsets_of(forms),
            **surfaces.arrays("surface"),
            "surface.positions": offsets_of(totals),
            **grams(surfaces.all()),
        }
        return cls(arrays, (form_numbers, term_numbers))


def _ascending(size: int, places: Numbers, numbers: Numbers) -> Numbers:
    filled = np.full(size, -1, np.int64)
    filled[places] = numbers
    return np.maximum.accumulate(filled)


@dataclass(frozen=True, slots=True)
class _Share:
    """What a part has of a run of the whole's terms: its own terms and their forms, from … to."""

    part: _Part
    form_numbers: Numbers
    term_numbers: Numbers
    terms: tuple[int, int]
    forms: tuple[int, int]

    @classmethod
    def of(
        cls, part: _Part, form_numbers: Numbers, term_numbers: Numbers, first: int, last: int
    ) -> _Share:
        start, end = np.searchsorted(term_numbers, (first, last)).tolist()
        forms = part.segment.arrays["term.surfaces"]
        span = int(forms[start]), int(forms[end])
        return cls(part, form_numbers, term_numbers, (start, end), span)

    def positions(self) -> Positions:
        first, last = self.forms
        return self.part.positions(first, last, self.form_numbers[first:last])

    def postings(self) -> Postings:
        first, last = self.terms
        return self.part.postings(first, last, self.term_numbers[first:last])
