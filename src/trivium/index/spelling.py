"""The vocabulary by look: which words of the segments resemble a given one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.index.bm25 import Part
from trivium.index.segment import Segment
from trivium.kernels import WIDTH
from trivium.protocols import Similar
from trivium.stemmer import stem
from trivium.text import LEAST_ALIKE, similarity, trigrams


def similar(
    parts: Sequence[Part], word: str, lengths: tuple[int, int], limit: int
) -> list[Similar]:
    """The visible words of these lengths that share most trigrams with `word`."""
    found: dict[str, float] = {}
    for part in parts:
        surfaces, scores = _sharing(part.segment, word, lengths)
        for surface, score in _best(part, surfaces, scores, limit):
            found[part.segment.surfaces[surface]] = score
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [Similar(word, stem(word), score) for word, score in ordered]


def starting(parts: Sequence[Part], prefix: str, limit: int) -> list[Similar]:
    """The visible words that begin with `prefix`, shortest first."""
    found: set[str] = set()
    for part in parts:
        surfaces = _holding_all(part.segment, _codes(f"  {prefix}"))
        words = map(part.segment.surfaces.__getitem__, surfaces[_visible(part, surfaces)].tolist())
        found.update(word for word in words if word.startswith(prefix))
    wanted = trigrams(prefix)
    return [
        Similar(word, stem(word), similarity(wanted, trigrams(word)))
        for word in sorted(found, key=lambda word: (len(word), word))[:limit]
    ]


def _best(
    part: Part, surfaces: NDArray[np.int32], scores: NDArray[np.float64], limit: int
) -> Iterator[tuple[int, float]]:
    """The `limit` best that are visible; of equal ones at the cut all, to break ties by word."""
    count = limit
    while True:
        cut = np.partition(scores, len(scores) - count)[-count] if count < len(scores) else 0.0
        near = np.flatnonzero(scores >= cut)
        near = near[_visible(part, surfaces[near])]
        if len(near) >= limit or count >= len(scores):
            return zip(surfaces[near].tolist(), scores[near].tolist(), strict=True)
        count *= 4


def _visible(part: Part, surfaces: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which of these words stand in a visible row: mostly the first or last that holds one is."""
    if part.all_visible:
        return np.ones(len(surfaces), bool)
    segment = part.segment
    positions, offsets = segment.arrays["positions"], segment.arrays["surface.positions"]
    ends = positions[np.stack([offsets[surfaces], offsets[surfaces + 1] - 1])]
    first, last = part.visible[segment.cell_of(ends) // WIDTH]
    visible: NDArray[np.bool_] = first | last
    for place in np.flatnonzero(~visible).tolist():
        visible[place] = part.visible[segment.rows_of_surface(surfaces[place])].any()
    return visible


def _codes(padded: str) -> NDArray[np.uint64]:
    points = np.array([ord(sign) for sign in padded], np.uint64)
    codes = (points[:-2] << np.uint64(42)) | (points[1:-1] << np.uint64(21)) | points[2:]
    return np.unique(codes)


def _lists(segment: Segment, grams: NDArray[np.uint64]) -> Iterator[NDArray[np.int32]]:
    """The surfaces that hold each of the grams, ascending; nothing for an unknown gram."""
    known = segment.arrays["gram.codes"]
    offsets = segment.arrays["gram.offsets"]
    places = np.searchsorted(known, grams)
    for place, gram in zip(places.tolist(), grams, strict=True):
        if place < len(known) and known[place] == gram:
            yield segment.arrays["gram.surfaces"][offsets[place] : offsets[place + 1]]


def _sharing(
    segment: Segment, word: str, lengths: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The surfaces of these lengths that resemble the word, and their similarity."""
    grams = _codes(f"  {word} ")
    lists = list(_lists(segment, grams))
    if not lists:
        return np.empty(0, np.int32), np.empty(0)
    together = np.sort(np.concatenate(lists))
    firsts = np.flatnonzero(np.concatenate([[True], together[1:] != together[:-1]]))
    surfaces, common = together[firsts], np.diff(firsts, append=len(together))
    size = segment.arrays["surface.length"][surfaces]
    fitting = (size >= lengths[0]) & (size <= lengths[1])
    surfaces, common = surfaces[fitting], common[fitting]
    held = segment.arrays["surface.grams"][surfaces].astype(np.int64)
    scores = common / (held + len(grams) - common)
    alike = scores >= LEAST_ALIKE
    return surfaces[alike], scores[alike]


def _holding_all(segment: Segment, grams: NDArray[np.uint64]) -> NDArray[np.int32]:
    lists = list(_lists(segment, grams))
    if len(lists) < len(grams):
        return np.empty(0, np.int32)
    held, *others = sorted(lists, key=len)
    for more in others:
        held = held[more[np.searchsorted(more, held).clip(max=len(more) - 1)] == held]
    return held
