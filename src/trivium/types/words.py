"""What the word index is asked, and how it scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from trivium.types.documents import COLUMNS
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent stemmed terms (usually one); `prefix` lets the last one be the start of a term."""

    terms: tuple[str, ...]
    weight: float = 1.0
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """Phrases that say the same thing: the best of them counts, once, for each chunk.

    `weight` is what the clause is worth in the query, a phrase's weight how sure the phrase is.

    How rare they are is judged by the first of them, which is the surest: a rare look-alike must
    not weigh more than the word it stands for.
    """

    phrases: tuple[Phrase, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class WordQuery:
    """What the word index is asked.

    A chunk matches if it holds every clause of at least one alternative and no excluded phrase;
    its score is the sum over all clauses, as BM25 sums over the phrases of a query.
    """

    clauses: tuple[Clause, ...]
    alternatives: tuple[tuple[int, ...], ...] = ()
    excluded: tuple[Phrase, ...] = ()

    @classmethod
    def any_of(cls, clauses: Sequence[Clause]) -> WordQuery:
        return cls(tuple(clauses), tuple((i,) for i in range(len(clauses))))


@dataclass(frozen=True, slots=True)
class TextQuery:
    """What a database's own text search is asked, in its own words.

    `written` is read with quotes, minus and OR. A chunk matches if it holds one of the `pieces`
    (words, or phrases that were quoted), and all that is written; or, `loosely`, nothing excluded.
    """

    pieces: tuple[str, ...]
    written: str = ""
    excluded: tuple[str, ...] = ()
    loosely: bool = True


@dataclass(frozen=True, slots=True)
class Bm25:
    """How words are scored. A column of weight 0 counts as if it were not in the index at all."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 1.0))
    k1: float = 1.2
    b: float = 0.75
