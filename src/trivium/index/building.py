"""Rows → a segment. The only place where text becomes tokens."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, Strings
from trivium.index.documents import Described, DocumentTable
from trivium.index.segment import GAP, Segment
from trivium.kernels import WIDTH
from trivium.kernels.indexing import Numbered, inverted
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


TEXTS = 6_144
"""Columns brought to numbers at a time: those of a thousand rows, and no row is held for longer."""


def build(rows: Iterable[Row]) -> Segment:
    """Index these rows, one after the other: none is held once its words are numbered."""
    vocabulary = Numbered()
    streams: list[NDArray[np.int32]] = []
    widths: list[NDArray[np.int64]] = []
    texts: list[str] = []

    def number() -> None:
        stream, width = vocabulary.stream(texts)
        streams.append(stream)
        widths.append(width)
        texts.clear()

    documents: dict[str, Described] = {}
    ids: list[str] = []
    plain: list[tuple[int, str, int, int, int, bool]] = []
    iris, said = Codes(), array("i")
    for row in rows:
        texts += row.columns
        if len(texts) >= TEXTS:
            number()
        document = row.document.id
        documents[document] = row.document
        id = row.id
        ids.append(id)
        plain.append((row.number, document, row.version, row.ordinal, row.hash(id), row.embedded))
        said.extend(map(iris.code, (row.subject, row.predicate, row.graph)))
    number()
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
    lengths = np.concatenate(widths).reshape(-1, WIDTH)
    arrays["stream.starts"] = offsets_of(lengths[order].reshape(-1))
    stream = np.concatenate(streams)
    streams.clear()
    return _assemble(arrays, vocabulary, _reordered(stream, lengths.sum(axis=1), order))


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
    row_arrays: dict[str, Array], vocabulary: Numbered, stream: NDArray[np.int32]
) -> Segment:
    """Sort the vocabulary, turn the stream into position lists and postings."""
    known = vocabulary.sorted()
    terms, surfaces = (
        Strings(known.stems, known.stem_offsets),
        Strings(known.words, known.word_offsets),
    )
    rank = np.append(known.rank, np.int32(GAP))  # stream[GAP] reads the last entry
    found = inverted(rank[stream], row_arrays["stream.starts"], known.term, len(terms))
    forms = np.bincount(known.term, minlength=len(terms))
    arrays: dict[str, Array] = {
        **row_arrays,
        **terms.sorted_arrays("term"),
        "term.surfaces": offsets_of(forms),
        **surfaces.arrays("surface"),
        "surface.positions": found.position_offsets,
        "positions": _compact(found.positions),
        "posting.offsets": found.posting_offsets,
        "posting.rows": found.rows,
        "posting.body": _compact(found.body),
        "extra.offsets": found.extra_offsets,
        "extra.posting": found.extra_posting,
        "extra.column": found.extra_column,
        "extra.count": _compact(found.extra_count),
        **grams(surfaces.all()),
    }
    return Segment(arrays)


def grams(surfaces: list[str]) -> dict[str, Array]:
    """Trigram → surface forms, by pg_trgm's rule: two blanks before a word and one after."""
    joined = "".join(f"  {word} " for word in surfaces)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.array([len(word) + 3 for word in surfaces], np.int64)
    owner = np.repeat(np.arange(len(surfaces)), lengths)
    codes, found = _gram_pairs(points, owner)
    first = np.ones(len(codes), bool)
    first[1:] = codes[1:] != codes[:-1]
    starts = np.flatnonzero(first)
    return {
        "gram.codes": codes[starts],
        "gram.offsets": np.append(starts, len(codes)).astype(np.int64),
        "gram.surfaces": found,
        "surface.length": _compact(lengths - 3),
        "surface.grams": _compact(np.bincount(found, minlength=len(surfaces))),
    }


def _gram_pairs(
    points: NDArray[np.uint32], owner: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Each trigram with each word that holds it, once, in ascending order of both."""
    inside = owner[:-2] == owner[2:] if len(owner) else np.empty(0, bool)
    alphabet, letters = _numbered_letters(points)
    bits, owner_bits = len(alphabet).bit_length(), len(owner).bit_length()
    if 3 * bits + owner_bits > 63:
        return _gram_pairs_of_many(points, owner, inside)
    # one number for a trigram and its word: it is sorted several times as fast as the two
    pairs = (letters[:-2] << (2 * bits)) | (letters[1:-1] << bits) | letters[2:]
    pairs = np.sort(((pairs << owner_bits) | owner[:-2])[inside])
    kept = np.ones(len(pairs), bool)
    kept[1:] = pairs[1:] != pairs[:-1]
    pairs = pairs[kept]
    gram, mask = pairs >> owner_bits, (1 << bits) - 1
    codes = np.zeros(len(pairs), np.uint64)
    for place in (2, 1, 0):
        letter = alphabet[(gram >> (place * bits)) & mask] if len(pairs) else alphabet[:0]
        codes = (codes << np.uint64(21)) | letter.astype(np.uint64)
    return codes, (pairs & ((1 << owner_bits) - 1)).astype(np.int32)


def _numbered_letters(points: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The code points that occur, ascending, and the place of each of these among them."""
    used = np.zeros(int(points.max(initial=0)) + 1, bool)
    used[points] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[points]


def _gram_pairs_of_many(
    points: NDArray[np.uint32], owner: NDArray[np.int64], inside: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The same for alphabets of thousands of signs."""
    wide = points.astype(np.uint64)
    codes = (wide[:-2] << np.uint64(42)) | (wide[1:-1] << np.uint64(21)) | wide[2:]
    codes, found = codes[inside], owner[:-2][inside].astype(np.int32)
    order = np.lexsort((found, codes))
    codes, found = codes[order], found[order]
    kept = np.ones(len(codes), bool)
    kept[1:] = (codes[1:] != codes[:-1]) | (found[1:] != found[:-1])
    return codes[kept], found[kept]


def offsets_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _compact(values: Array) -> Array:
    """The same numbers in the smallest unsigned type that holds them all."""
    return values.astype(smallest(int(values.max()) if len(values) else 0))


def smallest(highest: int) -> np.dtype[Any]:
    """The smallest unsigned type that holds numbers up to this one."""
    return np.min_scalar_type(int(highest))
