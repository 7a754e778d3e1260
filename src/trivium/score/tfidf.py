"""TF-IDF: how alike a query and an entry are in their words, rare ones counting more.

idf    = ln((N + 1) / (df + 1)) + 1
cosine = Σ q·e / (|q| · |e|), each a vector of count · idf
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache

from trivium.protocols import Frequencies
from trivium.stemmer import stem
from trivium.text import content, spans, stop_words, terms
from trivium.types import Record

COLUMNS = ("title", "heading", "body", "context", "tags")
"""What an entry says of itself; its key is a name, not a statement (document 004)."""


def idf(count: int, holding: int) -> float:
    """How much a term tells that `holding` of `count` entries hold."""
    return math.log((count + 1) / (holding + 1)) + 1


def query_counts(query: str, language: str, minimum_length: int) -> Counter[str]:
    """The query's terms by the rules of the keyword leg, and how often each stands in it."""
    return Counter(span.term for span in content(list(spans(query)), language, minimum_length))


def entry_counts(record: Record, language: str, asked: Collection[str]) -> Counter[str]:
    """The terms of an entry by the same rules; a stop word counts only if it is asked for."""
    document, chunk = record.document, record.chunk
    pieces = (document.title, *chunk.heading, chunk.text, document.context, *document.tags)
    counts = Counter(term for piece in pieces for term in terms(piece))
    for term in counts.keys() & _stop_terms(language):
        if term not in asked:
            del counts[term]
    return counts


@cache
def _stop_terms(language: str) -> frozenset[str]:
    return frozenset(map(stem, stop_words(language))) if language != "none" else frozenset()


class Rarity(dict[str, float]):
    """The idf of each term, worked out when it is first asked for."""

    def __init__(self, known: Frequencies) -> None:
        self._known = known

    def __missing__(self, term: str) -> float:
        self[term] = found = idf(self._known.count, self._known.holding.get(term, 0))
        return found


def cosine(query: Mapping[str, int], entry: Mapping[str, int], rarity: Rarity) -> float:
    """The likeness of the two, from 0 to 1; 0 if either says nothing."""

    def weighted(counts: Mapping[str, int]) -> dict[str, float]:
        return {term: counts[term] * rarity[term] for term in sorted(counts)}

    asked, said = weighted(query), weighted(entry)
    length = math.hypot(*asked.values()) * math.hypot(*said.values())
    shared = math.fsum(value * said[term] for term, value in asked.items() if term in said)
    return min(1.0, shared / length) if length > 0 else 0.0
