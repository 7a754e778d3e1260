"""A segment: an immutable set of chunks as arrays: their words, positions and filter columns.

Rows are sorted by chunk id, so among equal scores the smaller row is the smaller id. All tokens
lie in one stream, column after column and row after row, with a gap of one between columns; a
position is a place in that stream, which makes a phrase an intersection of shifted position lists.
A word's surface forms ("axe", "axes") are kept side by side under their term ("ax").
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, Strings
from trivium.index.documents import DocumentTable
from trivium.index.entities import Entities, Names
from trivium.kernels import WIDTH, Lists, Postings
from trivium.kernels.names import Named, chunk_ids

GAP = -1
MOST_FORMS = 100  # lists of positions that are at hand: those of a query
MOST_TERMS = 10_000  # looked up and remembered: what is asked for and not there has no end
POSTINGS = ("posting.rows", "posting.body", "extra.posting", "extra.column", "extra.count")


class Segment:
    """Read access to the arrays of a segment; mapped from a file or held in memory."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays
        self._length_in: dict[bytes, NDArray[np.int64]] = {}
        self._document_ids: dict[int, str] = {}
        self._terms: dict[str, int] = {}
        self._forms: dict[int, list[NDArray[np.int64]]] = {}
        self._entities: list[Entities] = []
        self._stating: list[NDArray[np.int64]] = []
        self.norms: dict[object, NDArray[np.float64]] = {}
        """What each row's length makes of a count of words; by all that this depends on."""
        self.phrases: dict[object, NDArray[np.int64]] = {}
        """Where phrases stand that were looked up: the same ones are soon asked for again."""

    def __len__(self) -> int:
        return len(self.numbers)

    def knowing(self, words: Mapping[str, Array]) -> Segment:
        """The same rows with these words in place of its own.

        What was worked out about the rows is shared by both.
        """
        other = Segment({**self.arrays, **words})
        other._length_in, other._document_ids = self._length_in, self._document_ids
        other.norms, other._entities, other._stating = self.norms, self._entities, self._stating
        return other

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        return self.arrays["row.number"]

    @cached_property
    def documents(self) -> DocumentTable:
        return DocumentTable(self.arrays)

    @cached_property
    def document(self) -> NDArray[np.int32]:
        """The document of each row, as an index into `documents`."""
        return self.arrays["row.document"]

    @cached_property
    def iris(self) -> Names:
        """Subjects, predicates and graphs; code 0 is the empty string: none."""
        return Names(Strings.of(self.arrays, "iri"))

    @property
    def entities(self) -> Entities:
        """What each row is about; made when it is first asked for."""
        if not self._entities:
            subject = self.arrays["row.subject"]
            made = Entities(self.iris, self.documents.ids, subject, self.document)
            self._entities.append(made)
        return self._entities[0]

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each column of each row begins in the stream, and the stream's end."""
        return self.arrays["stream.starts"]

    def length_in(self, columns: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Tokens of each row in the given columns."""
        key = columns.tobytes()
        if key not in self._length_in:
            lengths = (np.diff(self.starts) - 1).reshape(-1, WIDTH)
            self._length_in[key] = lengths[:, columns].sum(axis=1)
        return self._length_in[key]

    @cached_property
    def terms(self) -> Strings:
        return Strings.of(self.arrays, "term")

    @cached_property
    def surfaces(self) -> Strings:
        return Strings.of(self.arrays, "surface")

    def id(self, row: int) -> str:
        return self.ids(np.array([row], np.int64))[0]

    def ids(self, rows: NDArray[np.int64]) -> tuple[str, ...]:
        """The chunk ids of these rows."""
        return chunk_ids(self.named, rows)

    @cached_property
    def named(self) -> Named:
        ids, arrays = self.documents.ids, self.arrays
        version, ordinal = arrays["row.version"], arrays["row.ordinal"]
        return Named(ids.blob, ids.offsets, self.document, version, ordinal)

    def row_of(self, chunk: str) -> int:
        """The row of this chunk, or -1."""
        row = bisect_left(range(len(self)), chunk, key=self.id)
        return row if row < len(self) and self.id(row) == chunk else -1

    def document_id(self, document: int) -> str:
        """The id of a document of this segment; decoded once."""
        known = self._document_ids.get(document)
        if known is None:
            known = self._document_ids[document] = self.documents.ids[document]
        return known

    def term(self, text: str) -> int:
        """The number of a term, or -1; looked up once, for every leg asks for it."""
        known = self._terms.get(text)
        if known is None:
            known = self.terms.find(text)
            if len(self._terms) >= MOST_TERMS:
                self._terms.clear()
            self._terms[text] = known
        return known

    def postings(self, term: int) -> Postings:
        """Where a term stands, and how often in which column."""
        return self.lists.of(term)

    def frequency(self, term: int) -> int:
        """How many rows hold a term, in any column."""
        first, last = self.lists.offsets[term : term + 2]
        return int(last - first)

    @cached_property
    def lists(self) -> Lists:
        """The postings of all terms."""
        return Lists(
            *(self.arrays[name] for name in ("posting.offsets", "extra.offsets", *POSTINGS))
        )

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows that hold these chunk numbers; numbers of other segments are passed over."""
        order = self.arrays["row.by_number"]
        if not len(order):
            return order
        ascending = self._ascending
        places = np.searchsorted(ascending, numbers).clip(max=len(order) - 1)
        rows: NDArray[np.int64] = order[places[ascending[places] == numbers]]
        return rows

    @cached_property
    def _ascending(self) -> NDArray[np.int64]:
        return self.numbers[self.arrays["row.by_number"]]

    @cached_property
    def owners(self) -> NDArray[np.int32] | None:
        """The document of each row; None where each row is a document of its own."""
        return None if len(self.documents) == len(self) else self.document

    @cached_property
    def documents_ascend(self) -> bool:
        """Whether the rows of each document stand together, as they nearly always do."""
        return bool((np.diff(self.document) >= 0).all())

    @property
    def stating(self) -> NDArray[np.int64]:
        """The documents that state facts. Of all others every chunk is here: only a fact is called
        otherwise when a label in another document changes, and then stands in another segment.
        """
        if not self._stating:
            states = np.zeros(len(self.documents), bool)
            if len(self.iris) > 1:  # some are named
                states[self.document[self.arrays["row.predicate"] > 0]] = True
            self._stating.append(np.flatnonzero(states))
        return self._stating[0]

    def surface_range(self, term: int) -> tuple[int, int]:
        offsets = self.arrays["term.surfaces"]
        return int(offsets[term]), int(offsets[term + 1])

    def positions(self, term: int) -> NDArray[np.int64]:
        """All positions of a term; ascending within each of its forms."""
        first, last = self.surface_range(term)
        offsets = self.arrays["surface.positions"]
        return self.arrays["positions"][offsets[first] : offsets[last]]

    def forms(self, term: int) -> list[NDArray[np.int64]]:
        """The positions of each form of a term, ascending; a word has two neighbours in a query."""
        known = self._forms.get(term)
        if known is None:
            first, last = self.surface_range(term)
            ends = self.arrays["surface.positions"][first : last + 1].tolist()
            known = [self.arrays["positions"][start:end] for start, end in pairwise(ends)]
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            self._forms[term] = known
        return known

    def rows_of_surface(self, surface: int) -> NDArray[np.int64]:
        """The rows that hold this very form of a word, each as often as it does."""
        offsets = self.arrays["surface.positions"]
        found = self.arrays["positions"][offsets[surface] : offsets[surface + 1]]
        return self.cell_of(found) // WIDTH

    def cell_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """row · WIDTH + column of each position."""
        return np.searchsorted(self.starts, positions, side="right") - 1
