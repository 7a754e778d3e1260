"""How sure a ranking is: every number here is worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.confidence import Road, competing, confidence, roads
from trivium.types import Candidate, Leg, LegState, Ranking


def leg(name: str, *scored: tuple[str, float], state: LegState = LegState.OK) -> Leg:
    return Leg(name, state, Ranking(tuple(Candidate(id, score) for id, score in scored)))


def test_all_roads_agree_and_nobody_is_near() -> None:
    # agreement (1 + 1) / 2 = 1; margin ((10 − 5) / 10 + (0.8 − 0.2) / 0.8) / 2 = 0.625
    given = [Road({"a": 10.0, "b": 5.0}), Road({"a": 0.8, "c": 0.2})]
    assert confidence("a", given) == 0.8125


def test_only_one_unit_is_found() -> None:
    assert confidence("a", [Road({"a": 3.0}), Road({"a": 0.4})]) == 1.0


def test_the_roads_contradict_each_other() -> None:
    # agreement (1 + 1/2) / 2 = 0.75; margin ((10 − 9) / 10 + 0) / 2 = 0.05
    given = [Road({"a": 10.0, "b": 9.0}), Road({"b": 0.8, "a": 0.7})]
    assert confidence("a", given) == 0.4
    assert competing(["a", "b"], given) == ("a", "b")


def test_a_road_that_found_nothing_disagrees() -> None:
    # agreement (1 + 0) / 2; margin (1 + 0) / 2
    assert confidence("a", [Road({"a": 3.0}), Road({})]) == 0.5


def test_one_road_alone_has_its_margin_only() -> None:
    assert confidence("a", [Road({"a": 10.0, "b": 7.5})]) == 0.25
    assert confidence("a", [Road({"a": 10.0, "b": 10.0})]) == 0.0


def test_roads_count_as_in_fusion() -> None:
    # agreement (3·1 + 1·1/2) / 4 = 0.875; margin (3·0.5 + 1·0) / 4 = 0.375
    given = [Road({"a": 4.0, "b": 2.0}, 3.0), Road({"b": 0.8, "a": 0.7}, 1.0)]
    assert confidence("a", given) == 0.625


def test_nothing_found_is_not_sure_at_all() -> None:
    assert confidence("a", []) == 0.0
    assert confidence("a", [Road({})]) == 0.0


def test_a_negative_score_is_no_lead() -> None:
    assert confidence("a", [Road({"a": -0.1, "b": -0.2})]) == 0.0
    assert confidence("a", [Road({"a": 0.2, "b": -0.2})]) == 1.0


def test_roads_are_counted_in_units_and_only_those_that_answered() -> None:
    units = {"a1": "a", "a2": "a", "b1": "b", "c1": "c"}
    legs = [
        leg("keyword", ("a1", 9.0), ("a2", 8.0), ("b1", 7.0)),
        leg("vector", state=LegState.FAILED),
        leg("trigram", state=LegState.EMPTY),
        leg("other", ("c1", 1.0)),
    ]
    assert roads(legs, lambda ids: [units[id] for id in ids], {"keyword": 0.5, "other": 0.0}) == [
        Road({"a": 9.0, "b": 7.0}, 0.5),
        Road({}, 1.0),
    ]


def test_those_compete_that_a_road_prefers() -> None:
    given = [Road({"d": 2.0, "a": 1.0}), Road({"a": 2.0}), Road({})]
    assert competing(["a", "b", "c", "d", "e"], given) == ("a", "b", "d")
    assert competing(["a"], given) == ()
    assert competing([], []) == ()


scores = st.floats(-2, 50)
lists = st.dictionaries(st.sampled_from("abcdef"), scores, max_size=6).map(
    lambda found: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
)


@given(st.lists(st.builds(Road, lists, st.floats(0.01, 5)), max_size=4), st.sampled_from("abcdef"))
def test_confidence_is_a_share_of_one(given: list[Road], first: str) -> None:
    assert 0.0 <= confidence(first, given) <= 1.0


@given(lists.filter(lambda found: len(found) > 1 and max(found.values()) > 0), st.integers(2, 4))
def test_agreeing_roads_are_never_called_ambiguous_at_a_half(
    found: dict[str, float], count: int
) -> None:
    assert confidence(next(iter(found)), [Road(found)] * count) >= 0.5 - 1e-6


def test_confidence_is_rounded_so_that_it_is_the_same_everywhere() -> None:
    third = Road({"a": 3.0, "b": 2.0})
    assert confidence("a", [third]) == pytest.approx(1 / 3, abs=1e-6)
    assert confidence("a", [third]) == 0.333333
