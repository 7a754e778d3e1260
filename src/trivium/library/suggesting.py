"""Suggestions while somebody types: titles that fit, and how the last word may go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trivium.abilities import serves
from trivium.checks import MEMORY
from trivium.errors import InvalidValue
from trivium.library.base import Opened
from trivium.protocols import SpellingSearch, WordSearch
from trivium.store.record.database import repeatable
from trivium.text import Span, spans
from trivium.types import COLUMNS, OWNER, Bm25, Clause, Filter, Grant, Phrase, WordQuery

MOST = 50
LONGEST = 200
"""Characters that are looked at; nobody waits for suggestions to a whole page."""

TITLES = Bm25({name: float(name == "title") for name in COLUMNS})


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A text to search for; of a title also the document that has it."""

    text: str
    kind: Literal["title", "word"]
    id: str | None = None


class Suggesting(Opened):
    """What answers while a query is being typed."""

    @repeatable
    def suggest(self, text: str, *, limit: int = 8, grant: Grant = OWNER) -> list[Suggestion]:
        """Titles with all the words, the last of which may be half typed, then its completions."""
        if not 1 <= limit <= MOST:
            raise InvalidValue(f"{limit} suggestions cannot be given; choose 1 to {MOST}")
        text = text[:LONGEST]
        found = list(spans(text))
        if not found:
            return []
        with self._store.view(grant) as view:
            suggestions = []
            if serves(view, WordSearch):
                filter = Filter(valid_at=self._now(), exclude=(MEMORY,))
                titled = view.words(_query(found), TITLES, filter, limit, "document")
                documents = view.documents(titled.ids)
                suggestions = [Suggestion(one.title, "title", one.id) for one in documents]
            last = found[-1]
            if serves(view, SpellingSearch) and last.end == len(text):
                before = text[: last.start]
                similar = view.starting(last.word, limit)
                suggestions += [Suggestion(before + one.word, "word") for one in similar]
        different = {one.text.casefold(): one for one in reversed(suggestions)}
        return [one for one in suggestions if different[one.text.casefold()] is one][:limit]


def _query(found: list[Span]) -> WordQuery:
    """All words; the last one as it is or as the beginning of another."""
    *typed, last = found
    clauses = [Clause((Phrase((span.term,)),)) for span in typed]
    clauses.append(Clause((Phrase((last.term,)), Phrase((last.word,), prefix=True))))
    return WordQuery(tuple(clauses), (tuple(range(len(clauses))),))
