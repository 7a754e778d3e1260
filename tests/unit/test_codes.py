"""Half-bytes, bytes, then exact cosines: the same neighbours as by brute force, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from trivium.index import joining
from trivium.index import matrix as matrices
from trivium.index.arrays import MappedArrays, Parcel, write_arrays
from trivium.index.codes import ARRAYS, Bounds, Codes, Query, as_fine, as_halves, encode, fine
from trivium.index.joining import merge_blocks, merged_blocks
from trivium.index.lookup import yardstick
from trivium.index.matrix import Block, Neighbours
from trivium.kernels.underway import UnderWay
from trivium.vectors import Floats32, cosines, unit


def vectors(seed: int, count: int, width: int, kind: str) -> Floats32:
    """Unit vectors: scattered, in tight clusters, all but alike, or with one huge component."""
    chance = np.random.default_rng(seed)
    found = chance.normal(size=(count, width))
    if kind == "clusters":
        found = chance.normal(size=(3, width))[chance.integers(0, 3, count)] + 0.1 * found
    elif kind == "alike":
        found = chance.normal(size=width) + 1e-4 * found
    elif kind == "spikes":
        found[np.arange(count), chance.integers(0, width, count)] += 50.0
    elif kind == "equal":
        found = np.repeat(found[:1], count, axis=0)
    found[chance.random(count) < 0.05] = 0.0
    return unit(found)


def brute_force(matrix: Floats32, rows: NDArray[np.int64], query: Floats32, count: int) -> object:
    exact = cosines(matrix[rows], query)
    order = sorted(range(len(rows)), key=lambda i: (-exact[i], rows[i]))[:count]
    return [(int(rows[i]), float(exact[i])) for i in order]


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["scattered", "clusters", "alike", "spikes", "equal"]),
    st.integers(1, 700),
    st.integers(1, 40),
    st.integers(1, 60),
    st.sampled_from(["all", "half", "few", "none"]),
)
def test_the_neighbours_are_those_of_brute_force(
    seed: int, kind: str, size: int, width: int, count: int, filter: str
) -> None:
    matrix = vectors(seed, size, width, kind)
    query = vectors(seed + 1, 1, width, "scattered")[0]
    share = {"all": 1.1, "half": 0.5, "few": 0.05, "none": -1.0}[filter]
    mask = np.random.default_rng(seed).random(size) < share
    rows = np.flatnonzero(mask)
    half = size // 2
    numbers = np.arange(size)
    blocks = [Block.of(numbers[:half], matrix[:half]), Block.of(numbers[half:], matrix[half:])]
    given = [None if part.all() else np.flatnonzero(part) for part in (mask[:half], mask[half:])]
    expected = brute_force(matrix, rows, query, count)
    for foreseen in (count, 1):  # more may be asked for than was begun with
        found = Neighbours.of(blocks, given, query, foreseen, coded_from=0)
        near, exact = found.nearest(count)
        order = sorted(range(len(near)), key=lambda i: (-exact[i], near[i]))[:count]
        assert found.considered == len(rows)
        assert [(int(near[i]), float(exact[i])) for i in order] == expected


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["scattered", "clusters", "alike", "spikes"]),
    st.integers(1, 400),
)
def test_no_cosine_lies_outside_its_bounds(seed: int, kind: str, width: int) -> None:
    matrix = vectors(seed, 50, width, kind)
    query = vectors(seed + 1, 1, width, kind)[0]
    codes, exact, rows = encode(matrix), cosines(matrix, query), np.arange(0, 50, 3)

    def rough(codes: Codes, chosen: NDArray[np.int64] | None, query: Query) -> Bounds:
        halves, vector = as_halves(codes, query), query.exactly
        begun = UnderWay(halves, as_fine(codes, query), chosen, 1, matrix, vector)
        return Bounds(begun.middle, halves.spread)

    for bounds in (rough, fine):
        every, some = (bounds(codes, chosen, Query.of(query)) for chosen in (None, rows))
        assert (abs(exact - every.middle) <= every.spread).all()
        assert (some.middle == every.middle[rows]).all()


def test_codes_hang_on_their_own_row_only() -> None:
    matrix = vectors(1, 300, 48, "scattered")
    whole, part = encode(matrix), encode(matrix[100:120])
    for name in ARRAYS:
        assert (getattr(whole, name)[100:120] == getattr(part, name)).all(), name


def test_mean_and_deviation_are_about_right_and_exact_on_demand() -> None:
    matrix = vectors(3, 5_000, 384, "clusters")
    query = vectors(4, 1, 384, "scattered")[0]
    [found] = Neighbours.of(
        [Block.of(np.arange(5_000), matrix)], [None], query, 1, coded_from=0
    ).passes
    exact = cosines(matrix, query)
    rough, bytewise, fine = (found.middles(one) for one in ("rough", "fine", "exact"))
    assert found.is_rough
    assert found.sums("rough") == pytest.approx((rough.sum(), np.square(rough).sum()), rel=1e-4)
    assert rough.mean() == pytest.approx(exact.mean(), abs=1e-3)
    assert rough.std() == pytest.approx(exact.std(), abs=2e-3)
    assert bytewise.mean() == pytest.approx(exact.mean(), abs=1e-4)
    assert bytewise.std() == pytest.approx(exact.std(), abs=5e-4)
    assert fine.mean() == pytest.approx(exact.mean(), abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 2_000), st.floats(0, 1))
def test_the_exact_mean_and_deviation_are_the_same_in_whatever_blocks(
    seed: int, size: int, part: float
) -> None:
    scores = np.random.default_rng(seed).normal(size=size).astype(np.float32)
    cut = int(part * size)

    def told(*pieces: Floats32) -> tuple[float, float]:
        found = yardstick(lambda chunks: [0.0] * len(chunks), pieces, size)
        return found.mean, found.deviation

    assert told(scores) == told(scores[:cut], scores[cut:])


def test_merged_blocks_hold_the_living_rows_in_order() -> None:
    matrix = vectors(5, 6, 4, "scattered")
    first = Block.of(np.array([2, 4, 6]), matrix[:3])
    second = Block.of(np.array([1, 5, 9]), matrix[3:])
    merged = merge_blocks([first, second], [np.array([1, 0, 1], bool), np.ones(3, bool)])
    assert merged.numbers.tolist() == [1, 2, 5, 6, 9]
    assert (merged.matrix == matrix[[3, 0, 4, 2, 5]]).all()


def test_what_is_merged_piece_by_piece_is_on_disk_what_it_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (matrices, joining):
        monkeypatch.setattr(module, "CODED_FROM", 4_096)
    count = 5_000
    matrix = unit(np.random.default_rng(1).normal(size=(count, 8)).astype(np.float32))
    numbers = np.arange(count, dtype=np.int64)
    blocks = [Block.of(numbers[place::2], matrix[place::2]) for place in (0, 1)]
    alive = [np.ones(len(block), bool) for block in blocks]
    write_arrays(tmp_path / "block", merged_blocks(blocks, alive))
    found = Block(MappedArrays(tmp_path / "block"))
    assert found.is_coded
    whole = Block.of(numbers, matrix)
    assert (found.numbers == numbers).all()
    assert (found.matrix == matrix).all()
    for name in ARRAYS:
        assert (getattr(found.codes, name) == getattr(whole.codes, name)).all(), name


@pytest.mark.parametrize("dead", [(), (0, 4_500, 7_999)])
def test_merging_takes_over_the_codes_that_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dead: tuple[int, ...]
) -> None:
    for module in (matrices, joining):
        monkeypatch.setattr(module, "CODED_FROM", 3_000)
    matrix = unit(np.random.default_rng(2).normal(size=(8_000, 6)).astype(np.float32))
    numbers = np.arange(8_000, dtype=np.int64)
    living = np.ones(8_000, bool)
    living[list(dead)] = False
    blocks = []
    for part in (slice(0, 4_000), slice(4_000, 7_000), slice(7_000, None)):  # the last has none
        path = tmp_path / f"from-{part.start}"
        write_arrays(path, Parcel.of(Block.of(numbers[part], matrix[part]).arrays()))
        blocks.append(Block(MappedArrays(path)))
    assert all(block.is_coded for block in blocks)
    monkeypatch.setattr(joining, "encode", None)
    merged = merge_blocks(blocks, [living[:4_000], living[4_000:7_000], living[7_000:]])
    right = Block.of(numbers[living], matrix[living])
    assert (merged.matrix == right.matrix).all()
    for name in ARRAYS:
        assert (getattr(merged.codes, name) == getattr(right.codes, name)).all(), name
