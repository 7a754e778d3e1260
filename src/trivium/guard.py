"""The dilution guard: a leg with nothing to say about a query is not heard, and says so.

Legs are held against each other. Two of them agree if the first ten of each stand out by the
measure of the other, as ten chunks drawn by lot would not. A leg that agrees with nobody, while
others agree, adds noise. Where nobody agrees with anybody, all are heard: there is nobody to judge
by. Two legs that read the same words must agree, so if they do not, the words in their hits decide.
A reading of misspelt words is out only if what it found does not look like the query, either: the
others took the query as it was typed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, combinations

from trivium.config import WORD_LEGS, FuseSettings
from trivium.stemmer import stem
from trivium.text import STOP_WORDS, is_cjk, words
from trivium.types import Leg, LegState, Ranking, Yardstick
from trivium.values import replace

Texts = Callable[[Sequence[str]], Sequence[str]]
"""The texts of chunks, with what they are called."""

FIRST = 10  # the hits that people look at; with fewer chance plays too large a part
ENOUGH = 100  # chunks to search; of fewer, ten are too large a part to look chosen
CHANCE = 2.5  # standard errors above the mean, both ways: one lot in four hundred gets there
SAME_WORDS = 6.0  # two legs that read the same words agree by ten and more, never by so little
HALF = 0.5  # they still find titles such as "The Who", and words in the very form that was typed
LIKE = 2 / 3  # at most one edit for three letters, as the trigram leg reads them
SPELLED_OUT = 0.8  # one edit for five
NOTHING_TO_SAY = (
    "weighted down to 0: by the measure of the other legs its best hits look drawn by lot"
)


def guarded(legs: Sequence[Leg], query: str, texts: Texts | None = None) -> list[Leg]:
    """The legs with their trust; one that lost some of it says so in its note."""
    heard = [_without_order(_with_few_words(leg, query)) for leg in _measured(legs)]
    live = [leg for leg in heard if leg.state is LegState.OK and leg.trust > 0]
    out = {leg.name for leg in _unheard(live, query, texts)}
    return [_noted(leg, 0.0, NOTHING_TO_SAY) if leg.name in out else leg for leg in heard]


def completed(legs: Sequence[Leg], settings: FuseSettings) -> dict[str, Ranking]:
    """The rankings to fuse; with `beyond = "score"` each measures what the others found, too."""
    heard = [leg for leg in legs if leg.state is LegState.OK]
    if settings.beyond == "nothing":
        return {leg.name: leg.ranking for leg in heard}
    believed = [leg for leg in heard if leg.trust > 0] or heard
    pool = dict.fromkeys(id for leg in believed for id in leg.ranking.ids)
    return {leg.name: _with_beyond(leg, pool) for leg in believed}


def trusts(legs: Sequence[Leg]) -> Mapping[str, float]:
    return {leg.name: leg.trust for leg in legs}


def matched_by(legs: Sequence[Leg]) -> list[int]:
    """How many hold a word of the query, by each leg that counts them."""
    return [leg.matched for leg in legs if leg.matched is not None]


def notes(legs: Sequence[Leg], *states: LegState) -> list[str]:
    """What legs in these states have to say about themselves."""
    return [f"{leg.name}: {leg.note}" for leg in legs if leg.state in states and leg.note]


def agrees_on_meaning(legs: Sequence[Leg]) -> bool:
    """Whether vectors and words as typed are both heard: what they agree on is worth following.

    The best hits of a mere guess are no examples of what was meant.
    """
    heard = [leg for leg in legs if leg.state is LegState.OK and leg.trust > 0]
    typed = any(leg.name != "vector" and not leg.guessed for leg in heard)
    return typed and any(leg.name == "vector" for leg in heard)


def _measured(legs: Sequence[Leg]) -> list[Leg]:
    """The legs with their measure of all that any of them found at hand: it is asked for once,
    because guard and fusion look again and again.
    """
    pool = dict.fromkeys(chain.from_iterable(leg.ranking.ids for leg in legs))
    return [_at_hand(leg, pool) for leg in legs]


def _at_hand(leg: Leg, pool: Mapping[str, None]) -> Leg:
    measure = leg.yardstick
    if measure is None or leg.state is not LegState.OK:
        return leg
    ask = measure.score_of
    known = dict(zip(leg.ranking.ids, leg.ranking.scores, strict=True))
    others = [id for id in pool if id not in known]
    known.update(zip(others, ask(others), strict=True))

    def score_of(chunks: Sequence[str]) -> list[float]:
        try:
            return [known[chunk] for chunk in chunks]
        except KeyError:
            return ask(chunks)

    return replace(leg, yardstick=replace(measure, score_of=score_of))


def _with_beyond(leg: Leg, pool: Mapping[str, None]) -> Ranking:
    if leg.yardstick is None:
        return leg.ranking
    ranked = set(leg.ranking.ids)
    others = [id for id in pool if id not in ranked]
    scores = leg.yardstick.score_of(others)
    beyond = {id: score for id, score in zip(others, scores, strict=True) if score > 0}
    return replace(leg.ranking, beyond=beyond)


def _with_few_words(leg: Leg, query: str) -> Leg:
    """A word leg hears little in stop words, and knows a foreign script in one form only."""
    typed = words(query)
    if leg.name not in WORD_LEGS or leg.state is not LegState.OK or not typed:
        return leg
    if all(word in STOP_WORDS for word in typed):
        return _noted(leg, HALF, "weighted down to half: the query is nothing but stop words")
    if not any(word.isascii() or is_cjk(word) for word in typed):
        note = "weighted down to half: words of this script are found only as they are written"
        return _noted(leg, HALF, note)
    return leg


def _without_order(leg: Leg) -> Leg:
    """A leg that gives every hit the same score has put them in no order.

    To be among its hits still says something, unless most of what was searched is.
    """
    scores = leg.ranking.scores
    if leg.state is not LegState.OK or len(scores) <= FIRST or scores[0] != scores[-1]:
        return leg
    score = scores[0]
    measure = leg.yardstick
    while measure is not None and measure.closer is not None:
        measure = measure.closer()
    if measure is not None and measure.mean < score / 2:
        return leg
    return _noted(leg, 0.0, "weighted down to 0: all its hits have the same score")


def _unheard(live: Sequence[Leg], query: str, texts: Texts | None) -> list[Leg]:
    """The legs that agree with nobody, where others do; of two that read the same words and
    disagree, the one whose hits do not hold them; and a guess that found nothing like the query.
    """
    if len(live) == 1:
        return []
    wrong = _misread(live, query, texts) or _far_fetched(live, query, texts)
    rest = [leg for leg in live if leg not in wrong]
    pairs = [(one, other) for one, other in combinations(rest, 2) if _agree(one, other)]
    friends = {leg.name for pair in pairs for leg in pair}
    if not pairs:
        return wrong + _beside_a_guess(rest, query, texts)
    return wrong + [leg for leg in rest if leg.name not in friends and not leg.guessed]


def _misread(live: Sequence[Leg], query: str, texts: Texts | None) -> list[Leg]:
    """Two legs that read the same words as they were typed cannot but agree. Where they do not,
    one of them is out of order, and what its first hits say shows which.
    """
    typed = [leg for leg in live if leg.name in WORD_LEGS and not leg.guessed]
    if texts is None or len(typed) != 2 or not all(map(_measures, typed)) or _agree(*typed):
        return []
    terms = {stem(word) for word in _content(query)}
    held = [_held(texts(leg.ranking.ids[:FIRST]), terms) for leg in typed]
    return [leg for leg, count in zip(typed, held, strict=True) if 2 * count < max(held)]


def _far_fetched(live: Sequence[Leg], query: str, texts: Texts | None) -> list[Leg]:
    """A guess that nobody shares is out if its best hit does not look like the query.

    Where no word was found as it was typed, that meaning shares it is not enough: there are only
    these two, and one lucky lot would do.
    """
    typed = any(leg.name in WORD_LEGS and not leg.guessed for leg in live)
    others = [leg for leg in live if typed and not leg.guessed]
    guesses = [leg for leg in live if leg.guessed and not any(_agree(leg, one) for one in others)]
    return [leg for leg in guesses if _spelled(leg, query, texts) < LIKE]


def _beside_a_guess(live: Sequence[Leg], query: str, texts: Texts | None) -> list[Leg]:
    """Where nobody agrees and a guess spells the query out, meaning is out, which mostly agrees
    with a sound guess.
    """
    guess = next((leg for leg in live if leg.guessed), None)
    if guess is None or texts is None or _spelled(guess, query, texts) < SPELLED_OUT:
        return []
    return [leg for leg in live if leg.name not in WORD_LEGS]


def _agree(one: Leg, other: Leg) -> bool:
    """Whether the first hits of each stand out by the measure of the other, if it has one."""
    ways = [(witness, leg) for witness, leg in ((one, other), (other, one)) if _measures(witness)]
    return bool(ways) and all(_stands_out(witness, leg) for witness, leg in ways)


def _measures(leg: Leg) -> bool:
    measure = leg.yardstick
    return measure is not None and measure.deviation > 0 and measure.count >= ENOUGH


def _stands_out(witness: Leg, leg: Leg) -> bool:
    needed = SAME_WORDS if {witness.name, leg.name} == {*WORD_LEGS} else CHANCE
    measure = witness.yardstick
    assert measure is not None
    ahead = _ahead(measure, leg, needed)
    while measure.closer is not None and abs(ahead) < measure.doubt:
        measure = measure.closer()
        ahead = _ahead(measure, leg, needed)
    return ahead > 0


def _ahead(measure: Yardstick, leg: Leg, errors: float = 0.0) -> float:
    """By how much its first hits are better than a draw by lot that is so many errors lucky."""
    first = leg.ranking.ids[:FIRST]
    mean = math.fsum(measure.score_of(first)) / len(first)
    return mean - measure.mean - errors * measure.deviation / math.sqrt(len(first))


def _content(query: str) -> list[str]:
    typed = words(query)
    return [word for word in typed if word not in STOP_WORDS] or typed


def _held(found: Sequence[str], wanted: Collection[str]) -> int:
    """How many of the wanted terms the texts hold, each text counted for itself."""
    return sum(len({stem(word) for word in words(text)}.intersection(wanted)) for text in found)


def _spelled(guess: Leg, query: str, texts: Texts | None) -> float:
    """The share of the query's letters that the words of its best hit account for."""
    typed = _content(query)
    if texts is None or not typed:
        return 1.0
    held = {
        form
        for text in texts(guess.ranking.ids[:1])
        for word in words(text)
        for form in (word, stem(word))
        if len(form) > 2
    }
    return sum(_covered(word, held) for word in typed) / sum(map(len, typed))


def _covered(word: str, held: Collection[str]) -> float:
    """How many letters of a word are those of words at hand: of a likeness, or run together."""
    from rapidfuzz.distance import OSA  # a start that needs no spelling does not wait for it

    if any(one.startswith(word) for one in held):
        return len(word)
    alike = max((OSA.normalized_similarity(word, one) for one in held), default=0.0)
    inside: set[int] = set()
    for one in held:
        start = word.find(one)
        inside.update(range(start, start + len(one)) if start >= 0 else ())
    return max(alike * len(word) if alike >= LIKE else 0.0, len(inside))


def _noted(leg: Leg, trust: float, note: str) -> Leg:
    trust = min(trust, leg.trust)
    return replace(leg, trust=trust, note=f"{leg.note}; {note}" if leg.note else note)
