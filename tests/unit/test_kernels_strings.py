"""Strings of a sorted list are found where a plain search finds them, compiled or not."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium import kernels
from trivium.index.arrays import Strings
from trivium.kernels.strings import lower_bound

words = st.text(st.sampled_from("aab\0é字\ud800"), max_size=12)


@given(st.sets(words, max_size=30), st.one_of(words, st.none()), st.booleans())
def test_the_place_of_a_string(held: set[str], asked: str | None, with_heads: bool) -> None:
    raw = sorted(one.encode("utf-8", "surrogatepass") for one in held)
    strings = [one.decode("utf-8", "surrogatepass") for one in raw]
    wanted = strings[len(strings) // 2] if asked is None and strings else asked or ""
    packed = Strings.pack(strings)
    if with_heads:
        packed = Strings.of(packed.sorted_arrays("term"), "term")
    key = wanted.encode("utf-8", "surrogatepass")
    expected, native = bisect_left(raw, key), kernels.native
    for used in (native, None):
        kernels.native = used
        try:
            assert packed.lower_bound(wanted) == expected
            assert packed.find(wanted) == (expected if wanted in held else -1)
        finally:
            kernels.native = native


@given(st.lists(st.one_of(words, st.text("ab", max_size=3)), max_size=9))
def test_what_is_packed_is_there_as_it_was(strings: list[str]) -> None:
    packed = Strings.pack(strings)
    encoded = [one.encode("utf-8", "surrogatepass") for one in strings]
    assert packed.blob.tobytes() == b"".join(encoded)
    assert np.diff(packed.offsets).tolist() == [len(one) for one in encoded]
    assert packed.all() == strings == [packed[at] for at in range(len(strings))]


@pytest.mark.skipif(not kernels.COMPILED, reason="installed without a C compiler")
def test_lists_of_a_damaged_file_are_refused() -> None:
    blob = np.frombuffer(b"axe", np.uint8)
    for offsets, heads in (([0, 9], None), ([-1, 3], None), ([2, 1], None), ([0, 3], [1, 2])):
        numbers = None if heads is None else np.array(heads, np.uint64)
        with pytest.raises(ValueError, match="do not fit"):
            lower_bound(blob, np.array(offsets), numbers, b"axe")
