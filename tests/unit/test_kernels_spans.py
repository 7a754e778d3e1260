"""Where terms stand in a text, in C and by the reference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium import kernels
from trivium.kernels.spans import spans_of
from trivium.text import Span, spans

TERMS = st.frozensets(st.sampled_from(["ax", "king", "run", "東京", "cafe", "c", "r2d2"]))


@given(st.text(alphabet="axes King東京é '-running R2d2\x00\x7f", max_size=40), TERMS)
def test_wanted_spans_are_those_spans_whose_term_is_wanted(
    text: str, wanted: frozenset[str]
) -> None:
    assert spans_of(text, wanted) == [span for span in spans(text) if span.term in wanted]


@pytest.mark.parametrize("native", [kernels.native, None])
def test_spans_of_wanted_terms(native: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "native", native)
    assert spans_of("Kings ran; axes, AXED king's", frozenset({"ax", "king"})) == [
        Span("kings", "king", 0, 5),
        Span("axes", "ax", 11, 15),
        Span("axed", "ax", 17, 21),
        Span("king", "king", 22, 26),
    ]
