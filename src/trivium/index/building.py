"""Rows → a segment. The only place where text becomes tokens."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, Strings
from trivium.index.documents import Described, DocumentTable
from trivium.index.segment import BODY, GAP, WIDTH, Segment
from trivium.stemmer import stem
from trivium.text import words
from trivium.types import chunk_id
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A chunk to be indexed: the store's number for it, its place, its document, its columns."""

    number: int
    version: int
    ordinal: int
    document: Described
    columns: tuple[str, ...]
    subject: str | None = None
    predicate: str | None = None
    graph: str | None = None
    embedded: bool = True
    """Whether it is meant to have a vector."""

    @property
    def id(self) -> str:
        return chunk_id(self.document.id, self.version, self.ordinal)

    def hash(self, id: str) -> int:
        """Changes with everything that is searched; the store's own numbers have no part in it."""
        said = "\x1f".join((id, *self.columns)).encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(said, digest_size=8).digest(), "little")


def build(rows: Iterable[Row]) -> Segment:
    """Index these rows, one after the other: none is held once its words are numbered."""
    vocabulary = _Numbered()
    number_of = vocabulary.__getitem__
    stream, widths = array("i"), array("q")
    documents: dict[str, Described] = {}
    ids: list[str] = []
    plain: list[tuple[int, str, int, int, int, bool]] = []
    iris, said = Codes(), array("i")
    for row in rows:
        for text in row.columns:
            before = len(stream)
            if text:
                stream.extend(map(number_of, words(text)))
            stream.append(GAP)
            widths.append(len(stream) - before)
        document = row.document.id
        documents[document] = row.document
        id = row.id
        ids.append(id)
        plain.append((row.number, document, row.version, row.ordinal, row.hash(id), row.embedded))
        said.extend(map(iris.code, (row.subject, row.predicate, row.graph)))
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    places = {id: place for place, id in enumerate(sorted(documents))}
    numbers, owners, versions, ordinals, hashes, embedded = (
        zip(*plain, strict=True) if plain else [()] * 6
    )
    coded = np.frombuffer(said, np.int32).reshape(-1, 3)[order]
    arrays: dict[str, Array] = {
        "row.number": np.array(numbers, np.int64)[order],
        "row.document": np.array([places[id] for id in owners], np.int32)[order],
        "row.version": np.array(versions, np.int32)[order],
        "row.ordinal": np.array(ordinals, np.int32)[order],
        "row.hash": np.array(hashes, np.uint64)[order],
        "row.embedded": np.array(embedded, bool)[order],
        "row.subject": coded[:, 0].copy(),
        "row.predicate": coded[:, 1].copy(),
        "row.graph": coded[:, 2].copy(),
        **iris.strings().arrays("iri"),
        **DocumentTable.pack([documents[id] for id in places]),
    }
    arrays["row.by_number"] = np.argsort(arrays["row.number"], kind="stable")
    lengths = np.frombuffer(widths, np.int64).reshape(-1, WIDTH)
    arrays["stream.starts"] = offsets_of(lengths[order].reshape(-1))
    tokens = _reordered(np.frombuffer(stream, np.int32), lengths.sum(axis=1), order)
    return _assemble(arrays, list(vocabulary), tokens)


class _Numbered(dict[str, int]):
    """Words to numbers, in the order in which they were first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class Codes:
    """Strings to small numbers in order of appearance; 0 is "none"."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {"": 0}

    def code(self, value: str | None) -> int:
        return self._codes.setdefault(value, len(self._codes)) if value else 0

    def encode(self, values: Sequence[str | None]) -> NDArray[np.int32]:
        return np.array([self.code(value) for value in values], np.int32)

    def strings(self) -> Strings:
        return Strings.pack(list(self._codes))


def _reordered(
    stream: NDArray[np.int32], lengths: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The stream of rows of these lengths with the rows in this order."""
    if (order[1:] > order[:-1]).all():
        return stream
    begins = offsets_of(lengths)[:-1]
    moved, size = begins[order], lengths[order]
    shifts = moved - offsets_of(size)[:-1]
    return stream[np.arange(len(stream)) + np.repeat(shifts, size)]


def _assemble(
    row_arrays: dict[str, Array], vocabulary: list[str], stream: NDArray[np.int32]
) -> Segment:
    """Sort the vocabulary, turn the stream into position lists and postings."""
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
    starts = row_arrays["stream.starts"]
    # one number for both: numbers are sorted several times as fast as their places are found
    by_surface = surface * np.int64(max(len(stream), 1)) + positions
    by_surface.sort()
    arrays: dict[str, Array] = {
        **row_arrays,
        **Strings.pack(terms).sorted_arrays("term"),
        "term.surfaces": np.append(np.flatnonzero(is_first), len(surfaces)).astype(np.int64),
        **Strings.pack(surfaces).arrays("surface"),
        "surface.positions": offsets_of(np.bincount(surface, minlength=len(surfaces))),
        "positions": _compact(by_surface % max(len(stream), 1)),
        **_postings(term_of_surface[surface], positions, starts, len(terms)),
        **grams(surfaces),
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
    offsets = offsets_of(np.bincount(term[first], minlength=size))
    body = np.zeros(int(first.sum()), np.int64)
    in_body = column == BODY
    body[posting[in_body]] = counts[in_body]
    extra_term = term[~in_body]
    return {
        "posting.offsets": offsets,
        "posting.rows": row[first].astype(np.int32),
        "posting.body": _compact(body),
        "extra.offsets": offsets_of(np.bincount(extra_term, minlength=size)),
        "extra.posting": (posting[~in_body] - offsets[extra_term]).astype(np.int32),
        "extra.column": column[~in_body].astype(np.uint8),
        "extra.count": _compact(counts[~in_body]),
    }


def grams(surfaces: list[str]) -> dict[str, Array]:
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
        "gram.offsets": offsets_of(counts),
        "gram.surfaces": np.ascontiguousarray(pairs["surface"]),
        "surface.length": _compact(lengths - 3),
        "surface.grams": _compact(np.bincount(pairs["surface"], minlength=len(surfaces))),
    }


def offsets_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _compact(values: NDArray[np.int64]) -> Array:
    """The same numbers in the smallest unsigned type that holds them all."""
    return values.astype(smallest(int(values.max()) if len(values) else 0))


def smallest(highest: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds numbers up to this one."""
    return np.min_scalar_type(int(highest))
