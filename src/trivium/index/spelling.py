"""The vocabulary by look: which words of the segments resemble a given one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.index.bm25 import Part
from trivium.index.segment import Segment
from trivium.protocols import Similar
from trivium.stemmer import stem
from trivium.text import similarity, trigrams


def similar(
    parts: Sequence[Part], word: str, lengths: tuple[int, int], limit: int
) -> list[Similar]:
    """The visible words of these lengths that share most trigrams with `word`."""
    found: dict[str, float] = {}
    for part in parts:
        surfaces, scores = _sharing(part.segment, word, lengths)
        best = np.argsort(-scores, kind="stable")
        surfaces, scores = surfaces[best], scores[best]
        taken, last = 0, 0.0
        for surface, score in zip(surfaces.tolist(), scores.tolist(), strict=True):
            if taken >= limit and score < last:  # of equal ones all are kept, to break ties by word
                break
            if _is_visible(part, surface):
                found[part.segment.surfaces[surface]] = score
                taken, last = taken + 1, score
    ordered = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [Similar(word, stem(word), score) for word, score in ordered]


def starting(parts: Sequence[Part], prefix: str, limit: int) -> list[Similar]:
    """The visible words that begin with `prefix`, shortest first."""
    found: set[str] = set()
    for part in parts:
        for surface in _holding_all(part.segment, _codes(f"  {prefix}")).tolist():
            word = part.segment.surfaces[surface]
            if word.startswith(prefix) and _is_visible(part, surface):
                found.add(word)
    wanted = trigrams(prefix)
    return [
        Similar(word, stem(word), similarity(wanted, trigrams(word)))
        for word in sorted(found, key=lambda word: (len(word), word))[:limit]
    ]


def _is_visible(part: Part, surface: int) -> bool:
    return part.all_visible or bool(part.visible[part.segment.rows_of_surface(surface)].any())


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
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The surfaces of these lengths that share a trigram, and their similarity."""
    grams = _codes(f"  {word} ")
    lists = list(_lists(segment, grams))
    if not lists:
        return np.empty(0, np.int64), np.empty(0)
    shared = np.bincount(np.concatenate(lists))
    surfaces = np.flatnonzero(shared)
    size = segment.arrays["surface.length"][surfaces]
    surfaces = surfaces[(size >= lengths[0]) & (size <= lengths[1])]
    common = shared[surfaces]
    held = segment.arrays["surface.grams"][surfaces].astype(np.int64)
    return surfaces, common / (held + len(grams) - common)


def _holding_all(segment: Segment, grams: NDArray[np.uint64]) -> NDArray[np.int32]:
    lists = list(_lists(segment, grams))
    if len(lists) < len(grams):
        return np.empty(0, np.int32)
    held = lists[0]
    for more in lists[1:]:
        held = np.intersect1d(held, more, assume_unique=True)
    return held
