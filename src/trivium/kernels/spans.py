"""Where certain terms stand in a text."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from trivium import kernels
from trivium.text import Span, spans


def spans_of(text: str, wanted: AbstractSet[str]) -> list[Span]:
    """Those of `spans` whose term is wanted."""
    if not wanted:
        return []
    if not kernels.native or not text.isascii():
        return [span for span in spans(text) if span.term in wanted]
    terms = tuple(term for term in wanted if term.isascii())  # no other stands in such a text
    return [
        Span(text[start:end].lower(), terms[which], start, end)
        for which, start, end in kernels.native.spans(text, terms)
    ]
