"""Words → lines → columns: the order in which a page is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from trivium.ingest.extract.pdf.words import Box, Font, Word, is_right_to_left

_LEADERS = re.compile(r"(?:\s?[.·_]){5,}")
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]{2}")
_NUMBER = re.compile(r"^[^\w]*[0-9]")
_MOST_SEGMENTS = 3_000  # beyond that, the order from top to bottom has to do
_FEWEST_LINES = 3  # on both sides of a gap, for it to divide columns
_FEWEST_SHORT_LINES = 6  # the same where the lines are short, as in an index
_FEWEST_WORDS = 3.5  # a line of prose; cells of tables are shorter
_FILLED = 0.55  # share of the column's width that lines of prose fill


@dataclass(frozen=True, slots=True)
class Segment:
    """Words side by side without a wide gap: a line of a column, or a cell of a table."""

    words: tuple[Word, ...]
    box: Box
    font: Font

    @property
    def text(self) -> str:
        return joined(self.words)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with drawn borders, already taken apart."""

    rows: tuple[tuple[str, ...], ...]
    font: Font
    box: Box


Piece: TypeAlias = Segment | Grid


def joined(words: Sequence[Word]) -> str:
    """The words as text; a raised figure behind a number is not made part of the number.

    The dots that lead to a page number in a table of contents become one sign.
    """
    parts: list[str] = []
    for word in words:
        if parts and not (
            word.glued and not (parts[-1][-1:].isdigit() and word.text[:1].isdigit())
        ):
            parts.append(" ")
        parts.append(word.text)
    return _LEADERS.sub(" … ", "".join(parts))


def reads_like_table(cells: Iterable[str]) -> bool:
    """Whether cells hold words and numbers, not the scattered letters of formulas and figures."""
    filled = [cell for cell in cells if cell.strip()]
    worded = sum(1 for cell in filled if _WORD.search(cell))
    numbers = sum(1 for cell in filled if not _WORD.search(cell) and _NUMBER.search(cell))
    return worded >= 0.2 * len(filled) and worded + numbers >= 0.6 * len(filled)


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box around others; there must be one."""
    every = list(boxes)
    return Box(
        min(box.left for box in every),
        min(box.top for box in every),
        max(box.right for box in every),
        max(box.bottom for box in every),
    )


def common_font(words: Iterable[Word]) -> Font:
    """The font of most characters."""
    counts: Counter[Font] = Counter()
    for word in words:
        counts[word.font] += len(word.text)
    return max(counts, key=lambda font: (counts[font], font))


def rows(words: Sequence[Word]) -> list[list[Word]]:
    """Words of the same height on the page, from top to bottom, each row from left to right."""
    found: list[list[Word]] = []
    core: Box | None = None
    for word in sorted(words, key=lambda one: (one.box.top + one.box.bottom, one.box.left)):
        if core is not None and _overlap(core, word.box) >= 0.5:
            found[-1].append(word)
            if word.box.bottom - word.box.top > core.bottom - core.top:
                core = word.box
        else:
            found.append([word])
            core = word.box
    for row in found:
        row.sort(key=lambda one: (one.box.left, one.place))
    return found


def _overlap(one: Box, other: Box) -> float:
    """How much of the lower of two boxes stands beside the other."""
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    return shared / max(min(one.bottom - one.top, other.bottom - other.top), 0.1)


def segments(words: Sequence[Word]) -> list[Segment]:
    """The words cut at wide gaps, and at narrower ones where the file's own order is broken."""
    found = []
    for row in rows(words):
        part: list[Word] = []
        reach = 0.0
        for word in row:
            if part:
                gap, size = word.box.left - reach, max(word.font.size, part[-1].font.size)
                follows = abs(word.place - part[-1].place) == 1
                if gap > (1.0 if follows else 0.45) * size:
                    found.append(_segment(part))
                    part, reach = [], 0.0
            part.append(word)
            reach = max(reach, word.box.right)
        found.append(_segment(part))
    return found


def _segment(words: list[Word]) -> Segment:
    if is_right_to_left("".join(word.text for word in words)):
        words = words[::-1]
    return Segment(tuple(words), around(word.box for word in words), common_font(words))


def regions(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """The pieces in the order of reading: one list for each column or part of a page.

    Columns are only seen where both sides of a gap hold lines of prose; what merely stands side
    by side in rows is left together, as a table or a form is read row by row.
    """
    if len(pieces) > _MOST_SEGMENTS:
        return [list(pieces)]
    middle = _gutter([piece for piece in pieces if isinstance(piece, Segment)])
    if middle is None:
        return [list(pieces)]
    found: list[list[Piece]] = []
    loose: list[Piece] = []
    divided = False
    for band in _bands(pieces, middle):
        left = [piece for piece in band if piece.box.right <= middle]
        right = [piece for piece in band if piece.box.left >= middle]
        if len(left) + len(right) == len(band) and _are_columns(left, right):
            divided = True
            if loose:
                found.append(loose)
                loose = []
            found += regions(left) + regions(right)
        else:
            loose += band
    if loose:
        found.append(loose)
    return found if divided else [list(pieces)]


def _gutter(lines: list[Segment]) -> float | None:
    """The place across the page at which most lines end on one side and begin on the other."""
    edges: list[tuple[float, int]] = []
    ordered = sorted(lines, key=lambda line: line.box.left)
    for line in lines:
        for other in ordered:
            if other.box.left >= line.box.right and _overlap(line.box, other.box) >= 0.3:
                if other.box.left - line.box.right > 0.4 * line.font.size:
                    edges += [(line.box.right, 1), (other.box.left, -1)]
                break
    best, count, place = 0, 0, None
    edges.sort()
    for at, (x, step) in enumerate(edges):
        count += step
        if count > best and at + 1 < len(edges):
            best, place = count, (x + edges[at + 1][0]) / 2
    return place if best >= _FEWEST_LINES else None


def _bands(pieces: Sequence[Piece], middle: float) -> list[list[Piece]]:
    """Runs from top to bottom of pieces that all cross the middle, or of which none does."""
    bands: list[list[Piece]] = []
    crossing: bool | None = None
    for piece in sorted(pieces, key=lambda one: (one.box.top, one.box.left)):
        crosses = piece.box.left < middle < piece.box.right
        if crosses != crossing:
            bands.append([])
            crossing = crosses
        bands[-1].append(piece)
    return bands


def _are_columns(left: list[Piece], right: list[Piece]) -> bool:
    """Whether two sides are read one after the other: both prose, or written one after the other.

    Programs write a table row by row, so its two sides take turns in the file.
    """
    if _is_prose(left) and _is_prose(right):
        return True
    if min(len(left), len(right)) < _FEWEST_SHORT_LINES:
        return False
    sides = {
        word.place: side
        for side, pieces in enumerate((left, right))
        for piece in pieces
        if isinstance(piece, Segment)
        for word in piece.words
    }
    order = [sides[place] for place in sorted(sides)]
    misplaced = sum(order[: order.count(0)])
    return misplaced <= max(2, len(order) // 20)  # a header above both may be among them


def _is_prose(pieces: list[Piece]) -> bool:
    lines = [piece for piece in pieces if isinstance(piece, Segment)]
    if len(lines) < _FEWEST_LINES:
        return False
    box = around(line.box for line in lines)
    width = max(box.right - box.left, 1.0)
    filled = median((line.box.right - line.box.left) / width for line in lines)
    return filled >= _FILLED and median(len(line.words) for line in lines) >= _FEWEST_WORDS
