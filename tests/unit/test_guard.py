"""The dilution guard: which legs are heard, by hand and with legs that draw lots."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from trivium.config import FuseSettings
from trivium.fuse import fuse, weighed
from trivium.guard import completed, guarded, trusts
from trivium.types import Candidate, Leg, LegState, Ranking, ScoreKind, Yardstick

CHUNKS = [f"c{number:03}" for number in range(200)]


def leg(name: str, scores: dict[str, float], *, measures: bool = True, depth: int = 20) -> Leg:
    """A leg over the 200 chunks; those it does not name score 0."""
    ranked = Ranking.sorted((Candidate(id, s) for id, s in scores.items()), ScoreKind.NONE)
    mean = sum(scores.values()) / len(CHUNKS)
    spread = sum((scores.get(id, 0.0) - mean) ** 2 for id in CHUNKS) / len(CHUNKS)
    yardstick = Yardstick(lambda ids: [scores.get(id, 0.0) for id in ids], mean, spread**0.5, 200)
    return Leg(name, LegState.OK, ranked.cut(depth), yardstick=yardstick if measures else None)


def about(start: int) -> dict[str, float]:
    """Scores that fall from one chunk on: two legs that start near each other agree."""
    return {id: 1 / (1 + place) for place, id in enumerate(CHUNKS[start : start + 40])}


def by_lot(seed: int) -> dict[str, float]:
    drawn = random.Random(seed).sample(CHUNKS, 40)
    return {id: 1 / (1 + place) for place, id in enumerate(drawn)}


def heard(*legs: Leg, query: str = "dwarf king") -> dict[str, float]:
    return dict(trusts(guarded(legs, query)))


def test_legs_that_agree_are_all_heard() -> None:
    legs = leg("keyword", about(10)), leg("vector", about(12)), leg("trigram", about(11))
    assert heard(*legs) == {"keyword": 1, "vector": 1, "trigram": 1}


@pytest.mark.parametrize("bad", ["keyword", "vector", "trigram"])
@pytest.mark.parametrize("measures", [True, False])
def test_a_leg_that_draws_lots_is_not_heard_and_says_so(bad: str, measures: bool) -> None:
    out = 0
    for seed in range(20):
        legs = [
            leg(name, by_lot(seed), measures=measures) if name == bad else leg(name, about(10))
            for name in ("keyword", "vector", "trigram")
        ]
        judged = {one.name: one for one in guarded(legs, "dwarf king")}
        assert all(judged[name].trust > 0 for name in judged if name != bad)
        out += judged[bad].trust == 0 and "drawn by lot" in judged[bad].note
    assert out >= 18  # a lot may fall on the right chunks


def test_of_two_legs_that_disagree_nobody_can_say_who_is_right() -> None:
    assert heard(leg("keyword", about(10)), leg("vector", about(150))) == {
        "keyword": 1,
        "vector": 1,
    }


def test_one_that_cannot_measure_is_judged_by_those_who_can() -> None:
    words = leg("keyword", about(11))
    legs = leg("vector", about(10)), words, leg("trigram", about(150), measures=False)
    assert heard(*legs) == {"vector": 1, "keyword": 1, "trigram": 0}
    assert heard(legs[0], legs[2]) == {"vector": 1, "trigram": 1}  # one voice against another


def test_of_two_legs_of_the_same_words_the_one_whose_hits_hold_them_is_believed() -> None:
    """Also where meaning knows better than both, and agrees with neither."""
    legs = leg("keyword", about(150)), leg("vector", about(80)), leg("trigram", about(10))

    def texts(chunks: Sequence[str]) -> list[str]:
        return ["Kings of the dwarves." if id < "c100" else "Travel by sea." for id in chunks]

    judged = trusts(guarded(legs, "dwarf king", texts))
    assert judged == {"keyword": 0, "vector": 1, "trigram": 1}
    same = trusts(guarded(legs, "dwarf king", lambda chunks: ["A dwarf."] * len(chunks)))
    assert same == {"keyword": 1, "vector": 1, "trigram": 1}  # both hold it: a matter of taste


def test_one_hit_in_common_is_no_agreement() -> None:
    """A lot that put the best hit of words first looks lucky to them, and they do not to it."""
    lucky = leg("vector", {**dict.fromkeys(CHUNKS[100:140], 0.5), CHUNKS[10]: 0.6})
    legs = leg("keyword", about(10)), lucky, leg("trigram", about(10))
    assert heard(*legs) == {"keyword": 1, "vector": 0, "trigram": 1}


def test_without_meaning_both_legs_of_words_are_heard_in_full() -> None:
    legs = leg("keyword", about(10)), leg("trigram", about(11))
    assert heard(*legs) == {"keyword": 1, "trigram": 1}
    guess = replace(leg("trigram", about(11)), guessed=True)
    assert heard(legs[0], guess) == {"keyword": 1, "trigram": 1}


def test_a_guess_that_nobody_shares_must_look_like_the_query() -> None:
    guess = replace(leg("trigram", about(150)), guessed=True)
    legs = leg("keyword", about(10)), leg("vector", about(12)), guess

    def trust(text: str, query: str) -> float:
        texts = guarded(legs, query, lambda chunks: [text] * len(chunks))
        return trusts(texts)["trigram"]

    assert trust("The phase spider steps out of the wall.", "phasespider") == 1
    assert trust("Gravewind is an axe.", "gravewnd") == 1
    assert trust("An invisible wall.", "invis") == 1
    assert trust("Rules for travel by sea.", "phasespider") == 0


def test_where_no_word_was_found_as_typed_a_guess_must_look_like_the_query() -> None:
    """Meaning shares it, by luck perhaps; beside words as typed that counts, alone it does not."""
    guess = replace(leg("trigram", about(10)), guessed=True)
    meaning, typed = leg("vector", about(11)), leg("keyword", about(150))

    def trust(text: str, *legs: Leg) -> float:
        judged = guarded(legs, "phasespider", lambda chunks: [text] * len(chunks))
        return trusts(judged)["trigram"]

    assert trust("The phase spider steps out of the wall.", meaning, guess) == 1
    assert trust("Rules for travel by sea.", meaning, guess) == 0
    assert trust("Rules for travel by sea.", typed, meaning, guess) == 1


def test_the_weight_of_a_silent_word_leg_goes_to_the_other() -> None:
    settings = FuseSettings("blend", weights={"keyword": 0.1, "vector": 0.4, "trigram": 0.2})
    silent = weighed(settings, {"keyword": 1, "vector": 1, "trigram": 0})
    assert silent.weights == pytest.approx({"keyword": 0.3, "vector": 0.4, "trigram": 0.0})
    halved = weighed(settings, {"keyword": 0.5, "vector": 1, "trigram": 0.5})
    assert halved.weights == pytest.approx({"keyword": 0.05, "vector": 0.4, "trigram": 0.1})


def test_a_reading_of_what_was_not_typed_is_not_judged_by_what_was() -> None:
    guess = replace(leg("trigram", about(150)), guessed=True)
    legs = leg("keyword", about(10)), leg("vector", about(12)), guess
    assert heard(*legs)["trigram"] == 1


def test_a_guess_accuses_nobody() -> None:
    guess = replace(leg("trigram", about(150)), guessed=True)
    assert heard(leg("vector", about(10)), guess) == {"vector": 1, "trigram": 1}


def test_a_few_of_the_same_score_still_stand_out_from_the_rest() -> None:
    rare_word = leg("keyword", dict.fromkeys(CHUNKS[10:25], 0.5))
    assert heard(rare_word, leg("vector", about(10))) == {"keyword": 1, "vector": 1}


def test_a_leg_without_order_is_not_heard() -> None:
    same = leg("vector", dict.fromkeys(CHUNKS[:150], 0.5))
    judged = guarded([leg("keyword", about(0)), same], "dwarf king")
    assert (judged[1].trust, "same score" in judged[1].note) == (0, True)


@pytest.mark.parametrize(
    ("query", "trust"),
    [
        ("to be or not to be", 0.5),
        ("\u0433\u043d\u043e\u043c \u043a\u043e\u0440\u043e\u043b\u044c", 0.5),
        ("東京都", 1),
        ("king", 1),
        ("the king", 1),
    ],
)
def test_word_legs_hear_half_where_they_know_little(query: str, trust: float) -> None:
    legs = leg("keyword", about(0)), leg("vector", about(1)), leg("trigram", about(0))
    assert heard(*legs, query=query) == {"keyword": trust, "vector": 1, "trigram": trust}


def test_each_leg_measures_what_the_others_found() -> None:
    words = leg("keyword", {"c000": 4.0, "c001": 2.0}, depth=1)
    meaning = leg("vector", {"c001": 0.5, "c002": 0.25})
    settings = FuseSettings("blend", beyond="score", scale={"vector": "raw"})
    fused = fuse(completed([words, meaning], settings), settings)
    assert {one.id: one.score for one in fused.candidates} == {
        "c000": 1.0,
        "c001": 2 / 4 + 0.5,
        "c002": 0.25,
    }
    [part] = [
        p for c in fused.candidates for p in c.parts if c.id == "c001" and p.name == "keyword"
    ]
    assert (part.rank, part.value, part.contribution) == (None, 2.0, 0.5)


def test_rank_fusion_gives_nothing_to_what_has_no_rank() -> None:
    words = leg("keyword", {"c000": 4.0, "c001": 2.0}, depth=1)
    settings = FuseSettings("rrf", k=60, beyond="score")
    fused = fuse(completed([words, leg("vector", {"c001": 0.5})], settings), settings)
    assert {one.id: one.score for one in fused.candidates} == {"c000": 1 / 61, "c001": 1 / 61}
