"""The dilution guard: a leg with nothing to say about a query is not heard, and says so.

A leg is put to the test by the others: would ten chunks drawn by lot look to them as its own
first ten do? If they would, to every leg that can measure them, the leg adds noise. Where no leg
is believed by another there is nobody to judge by, and all are heard.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from trivium.config import FuseSettings
from trivium.text import STOP_WORDS, is_cjk, words
from trivium.types import Leg, LegState, Ranking, Yardstick

FIRST = 10  # the hits that people look at; with fewer chance plays too large a part
ENOUGH = 100  # chunks to search; of fewer, ten are too large a part to look chosen
CHANCE = 3.0  # standard errors above the mean: a draw by lot gets there once in 700 times
CLOSE = 0.005  # a verdict as close as this is not left to a mean that is only about right
WORD_LEGS = ("keyword", "trigram")
HALF = 0.5  # they still find titles such as "The Who", and words in the very form that was typed
NOTHING_TO_SAY = (
    "weighted down to 0: by the measure of the other legs its best hits look drawn by lot"
)


def guarded(legs: Sequence[Leg], query: str) -> list[Leg]:
    """The legs with their trust; one that lost some of it says so in its note."""
    heard = [_without_order(_with_few_words(leg, query)) for leg in legs]
    live = [leg for leg in heard if leg.state is LegState.OK and leg.trust > 0]
    failed = {leg.name for leg in live if _fails(leg, live)}
    if len(failed) == len(live):
        return heard
    return [_noted(leg, 0.0, NOTHING_TO_SAY) if leg.name in failed else leg for leg in heard]


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


def agrees_on_meaning(legs: Sequence[Leg]) -> bool:
    """Whether vectors and words as typed are both heard: what they agree on is worth following.

    The best hits of a mere guess are no examples of what was meant.
    """
    heard = [leg for leg in legs if leg.state is LegState.OK and leg.trust > 0]
    typed = any(leg.name != "vector" and not leg.guessed for leg in heard)
    return typed and any(leg.name == "vector" for leg in heard)


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
    scores = set(leg.ranking.scores)
    if leg.state is not LegState.OK or len(scores) != 1 or len(leg.ranking) <= FIRST:
        return leg
    [score] = scores
    measure = leg.yardstick.exact() if leg.yardstick and leg.yardstick.exact else leg.yardstick
    if measure is not None and measure.mean < score / 2:
        return leg
    return _noted(leg, 0.0, "weighted down to 0: all its hits have the same score")


def _fails(leg: Leg, live: Sequence[Leg]) -> bool:
    if leg.guessed and leg.yardstick is not None:
        return False  # the others take the query as it was typed: they cannot judge a reading
    first = leg.ranking.ids[:FIRST]
    verdicts = [
        _beats_the_lot(other, first)
        for other in live
        if other.name != leg.name and _can_judge(other)
    ]
    return bool(verdicts) and not any(verdicts)


def _can_judge(witness: Leg) -> bool:
    """A leg that guessed at the query is no witness against one that took it as it was typed."""
    measure = witness.yardstick
    if measure is None or witness.guessed:
        return False
    return measure.deviation > 0 and measure.count >= ENOUGH


def _beats_the_lot(witness: Leg, chunks: Sequence[str]) -> bool:
    measure = witness.yardstick
    assert measure is not None
    mean = math.fsum(measure.score_of(chunks)) / len(chunks)
    ahead = _ahead(measure, mean, len(chunks))
    if measure.exact is not None and abs(ahead) < CLOSE:
        ahead = _ahead(measure.exact(), mean, len(chunks))
    return ahead > 0


def _ahead(measure: Yardstick, mean: float, count: int) -> float:
    """By how much a mean of so many scores is better than one drawn by lot would be."""
    return mean - measure.mean - CHANCE * measure.deviation / math.sqrt(count)


def _noted(leg: Leg, trust: float, note: str) -> Leg:
    trust = min(trust, leg.trust)
    return replace(leg, trust=trust, note=f"{leg.note}; {note}" if leg.note else note)
