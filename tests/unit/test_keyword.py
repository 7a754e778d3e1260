"""How a typed query becomes words; nothing typed is ever an operator of a database."""

from __future__ import annotations

import pytest

from trivium.config import KeywordSettings
from trivium.retrieve.keyword import MOST_WORDS, read_query
from trivium.types import Clause, Phrase, WordQuery

OR = KeywordSettings()
WEB = KeywordSettings(join="websearch")


def clause(*terms: str) -> Clause:
    return Clause((Phrase(terms),))


def test_stop_words_go_and_the_rest_is_stemmed() -> None:
    read = read_query("how does JWT validation work", OR)
    assert read.words == WordQuery.any_of([clause("jwt"), clause("valid"), clause("work")])


def test_a_query_of_stop_words_keeps_them() -> None:
    assert read_query("to be or not to be", OR).terms == {"to", "be", "or", "not"}


def test_and_needs_every_word() -> None:
    words = read_query("dwarf king", KeywordSettings(join="and")).words
    assert words == WordQuery((clause("dwarf"), clause("king")), ((0, 1),))


def test_words_below_the_minimum_length_go() -> None:
    assert read_query("a b axe", KeywordSettings(minimum_length=2, stop_words="none")).terms == {
        "ax"
    }


class TestWebsearch:
    def test_words_are_joined_by_and(self) -> None:
        words = read_query("dwarf king", WEB).words
        assert words == WordQuery((clause("dwarf"), clause("king")), ((0, 1),))

    def test_quotes_make_a_phrase(self) -> None:
        assert read_query('"battle axe"', WEB).words.clauses == (clause("battl", "ax"),)

    def test_a_quote_that_is_never_closed_still_is_a_phrase(self) -> None:
        assert read_query('"battle axe', WEB).words.clauses == (clause("battl", "ax"),)

    def test_minus_excludes_a_word_or_a_phrase(self) -> None:
        words = read_query('axe -sword -"war hammer"', WEB).words
        assert words.clauses == (clause("ax"),)
        assert words.excluded == (Phrase(("sword",)), Phrase(("war", "hammer")))

    def test_or_binds_looser_than_and(self) -> None:
        words = read_query("axe or short sword", WEB).words
        assert words.alternatives == ((0,), (1, 2))

    def test_a_stop_word_is_dropped_unless_it_is_all_there_is(self) -> None:
        assert read_query("the axe", WEB).terms == {"ax"}
        assert read_query("the", WEB).terms == {"the"}

    def test_only_exclusions_find_nothing(self) -> None:
        assert read_query("-axe", WEB).words.clauses == ()


@pytest.mark.parametrize("settings", [OR, WEB], ids=["or", "websearch"])
@pytest.mark.parametrize(
    "query", ['"', "*", "-", '""', '-""', "foo:bar", "NEAR(", "\x00\x07", "🙂"]
)
def test_signs_are_harmless(query: str, settings: KeywordSettings) -> None:
    read = read_query(query, settings)
    assert read.terms <= {"foo", "bar", "near"} or "🙂" in query


def test_a_pasted_page_is_cut_and_says_so() -> None:
    read = read_query(" ".join(f"word{i}" for i in range(500)), OR)
    assert len(read.terms) == MOST_WORDS
    assert "500 words" in read.note
