"""Words: a query becomes terms, phrases and exclusions, ranked by BM25.

`or` finds chunks with any of the words, `and` with all of them, `websearch` reads quotes as
phrases, a minus as exclusion and a lone OR between alternatives, and joins the rest by AND. No
character of the query is ever an operator of a database, unless the profile wants the database's
own text search (`by`): it then reads quotes, minus and OR itself, out of a bound value.
"""

from __future__ import annotations

import re

from trivium.abilities import serves
from trivium.config import KeywordSettings
from trivium.protocols import Found, TextSearch, View, WordSearch
from trivium.text import Span, content, is_cjk, spans, stop_words
from trivium.types import Clause, Filter, Leg, LegState, Phrase, TextQuery, Unit, WordQuery
from trivium.values import dataclass

MOST_WORDS = 64
"""Words of a query that are looked up; a pasted page is cut here, and the leg says so."""


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query as the keyword leg understands it."""

    words: WordQuery
    terms: frozenset[str]
    note: str = ""


def search(
    view: View, query: str, settings: KeywordSettings, filter: Filter, depth: int, unit: Unit
) -> Leg:
    """The chunks that hold the query's words."""
    if not serves(view, WordSearch):
        return Leg("keyword", LegState.SKIPPED, note="this library has no word index")
    read = read_query(query, settings)
    if not read.words.clauses:
        return Leg("keyword", LegState.EMPTY, note=read.note, matched=0)
    note = read.note
    if settings.by == "database" and serves(view, TextSearch):
        asked = text_query(query, settings)
        found = view.text_matches(asked, settings.weights, filter, depth, unit)
        note = note or _loosely(asked, found)
    else:
        found = view.words(read.words, settings.bm25(), filter, depth, unit)
    return Leg(
        "keyword",
        LegState.OK if found.ids else LegState.EMPTY,
        found.ranking(),
        note=note,
        terms=read.terms,
        complete=found.complete,
        yardstick=found.yardstick,
        matched=found.matched,
    )


def read_query(query: str, settings: KeywordSettings) -> ReadQuery:
    """Turn what was typed into clauses; stop words go unless nothing else is left."""
    if settings.join == "websearch":
        return _websearch(query, settings)
    kept = content(list(spans(query)), settings.stop_words, settings.minimum_length)
    note = _cut_note(len(kept))
    kept = kept[:MOST_WORDS]
    clauses = tuple(Clause((_word(span),)) for span in kept)
    terms = frozenset(span.term for span in kept)
    if settings.join == "and" and clauses:
        return ReadQuery(WordQuery(clauses, (tuple(range(len(clauses))),)), terms, note)
    return ReadQuery(WordQuery.any_of(clauses), terms, note)


_WEBSEARCH = re.compile(r'(?P<minus>-)?(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')


def _websearch(query: str, settings: KeywordSettings) -> ReadQuery:
    stops = stop_words(settings.stop_words) if settings.stop_words != "none" else frozenset()
    clauses: list[Clause] = []
    excluded: list[Phrase] = []
    alternatives: list[list[int]] = [[]]
    dropped: list[Clause] = []
    words = 0
    for match in _WEBSEARCH.finditer(query):
        quoted = match["phrase"] is not None
        text = match["phrase"] if quoted else match["word"]
        if not quoted and text.casefold() == "or" and not match["minus"]:
            alternatives.append([])
            continue
        found = list(spans(text))
        words += len(found)
        if words > MOST_WORDS:
            break
        if not found:
            continue
        phrases = _phrases(found, quoted)
        if match["minus"]:
            excluded += phrases
            continue
        for span, phrase in zip(found, phrases, strict=False):
            clause = Clause((phrase,))
            if not quoted and span.word in stops:
                dropped.append(clause)
                continue
            alternatives[-1].append(len(clauses))
            clauses.append(clause)
    if not clauses and dropped:  # nothing but stop words: better they than nothing
        clauses, alternatives = dropped, [list(range(len(dropped)))]
    terms = frozenset(
        term for clause in clauses for phrase in clause.phrases for term in phrase.terms
    )
    needed = tuple(tuple(group) for group in alternatives if group)
    return ReadQuery(WordQuery(tuple(clauses), needed, tuple(excluded)), terms, _cut_note(words))


def text_query(query: str, settings: KeywordSettings) -> TextQuery:
    """The same for a database that reads the query itself.

    Few texts hold all of a long question, so what holds some of it comes behind what holds all.
    """
    if settings.join != "websearch":
        kept = content(list(spans(query)), settings.stop_words, settings.minimum_length)
        words = tuple(span.word for span in kept[:MOST_WORDS])
        if settings.join == "or":
            return TextQuery(words)
        return TextQuery(words, " ".join(f'"{word}"' for word in words), loosely=False)
    pieces: list[str] = []
    excluded: list[str] = []
    for match in list(_WEBSEARCH.finditer(query))[:MOST_WORDS]:
        text = match["word"] if match["phrase"] is None else match["phrase"]
        if match["minus"]:
            excluded.append(text)
        elif match["phrase"] is not None or text.casefold() != "or":
            pieces.append(text)
    return TextQuery(tuple(pieces), query, tuple(excluded))


def _loosely(asked: TextQuery, found: Found) -> str:
    """What a reader must know of hits that do not hold all that was asked for."""
    whole = sum(score >= 1 for score in found.scores)
    if not asked.written or whole == len(found.scores):
        return ""
    many = len(found.scores)
    return f"{whole} of {many} passages hold all that was asked for, the others some of it"


def _phrases(found: list[Span], quoted: bool) -> list[Phrase]:
    """One phrase for what is quoted; otherwise the words of a token such as `node-js` singly."""
    if quoted:
        return [Phrase(tuple(span.term for span in found))]
    return [_word(span) for span in found]


def _word(span: Span) -> Phrase:
    """One word; a single CJK sign is the beginning of the pairs that runs are indexed as."""
    return Phrase((span.term,), prefix=len(span.word) == 1 and is_cjk(span.word))


def _cut_note(words: int) -> str:
    if words <= MOST_WORDS:
        return ""
    return f"the query has {words} words; the first {MOST_WORDS} were looked up"
