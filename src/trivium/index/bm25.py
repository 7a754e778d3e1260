"""BM25 as FTS5 defines it, over the living rows of several segments that a caller may see.

    score = Σ idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average length))
    idf   = ln((N − n + ½) / (n + ½)), at least 1e-6
    tf    = Σ weight of the column · count in the column

N, n and lengths are those of the *visible* rows; a filter only leaves rows out.
A column of weight 0 counts as if it were not there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array
from trivium.index.documents import Mask
from trivium.index.segment import Segment
from trivium.kernels import BODY, Given, Tally, Terms, beside, score_rows
from trivium.kernels import frequencies as frequencies_in
from trivium.kernels.cells import rows_of
from trivium.types import COLUMNS, Bm25, Clause, Phrase, WordQuery
from trivium.values import dataclass

SMALLEST_IDF = 1e-6  # FTS5's floor for terms that more than half of the rows hold
MOST_NORMS = 4  # kept for a segment: one for each word leg, and as many again after an edit
MOST_PHRASES = 1_000  # phrases whose places are kept for a segment
LONGEST_KEPT = 5_000  # positions of a phrase that are kept: the longest are the rarest to be asked

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """The rows of one segment that hold a phrase, ascending, with its weighted frequency."""

    rows: Array
    frequency: Floats


_EVERY_COLUMN = np.ones(len(COLUMNS))
NOWHERE = Occurrences(np.empty(0, np.int64), np.empty(0))


@dataclass(frozen=True, slots=True)
class Part:
    """A segment with the rows whose statistics count."""

    segment: Segment
    visible: Mask
    all_visible: bool


@dataclass(frozen=True, slots=True)
class Statistics:
    """Number of visible rows and their average length in the columns that count."""

    count: int
    average_length: float


def column_weights(bm25: Bm25) -> Floats:
    return np.array([bm25.weights.get(name, 0.0) for name in COLUMNS], np.float64)


def statistics(parts: Sequence[Part], weights: Floats) -> Statistics:
    counted = weights > 0
    count = sum(int(np.count_nonzero(part.visible)) for part in parts)
    tokens = sum(int(part.segment.length_in(counted)[part.visible].sum()) for part in parts)
    return Statistics(count, tokens / count if count else 0.0)


@dataclass(frozen=True, slots=True)
class Scored:
    """For each part the scores of all its rows, 0 for what does not match or is not allowed; what
    they come to; and the rows of the best, ascending.

    `ceiling` is what a row would score that surely held, without end, every clause of the query
    that any visible row holds.
    """

    scores: list[Floats]
    tallies: list[Tally]
    best: list[Array]
    ceiling: float


def score(
    parts: Sequence[Part],
    query: WordQuery,
    bm25: Bm25,
    weights: Floats,
    known: Statistics,
    allowed: Sequence[Mask | None],
    depth: int,
) -> Scored:
    """Score the rows by the query's clauses, columns by their weights, and find so many of the best
    in each part.
    """
    scoring = _Scoring(parts, bm25, weights, known)
    needs = any(len(needed) != 1 for needed in query.alternatives)
    holds: list[NDArray[np.bool_]] = []
    if needs:
        holds = [np.zeros((len(query.clauses), len(part.segment)), bool) for part in parts]
    scoring.add_words([] if needs else [clause for clause in query.clauses if _is_word(clause)])
    for index, clause in enumerate(query.clauses):
        if needs or not _is_word(clause):
            scoring.add_phrases(clause, [mask[index] for mask in holds])
    masks = list(allowed)
    for place, part in enumerate(parts):
        if needs:
            masks[place] = _both(masks[place], _fulfilled(query, holds[place]))
        for phrase in query.excluded:
            without = np.ones(len(part.segment), bool)
            without[occurrences(part.segment, phrase, scoring.weights).rows] = False
            masks[place] = _both(masks[place], without)
    scores, tallies, best = zip(*scoring.scored(masks, depth), strict=True) if parts else ((),) * 3
    return Scored(list(scores), list(tallies), list(best), scoring.ceiling)


def _both(one: Mask | None, other: Mask) -> Mask:
    return other if one is None else one & other


class _Scoring:
    """Scores on their way: what is to be added in each part, in order."""

    def __init__(
        self, parts: Sequence[Part], bm25: Bm25, weights: Floats, known: Statistics
    ) -> None:
        self.weights = weights
        self._counted = None if (weights > 0).all() else weights
        self.ceiling = 0.0
        self._parts, self._k1, self._count = parts, bm25.k1, known.count
        self._norms = [_length_norm(part.segment, self.weights, bm25, known) for part in parts]
        self._terms = [Terms((), ())] * len(parts)
        self._given: list[list[Given]] = [[] for _ in parts]

    def add_words(self, clauses: Sequence[Clause]) -> None:
        """Words that are each a clause."""
        worths: list[tuple[str, float]] = []
        for clause in clauses:
            [word] = clause.phrases
            holding = frequency(self._parts, word, self._counted)
            if holding:
                inverse = _inverse_frequency(holding, self._count)
                self._raise_ceiling(clause, inverse)
                worths.append((word.terms[0], clause.weight * word.weight * inverse))
        for place, part in enumerate(self._parts):
            known = [(part.segment.term(term), worth) for term, worth in worths]
            held = [pair for pair in known if pair[0] >= 0]
            if held:
                self._terms[place] = Terms(*zip(*held, strict=True))

    def add_phrases(self, clause: Clause, holds: Sequence[Mask]) -> None:
        """Phrases that compete: each row is given the best of those that it holds."""
        inverse, held_at_all = 0.0, False
        best: list[list[Given]] = [[] for _ in self._parts]
        for phrase in clause.phrases:
            found = [occurrences(part.segment, phrase, self.weights) for part in self._parts]
            holding = _document_frequency(self._parts, found)
            if phrase is clause.phrases[0]:
                inverse = _inverse_frequency(holding, self._count)
            held_at_all |= holding > 0
            for place, (hits, norm) in enumerate(zip(found, self._norms, strict=True)):
                if not len(hits.rows):
                    continue
                rows = hits.rows.astype(np.int64, copy=False)
                saturated = hits.frequency * (self._k1 + 1) / (hits.frequency + norm[rows])
                best[place].append((rows, clause.weight * phrase.weight * inverse * saturated))
                if holds:
                    holds[place][rows] = True
        for given, more in zip(self._given, best, strict=True):
            given += _highest(more) if len(more) > 1 else more
        if held_at_all:
            self._raise_ceiling(clause, inverse)

    def scored(
        self, allowed: Sequence[Mask | None], depth: int
    ) -> Iterator[tuple[Floats, Tally, Array]]:
        """The scores of each part, what they come to, and the rows of the best."""
        for part, norm, terms, given, mask in zip(
            self._parts, self._norms, self._terms, self._given, allowed, strict=True
        ):
            segment = part.segment
            yield score_rows(
                *(norm, segment.lists, terms, self.weights, self._k1, given),
                *(mask, segment.owners, depth),
            )

    def _raise_ceiling(self, clause: Clause, inverse: float) -> None:
        self.ceiling += clause.weight * inverse * (self._k1 + 1)


def _highest(given: Sequence[Given]) -> list[Given]:
    """For each row the highest of what it is given."""
    rows = np.sort(np.concatenate([rows for rows, _ in given]))
    rows = rows[np.append(True, rows[1:] != rows[:-1])]
    highest = np.zeros(len(rows))
    for some, values in given:
        places = np.searchsorted(rows, some)
        highest[places] = np.maximum(highest[places], values)
    return [(rows, highest)]


def _is_word(clause: Clause) -> bool:
    [first, *others] = clause.phrases
    return not others and len(first.terms) == 1 and not first.prefix


def frequency(parts: Sequence[Part], phrase: Phrase, weights: Floats | None = None) -> int:
    """How many visible rows hold the phrase in a column of positive weight; without weights, in any
    column.
    """
    return sum(_frequency(part, phrase, weights) for part in parts)


def _frequency(part: Part, phrase: Phrase, weights: Floats | None) -> int:
    if weights is None and len(phrase.terms) == 1 and not phrase.prefix:
        term = part.segment.term(phrase.terms[0])
        if term < 0:
            return 0
        if part.all_visible:
            return part.segment.frequency(term)
        return int(np.count_nonzero(part.visible[part.segment.postings(term).rows]))
    counted = _EVERY_COLUMN if weights is None else weights
    return _document_frequency([part], [occurrences(part.segment, phrase, counted)])


def frequencies(parts: Sequence[Part], terms: Iterable[str], counted: Mask) -> dict[str, int]:
    """How many visible rows hold each term in one of the counted columns; 0 is left out."""
    found: Counter[str] = Counter()
    for part in parts:
        for term in terms:
            number = part.segment.term(term)
            if number < 0:
                continue
            postings = part.segment.postings(number)
            count = len(postings.rows)
            held: Mask = postings.body > 0 if counted[BODY] else np.zeros(count, bool)
            held[postings.extra_posting[counted[postings.extra_column]]] = True
            if not part.all_visible:
                held &= part.visible[postings.rows]
            found[term] += int(np.count_nonzero(held))
    return {term: count for term, count in found.items() if count}


def occurrences(segment: Segment, phrase: Phrase, weights: Floats) -> Occurrences:
    """Where a phrase stands in a segment, counting only columns of positive weight."""
    if len(phrase.terms) == 1 and not phrase.prefix:
        return _term(segment, segment.term(phrase.terms[0]), weights)
    if len(phrase.terms) == 1:
        first, last = segment.terms.prefix_range(phrase.terms[0])
        found = [segment.positions(term) for term in range(first, last)]
        positions: Array = np.concatenate(found) if found else np.empty(0, np.int64)
    else:
        positions = _remembered(segment, phrase)
    return _count(segment, positions, weights)


def _remembered(segment: Segment, phrase: Phrase) -> Array:
    """The positions of a phrase: of several it is asked how often they occur, and then for them."""
    key = (phrase.terms, phrase.prefix)
    known = segment.phrases.get(key)
    if known is None:
        known = _adjacent(segment, phrase)
        if len(segment.phrases) >= MOST_PHRASES:
            segment.phrases.clear()
        if len(known) <= LONGEST_KEPT:
            segment.phrases[key] = known
    return known


def _term(segment: Segment, term: int, weights: Floats) -> Occurrences:
    if term < 0:
        return NOWHERE
    postings = segment.postings(term)
    often = frequencies_in(postings, weights)
    if (weights <= 0).any():
        kept = often > 0
        return Occurrences(postings.rows[kept], often[kept])
    return Occurrences(postings.rows, often)


def _adjacent(segment: Segment, phrase: Phrase) -> Array:
    """The positions where the phrase's last term stands right after all the others, ascending."""
    terms = [segment.term(term) for term in phrase.terms]
    if len(terms) == 2 and not phrase.prefix:
        first, second = (_forms(segment, [term]) for term in terms)
        return beside(first, second)
    places = [_forms(segment, [term]) for term in terms[:-1]]
    if phrase.prefix:
        places.append(_forms(segment, range(*segment.terms.prefix_range(phrase.terms[-1]))))
    else:
        places.append(_forms(segment, terms[-1:]))
    if not all(places):
        return np.empty(0, np.int64)
    # from the rarest term on, so that all the others are only looked up, never read as a whole
    rarest = min(range(len(places)), key=lambda at: sum(map(len, places[at])))
    reached = np.sort(np.concatenate(places[rarest]).astype(np.int64)) - rarest
    for at, forms in enumerate(places):
        if at != rarest:
            reached = _standing(reached, forms, at)
    return reached + (len(places) - 1)


def _forms(segment: Segment, terms: Sequence[int]) -> list[Array]:
    return [form for term in terms if term >= 0 for form in segment.forms(term)]


def _standing(starts: Array, forms: Sequence[Array], shift: int) -> Array:
    """Those of the starts that have a form of the term at this distance."""
    held = np.zeros(len(starts), bool)
    wanted = starts + shift
    for form in forms:
        needles = wanted.astype(form.dtype)  # of the same type: the long list is not copied
        held |= form[np.searchsorted(form, needles).clip(max=len(form) - 1)] == needles
    return starts[held & (wanted >= 0)]


def _count(segment: Segment, positions: Array, weights: Floats) -> Occurrences:
    if not len(positions):
        return NOWHERE
    ascending = np.sort(positions)  # those of each form come by themselves
    return Occurrences(*rows_of(ascending.astype(np.int64, copy=False), segment.starts, weights))


def _length_norm(segment: Segment, weights: Floats, bm25: Bm25, known: Statistics) -> Floats:
    """What each row's length does to its counts; kept, because it hangs on nothing in the query."""
    counted = weights > 0
    key = (counted.tobytes(), bm25.k1, bm25.b, known.average_length)
    norm = segment.norms.get(key)
    if norm is None:
        relative: Floats = segment.length_in(counted) / (known.average_length or 1.0)
        norm = bm25.k1 * (1 - bm25.b + bm25.b * relative)
        if len(segment.norms) >= MOST_NORMS:
            segment.norms.clear()
        segment.norms[key] = norm
    return norm


def _document_frequency(parts: Sequence[Part], found: Sequence[Occurrences]) -> int:
    return sum(
        len(hits.rows) if part.all_visible else int(np.count_nonzero(part.visible[hits.rows]))
        for part, hits in zip(parts, found, strict=True)
    )


def _inverse_frequency(holding: int, count: int) -> float:
    inverse = math.log((count - holding + 0.5) / (holding + 0.5))
    return inverse if inverse > 0 else SMALLEST_IDF


def _fulfilled(query: WordQuery, holds: NDArray[np.bool_]) -> Mask:
    """The rows that hold every clause of at least one alternative."""
    fulfilled = np.zeros(holds.shape[1], bool)
    for needed in query.alternatives:
        if needed:
            fulfilled |= holds[list(needed)].all(axis=0)
    return fulfilled
