"""Names with digits and Greek letters, which everybody writes another way.

"TNF-α", "TNF-alpha" and "TNFα" are one name, and so are "IL-6" and "IL6". The index holds each as
it was written, so a query's name is looked up in all the ways that the library may have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, product

_LETTERS = "αβγδεζηθικλμνξοπρστυφχψω"
_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu
nu xi omicron pi rho sigma tau upsilon phi chi psi omega"""
_LETTER_OF = dict(zip(_NAMES.split(), _LETTERS, strict=True))
_OTHER = _LETTER_OF | {letter: name for name, letter in _LETTER_OF.items()}
_ENDING = "|".join(name for name in _LETTER_OF if len(name) > 3)  # not the "eta" of "beta"
_PIECE = re.compile(
    rf"[0-9]+|[{_LETTERS}]|[^0-9{_LETTERS}]+?(?=(?:{_ENDING})?(?:$|[0-9{_LETTERS}]))"
)
_MOST_PIECES = 4  # "il1rα"; what has more is a number of some kind, and nobody parts that

Way = tuple[str, ...]
"""How a name is written: its words, unstemmed."""


def ways(word: str) -> Iterator[Way]:
    """The other ways to write one word: parted, and with Greek letters as letters or by name."""
    pieces = _pieces(word)
    if pieces == (word,):
        yield from ((other,) for other in _spellings(word) if other != word)
        return
    if not any(sign.isascii() for sign in word):
        return  # of a Greek text, where nobody writes "lambda"
    for spelled in _spelled(pieces):
        for blanks in product(("", " "), repeat=len(pieces) - 1):
            way = tuple("".join(chain(*zip(spelled, (*blanks, ""), strict=True))).split())
            if way != (word,):
                yield way


def together(first: str, second: str) -> Iterator[str]:
    """Two neighbours as one word, where letters, digits and Greek letters meet."""
    before, after = _pieces(first), _pieces(second)
    if _kind(before[-1]) != _kind(after[0]):
        yield from map("".join, _spelled(before + after))


def holds_digits(word: str) -> bool:
    """Whether a word is a name of letters and digits, and not a mere number."""
    return not word.isdigit() and any(map(str.isdigit, word))


@lru_cache(maxsize=4096)  # each word is asked for with both its neighbours, too
def _pieces(word: str) -> Way:
    return tuple(_PIECE.findall(word))


def _spelled(pieces: Way) -> Iterator[Way]:
    """The pieces with each Greek letter as a letter and by name."""
    if len(pieces) <= _MOST_PIECES:
        yield from product(*map(_spellings, pieces))


def _spellings(piece: str) -> Way:
    return (piece, _OTHER[piece]) if piece in _OTHER else (piece,)


def _kind(piece: str) -> str:
    return "digits" if piece.isdigit() else "Greek" if piece in _OTHER else "letters"
