"""One definition of tokens, for ingestion, keyword search and TF-IDF.

`terms` gives what SQLite's FTS5 with `tokenize='porter unicode61'` puts into its index for the
text that `bigrams` returns, token for token. FTS5 folds and classifies characters by tables of
its own, which are Unicode 6.1 with unassigned code points as token characters; they are kept in
`unicode61.json`, which `tools/make_unicode61.py` reads out of FTS5.

Chinese, Japanese and Korean are written without dependable blanks between words, so runs of
these scripts are indexed as overlapping pairs of characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from hashlib import sha256
from pathlib import Path
from string import ascii_letters, ascii_uppercase, digits
from typing import NamedTuple

from trivium.errors import UnknownName, nearest
from trivium.stemmer import STEMS

_HERE = Path(__file__).parent
_STOP_WORD_FILES = _HERE / "stopwords"
_UNICODE61 = _HERE / "unicode61.json"

# --- searchable text -----------------------------------------------------------------------------

_CJK_RANGES = (
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # kana repeat marks
    (0x3038, 0x303C),  # Hangzhou numerals, iteration marks
    (0x3041, 0x3096),  # Hiragana
    (0x309D, 0x309F),  # Hiragana iteration marks
    (0x30A1, 0x30FA),  # Katakana
    (0x30FC, 0x30FF),  # prolonged sound mark, Katakana iteration marks
    (0x3131, 0x318E),  # Hangul compatibility Jamo
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97C),  # Hangul Jamo extended A
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xD7B0, 0xD7FB),  # Hangul Jamo extended B
    (0xF900, 0xFAFF),  # Han compatibility
    (0xFF66, 0xFF9F),  # halfwidth Katakana
    (0xFFA0, 0xFFDC),  # halfwidth Hangul
    (0x1AFF0, 0x1B16F),  # Kana extensions and supplement
    (0x20000, 0x2FFFD),  # supplementary ideographic plane
    (0x30000, 0x3FFFD),  # tertiary ideographic plane
)
"""Only characters that FTS5 takes for token characters and does not fold: then a pair of them
is always exactly one token."""

_SURROGATES = (0xD800, 0xDFFF)


def _character_class(*ranges: tuple[int, int]) -> str:
    return "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges) + "]"


@cache
def _cjk_runs() -> re.Pattern[str]:
    return re.compile(_character_class(*_CJK_RANGES) + "+")


@cache
def _needs_change() -> re.Pattern[str]:
    return re.compile(_character_class((0, 0), _SURROGATES, *_CJK_RANGES))


_LONE_SURROGATE = re.compile(_character_class(_SURROGATES))


def bigrams(text: str) -> str:
    """The text as it goes into the full-text index; always encodable as UTF-8.

    Runs of CJK characters become overlapping pairs with blanks between and around them; a run
    of one or two characters stays itself. NUL becomes a blank, because SQLite's own functions
    (highlight, length, LIKE) stop or stumble at it, and a lone surrogate becomes U+FFFD; both
    are separators to FTS5 either way. Any other text is returned as the same object. Applying
    it twice gives the same as applying it once.
    """
    if text.isascii():
        return text.replace("\0", " ")
    if _needs_change().search(text) is None:
        return text
    clean = _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text.replace("\0", " "))
    return _cjk_runs().sub(_spread, clean)


def is_cjk(text: str) -> bool:
    """Whether the text is nothing but Chinese, Japanese or Korean signs."""
    return _cjk_runs().fullmatch(text) is not None


def _spread(match: re.Match[str]) -> str:
    run, text = match[0], match.string
    start, end = match.span()
    before = "" if start == 0 or text[start - 1].isspace() else " "
    after = "" if end == len(text) or text[end].isspace() else " "
    return before + " ".join(_pairs(run)) + after


def _pairs(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[index : index + 2] for index in range(len(run) - 1)]


# --- tokens --------------------------------------------------------------------------------------

_SEPARATOR, _TOKEN, _SWALLOWED, _CJK = " ", "t", "s", "c"
_UNIT = re.compile(f"{_CJK}+|{_TOKEN}[{_TOKEN}{_SWALLOWED}]*")
_ASCII_WORD = re.compile("[0-9A-Za-z]+")
_ASCII_FOLDS = {code: " " for code in range(128) if chr(code) not in ascii_letters + digits}
_ASCII_FOLDS |= {ord(letter): letter.lower() for letter in ascii_uppercase}
_BYTE_FOLDS = bytes(range(128)).decode().translate(_ASCII_FOLDS).encode() + bytes(range(128, 256))
_BEYOND_ASCII = re.compile("[^\0-\x7f]+")


class _Folds(dict[int, str | int | None]):
    """What becomes of a code point: a blank, another character, nothing, or itself."""

    def __missing__(self, code: int) -> int:
        self[code] = code  # str.translate is slow where a lookup raises
        return code


class _Kinds(dict[int, str]):
    """Whether a code point separates tokens, makes one, is swallowed inside one, or is CJK."""

    def __missing__(self, code: int) -> str:
        kind = _CJK if _cjk_runs().match(chr(code)) else _TOKEN
        self[code] = kind
        return kind


class _Tables(NamedTuple):
    folds: _Folds
    kinds: _Kinds


@cache
def _tables() -> _Tables:
    """FTS5's tables; read when the first text beyond ASCII comes."""
    data = json.loads(_UNICODE61.read_text(encoding="utf-8"))
    separators = _code_points([*data["separators"], _SURROGATES])
    swallowed = _code_points(data["swallowed"])
    folds = _Folds(str.maketrans(data["folds_from"], data["folds_to"]))
    folds.update(dict.fromkeys(separators, " "))
    # A swallowed mark cannot start a token, but leaving it out after a separator does no harm.
    folds.update(dict.fromkeys(swallowed))
    kinds = _Kinds(dict.fromkeys(separators, _SEPARATOR))
    kinds.update(dict.fromkeys(swallowed, _SWALLOWED))
    return _Tables(folds, kinds)


def _code_points(ranges: Iterable[Sequence[int]]) -> list[int]:
    return [code for first, last in ranges for code in range(first, last + 1)]


class Span(NamedTuple):
    """A token, and where it stands in the text, in code points."""

    word: str
    term: str
    start: int
    end: int


def words(text: str) -> list[str]:
    """The folded, unstemmed tokens of the text, in order: FTS5's `unicode61` of `bigrams`."""
    if text.isascii():
        return text.translate(_ASCII_FOLDS).split()
    return _fold(bigrams(text)).split()


def _fold(text: str) -> str:
    folds = _tables().folds
    if len(text.encode()) - len(text) > len(text) // 8:
        return text.translate(folds)
    # Where little is beyond ASCII, folding only that by the large table is twice as fast.
    plain = _BEYOND_ASCII.sub(lambda match: match[0].translate(folds), text)
    return plain.encode().translate(_BYTE_FOLDS).decode()


def terms(text: str) -> list[str]:
    """The stemmed tokens of the text, in order: what FTS5 indexes for `bigrams`."""
    return list(map(STEMS.__getitem__, words(text)))


def spans(text: str) -> Iterator[Span]:
    """The tokens of `words` and `terms`, in order, with their places in the text as given.

    The pairs of a CJK run overlap; every other span lies wholly after the one before it.
    """
    if text.isascii():
        return _ascii_spans(text)
    return _unicode_spans(text)


def _ascii_spans(text: str) -> Iterator[Span]:
    for match in _ASCII_WORD.finditer(text):
        word = match[0].lower()
        yield Span(word, STEMS[word], match.start(), match.end())


def _unicode_spans(text: str) -> Iterator[Span]:
    folds, kinds = _tables()
    outline = text.translate(kinds)
    for match in _UNIT.finditer(outline):
        start, end = match.span()
        if outline[start] == _CJK:
            for offset, pair in enumerate(_pairs(text[start:end]), start):
                yield Span(pair, STEMS[pair], offset, offset + len(pair))
        else:
            word = text[start:end].translate(folds)
            yield Span(word, STEMS[word], start, end)


# --- trigrams ------------------------------------------------------------------------------------


LEAST_ALIKE = 0.14
"""Words of a lower similarity do not resemble each other. One wrong letter in a word of three
leaves one trigram of seven in common; in longer words it leaves more."""


def trigrams(word: str) -> frozenset[str]:
    """pg_trgm's trigrams of one word: lower case, two blanks before it and one after."""
    if not word:
        return frozenset()
    padded = f"  {word.lower()} "
    return frozenset(map("".join, zip(padded, padded[1:], padded[2:], strict=False)))


def similarity(first: AbstractSet[str], second: AbstractSet[str]) -> float:
    """pg_trgm's similarity of two sets of trigrams: shared ones over all, from 0 to 1."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


# --- stop words ----------------------------------------------------------------------------------


@cache
def stop_words(language: str = "english") -> frozenset[str]:
    """The function words of a language, folded and unstemmed as `words` gives them.

    Contractions come as their pieces: "don't" is "don" and "t". UnknownName for a language
    without a list.
    """
    files = {path.stem: path for path in _STOP_WORD_FILES.glob("*.txt")}
    if language not in files:
        known = ", ".join(sorted(files))
        raise UnknownName(
            f"There are no stop words for '{language}'.{nearest(language, files)} "
            f"Choose one of: {known}."
        )
    return frozenset(files[language].read_text(encoding="utf-8").split())


STOP_WORDS = stop_words()


def content(found: Sequence[Span], language: str, minimum_length: int) -> Sequence[Span]:
    """Without stop words and words that are too short; all of them if none would be left.

    The language "none" has no stop words.
    """
    stops = stop_words(language) if language != "none" else frozenset()
    kept = [span for span in found if span.word not in stops and len(span.word) >= minimum_length]
    return kept or found


# --- measures of a text --------------------------------------------------------------------------


def content_hash(text: str) -> str:
    """SHA-256 of the text's UTF-8, in hexadecimal; lone surrogates count as they stand."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def token_estimate(text: str) -> int:
    """About how many tokens a language model makes of the text: four characters each."""
    return -(-len(text) // 4)
