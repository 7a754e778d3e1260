"""Company: likeness to the best hits, by hand and by its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.company import examples, keep_company
from trivium.errors import InvalidValue
from trivium.fusion_settings import CompanySettings
from trivium.types import Candidate, Part, Ranking, ScoreKind


def ranking(**scores: float) -> Ranking:
    parts = {id: (Part("fuse", "keyword", score),) for id, score in scores.items()}
    return Ranking.sorted((Candidate.of(id, parts[id]) for id in scores), ScoreKind.BLEND)


ALONE = CompanySettings(weight=0.5, examples=1, temperature=0.1)


def test_what_is_like_the_best_overtakes_what_is_not() -> None:
    found = ranking(a=1.0, b=0.5, c=0.4)
    vectors = np.array([[1, 0], [0, 1], [0.8, 0.6]], np.float32)
    kept = keep_company(found, list(found.candidates[:1]), vectors, ALONE)
    scores = {one.id: one.score for one in kept.candidates}
    assert scores == pytest.approx({"a": 1.5, "c": 0.4 + 0.5 * 0.8, "b": 0.5})
    assert [one.id for one in kept.candidates] == ["a", "c", "b"]


def test_two_examples_count_by_their_scores() -> None:
    found = ranking(a=0.3, b=0.2, c=0.0)
    vectors = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    settings = CompanySettings(weight=1.0, examples=2, temperature=0.1)
    kept = keep_company(found, list(found.candidates[:2]), vectors, settings)
    share = math.exp(-1) / (1 + math.exp(-1))  # b is one temperature below a
    assert {one.id: one.score for one in kept.candidates}["c"] == pytest.approx(share)


def test_examples_come_from_different_units() -> None:
    found = ranking(a1=3, a2=2, b1=1)
    chosen = examples(found, {"a1": "a", "a2": "a", "b1": "b"}, 2)
    assert [one.id for one in chosen] == ["a1", "b1"]


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), min_size=1),
    st.integers(0, 9),
)
def test_the_score_stays_the_sum_of_its_parts(scores: dict[str, float], seed: int) -> None:
    found = ranking(**scores)
    vectors = np.random.default_rng(seed).normal(size=(len(found), 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen = examples(found, {id: id for id in scores}, 3)
    kept = keep_company(found, chosen, vectors, CompanySettings(weight=0.4))
    assert {one.id for one in kept.candidates} == set(scores)
    for one in kept.candidates:
        assert one.score == pytest.approx(sum(part.contribution for part in one.parts), abs=1e-9)
        assert 0 <= one.parts[-1].contribution <= 0.4 + 1e-6


def test_candidates_without_a_vector_get_nothing() -> None:
    found = ranking(a=1.0, b=0.5)
    kept = keep_company(found, list(found.candidates[:1]), np.zeros((2, 0), np.float32), ALONE)
    assert [one.score for one in kept.candidates] == [1.0, 0.5]


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidValue, match="temperature"):
        CompanySettings(weight=0.4, temperature=0)
