"""Lists of several segments brought together, in C and in NumPy: the same numbers from both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium import kernels
from trivium.index.building import Row, build
from trivium.index.merging import merge
from trivium.index.segment import Segment
from trivium.kernels.indexing import Forms, forms_together
from trivium.kernels.together import Positions, Postings, positions_together, postings_together
from trivium.store.record.rows import Filed

compiled = pytest.mark.skipif(
    not kernels.COMPILED, reason="the kernels were installed without a C compiler"
)
WORDS = st.sampled_from(
    ["ax", "axe", "axes", "bow", "bows", "été", "tie", "ties", "tied", "東京都"]
)
TEXT = st.lists(WORDS, max_size=40).map(" ".join)
ROW = st.tuples(st.integers(0, 2), TEXT, TEXT, TEXT)
NOTHING = np.empty(0, np.int64)


def without_c(run: object) -> object:
    assert callable(run)
    native = kernels.native
    try:
        kernels.native = None
        return run()
    finally:
        kernels.native = native


def row(number: int, segment: int, title: str, body: str, tags: str) -> Row:
    named = number % 7 * 3 + segment
    plain = (named, f"d{named}", f"u:{named}", "", "", "", "all", "note")
    document = Filed(*plain, None, None, None, None, (), {}, None, None, None)
    return Row(number, 1, number, document, (title, "", tags, body, "", ""))


def arrays_of(segment: Segment) -> dict[str, tuple[str, bytes]]:
    return {name: (one.dtype.str, one.tobytes()) for name, one in segment.arrays.items()}


@settings(deadline=None)
@given(st.lists(st.tuples(ROW, st.booleans()), max_size=30))
def test_segments_become_one_with_and_without_c(
    told: list[tuple[tuple[int, str, str, str], bool]],
) -> None:
    rows: dict[int, list[Row]] = {}
    living: dict[str, bool] = {}
    for number, ((segment, *columns), lives) in enumerate(told):
        made = row(number, segment, *columns)
        rows.setdefault(segment, []).append(made)
        living[made.id] = lives
    segments = [build(some) for some in rows.values()]
    alive = [
        np.array([living[id] for id in one.ids(np.arange(len(one)))], bool) for one in segments
    ]

    def merged() -> dict[str, tuple[str, bytes]]:
        return arrays_of(merge(segments, alive))

    left = [one for some in rows.values() for one in some if living[one.id]]
    if segments:
        assert merged() == without_c(merged)
    if left:
        assert merged() == arrays_of(build(sorted(left, key=lambda one: one.number)))


def positions(*values: int, numbers: tuple[int, ...], offsets: tuple[int, ...]) -> Positions:
    """Of a segment of three rows of ten words each: the second is dead, the last moves by 70."""
    return Positions(
        np.array(offsets, np.int64),
        np.array(numbers, np.int64),
        np.array(values, np.uint8),
        np.array([0, -1, 9]),
        np.array([5, 0, 70]),
        np.array([10, 20, 30]),
        np.array([0]),
    )


@pytest.mark.parametrize("native", [pytest.param(True, marks=compiled), False])
def test_positions_are_moved_with_their_rows(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not native:
        monkeypatch.setattr(kernels, "native", None)
    one = positions(3, 12, 25, 4, numbers=(7, 8), offsets=(0, 3, 4))
    other = positions(1, 28, numbers=(7,), offsets=(4, 6))
    found = positions_together([one, other], 7, 9, 200)
    assert found.tolist() == [6, 8, 95, 98, 9]


@compiled
def test_a_position_beyond_the_rows_is_refused() -> None:
    for value in (30, 31, 32, 255):
        with pytest.raises(ValueError, match="do not fit each other"):
            positions_together([positions(value, numbers=(0,), offsets=(0, 1))], 0, 1, 200)
    with pytest.raises(ValueError, match="do not fit each other"):
        positions_together([positions(1, 2, numbers=(0,), offsets=(0, 3))], 0, 1, 200)
    with pytest.raises(ValueError, match="do not fit each other"):
        positions_together([positions(1, 2, numbers=(0, 1), offsets=(0, 3, 2))], 0, 2, 200)


def postings(rows: list[int], extra: list[int], column: int = 0) -> Postings:
    return Postings(
        np.array([0, len(rows)]),
        np.array([0, len(extra)]),
        np.array([4]),
        np.array(rows, np.int32),
        np.ones(len(rows), np.uint8),
        np.array(extra, np.int32),
        np.full(len(extra), column, np.uint8),
        np.full(len(extra), 2, np.uint16),
        np.array([1, -1, 3]),
    )


@pytest.mark.parametrize("native", [pytest.param(True, marks=compiled), False])
def test_postings_are_in_the_order_of_their_new_rows(
    native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not native:
        monkeypatch.setattr(kernels, "native", None)
    one = postings([0, 1, 2], [1, 2])
    other = postings([0, 1], [0])._replace(place=np.array([0, 2]))
    found = postings_together([one, other], 3, 5, 4, (1, 2))
    assert (found.counts.tolist(), found.extra_counts.tolist()) == ([0, 4], [0, 2])
    assert (found.rows.tolist(), found.body.tolist()) == ([0, 1, 2, 3], [1, 1, 1, 1])
    assert (found.extra_posting.tolist(), found.extra_count.tolist()) == ([0, 3], [2, 2])


@compiled
def test_damaged_postings_are_refused() -> None:
    damaged = (
        postings([3], []),
        postings([-1], []),
        postings([0], [1]),
        postings([0], [-1]),
        postings([0], [0], column=6),
        postings([0, 1], [0])._replace(extra_count=np.empty(0, np.uint8)),
        postings([0, 1], [0])._replace(offsets=np.array([0, 3])),
    )
    for one in damaged:
        with pytest.raises(ValueError, match="do not fit each other"):
            postings_together([one], 4, 5, 4, (1, 2))


def forms(stems: str, words: str, uses: list[int]) -> Forms:
    """Of a segment whose stems have a form of each length from one on."""
    return Forms(
        np.frombuffer(stems.encode(), np.uint8),
        np.arange(len(stems) + 1),
        np.arange(len(stems) + 1),
        np.frombuffer(words.encode(), np.uint8),
        np.array([0, *np.cumsum(range(1, len(stems) + 1))]),
        np.array(uses, np.int64),
    )


@pytest.mark.parametrize("native", [pytest.param(True, marks=compiled), False])
def test_forms_that_are_used_are_told_once(native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not native:
        monkeypatch.setattr(kernels, "native", None)
    found = forms_together([forms("ac", "acc", [1, 2]), forms("ab", "abb", [3, 0])])
    assert found.rank.tolist() == [0, 1, 0, -1]
    assert (found.words.tobytes(), found.word_offsets.tolist()) == (b"acc", [0, 1, 3])
    assert (found.stems.tobytes(), found.stem_offsets.tolist()) == (b"ac", [0, 1, 2])
    assert found.term.tolist() == [0, 1]
    assert forms_together([]).word_offsets.tolist() == [0]


@compiled
def test_a_damaged_vocabulary_is_refused() -> None:
    whole = forms("ac", "acc", [1, 2])
    damaged = (
        whole._replace(stem_offsets=np.array([0, 1, 3])),
        whole._replace(stem_offsets=np.array([0, 2, 1])),
        whole._replace(stem_offsets=np.array([-1, 1, 2])),
        whole._replace(forms_of=np.array([0, 1, 3])),
        whole._replace(forms_of=np.array([0, 1])),
        whole._replace(word_offsets=np.array([0, 1])),
        whole._replace(word_offsets=np.array([0, 1, 4])),
        whole._replace(uses=np.array([1, 2, 3])),
        whole._replace(words=np.empty(0, np.uint8)),
    )
    for one in damaged:
        with pytest.raises(ValueError, match="do not fit each other"):
            forms_together([whole, one])
