"""The compiled kernels and their NumPy twins: the same bytes, and sums worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium import kernels
from trivium.index.codes import FINER, Query, as_fine, encode
from trivium.kernels import ROW_BITS, Array, Lists, Terms
from trivium.kernels.names import Named, chunk_ids, first_units
from trivium.types import COLUMNS, chunk_id
from trivium.vectors import unit

compiled = pytest.mark.skipif(
    not kernels.COMPILED, reason="the kernels were installed without a C compiler"
)
WIDEST = 2  # of the instructions that kernels.h knows
SEEDS = st.integers(0, 10_000)
widths = st.integers(1, 130) | st.sampled_from([64, 128, 192])


def both(run: object) -> tuple[object, object]:
    """What the compiled kernel gives, and its twin."""
    assert callable(run)
    native = kernels.native
    first = run()
    try:
        kernels.native = None
        return first, run()
    finally:
        kernels.native = native


def same(run: object) -> None:
    first, second = both(run)
    assert isinstance(first, np.ndarray)
    assert isinstance(second, np.ndarray)
    assert (first.dtype, first.tobytes()) == (second.dtype, second.tobytes())


def lists(chance: np.random.Generator, rows: int, terms: int) -> Lists:
    held = [np.flatnonzero(chance.random(rows) < chance.random()) for _ in range(terms)]
    extras = [int(chance.integers(0, 5)) if len(some) else 0 for some in held]
    places = [
        chance.integers(0, len(some), extra)
        for some, extra in zip(held, extras, strict=True)
        if extra
    ]
    total = sum(extras)
    return Lists(
        np.cumsum([0, *map(len, held)]).astype(np.int64),
        np.cumsum([0, *extras]).astype(np.int64),
        np.concatenate([*held, np.empty(0)]).astype(np.int32),
        chance.integers(0, 9, sum(map(len, held))).astype(f"u{chance.choice([1, 2, 4])}"),
        np.concatenate([*places, np.empty(0)]).astype(np.int32),
        chance.integers(0, len(COLUMNS), total).astype(np.uint8),
        chance.integers(1, 300, total).astype(np.uint16),
    )


@compiled
@settings(deadline=None)
@given(SEEDS, st.integers(0, 40), widths, st.booleans(), st.integers(0, WIDEST))
def test_products_of_bytes_and_half_bytes(
    seed: int, count: int, width: int, packed: bool, instructions: int
) -> None:
    chance = np.random.default_rng(seed)
    codes: Array
    query: Array
    if packed:
        codes = chance.integers(0, 256, (count, width)).astype(np.uint8)
        query = chance.integers(-127, 128, 2 * width).astype(np.int8)
    else:
        codes = chance.integers(-127, 128, (count, width)).astype(np.int8)
        query = chance.integers(-FINER, FINER + 1, width).astype(np.int16)
    steps = chance.random(count).astype(np.float32)
    rows = np.flatnonzero(chance.random(count) < 0.5)
    kernels.native.instructions(instructions)  # those of older processors, too
    try:
        for chosen in (None, rows):
            same(lambda: kernels.byte_products(codes, steps, chosen, query, (32, -7), 0.01))  # noqa: B023
    finally:
        kernels.native.instructions(WIDEST)


def test_a_byte_holds_two_numbers_for_two_parts_of_the_query() -> None:
    codes = np.array([[0x21, 0x43]], np.uint8)  # 1 and 3 in the lower halves, 2 and 4 above
    query = np.array([1, 10, 100, -1], np.int8)
    found = kernels.byte_products(codes, np.ones(1, np.float32), None, query, (2, 5), 1.0)
    assert found.tolist() == [2 * (1 * 1 + 3 * 10 + 2 * 100 + 4 * -1) + 5]


@settings(deadline=None)
@given(SEEDS, st.integers(0, 12), st.integers(0, 400))
def test_exact_products_are_added_up_from_first_to_last(seed: int, count: int, width: int) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(count, width)).astype(np.float32)
    vector = chance.normal(size=width)
    sums = []
    for row in rows:
        total = 0.0
        for one, other in zip(row.tolist(), vector.tolist(), strict=True):
            total += one * other
        sums.append(total)
    for result in both(lambda: kernels.exact_products(rows, None, vector)):
        assert isinstance(result, np.ndarray)
        assert result.tolist() == sums
    some = np.arange(0, count, 2)
    assert kernels.exact_products(rows, some, vector).tolist() == sums[::2]


@settings(deadline=None)
@given(SEEDS, st.integers(0, 12), st.integers(0, 400))
def test_float_products_are_as_exact_as_float32(seed: int, count: int, width: int) -> None:
    chance = np.random.default_rng(seed)
    matrix = chance.normal(size=(count, width)).astype(np.float32)
    query = chance.normal(size=width).astype(np.float32)
    exact = matrix.astype(np.float64) @ query
    room = width * 2.0**-23 * (np.abs(matrix).astype(np.float64) @ np.abs(query)) + 1e-30
    found = kernels.float_products(matrix, None, query)
    assert (np.abs(found - exact) <= room).all()
    some = np.arange(0, count, 3)
    assert (np.abs(kernels.float_products(matrix, some, query) - exact[some]) <= room[some]).all()


@compiled
@settings(deadline=None)
@given(SEEDS, st.one_of(st.integers(0, 60), st.integers(4_000, 9_000)))
def test_scores_of_terms_and_of_what_is_given(seed: int, rows: int) -> None:
    def scored() -> list[object]:
        chance = np.random.default_rng(seed)
        norm = chance.random(rows) + 0.1
        weights = chance.choice([0.0, 0.5, 2.0, 10.0], len(COLUMNS))
        known = lists(chance, rows, 4)
        some = [np.flatnonzero(chance.random(rows) < share) for share in (0.0, 0.3, 1.0)]
        given = [(places, chance.random(len(places))) for places in some]
        allowed = chance.random(rows) < 0.7 if seed % 2 else None
        owners = np.sort(chance.integers(0, 9, rows)).astype(np.int32) if seed % 3 else None
        terms = Terms([2, 0, 3, 2], [1.7, 0.3, 2.0, 1.0])
        scores, told, best = kernels.score_rows(
            norm, known, terms, weights, 0.9, given, allowed, owners, 20
        )
        return [scores.tobytes(), told, best.tolist()]

    first, second = both(scored)
    assert first == second


def test_a_score_is_added_up_in_order() -> None:
    # k1 1: often · 2 / (often + norm); the term is held once by row 0 and twice by row 2
    held = Lists(
        np.array([0, 2]),
        np.array([0, 0]),
        np.array([0, 2], np.int32),
        np.array([1, 2], np.uint8),
        *(np.empty(0, kind) for kind in (np.int32, np.uint8, np.uint8)),
    )
    weights, allowed = np.ones(len(COLUMNS)), np.array([True, True, True, False])
    given = [(np.array([1, 2, 3]), np.array([5.0, 0.25, 9.0]))]
    for found in both(
        lambda: kernels.score_rows(
            np.ones(4), held, Terms([0], [3.0]), weights, 1.0, given, allowed, None, 2
        )
    ):
        assert isinstance(found, tuple)
        scores, told, best = found
        assert scores.tolist() == [3.0, 5.0, 4.25, 0.0]
        assert (told.rows, told.total) == (3, 12.25 * kernels.FINE)
        assert best.tolist() == [1, 2]


@compiled
@settings(deadline=None)
@given(SEEDS, st.integers(0, 200), st.booleans(), st.booleans())
def test_what_is_counted_of_scores(seed: int, rows: int, filtered: bool, grouped: bool) -> None:
    def counted() -> tuple[kernels.Tally, list[int], list[float]]:
        chance = np.random.default_rng(seed)
        scores = chance.random(rows) * 30 * (chance.random(rows) < 0.6)
        allowed = chance.random(rows) < 0.5 if filtered else None
        documents = np.sort(chance.integers(0, 9, rows)).astype(np.int32) if grouped else None
        found, best = kernels.tally(scores, allowed, documents, 20)
        return found, best.tolist(), scores.tolist()

    first, second = both(counted)
    assert first == second


@settings(deadline=None)
@given(st.lists(st.sampled_from([0.0, -1.0, 0.5, 1.0, 1.5, 7.0]), max_size=300), st.integers(0, 40))
def test_the_best_are_those_of_a_sorted_list(scores: list[float], count: int) -> None:
    ranked = sorted((-score, row) for row, score in enumerate(scores) if score > 0)[:count]
    for result in both(lambda: kernels.tally(np.array(scores, np.float64), None, None, count)[1]):
        assert isinstance(result, np.ndarray)
        assert result.tolist() == sorted(row for _, row in ranked)


@settings(deadline=None)
@given(SEEDS, st.integers(0, 200))
def test_the_sums_of_values(seed: int, size: int) -> None:
    values = np.random.default_rng(seed).integers(-9, 9, size).astype(np.float32)
    whole = (float(values.sum()), float((values * values).sum()))
    assert both(lambda: kernels.sums(values)) == (whole, whole)


@settings(deadline=None)
@given(
    SEEDS,
    st.integers(1, 300),
    st.integers(1, 40),
    st.sampled_from([1, 5, 64]),
    st.booleans(),
    st.booleans(),
)
def test_the_nearest_are_those_of_a_sorted_list(
    seed: int, rows: int, width: int, count: int, filtered: bool, coded: bool
) -> None:
    chance = np.random.default_rng(seed)
    kinds = unit(chance.normal(size=(rows, width)))
    matrix = kinds[chance.integers(0, rows, rows)]  # some are equal
    query = unit(chance.normal(size=width))
    chosen = np.flatnonzero(chance.random(rows) < 0.7) if filtered else None
    numbers = np.arange(rows) if chosen is None else chosen
    count = min(count, len(numbers))
    if not count:
        return
    exact = kernels.exact_products(matrix, chosen, query.astype(np.float64)).clip(-1, 1)
    single = exact.astype(np.float32)
    wanted = numbers[single >= np.sort(single)[-count]].tolist()
    middle = exact + chance.uniform(-0.2, 0.2, len(exact))

    def found() -> tuple[list[int], list[float]]:
        closer = as_fine(encode(matrix), Query.of(query)) if coded else None
        near, products = kernels.nearest(
            middle.astype(np.float32),
            0.2001,
            chosen,
            count,
            closer,
            matrix,
            query.astype(np.float64),
        )
        return near.tolist(), products.tolist()

    expected = wanted, exact[np.isin(numbers, wanted)].tolist()
    assert both(found) == (expected, expected)


ascending = st.lists(st.integers(0, 255), unique=True, max_size=60).map(sorted)


@settings(deadline=None)
@given(ascending, ascending, ascending, st.sampled_from(["u1", "u2", "u4", "u8"]))
def test_what_stands_beside_what(
    first: list[int], second: list[int], third: list[int], kind: str
) -> None:
    def beside() -> Array:
        one, other, last = (np.array(some, kind) for some in (first, second, third))
        return kernels.beside([one], [other, last])

    expected = sorted(n for some in (second, third) for n in some if n - 1 in first)
    for result in both(beside):
        assert isinstance(result, np.ndarray)
        assert result.tolist() == expected
    assert kernels.beside([], [np.array(first, kind)]).tolist() == []


@compiled
@settings(deadline=None)
@given(SEEDS, *[st.integers(0, 300)] * 2, st.floats(0.05, 1), st.integers(0, WIDEST))
def test_long_lists_are_held_against_each_other_in_blocks(
    seed: int, one: int, other: int, share: float, instructions: int
) -> None:
    chance = np.random.default_rng(seed)
    last = int(chance.choice([400, 2**32]))
    first, second = (
        (last - 1 - np.flatnonzero(chance.random(count) < share)[::-1]).astype(np.uint32)
        for count in (one, other)
    )
    kernels.native.instructions(instructions)
    try:
        same(lambda: kernels.beside([first], [second]))
    finally:
        kernels.native.instructions(WIDEST)


@compiled
@given(SEEDS, *[st.integers(0, 90)] * 2, st.integers(1, 50), st.sampled_from(["u1", "u4", "u8"]))
def test_damaged_lists_are_not_written_beyond_their_room(
    seed: int, one: int, other: int, highest: int, kind: str
) -> None:
    chance = np.random.default_rng(seed)
    first, second = (chance.integers(0, highest, n).astype(kind) for n in (one, other))
    room = np.full(min(one, other) + kernels.SPARE + 4, -7, np.int64)
    whole = room[: min(one, other) + kernels.SPARE]
    found = kernels.native.beside(first, second, first.itemsize, whole)
    assert found <= len(whole)
    assert room[len(whole) :].tolist() == [-7] * 4


@settings(deadline=None)
@given(
    st.lists(st.text(max_size=12), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))),
)
def test_the_ids_of_chunks(names: list[str], chunks: list[tuple[int, int, int]]) -> None:
    raw = [name.encode("utf-8", "surrogatepass") for name in names]
    columns = [np.array(column, np.int32) for column in zip(*chunks, strict=True)]
    document, version, ordinal = columns or [np.empty(0, np.int32)] * 3
    document = (document % len(names)).astype(np.int32)
    named = Named(
        np.frombuffer(b"".join(raw), np.uint8),
        np.cumsum([0, *map(len, raw)]).astype(np.int64),
        document,
        version,
        ordinal,
    )
    expected = [
        chunk_id(names[owner % len(names)], number, place) for owner, number, place in chunks
    ]
    for result in both(lambda: chunk_ids(named, np.arange(len(chunks)))):
        assert result == tuple(expected)


@settings(deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=40), max_size=3),
    st.integers(1, 60),
    st.integers(1, 12),
    st.booleans(),
)
def test_the_beginning_of_a_ranking(
    pieces: list[list[tuple[int, int]]], among: int, wanted: int, by_document: bool
) -> None:
    """Each segment is a list of chunks: the document's number and the score. Rows are in order."""
    pieces = [
        [chunks[row] for row in sorted(range(len(chunks)), key=lambda row: chunks[row][0])][:10]
        for chunks in pieces
    ]
    segments = tuple(
        Named(
            np.frombuffer(b"abcdefghij", np.uint8),
            np.arange(11),
            np.array([owner for owner, _ in chunks], np.int32),
            np.full(len(chunks), number, np.int32),
            np.arange(len(chunks), dtype=np.int32),
        )
        for number, chunks in enumerate(pieces)
    )
    ranked = sorted(
        (-score, f"{'abcdefghij'[owner]}@{number}/{row}", number, row, owner)
        for number, chunks in enumerate(pieces)
        for row, (owner, score) in enumerate(chunks)
    )
    places = np.array([(number << ROW_BITS) + row for *_, number, row, _ in ranked], np.int64)
    scores = np.array([-below for below, *_ in ranked], np.float64)
    order = np.random.default_rng(len(ranked)).permutation(len(ranked))
    expected, units = [], set()
    for _, id, number, row, owner in ranked[:among]:
        expected.append(id)
        units.add((number, owner if by_document else row))
        if len(units) == wanted:
            break
    for found in both(
        lambda: first_units(segments, places[order], scores[order], among, wanted, by_document)
    ):
        if len(units) < wanted:
            assert found is None
        else:
            assert isinstance(found, tuple)
            assert list(found[0]) == expected
            assert found[1].tolist() == places[: len(expected)].tolist()
            assert found[2] == tuple(scores[: len(expected)].tolist())


@compiled
@pytest.mark.parametrize("wanted", [1, 5_000])
def test_vectors_that_are_none_have_no_nearest(wanted: int) -> None:
    """Nothing is as high as NaN: so many that are not there must not be read."""
    middle, matrix = np.full(5_000, np.nan, np.float32), np.ones((5_000, 4), np.float32)
    with pytest.raises(ValueError, match="NaN"):
        kernels.nearest(middle, 0.1, None, wanted, None, matrix, np.ones(4))


@compiled
def test_arrays_of_a_damaged_file_are_refused() -> None:
    chance = np.random.default_rng(1)
    codes, steps = np.zeros((4, 8), np.int8), np.zeros(4, np.float32)
    for beyond in ([4], [-1]):
        with pytest.raises(ValueError, match="do not fit"):
            kernels.byte_products(
                codes, steps, np.array(beyond), np.zeros(8, np.int16), (1, 0), 1.0
            )
        with pytest.raises(ValueError, match="do not fit"):
            kernels.exact_products(np.zeros((4, 8), np.float32), np.array(beyond), np.zeros(8))
    held = lists(chance, 50, 1)
    odd = held._replace(body=np.zeros(3 * len(held.rows), np.uint8))
    too_far = held._replace(offsets=held.offsets + 1)
    for known, rows, terms in ((held, 3, [0]), (odd, 50, [0]), (too_far, 50, [0]), (held, 50, [1])):
        norm, weights, asked = np.ones(rows), np.ones(len(COLUMNS)), Terms(terms, [1.0])
        with pytest.raises(ValueError, match="do not fit"):
            kernels.score_rows(norm, known, asked, weights, 0.9, [], None, None, 1)
    norm, weights, nothing = np.ones(50), np.ones(len(COLUMNS)), Terms((), ())
    for place in (50, -1):
        given = [(np.array([place]), np.ones(1))]
        with pytest.raises(ValueError, match="do not fit"):
            kernels.score_rows(norm, held, nothing, weights, 0.9, given, None, None, 1)
    named = Named(
        np.zeros(3, np.uint8),
        np.array([0, 9], np.int64),
        *(np.zeros(1, np.int32) for _ in range(3)),
    )
    with pytest.raises(ValueError, match="do not fit"):
        chunk_ids(named, np.zeros(1, np.int64))
    with pytest.raises(ValueError, match="do not fit"):
        first_units((named,), np.zeros(2, np.int64), np.zeros(1), 1, 1, False)
    with pytest.raises(ValueError, match="do not fit"):
        first_units((named,), np.zeros(1, np.int64), np.ones(1), 1, 1, True)


def test_short_row_numbers_and_wide_matrices_are_read_as_what_they_are() -> None:
    matrix, vector = np.arange(12.0).reshape(4, 3), np.ones(3)
    rows = np.array([1, 3], np.int32)
    for result in both(lambda: kernels.exact_products(matrix, rows, vector)):  # type: ignore[arg-type]
        assert isinstance(result, np.ndarray)
        assert result.tolist() == [12.0, 30.0]
    named = Named(
        np.frombuffer(b"axe", np.uint8),
        np.array([0, 3], np.int64),
        *(np.zeros(4, np.int32) for _ in range(3)),
    )
    for ids in both(lambda: chunk_ids(named, rows)):  # type: ignore[arg-type]
        assert ids == ("axe@0/0", "axe@0/0")
