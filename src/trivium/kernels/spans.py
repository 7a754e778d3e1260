"""Where certain terms stand in a text."""

from __future__ import annotations

from functools import lru_cache

from trivium import kernels
from trivium.text import Span, spans


def spans_of(text: str, wanted: frozenset[str]) -> list[Span]:
    """Those of `spans` whose term is wanted."""
    if not wanted:
        return []
    if not kernels.native or not text.isascii():
        return [span for span in spans(text) if span.term in wanted]
    terms = _ascii(wanted)
    return [
        Span(text[start:end].lower(), terms[which], start, end)
        for which, start, end in kernels.native.spans(text, terms)
    ]


@lru_cache(maxsize=64)  # many texts are looked through for the same terms
def _ascii(wanted: frozenset[str]) -> tuple[str, ...]:
    """Those that can stand in a text of plain letters."""
    return tuple(term for term in wanted if term.isascii())
