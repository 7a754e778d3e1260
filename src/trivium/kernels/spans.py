"""Where certain terms stand in a text."""

from __future__ import annotations

from functools import lru_cache

from trivium import kernels
from trivium.text import spans

Place = tuple[str, int, int]
"""A term, where it starts and where it ends, in code points."""


def places_of(text: str, wanted: frozenset[str]) -> list[Place]:
    """Where the tokens of the text stand whose term is wanted."""
    if not wanted:
        return []
    if not kernels.native or not text.isascii():
        return [(term, start, end) for _, term, start, end in spans(text) if term in wanted]
    terms = _ascii(wanted)
    found = kernels.native.spans(text, terms)
    return [(terms[which], start, end) for which, start, end in found]


@lru_cache(maxsize=64)  # many texts are looked through for the same terms
def _ascii(wanted: frozenset[str]) -> tuple[str, ...]:
    """Those that can stand in a text of plain letters."""
    return tuple(term for term in wanted if term.isascii())
