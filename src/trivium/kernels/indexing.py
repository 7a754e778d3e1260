"""The inner loops of building an index, each with its twin in Python: the same arrays from both."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trivium import kernels
from trivium.kernels import BODY, WIDTH, Array
from trivium.stemmer import stem
from trivium.text import words

GAP = -1
MOST_PLACES = 2**31 - 1  # of a stream: beyond, its numbers do not fit the kernel

Stream = NDArray[np.int32]
Numbers = NDArray[np.int64]


class Vocabulary(NamedTuple):
    """Words by their stem, then by themselves, and the place of each number among them.

    Strings are told by their bytes and by where each begins; `term` is the place of each word's
    stem among the stems, which are told once.
    """

    rank: Stream
    words: Array
    word_offsets: Numbers
    stems: Array
    stem_offsets: Numbers
    term: Stream


class Inverted(NamedTuple):
    """Who holds which word: positions by word; by term its rows and how often they hold it.

    What is beyond the body is told by posting (counted within its term), column and count.
    """

    position_offsets: Numbers
    posting_offsets: Numbers
    extra_offsets: Numbers
    positions: Array
    rows: Stream
    body: Array
    extra_posting: Stream
    extra_column: Array
    extra_count: Array


class Numbered:
    """Words to numbers, in the order in which they first came."""

    def __init__(self) -> None:
        self._native: Any = kernels.native
        self._known: Any = (
            self._native.vocabulary(int.from_bytes(os.urandom(8), "little"))
            if self._native
            else _Known()
        )

    def stream(self, texts: Sequence[str]) -> tuple[Stream, Numbers]:
        """The numbers of each text's words and a gap, text after text; how long each is."""
        if self._native:
            plain = [text if text.isascii() else " ".join(words(text)) for text in texts]
            found = self._native.numbered(self._known, tuple(plain))
            return np.frombuffer(found[0], np.int32), np.frombuffer(found[1], np.int64)
        number_of = self._known.__getitem__
        stream, widths = array("i"), array("q")
        for text in texts:
            before = len(stream)
            if text:
                stream.extend(map(number_of, words(text)))
            stream.append(GAP)
            widths.append(len(stream) - before)
        return np.array(stream, np.int32), np.array(widths, np.int64)

    def sorted(self) -> Vocabulary:
        """All words so far."""
        if self._native:
            types = (np.int32, np.uint8, np.int64, np.uint8, np.int64, np.int32)
            found = self._native.sorted_words(self._known, stem)
            arrays = map(np.frombuffer, found, types)
            return Vocabulary(*arrays)
        known = list(self._known)
        stems = [stem(word) for word in known]
        order = sorted(range(len(known)), key=lambda i: (stems[i], known[i]))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        ordered = [stems[i] for i in order]
        first = np.array([one != other for one, other in pairwise(["\0", *ordered])], bool)
        term = np.cumsum(first, dtype=np.int32) - np.int32(1)
        terms = [text for text, new in zip(ordered, first.tolist(), strict=True) if new]
        return Vocabulary(rank, *_packed([known[i] for i in order]), *_packed(terms), term)


class Forms(NamedTuple):
    """What a segment knows of words: its stems, where the forms of each begin among all forms, the
    forms, and how often each of these is used.
    """

    stems: Array
    stem_offsets: Numbers
    forms_of: Numbers
    words: Array
    word_offsets: Numbers
    uses: Numbers


def forms_together(segments: Sequence[Forms]) -> Vocabulary:
    """The forms of all segments that are used anywhere, each told once; `rank` goes through those
    of one segment after the other, and is -1 for what that one does not use.
    """
    if kernels.native and sum(len(one.uses) for one in segments) < MOST_PLACES:
        types = (np.int32, np.uint8, np.int64, np.uint8, np.int64, np.int32)
        found = kernels.native.forms_together(tuple(map(tuple, segments)))
        return Vocabulary(*map(np.frombuffer, found, types))
    known: list[tuple[bytes, bytes]] = []
    used: list[Numbers] = []
    base = 0
    for one in segments:
        places = np.flatnonzero(one.uses)
        term = np.repeat(np.arange(len(one.forms_of) - 1), np.diff(one.forms_of))[places]
        stems = _unpacked(one.stems, one.stem_offsets)
        forms = _unpacked(one.words, one.word_offsets)
        known += zip(
            map(stems.__getitem__, term.tolist()),
            map(forms.__getitem__, places.tolist()),
            strict=True,
        )
        used.append(places + base)
        base += len(one.uses)
    ordered = sorted(set(known))
    number = {form: place for place, form in enumerate(ordered)}
    rank = np.full(base, -1, np.int32)
    if used:
        rank[np.concatenate(used)] = np.fromiter(
            map(number.__getitem__, known), np.int32, len(known)
        )
    terms = list(dict.fromkeys(stem for stem, _ in ordered))
    term_of = {stem: place for place, stem in enumerate(terms)}
    owners = np.fromiter((term_of[stem] for stem, _ in ordered), np.int32, len(ordered))
    return Vocabulary(rank, *_joined([word for _, word in ordered]), *_joined(terms), owners)


def _unpacked(blob: Array, offsets: Numbers) -> list[bytes]:
    data = blob.tobytes()
    return [data[start:end] for start, end in pairwise(offsets.tolist())]


class _Known(dict[str, int]):
    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


def _packed(strings: list[str]) -> tuple[Array, Numbers]:
    return _joined([string.encode("utf-8", "surrogatepass") for string in strings])


def _joined(strings: list[bytes]) -> tuple[Array, Numbers]:
    return np.frombuffer(b"".join(strings), np.uint8), _offsets([len(one) for one in strings])


def _offsets(counts: Sequence[int] | Numbers) -> Numbers:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def give_back() -> None:
    """Return to the system the memory that building has freed: a server may run for weeks."""
    if kernels.native:
        kernels.native.give_back()


def inverted(stream: Stream, starts: Numbers, term: Stream, count: int) -> Inverted:
    """A stream of words' places turned round; `starts` are those of each column of each row."""
    if kernels.native and len(stream) <= MOST_PLACES and len(starts) <= MOST_PLACES:
        types = (
            np.int64,
            np.int64,
            np.int64,
            np.uint32,
            np.int32,
            np.uint32,
            np.int32,
            np.uint8,
            np.uint32,
        )
        found = kernels.native.inverted(stream, starts, term, count)
        return Inverted(*map(np.frombuffer, found, types))
    positions = np.flatnonzero(stream != GAP)
    surface = stream[positions]
    # one number for both: numbers are sorted several times as fast as their places are found
    by_surface = surface * np.int64(max(len(stream), 1)) + positions
    by_surface.sort()
    cells = len(starts) - 1
    cell = np.repeat(np.arange(cells), np.diff(starts))[positions] if cells else positions
    keys, counts = np.unique(term[surface] * np.int64(max(cells, 1)) + cell, return_counts=True)
    terms, cell = np.divmod(keys, max(cells, 1))
    row, column = np.divmod(cell, WIDTH)
    first = np.ones(len(keys), bool)
    first[1:] = (terms[1:] != terms[:-1]) | (row[1:] != row[:-1])
    posting = np.cumsum(first) - 1
    offsets = _offsets(np.bincount(terms[first], minlength=count))
    body = np.zeros(int(first.sum()), np.uint32)
    in_body = column == BODY
    body[posting[in_body]] = counts[in_body]
    extra_term = terms[~in_body]
    places = np.uint32 if len(stream) <= MOST_PLACES else np.uint64
    return Inverted(
        _offsets(np.bincount(surface, minlength=len(term))),
        offsets,
        _offsets(np.bincount(extra_term, minlength=count)),
        (by_surface % max(len(stream), 1)).astype(places),
        row[first].astype(np.int32),
        body,
        (posting[~in_body] - offsets[extra_term]).astype(np.int32),
        column[~in_body].astype(np.uint8),
        counts[~in_body].astype(np.uint32),
    )
