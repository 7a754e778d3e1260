"""The inner loops of a search: in C where that could be compiled, else in NumPy.

Both give the same bytes, so nobody needs to know which it is; `trivium status` says it to those who
ask why a search is slow. The C ones let other threads run meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium.types import COLUMNS

native: Any = None
with suppress(ImportError):  # installed where there was no C compiler
    native = import_module("trivium.kernels._native")
COMPILED = native is not None

Array = NDArray[Any]
Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Rows = NDArray[np.int64]

WIDTH = len(COLUMNS)
BODY = COLUMNS.index("body")
ROW_BITS = 40  # of a place: what is above them is the segment, or the block
SPARE = 9  # places that `beside` may write to beyond the last
ROOM = 2.0**-22  # bounds are added up in float32
FINE = 1 << 20  # steps of a millionth: sums of squares are exact for a million scores up to 90


class Postings(NamedTuple):
    """A term in a segment: the rows that hold it, ascending, and how often in which column.

    `body` counts it in the body; each of the others is told by its posting, column and count.
    """

    rows: Array
    body: Array
    extra_posting: Array
    extra_column: Array
    extra_count: Array


class Lists(NamedTuple):
    """The postings of a segment's terms one after the other: those of a term are at `offsets[term]`
    to `offsets[term + 1]`, its extras likewise.
    """

    offsets: Array
    extras: Array
    rows: Array
    body: Array
    extra_posting: Array
    extra_column: Array
    extra_count: Array

    def of(self, term: int) -> Postings:
        """Where a term stands, and how often in which column."""
        offsets, extras, rows, body, *extra = self
        (first, last), (begin, end) = offsets[term : term + 2], extras[term : term + 2]
        return Postings(rows[first:last], body[first:last], *(array[begin:end] for array in extra))


class Tally(NamedTuple):
    """How many rows have a score, in how many runs of one document, and sums in millionths.

    Without documents each row is a run.
    """

    rows: int
    runs: int
    total: float
    squares: float


def byte_products(
    codes: Array,
    steps: Floats32,
    rows: Rows | None,
    query: NDArray[np.int8] | NDArray[np.int16],
    line: tuple[int, int],
    scale: float,
) -> Floats32:
    """(factor · product + shift) · step · scale for each row of bytes, or for the given ones.

    Rows of unsigned bytes hold two numbers of 0 … 15 in each: the lower halves belong to the first
    part of the query, which is of bytes, the upper ones to the second. To whole bytes belongs a
    query of sixteen bits. `line` are factor and shift.
    """
    packed, (factor, shift), rows = codes.dtype == np.uint8, line, _numbers(rows)
    if native and len(query):
        out = np.empty(len(codes) if rows is None else len(rows), np.float32)
        native.byte_products(codes, steps, rows, query, packed, factor, shift, scale, out)
        return out
    chosen, step = (codes, steps) if rows is None else (codes[rows], steps[rows])
    wide = query.astype(np.int64)
    if packed:
        low, high = (chosen & 15).astype(np.int64), (chosen >> 4).astype(np.int64)
        found = low @ wide[: codes.shape[1]] + high @ wide[codes.shape[1] :]
    else:
        found = chosen.astype(np.int64) @ wide
    line_of: Floats32 = (factor * found + shift).astype(np.float32) * step * np.float32(scale)
    return line_of


def float_products(matrix: Floats32, rows: Rows | None, query: Floats32) -> Floats32:
    """The product of each row, or of the given ones, with the query, as exact as float32 is.

    The one that may differ between machines, in its last bits: only bounds are taken from it.
    """
    rows = _numbers(rows)
    if native and _is_plain(matrix) and len(query):
        out = np.empty(len(matrix) if rows is None else len(rows), np.float32)
        native.float_products(matrix, rows, query, out)
        return out
    return (matrix if rows is None else matrix[rows]) @ query


def exact_products(matrix: Floats32, rows: Rows | None, vector: Floats) -> Floats:
    """The product of each row, or of the given ones, with the vector in float64, added up from
    first to last: the same to the last bit, whatever the layout of the matrix.
    """
    rows = _numbers(rows)
    if native and _is_plain(matrix) and len(vector):
        out = np.empty(len(matrix) if rows is None else len(rows))
        native.exact_products(matrix, rows, vector, out)
        return out
    chosen = matrix if rows is None else matrix[rows]
    if len(chosen) == 1:  # one row alone NumPy would add up in pairs, so it is given company
        return exact_products(np.concatenate([chosen, chosen]), None, vector)[:1]
    # element after element is added to all rows at once, which is quicker than row after row
    columns = chosen.T.astype(np.float64, order="C")
    columns *= vector[:, None]
    sums: Floats = np.add.reduce(columns, axis=0)
    return sums


def frequencies(postings: Postings, weights: Floats) -> Floats:
    """How often each row holds the term, each column counted by its weight."""
    often: Floats = postings.body * weights[BODY]
    if len(postings.extra_posting):
        given = postings.extra_count * weights[postings.extra_column]
        np.add.at(often, postings.extra_posting, given)
    return often


Given = tuple[Rows, Floats]
"""Rows, ascending, and what is added to the score of each."""


class Terms(NamedTuple):
    """Terms of a segment, and what each of them is worth to a row."""

    numbers: Sequence[int]
    worths: Sequence[float]


def score_rows(
    norm: Floats,
    lists: Lists,
    terms: Terms,
    weights: Floats,
    k1: float,
    given: Sequence[Given],
    allowed: NDArray[np.bool_] | None,
    documents: NDArray[np.int32] | None,
    count: int,
) -> tuple[Floats, Tally, Rows]:
    """The scores of all rows: what the terms are worth that they hold, each column counted by its
    weight, and then what is given, all of it one after the other; and what `tally` makes of them.
    """
    count = min(count, len(norm))
    if native:
        numbers, worths = np.array(terms.numbers, np.int64), np.array(terms.worths, np.float64)
        scores, out = np.empty(len(norm)), np.empty(count, np.int64)
        *counted, found = native.score_rows(
            *(scores, norm, *lists, numbers, worths, weights, k1 + 1, tuple(given)),
            *(allowed, documents, out),
        )
        return scores, Tally(*counted), out[:found]
    scores = np.zeros(len(norm))
    for term, worth in zip(*terms, strict=True):
        postings = lists.of(term)
        often = frequencies(postings, weights)
        held = np.flatnonzero(often > 0)
        rows, often = postings.rows[held].astype(np.intp, copy=False), often[held]
        scores[rows] += worth * (often * (k1 + 1) / (often + norm[rows]))
    for rows, more in given:
        scores[rows] += more
    return scores, *tally(scores, allowed, documents, count)


def tally(
    scores: Floats,
    allowed: NDArray[np.bool_] | None,
    documents: NDArray[np.int32] | None,
    count: int = 0,
) -> tuple[Tally, Rows]:
    """Count what has a score above 0, which rows that are not allowed lose; and the rows of the
    `count` highest, ascending, of equal ones the first.
    """
    count = min(count, len(scores))
    if native:
        out = np.empty(count, np.int64)
        *counted, found = native.tally(scores, allowed, documents, out)
        return Tally(*counted), out[:found]
    if allowed is not None:
        scores[~allowed] = 0.0
    rows = np.flatnonzero(scores > 0)
    runs = len(rows)
    if documents is not None and len(rows):
        owners = documents[rows]
        runs = int(np.count_nonzero(owners[1:] != owners[:-1])) + 1
    return measured(scores[rows])._replace(runs=runs), _best(scores, rows, count)


def _best(scores: Floats, rows: Rows, count: int) -> Rows:
    if len(rows) <= count or not count:
        return rows[:count]
    found = scores[rows]
    cut = np.partition(found, len(rows) - count)[len(rows) - count]
    above, level = rows[found > cut], rows[found == cut]
    return np.sort(np.concatenate([above, level[: count - len(above)]]))


def measured(scores: NDArray[np.floating[Any]]) -> Tally:
    """Number and sums of any scores, of whatever sign."""
    fine = scores * FINE
    squared = fine * scores  # a step is a power of two: multiplied in whatever order
    total, squares = (float(np.rint(some).sum(dtype=np.float64)) for some in (fine, squared))
    return Tally(len(scores), 0, total, squares)


class Coded(NamedTuple):
    """A vector as whole numbers: it is `step` · `codes` and a rest; with the sums of the squares of
    that and of the codes, and of the codes.
    """

    codes: NDArray[np.int16]
    step: float
    rest: float
    squares: int
    total: int


def coded(vector: Floats32, highest: int) -> Coded:
    """The vector as numbers from −`highest` to `highest`."""
    if native and vector.flags.c_contiguous:
        codes, *told = native.coded(vector, highest)
        return Coded(np.frombuffer(codes, np.int16), *told)
    step = np.abs(vector).max(initial=0.0) / np.float32(highest)
    wide = np.rint(vector / (step or np.float32(1))).clip(-highest, highest).astype(np.float64)
    left = vector.astype(np.float64) - float(step) * wide
    rest = float(np.cumsum(left * left)[-1]) if len(left) else 0.0  # from first to last
    squares, total = int((wide * wide).sum()), int(wide.sum())
    return Coded(wide.astype(np.int16), float(step), rest, squares, total)


def _numbers(rows: Array | None) -> Rows | None:
    """Row numbers as C reads them; on some machines NumPy makes shorter ones."""
    return None if rows is None else rows.astype(np.int64, copy=False)


def _is_plain(matrix: Array) -> bool:
    return matrix.dtype == np.float32 and matrix.flags.c_contiguous


def sums(values: Floats32) -> tuple[float, float]:
    """The sum of the values and that of their squares, about right."""
    if native and values.flags.c_contiguous:
        found: tuple[float, float] = native.sums(values)
        return found
    return float(values.sum(dtype=np.float64)), float(np.square(values).sum(dtype=np.float64))


class Fine(NamedTuple):
    """Codes to look at a row more closely by: its product is `scale` · step · (codes · query), off
    by at most `spread`.
    """

    codes: NDArray[np.int8]
    steps: Floats32
    query: NDArray[np.int16]
    scale: float
    spread: float


def nearest(
    middle: Floats32,
    spread: float,
    rows: Rows | None,
    count: int,
    fine: Fine | None,
    matrix: Floats32,
    query: Floats,
) -> tuple[Rows, Floats]:
    """The `count` rows with the highest products, ascending, and those that equal the last as
    float32; and their exact products, within −1 and 1.

    The product of each row, or of the given ones, lies within `spread` of its `middle`.
    """
    rows = _numbers(rows)
    if native and _is_plain(matrix) and len(query):
        codes = fine or (None, None, None, 0.0, spread)
        found = native.nearest(middle, spread, rows, count, *codes, ROOM, matrix, query)
        return np.frombuffer(found[0], np.int64), np.frombuffer(found[1], np.float64)
    cut = _least(middle, count) - 2 * np.float32(spread + ROOM)
    places = np.flatnonzero(middle >= cut)
    chosen = places if rows is None else rows[places]
    exact = exact_products(matrix, chosen, query).clip(-1.0, 1.0)
    single = exact.astype(np.float32)
    kept = single >= _least(single, count)
    return chosen[kept], exact[kept]


def _least(values: Floats32, count: int) -> np.float32:
    """The least of the highest."""
    lowest: np.float32 = np.partition(values, len(values) - count)[len(values) - count]
    return lowest


def beside(firsts: Sequence[Array], seconds: Sequence[Array]) -> Rows:
    """The numbers of the seconds that are next after one of the firsts, ascending; each of the
    arrays ascends, and all are of one type.
    """
    found = [_beside(first, second) for first in firsts for second in seconds]
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)


def _beside(first: Array, second: Array) -> Rows:
    if native:
        out = np.empty(min(len(first), len(second)) + SPARE, np.int64)
        return out[: native.beside(first, second, first.itemsize, out)]
    return np.intersect1d(first.astype(np.int64) + 1, second.astype(np.int64))
