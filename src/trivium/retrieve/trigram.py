"""Spelling: the query is read in the library's own words, then ranked by them.

Every word of the query that the library does not hold is read as what it most likely stands for:
a word with a typo, a word not finished, two or three words run together ("battleaxe" for "battle
axe"), or, the other way, neighbouring words that the library writes as one. An edit is a letter
or a missing blank, and the reading with the fewest edits wins. A name with digits or Greek letters
(`names.py`) is read in all the ways that the library writes it, none of which is a guess. Readings
become clauses whose phrases compete; the chunks that hold them are ranked by BM25.

Where the profile wants the database's own trigrams (`by`), these chunks are ranked by how much some
stretch of them resembles the query as a whole. The vocabulary is the index for that: a GIN index
over passages left most of the comparisons of a long question to be made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from trivium.abilities import serves
from trivium.config import TrigramSettings
from trivium.protocols import Found, PassageLikeness, Similar, SpellingSearch, View, WordSearch
from trivium.retrieve.names import holds_digits, together, ways
from trivium.stemmer import stem
from trivium.text import stop_words, words
from trivium.types import Clause, Filter, Leg, LegState, Phrase, Unit, WordQuery

POOL = 100  # look-alikes by trigrams whose edits are counted: holds the target of nearly any typo
LEAST_SIMILARITY = 2 / 3  # at most one edit for three letters
MOST_READINGS = 5  # words that may stand for one unknown word; more add only noise
SHARPNESS = 2.0  # a reading counts similarity²: a second guess wins only by its company
COMPLETION_EDITS = 2.0  # the price of taking "invis" for "invisible"
COMPLETION_LENGTH = 4  # shorter beginnings fit too many words
PART_TOGETHER, PART_APART = 2, 3  # letters of a part that stands next to its other half, or not
PHRASE_SHARE = 0.2  # what words side by side add to the score of the words themselves
NAME_SHARE = 2.0  # "p53" and "401k" are what the query is about; from 1.5 to 3 it is all the same
LONGEST_WORD = 40  # letters; what is longer was not typed as a word
MOST_PASSAGES = 500  # compared with the query as a whole, in about a fifth of a millisecond each
LEAST_RESEMBLANCE = 0.3  # of trigrams: what pg_trgm calls alike; .6 loses all longer questions
MOST_WORDS = 32  # of a query; a page that was pasted in has no typos worth the time

Reading = dict[tuple[str, ...], float]
"""Terms (one word, or a phrase) that a query's word may stand for, each with its weight."""


def search(
    view: View, query: str, settings: TrigramSettings, filter: Filter, depth: int, unit: Unit
) -> Leg:
    """The chunks that hold what the query's words look like."""
    if not serves(view, SpellingSearch) or not serves(view, WordSearch):
        return Leg("trigram", LegState.SKIPPED, note="this library has no spelling index")
    clauses = tuple(read_query(view, query))
    if not clauses:
        return Leg("trigram", LegState.EMPTY)
    words = WordQuery.any_of(clauses)
    if settings.by == "database" and serves(view, PassageLikeness):
        pool = view.words(words, settings.bm25(), filter, MOST_PASSAGES, "chunk")
        found = _resembling(view, view, query, pool, depth, unit)
    else:
        found = view.words(words, settings.bm25(), filter, depth, unit)
    terms = frozenset(t for clause in clauses for phrase in clause.phrases for t in phrase.terms)
    return Leg(
        "trigram",
        LegState.OK if found.ids else LegState.EMPTY,
        found.ranking(),
        terms=terms,
        guessed=_is_guessed(_content(query), terms),
        complete=found.complete,
        yardstick=found.yardstick,
    )


def _resembling(
    view: View, passages: PassageLikeness, query: str, pool: Found, depth: int, unit: Unit
) -> Found:
    """Those of a pool that resemble the query as a whole, the first that hold `depth` units."""
    known = passages.resemblance(query, pool.ids)
    alike = [pair for pair in known.items() if pair[1] >= LEAST_RESEMBLANCE]
    ranked = sorted(alike, key=lambda pair: (-pair[1], pair[0]))
    units = view.units([chunk for chunk, _ in ranked], unit)
    firsts = [place for place, one in enumerate(units) if one not in units[:place]]
    cut = firsts[depth - 1] + 1 if len(firsts) >= depth else len(ranked)
    ids, scores = tuple(chunk for chunk, _ in ranked[:cut]), tuple(one for _, one in ranked[:cut])
    return Found(ids, scores, pool.complete and cut == len(ranked), ceiling=1.0)


def read_query(view: SpellingSearch, query: str) -> Iterator[Clause]:
    """The clauses of all words, of neighbours written as one, and of neighbours side by side."""
    content = _content(query)
    speller = _Speller(view)
    readings = {word: speller.read(word) for word in dict.fromkeys(content)}
    for first, second in pairwise(content):
        joined = speller.read_joined(first, second)
        for word in (first, second) if joined else ():
            readings[word] = [_with(reading, joined) for reading in readings[word]] or [joined]
    readings = _doubted(readings)
    for choices in readings.values():
        for reading in choices:
            yield speller.clause(reading)
    for first, second in dict.fromkeys(pairwise(content)):
        if len(readings[first]) == 1 and len(readings[second]) == 1:
            together = speller.side_by_side(readings[first][0], readings[second][0])
            if together:
                yield speller.clause(together)


def _content(query: str) -> list[str]:
    typed = words(query)
    stops = stop_words()
    return ([word for word in typed if word not in stops] or typed)[:MOST_WORDS]


def _is_guessed(content: list[str], terms: frozenset[str]) -> bool:
    """Whether a word was looked up neither as typed nor as the same name in another spelling."""
    named = {
        word
        for pair in pairwise(content)
        if any(stem(one) in terms for one in together(*pair))
        for word in pair
    }
    return not all(
        word in named
        or stem(word) in terms
        or any(terms.issuperset(map(stem, way)) for way in ways(word))
        for word in content
    )


def _with(reading: Reading, joined: Reading) -> Reading:
    """A reading with the word that joins it to its neighbour; phrases stay as they are."""
    if all(len(terms) > 1 for terms in reading):
        return reading
    return joined | {terms: max(w, joined.get(terms, 0.0)) for terms, w in reading.items()}


def _doubted(readings: dict[str, list[Reading]]) -> dict[str, list[Reading]]:
    """One slip is likely, three are not: guesses share the trust that a single one would have.

    Words that the library does not hold at all are then left to the roads that do not need them.
    """
    guessed = [
        word
        for word, choices in readings.items()
        if choices and max(choices[0].values(), default=0.0) < 1
    ]
    return readings | {
        word: [{t: w / len(guessed) for t, w in reading.items()} for reading in readings[word]]
        for word in guessed
    }


@dataclass(slots=True)
class _Speller:
    """Reads single words against the vocabulary of one view, asking it everything once."""

    view: SpellingSearch
    _frequencies: dict[tuple[str, ...], int] = field(default_factory=dict)

    def read(self, word: str) -> list[Reading]:
        """What a word stands for: one reading, or one for each of the words run together in it.

        In the order of what it costs: known as it is, or a name that is known in another spelling;
        one typo; one missing blank; parts known but never together; two typos; two missing blanks,
        or one and a typo; more typos.
        """
        if self._knows(word):
            return [self._as_typed(word)]
        written = self._written(word)
        if written:
            return self._named(written)
        if not 3 <= len(word) <= LONGEST_WORD or any(sign.isdigit() for sign in word):
            return []
        alike = self._alike(word)
        if _within(alike, word, edits=1):
            return [self._alternatives(alike)]
        together = self._parted(word, 2)
        if together and self._frequency(together[0]):
            return self._parts(together[0])
        apart = self._parted(word, 2, PART_APART)
        if apart:
            rarest = max(apart, key=lambda terms: min(self._frequency((t,)) for t in terms))
            return [{(term,): 1.0} for term in rarest]
        if not _within(alike, word, edits=2):
            three = self._parted(word, 3)
            if three and self._frequency(three[0]):
                return self._parts(three[0])
            misspelt = self._parted_with_typo(word)
            if misspelt:
                return self._parts(misspelt[0], (1 - 1 / len(word)) ** SHARPNESS)
        return [self._alternatives(alike)] if alike else []

    def read_joined(self, first: str, second: str) -> Reading:
        """Two neighbours as one word of the library, if it has that word."""
        joined = first + second
        if len(joined) > LONGEST_WORD:
            return {}
        named: Reading = {(stem(one),): 1.0 for one in together(first, second) if self._knows(one)}
        if named or any(sign.isdigit() for sign in joined):
            return named
        if self._knows(joined):
            return {(stem(joined),): 1.0}
        if len(joined) > 5 and not (self._knows(first) and self._knows(second)):
            alike = self._alike(joined)
            if _within(alike, joined, edits=1):
                return {(alike[0][1].term,): alike[0][0] ** SHARPNESS}
        return {}

    def side_by_side(self, first: Reading, second: Reading) -> Reading:
        """The readings of two neighbours as phrases: of several those that really occur; a single
        one is looked for when it is ranked.
        """
        together = {
            left + right: weight * other
            for left, weight in list(first.items())[:3]
            for right, other in list(second.items())[:3]
        }
        if len(together) == 1:
            return together
        return {terms: weight for terms, weight in together.items() if self._frequency(terms)}

    def clause(self, reading: Reading) -> Clause:
        """The surest phrase first, of equal ones the commonest; a name with digits is worth more,
        in whatever way it is written, but not what is only guessed to be one.
        """
        ordered = list(reading.items())
        if len(ordered) > 1:
            ordered.sort(key=lambda item: (-item[1], -self._frequency(item[0]), item[0]))
        worth = PHRASE_SHARE if all(len(terms) > 1 for terms in reading) else 1.0
        sure = (terms for terms, weight in reading.items() if weight == 1.0)
        if any(holds_digits(term) for terms in sure for term in terms):
            worth *= NAME_SHARE
        return Clause(tuple(Phrase(terms, weight) for terms, weight in ordered), worth)

    def _as_typed(self, word: str) -> Reading:
        return {(stem(word),): 1.0} | {tuple(map(stem, way)): 1.0 for way in self._written(word)}

    def _written(self, word: str) -> list[tuple[str, ...]]:
        """The other ways in which the library writes a name, the commonest first."""
        found = {way: self._frequency(tuple(map(stem, way))) for way in ways(word)}
        return sorted(filter(found.__getitem__, found), key=lambda way: (-found[way], way))

    def _named(self, written: list[tuple[str, ...]]) -> list[Reading]:
        """A name that the library writes only in these ways: if always parted, as its parts."""
        whole: Reading = {tuple(map(stem, way)): 1.0 for way in written}
        if any(len(way) == 1 for way in written):
            return [whole]
        return [*(self._as_typed(part) for part in written[0]), whole]

    def _knows(self, word: str) -> bool:
        return self._frequency((stem(word),)) > 0

    def _frequency(self, terms: tuple[str, ...]) -> int:
        if terms not in self._frequencies:
            self._frequencies[terms] = self.view.frequency(terms)
        return self._frequencies[terms]

    def _alike(self, word: str) -> list[tuple[float, Similar]]:
        """(similarity by edits, word) of the vocabulary, best first, then the commonest."""
        from rapidfuzz.distance import OSA  # a start that needs no spelling does not wait for it

        shortest = int(len(word) * LEAST_SIMILARITY)
        longest = int(len(word) / LEAST_SIMILARITY)
        pool = {one.word: one for one in self.view.similar(word, (shortest, longest), POOL)}
        for swapped in _swaps(word):  # a swap breaks up to four trigrams: too many in a short word
            if swapped not in pool and self._knows(swapped):
                pool[swapped] = Similar(swapped, stem(swapped), 0.0)
        found: dict[str, tuple[float, Similar]] = {}
        for one in pool.values():
            edits = OSA.distance(word, one.word)
            score = 1 - edits / max(len(word), len(one.word))
            if score >= LEAST_SIMILARITY:
                found[one.word] = (score, one)
        if len(word) >= COMPLETION_LENGTH:
            completed = 1 - COMPLETION_EDITS / len(word)
            for one in self.view.starting(word, POOL):
                if one.word not in found or found[one.word][0] < completed:
                    found[one.word] = (completed, one)
        return sorted(
            found.values(),
            key=lambda pair: (-pair[0], -self._frequency((pair[1].term,)), pair[1].word),
        )

    def _alternatives(self, alike: list[tuple[float, Similar]]) -> Reading:
        reading: Reading = {}
        for score, one in alike:
            reading.setdefault((one.term,), score**SHARPNESS)
            if len(reading) == MOST_READINGS:
                break
        return reading

    def _parts(self, terms: tuple[str, ...], weight: float = 1.0) -> list[Reading]:
        """Each part as a word of its own, and all of them side by side for a little more."""
        singly: list[Reading] = [{(term,): weight} for term in terms]
        return [*singly, {terms: weight}]

    def _parted(self, word: str, parts: int, least: int = PART_TOGETHER) -> list[tuple[str, ...]]:
        """The ways to read a word as so many known words; most often side by side first."""
        ways = {tuple(map(stem, pieces)) for pieces in self._cuts(word, parts, least)}
        return sorted(ways, key=lambda terms: (-self._frequency(terms), terms))

    def _cuts(self, rest: str, parts: int, least: int) -> Iterator[tuple[str, ...]]:
        if parts == 1:
            if self._knows(rest):
                yield (rest,)
            return
        for place in range(least, len(rest) - least * (parts - 1) + 1):
            if self._knows(rest[:place]):
                for others in self._cuts(rest[place:], parts - 1, least):
                    yield (rest[:place], *others)

    def _parted_with_typo(self, word: str) -> list[tuple[str, ...]]:
        """Two words side by side of which one has a single typo."""
        ways = set()
        for place in range(PART_APART, len(word) - PART_APART + 1):
            left, right = word[:place], word[place:]
            for known, other, swap in ((left, right, False), (right, left, True)):
                if len(other) < COMPLETION_LENGTH or not self._knows(known):
                    continue
                for score, one in self._alike(other)[:MOST_READINGS]:
                    if score >= 1 - 1 / max(len(other), len(one.word)):
                        terms = (one.term, stem(known)) if swap else (stem(known), one.term)
                        if self._frequency(terms):
                            ways.add(terms)
        return sorted(ways, key=lambda terms: (-self._frequency(terms), terms))


def _within(alike: list[tuple[float, Similar]], word: str, edits: int) -> bool:
    return bool(alike) and alike[0][0] >= 1 - edits / len(word) - 1e-9


def _swaps(word: str) -> Iterator[str]:
    for place in range(len(word) - 1):
        yield word[:place] + word[place + 1] + word[place] + word[place + 2 :]
