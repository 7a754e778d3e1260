"""Tokens agree with SQLite's FTS5, whatever the text."""

from __future__ import annotations

import importlib.util
import random
import sqlite3
import string
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium import stemmer
from trivium import text as subject
from trivium.errors import UnknownName
from trivium.stemmer import stem
from trivium.text import (
    STOP_WORDS,
    Span,
    bigrams,
    content_hash,
    similarity,
    spans,
    stop_words,
    terms,
    token_estimate,
    trigrams,
    words,
)

TABLE_MAKER = Path(__file__).parents[2] / "tools" / "make_unicode61.py"

# --- the oracle ----------------------------------------------------------------------------------


class Index:
    """A real FTS5 index, asked for the tokens of one text at a time."""

    def __init__(self, tokenizer: str) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.text_factory = bytes
        self.connection.execute(
            f"CREATE VIRTUAL TABLE page USING fts5(body, content='', tokenize='{tokenizer}')"
        )
        self.connection.execute("CREATE VIRTUAL TABLE token USING fts5vocab(page, instance)")

    def tokens(self, text: str) -> list[str]:
        self.connection.execute("BEGIN")
        self.connection.execute("INSERT INTO page(rowid, body) VALUES (1, ?)", (text,))
        rows = self.connection.execute("SELECT term FROM token ORDER BY offset").fetchall()
        self.connection.execute("ROLLBACK")
        return [term.decode("utf-8", "replace") for (term,) in rows]


PORTER = Index("porter unicode61")
UNSTEMMED = Index("unicode61")

# --- texts ---------------------------------------------------------------------------------------

CHARACTERS = st.one_of(
    st.sampled_from(string.ascii_letters + string.digits),
    st.sampled_from(" \t\n\r\0\x1c\x85\xa0.,;:'\"-_/+#@()[]{}"),
    st.characters(min_codepoint=0x300, max_codepoint=0x36F),
    st.characters(min_codepoint=0xC0, max_codepoint=0x24F),
    st.characters(min_codepoint=0x370, max_codepoint=0x52F),
    st.characters(min_codepoint=0x1E00, max_codepoint=0x1FFF),
    st.characters(min_codepoint=0x2000, max_codepoint=0x2BFF),
    st.characters(min_codepoint=0x3000, max_codepoint=0x33FF),
    st.characters(min_codepoint=0x4E00, max_codepoint=0x4E40),
    st.characters(min_codepoint=0xAC00, max_codepoint=0xAC40),
    st.characters(min_codepoint=0xF900, max_codepoint=0xFFFF),
    st.characters(min_codepoint=0x1F000, max_codepoint=0x1FAFF),
    st.characters(min_codepoint=0x20000, max_codepoint=0x2A6DF),
    st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF, categories=["Cs"]),
    st.characters(),
)
INFLECTIONS = ("s", "ies", "sses", "eed", "ed", "ing", "y", "e", "ll", "er", "ator", "eli", "bli")
NOUNS = ("ational", "ization", "ation", "alism", "iveness", "fulness", "iviti", "biliti", "logi")
OTHERS = ("icate", "ative", "ical", "ement", "ment", "ent", "ion", "ou", "ous", "ive", "able")
ENDINGS = (*INFLECTIONS, *NOUNS, *OTHERS)
INFLECTED = st.builds(
    lambda start, ending, mark: start + ending + mark,
    st.text("abcdeiklosty", max_size=6),
    st.sampled_from(ENDINGS),
    st.sampled_from([" ", "", "s", ", ", "\u0301", "\u2019", "々"]),
)
TEXTS = st.one_of(
    st.text(CHARACTERS, max_size=40),
    st.lists(st.one_of(INFLECTED, CHARACTERS), max_size=20).map("".join),
    st.lists(INFLECTED, max_size=20).map("".join),
    st.text(max_size=40),
)
MANY = settings(max_examples=600, deadline=None)
SOME = settings(max_examples=250, deadline=None)


def is_cjk(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in subject._CJK_RANGES)


def cjk_code_points() -> Iterator[int]:
    for first, last in subject._CJK_RANGES:
        yield from range(first, last + 1)


# --- against FTS5 --------------------------------------------------------------------------------


@MANY
@given(TEXTS)
def test_terms_are_the_tokens_of_fts5(text: str) -> None:
    assert terms(text) == PORTER.tokens(bigrams(text))


@SOME
@given(TEXTS)
def test_words_are_the_unstemmed_tokens_of_fts5(text: str) -> None:
    assert words(text) == UNSTEMMED.tokens(bigrams(text))


@SOME
@given(st.lists(CHARACTERS, max_size=8))
def test_text_with_little_beyond_ascii_has_the_tokens_of_fts5(characters: list[str]) -> None:
    text = "Mostly Ordinary, english (text) with endin".join(["", *characters, ""])
    assert terms(text) == PORTER.tokens(bigrams(text))


@pytest.mark.parametrize(
    "alphabet", ["abeilnst", "aeiouybcdfg", "aysedlgn", "aty", "ကaegind", string.ascii_lowercase]
)
def test_stems_of_random_words_are_those_of_fts5(alphabet: str) -> None:
    chance = random.Random(alphabet)
    sample = [
        "".join(chance.choices(alphabet, k=chance.randint(1, 7))) + chance.choice(ENDINGS)
        for _ in range(4000)
    ]
    assert [stem(word) for word in sample] == PORTER.tokens(" ".join(sample))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 60, 61, 62, 63, 64, 65, 66, 100])
@pytest.mark.parametrize("letter", ["o", "ж"])
def test_only_words_of_3_to_64_bytes_are_stemmed(letter: str, size: int) -> None:
    text = " ".join((letter * size)[: size - len(ending)] + ending for ending in ("s", "ing", "y"))
    assert terms(text) == PORTER.tokens(text)


@pytest.mark.parametrize("letter", ["a", "ж", "\u1000"])
@pytest.mark.parametrize("size", [10_922, 10_923, 16_384, 16_385, 32_768, 32_769, 40_000])
def test_terms_end_where_fts5_cuts_them(letter: str, size: int) -> None:
    text = f"before {letter * size} after"
    assert terms(text) == PORTER.tokens(text)


def test_half_a_character_left_by_the_stemmer_is_a_replacement_character() -> None:
    assert terms("a\u1000ing") == PORTER.tokens("a\u1000ing") == ["a\ufffd"]


def test_cjk_characters_are_tokens_of_their_own_to_fts5() -> None:
    folds, kinds = subject._tables()
    for code in cjk_code_points():
        assert folds[code] == code
        assert kinds[code] == subject._CJK


# --- the data file -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table_maker() -> ModuleType:
    if not TABLE_MAKER.exists():
        pytest.skip("the tools are not part of this distribution")
    specification = importlib.util.spec_from_file_location("make_unicode61", TABLE_MAKER)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_data_file_is_what_fts5_says(table_maker: ModuleType) -> None:
    chance = random.Random(61)
    beyond = chance.sample(range(0xE000, 0x110000), 20_000)
    sample = [*range(0x3400), *chance.sample(range(0x3400, 0xD800), 5000), *beyond]
    found = table_maker.classify(sample)
    folds, kinds = subject._tables()
    for code in sample:
        swallowed = code in found.swallowed
        expected = " " if code in found.separators else found.folds.get(code, code)
        assert folds[code] == (None if swallowed else expected), hex(code)
        assert (kinds[code] == subject._SEPARATOR) == (code in found.separators), hex(code)
        assert (kinds[code] == subject._SWALLOWED) == swallowed, hex(code)


def test_ascii_is_treated_alike_with_and_without_the_tables() -> None:
    text = "".join(map(chr, range(128)))
    assert words(text + " é") == [*words(text), "e"]
    assert words(text + "é" * 100) == [*words(text), "e" * 100]
    assert list(spans(text + " é"))[:-1] == list(spans(text))


def test_no_blank_of_python_is_a_token_character() -> None:
    folds, _ = subject._tables()
    blanks = [code for code in range(0x110000) if chr(code).isspace()]
    assert {folds[code] for code in blanks} == {" "}


# --- spans ---------------------------------------------------------------------------------------


@MANY
@given(TEXTS)
def test_spans_are_the_words_and_terms_in_order(text: str) -> None:
    found = list(spans(text))
    assert [span.word for span in found] == words(text)
    assert [span.term for span in found] == terms(text)


@MANY
@given(TEXTS)
def test_spans_point_at_their_words(text: str) -> None:
    previous = Span("", "", 0, 0)
    for span in spans(text):
        piece = text[span.start : span.end]
        assert words(piece) == [span.word]
        if is_cjk(piece[0]):
            assert piece == span.word
            assert span.start >= previous.start
        else:
            assert span.start >= previous.end
            assert UNSTEMMED.tokens(piece) == [span.word]
        previous = span


def test_spans_of_mixed_text() -> None:
    assert list(spans("Cafe\u0301s in 東京都, Ångström")) == [
        Span("cafes", "cafe", 0, 6),
        Span("in", "in", 7, 9),
        Span("東京", "東京", 10, 12),
        Span("京都", "京都", 11, 13),
        Span("angstrom", "angstrom", 15, 23),
    ]


def test_spans_of_ascii() -> None:
    assert list(spans("Running, C++")) == [Span("running", "run", 0, 7), Span("c", "c", 9, 10)]


# --- examples ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n", []),
        ("running", ["run"]),
        ("Relational databases", ["relat", "databas"]),
        ("hopping hoped controlled", ["hop", "hope", "control"]),
        ("café", ["cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("\u0301cafe", ["cafe"]),
        ("C++", ["c"]),
        ("node-js", ["node", "js"]),
        ("snake_case", ["snake", "case"]),
        ("Ethan's manager", ["ethan", "s", "manag"]),
        ("東京都", ["東京", "京都"]),
        ("木", ["木"]),
        ("東京Tower", ["東京", "tower"]),
        ("スーパー", ["スー", "ーパ", "パー"]),
        ("ｽｰﾊﾟ", ["ｽｰ", "ｰﾊ", "ﾊﾟ"]),
        ("한국어 말", ["한국", "국어", "말"]),
        ("𠀀𠀁𠀂", ["𠀀𠀁", "𠀁𠀂"]),
        ("Привет, МИР", ["привет", "мир"]),
        ("ΣΊΣΥΦΟΣ", ["σίσυφοσ"]),
        ("straße STRASSE", ["straß", "strass"]),
        ("nul\0byte", ["nul", "byte"]),
        ("lone\ud800surrogate", ["lone", "surrog"]),
        ("smile 😀 now", ["smile", "now"]),
    ],
)
def test_terms_of(text: str, expected: list[str]) -> None:
    assert terms(text) == expected
    assert PORTER.tokens(bigrams(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京都", "東京 京都"),
        ("東京都に", "東京 京都 都に"),
        ("木", "木"),
        ("(木)", "( 木 )"),
        ("in東京都now", "in 東京 京都 now"),
        ("in 東京\nnow", "in 東京\nnow"),
        ("a\0b", "a b"),
        ("é\0é", "é é"),
        ("a\udfffb", "a\ufffdb"),
    ],
)
def test_bigrams_of(text: str, expected: str) -> None:
    assert bigrams(text) == expected


@SOME
@given(TEXTS)
def test_bigrams_twice_are_bigrams_once(text: str) -> None:
    once = bigrams(text)
    assert bigrams(once) == once
    once.encode()


@SOME
@given(TEXTS)
def test_text_without_cjk_stays_the_same_object(text: str) -> None:
    plain = "".join(
        character
        for character in text
        if not is_cjk(character) and character != "\0" and not "\ud800" <= character <= "\udfff"
    )
    assert bigrams(plain) is plain


def test_the_stem_cache_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stemmer, "_STEM_CACHE_SIZE", 10)
    cached = stemmer._Stems()
    assert [cached[f"{letter}unning"] for letter in string.ascii_lowercase[:26]]
    assert len(cached) <= 10
    assert cached["x" * 1000] == "x" * 1000
    assert "x" * 1000 not in cached


# --- trigrams ------------------------------------------------------------------------------------


def test_trigrams_are_those_of_pg_trgm() -> None:
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}
    assert trigrams("Cat") == trigrams("cat")
    assert trigrams("a") == {"  a", " a "}
    assert trigrams("") == frozenset()


def test_similarity_is_that_of_pg_trgm() -> None:
    # The PostgreSQL manual's word and two words: 4 shared of 4 + 7.
    assert similarity(trigrams("word"), trigrams("two") | trigrams("words")) == pytest.approx(
        4 / 11
    )
    assert similarity(trigrams("cat"), trigrams("cat")) == 1.0
    assert similarity(trigrams("cat"), trigrams("dog")) == 0.0
    assert similarity(frozenset(), frozenset()) == 0.0


# --- stop words ----------------------------------------------------------------------------------


def test_a_question_is_left_with_its_content_words() -> None:
    left = [word for word in words("How does JWT validation work?") if word not in STOP_WORDS]
    assert left == ["jwt", "validation", "work"]


def test_contractions_are_wholly_stop_words() -> None:
    assert set(words("I don't, it's, we'll, they've, you're, isn't, he'd, I'm")) <= STOP_WORDS


def test_stop_words_are_folded_single_words() -> None:
    assert stop_words() == stop_words("english") == STOP_WORDS
    assert all(words(word) == [word] for word in STOP_WORDS)


@pytest.mark.parametrize("language", ["klingon", "englsh", "../stopwords/english"])
def test_an_unknown_language_is_named(language: str) -> None:
    with pytest.raises(UnknownName, match="english"):
        stop_words(language)


# --- measures ------------------------------------------------------------------------------------


def test_content_hash_takes_any_text() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert content_hash("") == empty
    assert content_hash("é") == "4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c"
    assert content_hash("\ud800") != content_hash("\ud801")


def test_token_estimate_rounds_up() -> None:
    assert [token_estimate("x" * size) for size in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]
