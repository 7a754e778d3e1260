"""A segment in three pieces: its rows, its postings by term, its places by word; there and back.

A search reads the rows of a segment once in its life, since a segment never changes, and of its
words those that it asks for.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from psycopg import Connection

from trivium.index.arrays import Array, Strings
from trivium.index.segment import POSTINGS, Segment
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.connection import own_statements
from trivium.types import WordQuery

SQL = own_statements("index.sql")

LONGEST_WORD = 512
"""Bytes of a word that a B-tree can hold; a longer one goes by its hash."""

_WORDS = ("term.", "surface.", "positions", "posting.", "extra.", "gram.")


def name_of(word: str) -> str:
    """What a word is called in the tables. No word has a "#" in it, and no stem changes a hash."""
    coded = word.encode()
    return word if len(coded) <= LONGEST_WORD else "#" + sha256(coded).hexdigest()


# --- there ---------------------------------------------------------------------------------------


def keep(connection: Connection[Row], segment: Segment, first: int, last: int) -> None:
    """Write a segment down for the generations from `first` to `last`."""
    rows = {
        name: np.ascontiguousarray(array)
        for name, array in segment.arrays.items()
        if not name.startswith(_WORDS)
    }
    layout = {
        "rows": [[name, array.dtype.str, len(array)] for name, array in rows.items()],
        "types": {name: segment.arrays[name].dtype.str for name in (*POSTINGS, "positions")},
    }
    values = {
        "first": first,
        "last": last,
        "chunks": len(segment),
        "layout": json.dumps(layout),
        "arrays": b"".join(array.tobytes() for array in rows.values()),
    }
    row = connection.execute(SQL["add_segment"], values).fetchone()
    assert row is not None
    number = row["number"]
    _copy(connection, "add_postings", _POSTING_TYPES, _postings(segment, number))
    _copy(connection, "add_places", _PLACE_TYPES, _places(segment, number))
    words = sorted(word for word in segment.surfaces.all() if name_of(word) == word)
    connection.execute(SQL["add_terms"], {"words": words})


_POSTING_TYPES = ("text", "int8", "bytea", "bytea", "bytea", "bytea", "bytea")
_PLACE_TYPES = ("text", "text", "int8", "bytea")


def _copy(
    connection: Connection[Row], statement: str, types: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    with connection.cursor() as cursor, cursor.copy(SQL[statement]) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)


def _postings(segment: Segment, number: int) -> Iterable[Sequence[Any]]:
    posting = [segment.arrays[name] for name in POSTINGS]
    offsets = segment.arrays["posting.offsets"].tolist()
    extras = segment.arrays["extra.offsets"].tolist()
    ranges = zip(pairwise(offsets), pairwise(extras), strict=True)
    for term, ((first, last), (begin, end)) in zip(segment.terms.all(), ranges, strict=True):
        slices = ((first, last), (first, last), (begin, end), (begin, end), (begin, end))
        pieces = [array[a:b].tobytes() for array, (a, b) in zip(posting, slices, strict=True)]
        yield (name_of(term), number, *pieces)


def _places(segment: Segment, number: int) -> Iterable[Sequence[Any]]:
    positions = segment.arrays["positions"]
    offsets = segment.arrays["surface.positions"].tolist()
    words = iter(zip(segment.surfaces.all(), pairwise(offsets), strict=True))
    sizes = np.diff(segment.arrays["term.surfaces"]).tolist()
    for term, size in zip(segment.terms.all(), sizes, strict=True):
        for _ in range(size):
            word, (first, last) = next(words)
            yield (name_of(word), name_of(term), number, positions[first:last].tobytes())


# --- and back ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of a segment as they were kept, and the types of its words' arrays."""

    segment: Segment
    types: Mapping[str, str]


def rows_of(connection: Connection[Row], segments: Sequence[int]) -> dict[int, Kept]:
    """The rows of these segments, by number. They know no words yet."""
    values = {"segments": list(segments)}
    found = connection.execute(SQL["segment_rows"], values, binary=True)
    return {row["number"]: _rows(row["layout"], row["arrays"]) for row in found}


def _rows(layout: str, data: bytes) -> Kept:
    described, arrays, place = json.loads(layout), dict[str, Array](), 0
    for name, kind, length in described["rows"]:
        dtype = np.dtype(kind)
        found = np.frombuffer(data, dtype, length, place)
        arrays[name] = np.require(found, requirements="A")  # one comes right behind the other
        place += length * dtype.itemsize
    return Kept(Segment(arrays), described["types"])


@dataclass(slots=True)
class Words:
    """Some words of several segments, as they came from the tables."""

    postings: dict[int, dict[str, Row]] = field(default_factory=lambda: defaultdict(dict))
    places: dict[int, dict[str, dict[str, bytes]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(dict))
    )

    def read_postings(self, connection: Connection[Row], terms: Collection[str]) -> None:
        names = {name_of(term): term for term in terms}
        values = {"terms": list(names)}
        for row in connection.execute(SQL["postings_of_terms"], values, binary=True):
            self.postings[row["segment"]][names[row["term"]]] = row

    def read_places(self, connection: Connection[Row], terms: Collection[str]) -> None:
        names = {name_of(term): term for term in terms}
        values = {"terms": list(names)}
        for row in connection.execute(SQL["places_of_terms"], values, binary=True):
            self.places[row["segment"]][names[row["term"]]][row["word"]] = row["positions"]

    def read_prefix(self, connection: Connection[Row], prefix: str) -> None:
        values = {"first": prefix, "end": prefix + "\U0010ffff"}
        for row in connection.execute(SQL["places_with_prefix"], values, binary=True):
            self.places[row["segment"]][row["term"]][row["word"]] = row["positions"]

    def in_segment(self, number: int, types: Mapping[str, str]) -> dict[str, Array]:
        """The arrays that a segment has of its words, for these words alone."""
        postings, places = self.postings.get(number, {}), self.places.get(number, {})
        terms = sorted(postings.keys() | places.keys())
        surfaces = [
            (word, term, data)
            for term in terms
            for word, data in sorted(places.get(term, {}).items())
        ]
        counts = [len(places.get(term, {})) for term in terms]
        rows = [postings.get(term, _NOTHING) for term in terms]
        columns = {
            name: [row[place] for row in rows] for place, name in enumerate(POSTINGS, start=2)
        }
        arrays = {
            name: np.frombuffer(b"".join(pieces), types[name]) for name, pieces in columns.items()
        }
        arrays["posting.offsets"] = _offsets(columns["posting.rows"], types["posting.rows"])
        arrays["extra.offsets"] = _offsets(columns["extra.posting"], types["extra.posting"])
        arrays["term.surfaces"] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        positions = [data for _, _, data in surfaces]
        arrays["surface.positions"] = _offsets(positions, types["positions"])
        arrays["positions"] = np.frombuffer(b"".join(positions), types["positions"])
        return {
            **arrays,
            **Strings.pack(terms).sorted_arrays("term"),
            **Strings.pack([word for word, _, _ in surfaces]).arrays("surface"),
        }


_NOTHING: Sequence[Any] = ("", 0, b"", b"", b"", b"", b"")


def _offsets(pieces: Sequence[bytes], kind: str) -> Array:
    size = np.dtype(kind).itemsize
    return np.cumsum([0, *(len(piece) // size for piece in pieces)], dtype=np.int64)


def words_of(connection: Connection[Row], query: WordQuery) -> Words:
    """What a query needs to know of words: postings of terms, places of phrases and beginnings."""
    phrases = [*(p for clause in query.clauses for p in clause.phrases), *query.excluded]
    words = Words()
    single = {p.terms[0] for p in phrases if len(p.terms) == 1 and not p.prefix}
    placed = {t for p in phrases if len(p.terms) > 1 for t in p.terms}
    if single:
        words.read_postings(connection, single)
    if placed:
        words.read_places(connection, placed)
    for prefix in {p.terms[-1] for p in phrases if p.prefix}:
        words.read_prefix(connection, prefix)
    return words


def whole(connection: Connection[Row], kept: Mapping[int, Kept]) -> list[Segment]:
    """These segments with all their words: to be merged."""
    words = Words()
    values = {"segments": list(kept)}
    for row in connection.execute(SQL["postings_of_segments"], values, binary=True):
        words.postings[row["segment"]][row["term"]] = row
    for row in connection.execute(SQL["places_of_segments"], values, binary=True):
        words.places[row["segment"]][row["term"]][row["word"]] = row["positions"]
    return [
        one.segment.knowing(words.in_segment(number, one.types)) for number, one in kept.items()
    ]
