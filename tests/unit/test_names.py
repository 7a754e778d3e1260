"""Names with digits and Greek letters: the ways to write them, and that each finds the others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.config import IndexSettings, TrigramSettings
from trivium.ingest.draft import whole
from trivium.retrieve.names import holds_digits, together, ways
from trivium.retrieve.trigram import search
from trivium.store.reference import ReferenceStore
from trivium.types import NO_FILTER, OWNER, Document, Leg, document_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("il6", {"il 6"}),
        ("tnfα", {"tnf α", "tnfalpha", "tnf alpha"}),
        ("tnfalpha", {"tnf alpha", "tnfα", "tnf α"}),
        ("alpha", {"α"}),
        ("β", {"beta"}),
        ("hnf4a", {"hnf4 a", "hnf 4a", "hnf 4 a"}),
        ("mouse", set()),
        ("2026", set()),
        ("λογος", set()),  # a word, not a name
        ("d41d8cd98f00b204", set()),  # nobody parts a checksum
    ],
)
def test_the_other_ways_to_write_a_word(word: str, expected: set[str]) -> None:
    assert {" ".join(way) for way in ways(word)} == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("il", "6", {"il6"}),
        ("tnf", "alpha", {"tnfalpha", "tnfα"}),
        ("nf", "κb", {"nfκb", "nfkappab"}),
        ("5", "mg", {"5mg"}),
        ("battle", "axe", set()),
        ("19", "99", set()),
    ],
)
def test_neighbours_written_as_one(first: str, second: str, expected: set[str]) -> None:
    assert set(together(first, second)) == expected


@pytest.mark.parametrize(
    ("word", "expected"), [("p53", True), ("401k", True), ("1955", False), ("mouse", False)]
)
def test_a_name_holds_letters_and_digits(word: str, expected: bool) -> None:
    assert holds_digits(word) is expected


@given(st.text("abαβ12", min_size=1, max_size=6))
def test_every_way_has_the_letters_of_the_word(word: str) -> None:
    def letters(text: str) -> str:
        return text.replace("alpha", "α").replace("beta", "β")

    for way in ways(word):
        assert letters("".join(way)) == letters(word)
        assert way != (word,)


FORMS = ["il-6", "il6", "tnf-α", "tnf-alpha", "tnfα", "tnfalpha", "covid-19", "covid19"]
SAME = [("il-6", "il6"), ("tnf-α", "tnf-alpha", "tnfα", "tnfalpha"), ("covid-19", "covid19")]


def asked(query: str, *texts: str) -> Leg:
    """The trigram leg over these texts and a few others."""
    store = ReferenceStore()
    filler = [f"The weather on the hills is {word}." for word in ("cold", "fair", "bad")]
    store.put(
        [
            whole(Document(id=text, uri=f"t:{text}", title=""), text, IndexSettings(model="none"))
            for text in (*texts, *filler)
        ],
        NOW,
    )
    with store.view(OWNER) as view:
        return search(view, query, TrigramSettings(), NO_FILTER, 10, "document")


@pytest.mark.parametrize("written", FORMS)
@pytest.mark.parametrize("typed", FORMS)
def test_a_name_is_found_however_it_is_written(typed: str, written: str) -> None:
    leg = asked(typed, f"A study of {written} in mice.")
    same = any(typed in group and written in group for group in SAME)
    assert [document_of(id) for id in leg.ranking.ids] == [f"A study of {written} in mice."] * same
    if same:
        assert not leg.guessed


def test_all_ways_that_the_library_knows_count_the_same() -> None:
    leg = asked("il6 receptor", "An il-6 receptor.", "The il6 receptor.", "Some other receptor.")
    found = [document_of(id) for id in leg.ranking.ids]
    assert set(found[:2]) == {"An il-6 receptor.", "The il6 receptor."}
    assert leg.ranking.scores[1] > 2 * leg.ranking.scores[2]


@pytest.mark.parametrize("written", ["p53", "p-53"])
def test_a_name_with_digits_is_worth_more_than_another_word(written: str) -> None:
    name, word, number = f"On {written} in mice.", "On folding in mice.", "On 1955 in mice."
    leg = asked("p53 folding 1955", name, word, number)
    score = dict(zip(map(document_of, leg.ranking.ids), leg.ranking.scores, strict=True))
    assert score[name] == pytest.approx(2 * score[word], rel=0.1)
    assert score[number] == pytest.approx(score[word])


def test_a_guess_at_a_name_with_digits_is_worth_no_more_than_a_word() -> None:
    leg = asked("covidd people", "On covid19 in mice.", "On people in mice.", "On covid in mice.")
    assert document_of(leg.ranking.ids[0]) == "On people in mice."
