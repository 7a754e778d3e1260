"""What PostgreSQL ranks by its own means, for profiles that ask for it.

Full-text search has no statistics, and every comparison is of one passage with the query; so
what a caller may not see changes no answer, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection

from trivium.index.snapshot import Seen
from trivium.protocols import Found
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.connection import own_statements
from trivium.store.postgres.seeing import Allowed
from trivium.store.record.rows import document_of_row, index_row, searchable
from trivium.text import bigrams
from trivium.types import COLUMNS, TextQuery, Unit

SQL = own_statements("own_search.sql")

LETTERS: Mapping[str, tuple[str, ...]] = {
    "d": ("body",),
    "c": ("context", "tags"),
    "b": ("heading",),
    "a": ("key", "title"),
}
"""A tsvector has four weights for six columns (`word_vector`); in the order that ranking takes."""

_BATCH = 1_000  # passages whose words go to the server at once

Pairs = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Chunk numbers, and a score of each."""

Asked = dict[str, Any]
"""A query as the server has read it."""


def read(
    connection: Connection[Row], query: TextQuery, weights: Mapping[str, float]
) -> Asked | None:
    """The query in the library's text-search configuration, None if nothing of it is a word.

    Of columns that share a letter the greater weight counts; ranking wants weights up to 1.
    """
    highest = max(weights.values(), default=0.0)
    if highest <= 0:
        return None
    values = {
        "pieces": [bigrams(piece) for piece in query.pieces],
        "excluded": [bigrams(piece) for piece in query.excluded],
        "written": bigrams(query.written),
    }
    row = connection.execute(SQL["read_text_query"], values).fetchone()
    if not row or not row["held"]:
        return None
    by_letter = {
        letter: max(0.0, *(weights.get(name, 0.0) for name in names)) / highest
        for letter, names in LETTERS.items()
    }
    return {
        "held": row["held"],
        "written": row["written"],
        "loosely": row["loosely"] if query.loosely else None,
        "letters": [letter for letter, weight in by_letter.items() if weight > 0],
        "weights": list(by_letter.values()),
    }


def matched(connection: Connection[Row], asked: Asked, allowed: Allowed) -> Pairs:
    """The allowed chunks that answer, and how well."""
    values = {**asked, "mask": allowed.bits(), "end": len(allowed.mask)}
    return _pairs(connection, "text_matches", values)


def store_words_anew(connection: Connection[Row]) -> int:
    """Make the tsvectors of all words again, a batch at a time; how many there are."""
    done = 0
    with connection.cursor("words_as_said") as rows:
        rows.execute(SQL["words_as_said"])
        while batch := rows.fetchmany(_BATCH):
            said = (index_row(row, document_of_row(row)) for row in batch)
            values = _as_columns([(one.number, one.columns) for one in said])
            connection.execute(SQL["store_words_anew"], values)
            done += len(batch)
    return done


def then_matched(
    connection: Connection[Row], asked: Asked, said: Iterable[tuple[int, tuple[str, ...]]]
) -> Pairs:
    """The same of chunks whose words are not stored: their numbers, and what their columns said."""
    every, found = list(said), []
    for start in range(0, len(every), _BATCH):
        values = {**asked, **_as_columns(every[start : start + _BATCH])}
        found.append(_pairs(connection, "text_matches_of_the_past", values))
    nothing = (np.empty(0, np.int64), np.empty(0))
    numbers_found, scores = zip(*(found or [nothing]), strict=True)
    return np.concatenate(numbers_found), np.concatenate(scores)


def _as_columns(said: Sequence[tuple[int, tuple[str, ...]]]) -> dict[str, list[Any]]:
    """Chunk numbers and what their columns say, as lists that a statement unnests."""
    rows = [(number, *searchable(columns)) for number, columns in said]
    numbers, *columns = map(list, zip(*rows, strict=True))
    return {"numbers": numbers, **dict(zip(COLUMNS, columns, strict=True))}


def _pairs(connection: Connection[Row], statement: str, values: Asked) -> Pairs:
    row = connection.execute(SQL[statement], values, binary=True).fetchone()
    found = np.frombuffer(row[0] if row and row[0] else b"", [("number", ">i8"), ("score", ">f8")])
    return found["number"].astype(np.int64), found["score"].astype(np.float64)


def found_of(seen: Seen, pairs: Pairs, depth: int, unit: Unit) -> Found:
    """The best of them, ties by id; `matched` counts the units of all."""
    found = seen.standing(*pairs)
    total = len(found.places)
    ids, scores = seen.first_units(lambda count: found, total, depth, unit)
    return Found(ids, scores, len(ids) == total, seen.units(found.places, unit), ceiling=2.0)


def word_similarities(
    connection: Connection[Row], query: str, seen: Seen, chunks: Sequence[str]
) -> dict[str, float]:
    """pg_trgm's word similarity of the query to heading and text of each visible chunk."""
    numbers = seen.numbers_of(chunks).tolist()
    values = {"query": query, "numbers": [number for number in numbers if number >= 0]}
    rows = connection.execute(SQL["word_similarities"], values, binary=True)
    known = {row["number"]: row["similarity"] for row in rows}
    pairs = zip(chunks, numbers, strict=True)
    return {chunk: known[number] for chunk, number in pairs if number in known}
