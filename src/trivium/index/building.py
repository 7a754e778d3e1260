"""Rows → a segment, and several segments → one. The only place where text becomes tokens."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, Strings
from trivium.index.documents import DocumentTable
from trivium.index.segment import BODY, GAP, WIDTH, Segment
from trivium.stemmer import stem
from trivium.text import words
from trivium.types import Document, chunk_id
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk to be indexed: the store's number for it, its place, its document, its columns."""

    number: int
    version: int
    ordinal: int
    document: Document
    columns: tuple[str, ...]
    subject: str | None = None
    predicate: str | None = None
    graph: str | None = None
    embedded: bool = True
    """Whether it is meant to have a vector."""

    @property
    def id(self) -> str:
        return chunk_id(self.document.id, self.version, self.ordinal)

    @property
    def hash(self) -> int:
        """Changes with everything that is searched; the store's own numbers have no part in it."""
        said = "\x1f".join((self.id, *self.columns)).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(said, digest_size=8).digest(), "little")


def build(rows: Sequence[Row]) -> Segment:
    """Index these rows; the only place where text becomes tokens."""
    rows = sorted(rows, key=lambda row: row.id)
    vocabulary = _Numbered()
    number_of = vocabulary.__getitem__
    stream = array("i")
    starts = array("q")
    for row in rows:
        for text in row.columns:
            starts.append(len(stream))
            if text:
                stream.extend(map(number_of, words(text)))
            stream.append(GAP)
    starts.append(len(stream))
    documents = {row.document.id: row.document for row in rows}
    places = {id: place for place, id in enumerate(sorted(documents))}
    iris = _Codes()
    row_arrays: dict[str, Array] = {
        "row.number": np.array([row.number for row in rows], np.int64),
        "row.document": np.array([places[row.document.id] for row in rows], np.int32),
        "row.version": np.array([row.version for row in rows], np.int32),
        "row.ordinal": np.array([row.ordinal for row in rows], np.int32),
        "row.hash": np.array([row.hash for row in rows], np.uint64),
        "row.embedded": np.array([row.embedded for row in rows], bool),
        "row.subject": iris.encode([row.subject for row in rows]),
        "row.predicate": iris.encode([row.predicate for row in rows]),
        "row.graph": iris.encode([row.graph for row in rows]),
    }
    return _assemble(
        row_arrays,
        iris.strings(),
        DocumentTable.pack([documents[id] for id in places]),
        list(vocabulary),
        np.frombuffer(stream, np.int32) if stream else np.empty(0, np.int32),
        np.frombuffer(starts, np.int64),
    )


def merge(segments: Sequence[Segment], alive: Sequence[NDArray[np.bool_]]) -> Segment:
    """The living rows of several segments as one; equals `build` of the same rows."""
    iris = _Codes()
    vocabulary: dict[str, int] = {}
    columns: dict[str, list[Array]] = {name: [] for name in _ROW_COLUMNS}
    streams, widths, ids = [], [], []
    kept_documents: list[tuple[DocumentTable, NDArray[np.int64]]] = []
    document_base = 0
    for segment, living in zip(segments, alive, strict=True):
        rows = np.flatnonzero(living)
        ids += segment.ids(rows)
        iri_codes = iris.encode([text or None for text in segment.iris.all()])
        used, local = np.unique(segment.document[rows], return_inverse=True)
        kept_documents.append((segment.documents, used.astype(np.int64)))
        columns["row.document"].append(local.astype(np.int32) + np.int32(document_base))
        document_base += len(used)
        for name in ("row.number", "row.version", "row.ordinal", "row.hash", "row.embedded"):
            columns[name].append(segment.arrays[name][rows])
        for name in ("row.subject", "row.predicate", "row.graph"):
            columns[name].append(iri_codes[segment.arrays[name][rows]])
        remap = np.array(
            [vocabulary.setdefault(word, len(vocabulary)) for word in segment.surfaces.all()],
            np.int32,
        )
        streams.append(_living_stream(segment, rows, remap))
        widths.append((np.diff(segment.starts).reshape(-1, WIDTH))[rows])
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    all_widths = np.concatenate(widths)
    stream = _reorder(np.concatenate(streams), all_widths.sum(axis=1), order)
    starts = np.concatenate([[0], np.cumsum(all_widths[order].reshape(-1))]).astype(np.int64)
    documents, places = DocumentTable.merge(kept_documents)
    row_arrays = {name: np.concatenate(pieces)[order] for name, pieces in columns.items()}
    row_arrays["row.document"] = places[row_arrays["row.document"]].astype(np.int32)
    words_in_use, stream = _drop_unused(list(vocabulary), stream)
    return _assemble(row_arrays, iris.strings(), documents, words_in_use, stream, starts)


_ROW_COLUMNS = (
    "row.number",
    "row.document",
    "row.version",
    "row.ordinal",
    "row.hash",
    "row.embedded",
    "row.subject",
    "row.predicate",
    "row.graph",
)


class _Numbered(dict[str, int]):
    """Words to numbers, in the order in which they were first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class _Codes:
    """Strings to small numbers in order of appearance; 0 is "none"."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {"": 0}

    def encode(self, values: Sequence[str | None]) -> NDArray[np.int32]:
        codes = self._codes
        return np.array(
            [codes.setdefault(value, len(codes)) if value else 0 for value in values], np.int32
        )

    def strings(self) -> Strings:
        return Strings.pack(list(self._codes))


def _living_stream(
    segment: Segment, rows: NDArray[np.int64], remap: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The stream of these rows, in row order, with surface numbers replaced by `remap`."""
    stream = np.full(int(segment.starts[-1]), GAP, np.int32)
    counts = np.diff(segment.arrays["surface.positions"])
    stream[segment.arrays["positions"]] = np.repeat(remap, counts)
    begins, ends = segment.starts[:-1:WIDTH][rows], segment.starts[WIDTH::WIDTH][rows]
    return stream[_ranges(begins, ends - begins)]


def _ranges(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """begin₀, begin₀+1, …, begin₁, begin₁+1, … for the given lengths."""
    total = int(lengths.sum())
    shifts = begins - np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else begins
    ranges: NDArray[np.int64] = np.arange(total, dtype=np.int64) + np.repeat(shifts, lengths)
    return ranges


def _reorder(
    stream: NDArray[np.int32], lengths: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.int32]:
    begins = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return stream[_ranges(begins[order], lengths[order])]


def _drop_unused(
    vocabulary: list[str], stream: NDArray[np.int32]
) -> tuple[list[str], NDArray[np.int32]]:
    used = np.bincount(stream[stream != GAP], minlength=len(vocabulary)) > 0
    remap = np.cumsum(used, dtype=np.int32) - 1
    kept = [word for word, use in zip(vocabulary, used.tolist(), strict=True) if use]
    return kept, np.append(remap, np.int32(GAP))[stream]  # stream[GAP] reads the last entry


def _assemble(
    row_arrays: dict[str, Array],
    iris: Strings,
    documents: dict[str, Array],
    vocabulary: list[str],
    stream: NDArray[np.int32],
    starts: NDArray[np.int64],
) -> Segment:
    """Sort the vocabulary, turn the stream into position lists and postings."""
    row_arrays["row.by_number"] = np.argsort(row_arrays["row.number"], kind="stable")
    stems = [stem(word) for word in vocabulary]
    order = sorted(range(len(vocabulary)), key=lambda i: (stems[i], vocabulary[i]))
    rank = np.empty(len(order) + 1, np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = GAP  # stream[GAP] reads the last entry
    stream = rank[stream]
    positions = np.flatnonzero(stream != GAP)
    surface = stream[positions]
    sorted_stems = [stems[i] for i in order]
    is_first = np.array([a != b for a, b in pairwise(["\0", *sorted_stems])], bool)
    term_of_surface = np.cumsum(is_first, dtype=np.int64) - 1
    terms = [text for text, first in zip(sorted_stems, is_first.tolist(), strict=True) if first]
    surfaces = [vocabulary[i] for i in order]
    by_surface = np.argsort(surface, kind="stable")
    arrays: dict[str, Array] = {
        **row_arrays,
        **iris.arrays("iri"),
        **documents,
        "stream.starts": starts,
        **Strings.pack(terms).sorted_arrays("term"),
        "term.surfaces": np.append(np.flatnonzero(is_first), len(surfaces)).astype(np.int64),
        **Strings.pack(surfaces).arrays("surface"),
        "surface.positions": _offsets(np.bincount(surface, minlength=len(surfaces))),
        "positions": _compact(positions[by_surface]),
        **_postings(term_of_surface[surface], positions, starts, len(terms)),
        **_grams(surfaces),
    }
    return Segment(arrays)


def _postings(
    terms: NDArray[np.int64], positions: NDArray[np.int64], starts: NDArray[np.int64], size: int
) -> dict[str, Array]:
    """For each term the rows that hold it with the count in the body; other columns as extras."""
    cells = len(starts) - 1
    cell = np.repeat(np.arange(cells), np.diff(starts))[positions] if cells else positions
    keys, counts = np.unique(terms * max(cells, 1) + cell, return_counts=True)
    term, cell = np.divmod(keys, max(cells, 1))
    row, column = np.divmod(cell, WIDTH)
    first = np.ones(len(keys), bool)
    first[1:] = (term[1:] != term[:-1]) | (row[1:] != row[:-1])
    posting = np.cumsum(first) - 1
    offsets = _offsets(np.bincount(term[first], minlength=size))
    body = np.zeros(int(first.sum()), np.int64)
    in_body = column == BODY
    body[posting[in_body]] = counts[in_body]
    extra_term = term[~in_body]
    return {
        "posting.offsets": offsets,
        "posting.rows": row[first].astype(np.int32),
        "posting.body": _compact(body),
        "extra.offsets": _offsets(np.bincount(extra_term, minlength=size)),
        "extra.posting": (posting[~in_body] - offsets[extra_term]).astype(np.int32),
        "extra.column": column[~in_body].astype(np.uint8),
        "extra.count": _compact(counts[~in_body]),
    }


def _grams(surfaces: list[str]) -> dict[str, Array]:
    """Trigram → surface forms, by pg_trgm's rule: two blanks before a word and one after."""
    joined = "".join(f"  {word} " for word in surfaces)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    points = points.astype(np.uint64)
    lengths = np.array([len(word) + 3 for word in surfaces], np.int64)
    owner = np.repeat(np.arange(len(surfaces)), lengths)
    codes = (points[:-2] << np.uint64(42)) | (points[1:-1] << np.uint64(21)) | points[2:]
    inside = owner[:-2] == owner[2:] if len(owner) else np.empty(0, bool)
    pairs = np.empty(int(inside.sum()), [("code", np.uint64), ("surface", np.int32)])
    pairs["code"], pairs["surface"] = codes[inside], owner[:-2][inside]
    order = np.lexsort((pairs["surface"], pairs["code"]))
    pairs = pairs[order]
    repeated = np.zeros(len(pairs), bool)
    repeated[1:] = pairs[1:] == pairs[:-1]
    pairs = pairs[~repeated]
    grams, counts = np.unique(pairs["code"], return_counts=True)
    return {
        "gram.codes": grams,
        "gram.offsets": _offsets(counts),
        "gram.surfaces": np.ascontiguousarray(pairs["surface"]),
        "surface.length": _compact(lengths - 3),
        "surface.grams": _compact(np.bincount(pairs["surface"], minlength=len(surfaces))),
    }


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _compact(values: NDArray[np.int64]) -> Array:
    """The same numbers in the smallest unsigned type that holds them all."""
    return values.astype(np.min_scalar_type(int(values.max()) if len(values) else 0))
