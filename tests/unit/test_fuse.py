"""Fusion: values worked out by hand, and laws that hold for any rankings."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.config import FuseSettings
from trivium.fuse import METHODS, fuse, group
from trivium.types import Candidate, Ranking, ScoreKind


def ranking(**scores: float) -> Ranking:
    return Ranking.sorted((Candidate(id, score) for id, score in scores.items()), ScoreKind.NONE)


def scores(fused: Ranking) -> dict[str, float]:
    return {candidate.id: candidate.score for candidate in fused.candidates}


legs_of_scores = st.dictionaries(
    st.sampled_from(["keyword", "vector", "trigram"]),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 5).map(float), max_size=6),
    max_size=3,
)
methods = st.sampled_from(sorted(METHODS))


class TestByHand:
    def test_rrf_sums_reciprocal_ranks_from_one(self) -> None:
        fused = fuse({"keyword": ranking(a=9, b=3), "vector": ranking(b=0.8)}, FuseSettings(k=60))
        assert scores(fused) == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61})
        assert [candidate.id for candidate in fused.candidates] == ["b", "a"]

    def test_rrf_with_weights(self) -> None:
        settings = FuseSettings(k=60, weights={"vector": 0.6, "keyword": 0.4})
        fused = fuse({"keyword": ranking(a=9), "vector": ranking(b=0.8)}, settings)
        assert scores(fused) == pytest.approx({"a": 0.4 / 61, "b": 0.6 / 61})

    def test_first_in_all_three_lists_with_k_10(self) -> None:
        legs = {name: ranking(a=2, b=1) for name in ("keyword", "vector", "trigram")}
        assert scores(fuse(legs, FuseSettings(k=10)))["a"] == pytest.approx(3 / 11)

    def test_union_gives_nothing(self) -> None:
        fused = fuse({"keyword": ranking(b=9), "vector": ranking(a=1)}, FuseSettings("union"))
        assert scores(fused) == {"a": 0.0, "b": 0.0}
        assert [part.value for part in fused.candidates[1].parts] == [9]

    def test_relative_stretches_each_leg_to_one(self) -> None:
        legs = {"keyword": ranking(a=10, b=6, c=2), "vector": ranking(a=0.5)}
        assert scores(fuse(legs, FuseSettings("relative"))) == {"a": 2.0, "b": 0.5, "c": 0.0}

    def test_dbsf_stretches_three_deviations(self) -> None:
        fused = fuse({"keyword": ranking(a=3, b=1)}, FuseSettings("dbsf"))  # mean 2, deviation 1
        assert scores(fused) == pytest.approx({"a": 0.5 + 1 / 6, "b": 0.5 - 1 / 6})

    def test_between_is_the_geometric_mean_of_best_and_ceiling(self) -> None:
        found = replace(ranking(a=4, b=2), ceiling=9.0)  # √(4 · 9) = 6
        settings = FuseSettings("blend", scale={"keyword": "between"})
        assert scores(fuse({"keyword": found}, settings)) == pytest.approx({"a": 4 / 6, "b": 2 / 6})

    def test_trust_multiplies_a_weight(self) -> None:
        legs = {"keyword": ranking(a=9), "vector": ranking(b=0.8)}
        fused = fuse(legs, FuseSettings(k=60, weights={"vector": 0.6}), {"vector": 0.5})
        assert scores(fused) == pytest.approx({"a": 1 / 61, "b": 0.3 / 61})

    def test_blend_divides_by_the_best_or_takes_scores_as_they_are(self) -> None:
        settings = FuseSettings(
            "blend", weights={"keyword": 0.4, "vector": 0.6}, scale={"vector": "raw"}
        )
        fused = fuse({"keyword": ranking(a=8, b=4), "vector": ranking(a=0.5)}, settings)
        assert scores(fused) == pytest.approx({"a": 0.4 + 0.3, "b": 0.2})

    def test_blend_by_the_ceiling_is_a_share_of_what_was_possible(self) -> None:
        settings = FuseSettings("blend", scale={"keyword": "ceiling"})
        words = replace(ranking(a=8, b=4), ceiling=16.0)
        assert scores(fuse({"keyword": words}, settings)) == {"a": 0.5, "b": 0.25}


class TestLaws:
    @given(legs_of_scores, methods, st.randoms(use_true_random=False))
    def test_the_order_of_the_lists_does_not_matter(
        self, legs: dict[str, dict[str, float]], method: str, chance: random.Random
    ) -> None:
        names = list(legs)
        chance.shuffle(names)
        settings = FuseSettings(method)  # type: ignore[arg-type]  # drawn from the registry
        straight = fuse({name: ranking(**legs[name]) for name in legs}, settings)
        shuffled = fuse({name: ranking(**legs[name]) for name in names}, settings)
        assert scores(straight) == scores(shuffled)
        assert [c.id for c in straight.candidates] == [c.id for c in shuffled.candidates]

    @given(legs_of_scores, methods)
    def test_the_score_is_the_sum_of_its_parts_and_ties_go_by_id(
        self, legs: dict[str, dict[str, float]], method: str
    ) -> None:
        settings = FuseSettings(method)  # type: ignore[arg-type]
        fused = fuse({name: ranking(**found) for name, found in legs.items()}, settings)
        assert set(scores(fused)) == {id for found in legs.values() for id in found}
        for candidate in fused.candidates:
            total = sum(part.contribution for part in candidate.parts)
            assert candidate.score == pytest.approx(total, abs=1e-9)
        order = [(-candidate.score, candidate.id) for candidate in fused.candidates]
        assert order == sorted(order)

    @given(
        st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 5).map(float), min_size=2),
        methods,
    )
    def test_within_one_list_a_better_rank_never_scores_less(
        self, found: dict[str, float], method: str
    ) -> None:
        settings = FuseSettings(method)  # type: ignore[arg-type]
        fused = scores(fuse({"keyword": ranking(**found)}, settings))
        by_rank = [fused[candidate.id] for candidate in ranking(**found).candidates]
        assert by_rank == sorted(by_rank, reverse=True)


def test_group_keeps_the_best_chunk_of_each_unit() -> None:
    grouped = group(ranking(a1=3, a2=2, b1=1), ["a", "a", "b"])
    assert [candidate.id for candidate in grouped.candidates] == ["a1", "b1"]
