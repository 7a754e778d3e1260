"""Unit vectors and cosines: the same bytes alone and in company."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium import vectors
from trivium.errors import InvalidValue
from trivium.vectors import cosines, unit


def test_a_cosine_is_the_same_alone_and_in_company() -> None:
    rows = unit(np.random.default_rng(1).normal(size=(50, 384)))
    together = cosines(rows, rows[7]).tolist()
    assert [cosines(rows[at : at + 1], rows[7])[0] for at in range(50)] == together


@given(st.integers(0, 10_000), st.integers(1, 400), st.sampled_from([0.0, 1e-9, 1.0, 1e9]))
def test_a_vector_is_scaled_alone_as_among_others(seed: int, width: int, size: float) -> None:
    rows = np.random.default_rng(seed).normal(size=(3, width)) * size
    together = unit(rows)
    for row, scaled in zip(rows, together, strict=True):
        assert unit(row).tobytes() == scaled.tobytes()
        assert unit(scaled).tobytes() == scaled.tobytes()
        assert float(np.square(scaled.astype(np.float64)).sum()) == pytest.approx(float(size > 0))


@given(st.integers(0, 10_000), st.integers(0, 9), st.integers(1, 40), st.integers(1, 10))
def test_pieces_are_scaled_as_all_at_once(seed: int, count: int, width: int, piece: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    before = rows.tobytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "PIECE", piece)
        scaled = unit(rows)
    assert scaled.shape == rows.shape
    assert scaled.tobytes() == b"".join(unit(row).tobytes() for row in rows)
    assert rows.tobytes() == before


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_no_vector_is_refused(wrong: float) -> None:
    for wrongly in (np.array([1.0, wrong]), np.array([[1.0, 0.0], [1.0, wrong]])):
        with pytest.raises(InvalidValue, match="embed the text again"):
            unit(wrongly)
