"""Where terms stand in a text, in C and by the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium import kernels
from trivium.kernels.spans import places_of
from trivium.text import spans

TERMS = st.frozensets(st.sampled_from(["ax", "king", "run", "東京", "cafe", "c", "r2d2"]))


@given(st.text(alphabet="axes King東京é '-running R2d2\x00\x7f", max_size=40), TERMS)
def test_places_are_those_of_spans_whose_term_is_wanted(text: str, wanted: frozenset[str]) -> None:
    assert places_of(text, wanted) == [span[1:] for span in spans(text) if span.term in wanted]


@pytest.mark.parametrize("native", [kernels.native, None])
def test_places_of_wanted_terms(native: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "native", native)
    assert places_of("Kings ran; axes, AXED king's", frozenset({"ax", "king"})) == [
        ("king", 0, 5),
        ("ax", 11, 15),
        ("ax", 17, 21),
        ("king", 22, 26),
    ]
