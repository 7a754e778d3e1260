"""The compiled kernels of building an index and their Python twins: the same arrays from both."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium import kernels
from trivium.index.building import Row, build
from trivium.kernels import WIDTH
from trivium.kernels.indexing import GAP, Numbered, inverted
from trivium.stemmer import stem
from trivium.store.record.rows import Filed
from trivium.text import words

compiled = pytest.mark.skipif(
    not kernels.COMPILED, reason="the kernels were installed without a C compiler"
)
ENDINGS = ["", "s", "es", "ed", "ing", "ational", "ization", "fulness", "ement", "ll", "y", "e"]
STEMMED = st.builds(
    lambda start, endings: start + "".join(endings),
    st.text("abeilosty", min_size=1, max_size=6),
    st.lists(st.sampled_from(ENDINGS), max_size=3),
)
WORDS = (
    STEMMED | st.text(max_size=8) | st.sampled_from(["naïves", "été", "東京都", "x" * 70, "é" * 40])
)
TEXTS = st.lists(WORDS, max_size=12).map(" ".join) | st.text()


def without_c(run: object) -> object:
    assert callable(run)
    native = kernels.native
    try:
        kernels.native = None
        return run()
    finally:
        kernels.native = native


def bytes_of(arrays: object) -> list[tuple[str, bytes]]:
    return [(array.dtype.str, array.tobytes()) for array in arrays]  # type: ignore[attr-defined]


@compiled
@settings(deadline=None)
@given(st.lists(st.lists(TEXTS, max_size=5), max_size=4))
def test_texts_become_the_same_numbers_and_words(batches: list[list[str]]) -> None:
    def numbered() -> list[tuple[str, bytes]]:
        known = Numbered()
        streams = [array for batch in batches for array in known.stream(batch)]
        return bytes_of([*streams, *known.sorted()])

    assert numbered() == without_c(numbered)


def test_a_text_is_its_words_and_a_gap() -> None:
    known = Numbered()
    stream, widths = known.stream(["The ax, the AXES!", "", "axes"])
    assert stream.tolist() == [0, 1, 0, 2, GAP, GAP, 2, GAP]
    assert widths.tolist() == [5, 1, 2]
    found = known.sorted()
    assert found.words.tobytes() == b"axaxesthe"
    assert found.stems.tobytes() == b"axthe"
    assert (found.rank.tolist(), found.term.tolist()) == ([2, 0, 1], [0, 0, 1])


@compiled
@settings(deadline=None, max_examples=300)
@given(st.lists(WORDS, max_size=30))
def test_stems_are_those_of_the_stemmer(texts: list[str]) -> None:
    known = Numbered()
    known.stream(texts)
    found = known.sorted()
    ends = found.word_offsets.tolist()
    raw, stems = found.words.tobytes(), found.stems.tobytes()
    for place, term in enumerate(found.term.tolist()):
        word = raw[ends[place] : ends[place + 1]].decode()
        first, last = found.stem_offsets[term : term + 2].tolist()
        assert stems[first:last].decode() == stem(word)
    assert {word for text in texts for word in words(text)} == {
        raw[start:end].decode() for start, end in pairwise(ends)
    }


@compiled
@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 30), st.integers(1, 20))
def test_a_stream_turned_round(seed: int, rows: int, forms: int) -> None:
    chance = np.random.default_rng(seed)
    widths = chance.integers(1, 9, rows * WIDTH)
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    stream = chance.integers(0, forms, int(starts[-1])).astype(np.int32)
    stream[starts[1:] - 1] = GAP
    term = np.sort(chance.integers(0, forms, forms)).astype(np.int32)
    term = np.unique(term, return_inverse=True)[1].astype(np.int32)

    def turned() -> list[tuple[str, bytes]]:
        return bytes_of(inverted(stream, starts, term, int(term[-1]) + 1))

    assert turned() == without_c(turned)


@compiled
@settings(deadline=None)
@given(st.lists(st.lists(TEXTS, min_size=WIDTH, max_size=WIDTH), max_size=8))
def test_segments_are_the_same_with_and_without_c(texts: list[list[str]]) -> None:
    def built() -> dict[str, tuple[str, bytes]]:
        rows = []
        for number, columns in enumerate(texts):
            plain = (number, f"d{number % 3}", f"u:{number % 3}", "", "", "", "all", "note")
            document = Filed(*plain, None, None, None, None, (), {}, None, None, None)
            rows.append(Row(number, 1, number, document, tuple(columns)))
        arrays = build(rows).arrays
        return {name: (array.dtype.str, array.tobytes()) for name, array in arrays.items()}

    assert built() == without_c(built)


@compiled
@settings(deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=200), st.binary(max_size=80), st.integers(-2, 9))
def test_arrays_of_any_bytes_are_turned_round_or_refused(
    stream: bytes, starts: bytes, term: bytes, count: int
) -> None:
    with suppress(ValueError):  # anything but a crash
        kernels.native.inverted(stream, starts, term, count)


@compiled
def test_arrays_that_do_not_fit_are_refused() -> None:
    starts = np.arange(WIDTH + 1)
    term = np.zeros(2, np.int32)
    for stream in ([2], [-2]):
        with pytest.raises(ValueError, match="do not fit"):
            inverted(np.array(stream * WIDTH, np.int32), starts, term, 1)
    with pytest.raises(ValueError, match="do not fit"):
        inverted(np.zeros(WIDTH, np.int32), starts, np.array([0, 1], np.int32), 1)
    with pytest.raises(ValueError, match="do not fit"):
        inverted(np.zeros(2, np.int32), starts, term, 1)


@compiled
def test_a_vocabulary_takes_texts_and_nothing_else() -> None:
    known = kernels.native.vocabulary(1)
    for wrong in ((known, (b"bytes",)), (known, ["a list"]), (object(), ("text",)), (None, ())):
        with pytest.raises((TypeError, ValueError, SystemError)):
            kernels.native.numbered(*wrong)
    with pytest.raises(UnicodeEncodeError):
        kernels.native.numbered(known, ("\ud800",))
    with pytest.raises(TypeError):
        kernels.native.numbered(known, ("fine", None))
    assert kernels.native.numbered(known, ("a b a",))[0] == np.array([0, 1, 0, -1], "i4").tobytes()
