"""Our BM25 is FTS5's: same rows, same order, same scores."""

from __future__ import annotations

import sqlite3
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.index import merging
from trivium.index.bm25 import Part, column_weights, score, statistics
from trivium.index.building import Row, build
from trivium.text import bigrams, terms
from trivium.types import COLUMNS, Bm25, Clause, Document, Phrase, WordQuery

WORDS = ("axe", "axes", "battle", "the", "king", "running", "runs", "café", "東京都", "меч", "a1")
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
rows_of_columns = st.lists(st.tuples(*[texts] * len(COLUMNS)), min_size=1, max_size=12)
weights = st.tuples(*[st.sampled_from([0.0, 1.0, 2.0, 10.0])] * len(COLUMNS))


def rows(columns: list[tuple[str, ...]]) -> list[Row]:
    return [
        Row(number, 1, 0, Document(id=f"d{number:03}", uri=f"u{number}", title=""), texts)
        for number, texts in enumerate(columns)
    ]


def ours(columns: list[tuple[str, ...]], query: WordQuery, bm25: Bm25) -> list[tuple[int, float]]:
    """Scores from two segments, so that statistics must be counted over both."""
    half = len(columns) // 2
    segments = [build(part) for part in (rows(columns)[:half], rows(columns)[half:]) if part]
    parts = [Part(s, np.ones(len(s), bool), True) for s in segments]
    weights = column_weights(bm25)
    known, every = statistics(parts, weights), [None] * len(parts)
    answer = score(parts, query, bm25, weights, known, every, depth=0)
    scored = [
        (int(part.segment.numbers[row]), float(value))
        for part, values in zip(parts, answer.scores, strict=True)
        for row, value in enumerate(values)
        if value
    ]
    assert all(value <= answer.ceiling + 1e-9 for _, value in scored)
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def fts5(
    columns: list[tuple[str, ...]], match: str, weights: tuple[float, ...]
) -> list[tuple[int, float]]:
    """What FTS5 says of a table that has only the columns of positive weight."""
    counted = [place for place, weight in enumerate(weights) if weight > 0]
    names = ", ".join(COLUMNS[place] for place in counted)
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5({names}, tokenize='porter unicode61')")
    for number, texts in enumerate(columns):
        marks = ", ".join("?" * len(counted))
        values = [number, *(bigrams(texts[place]) for place in counted)]
        connection.execute(f"INSERT INTO t(rowid, {names}) VALUES (?, {marks})", values)
    given = ", ".join(str(weights[place]) for place in counted)
    found = connection.execute(
        f"SELECT rowid, -bm25(t, {given}) FROM t WHERE t MATCH ? ORDER BY 2 DESC, 1", (match,)
    ).fetchall()
    connection.close()
    return [(int(rowid), float(value)) for rowid, value in found]


def agree(mine: list[tuple[int, float]], oracle: list[tuple[int, float]]) -> None:
    assert dict(mine) == pytest.approx(dict(oracle), abs=1e-6)
    for (_, better), (_, worse) in pairwise(mine):
        assert better >= worse


@given(rows_of_columns, weights, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
@settings(deadline=None, max_examples=150)
def test_any_of_the_words(
    columns: list[tuple[str, ...]], given_weights: tuple[float, ...], words: list[str]
) -> None:
    if not any(given_weights):
        return
    bm25 = Bm25(dict(zip(COLUMNS, given_weights, strict=True)))
    wanted = [term for word in words for term in terms(word)]
    query = WordQuery.any_of([Clause((Phrase((term,)),)) for term in wanted])
    match = " OR ".join(f'"{word}"' for word in " ".join(map(bigrams, words)).split())
    agree(ours(columns, query, bm25), fts5(columns, match, given_weights))


@given(rows_of_columns, weights, st.lists(st.sampled_from(WORDS), min_size=2, max_size=3))
@settings(deadline=None, max_examples=100)
def test_all_of_the_words(
    columns: list[tuple[str, ...]], given_weights: tuple[float, ...], words: list[str]
) -> None:
    if not any(given_weights):
        return
    bm25 = Bm25(dict(zip(COLUMNS, given_weights, strict=True)))
    wanted = [term for word in words for term in terms(word)]
    clauses = tuple(Clause((Phrase((term,)),)) for term in wanted)
    query = WordQuery(clauses, (tuple(range(len(clauses))),))
    match = " AND ".join(f'"{word}"' for word in " ".join(map(bigrams, words)).split())
    agree(ours(columns, query, bm25), fts5(columns, match, given_weights))


@given(rows_of_columns, weights, st.lists(st.sampled_from(WORDS), min_size=2, max_size=3))
@settings(deadline=None, max_examples=100)
def test_a_phrase(
    columns: list[tuple[str, ...]], given_weights: tuple[float, ...], words: list[str]
) -> None:
    if not any(given_weights):
        return
    bm25 = Bm25(dict(zip(COLUMNS, given_weights, strict=True)))
    query = WordQuery.any_of([Clause((Phrase(tuple(terms(" ".join(words)))),))])
    match = '"' + " ".join(map(bigrams, words)) + '"'
    agree(ours(columns, query, bm25), fts5(columns, match, given_weights))


@given(rows_of_columns, weights, st.sampled_from(["ax", "r", "ca", "東", "th"]))
@settings(deadline=None, max_examples=100)
def test_a_prefix(
    columns: list[tuple[str, ...]], given_weights: tuple[float, ...], prefix: str
) -> None:
    if not any(given_weights):
        return
    bm25 = Bm25(dict(zip(COLUMNS, given_weights, strict=True)))
    query = WordQuery.any_of([Clause((Phrase((prefix,), prefix=True),))])
    agree(ours(columns, query, bm25), fts5(columns, f'"{prefix}"*', given_weights))


@given(rows_of_columns, rows_of_columns, st.data())
@settings(deadline=None, max_examples=60)
def test_merging_segments_equals_building_one(
    first: list[tuple[str, ...]], second: list[tuple[str, ...]], data: st.DataObject
) -> None:
    everything = rows(first + second)
    left, right = everything[: len(first)], everything[len(first) :]
    alive = [
        np.array(data.draw(st.lists(st.booleans(), min_size=len(p), max_size=len(p))), bool)
        for p in (left, right)
    ]
    living = [
        row
        for part, mask in zip((left, right), alive, strict=True)
        for row, lives in zip(part, mask, strict=True)
        if lives
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "PIECE", data.draw(st.sampled_from([1, 5, merging.PIECE])))
        patch.setattr(merging, "MOST_TERMS", data.draw(st.sampled_from([1, 3, merging.MOST_TERMS])))
        merged, built = merging.merge([build(left), build(right)], alive), build(living)
    assert set(merged.arrays) == set(built.arrays)
    for name in built.arrays:
        if not name.startswith(("iri.", "value.")):
            np.testing.assert_array_equal(merged.arrays[name], built.arrays[name], name)
            assert merged.arrays[name].dtype == built.arrays[name].dtype, name
