"""A page → paragraphs and tables in the order of reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from trivium.ingest.extract.pdf.aligned import MARK, Row, rows_of, table_at
from trivium.ingest.extract.pdf.layout import (
    Grid,
    Piece,
    Segment,
    around,
    common_font,
    regions,
    segments,
)
from trivium.ingest.extract.pdf.page import Page
from trivium.ingest.extract.pdf.ruled import ruled_tables
from trivium.ingest.extract.pdf.words import HYPHEN, Box, Font

_SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; `bold` and `mono` only when all of it is."""

    text: str
    box: Box
    font: Font


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together, all set alike, and the left edge of their column."""

    lines: tuple[Line, ...]
    margin: float
    page: int

    @property
    def font(self) -> Font:
        return self.lines[0].font

    @property
    def text(self) -> str:
        """On one line, with divided words put together again."""
        return undivided([line.text for line in self.lines])


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, and the font in which most of them are set."""

    rows: tuple[tuple[str, ...], ...]
    font: Font
    page: int


@dataclass(frozen=True, slots=True)
class Recognised:
    """A paragraph that was read off a picture: nothing is known of its font or place."""

    text: str
    page: int


Item: TypeAlias = Paragraph | Table | Recognised


def undivided(lines: Sequence[str]) -> str:
    """The lines as one; a word that is divided at a line's end is made whole."""
    text = ""
    for line in lines:
        if text.endswith(HYPHEN) or (
            text.endswith("-") and text[-2:-1].islower() and line[:1].islower()
        ):
            text = text[:-1] + line
        else:
            text = f"{text} {line}" if text else line
    return text.replace(HYPHEN, "-")


def page_items(page: Page) -> list[Item]:
    """Everything that can be read on a page."""
    grids, words = ruled_tables(page.words, page.rules)
    pieces: list[Piece] = [*segments(words), *grids]
    items: list[Item] = []
    for region in regions(pieces):
        items += _region(region, page.number)
    for turned in page.turned:
        for region in regions([*segments(turned)]):
            items += _region(region, page.number)
    return items


def _region(region: Sequence[Piece], page: int) -> list[Item]:
    """The items of one column, from top to bottom."""
    grids = sorted((one for one in region if isinstance(one, Grid)), key=lambda one: one.box.top)
    rows = rows_of([one for one in region if isinstance(one, Segment)])
    items: list[Item] = []
    lines: list[Line] = []

    def flush() -> None:
        items.extend(_paragraphs(lines, page))
        lines.clear()

    at = 0
    while at < len(rows):
        while grids and grids[0].box.top < rows[at].box.top:
            flush()
            items.append(_ruled(grids.pop(0), page))
        table = table_at(rows, at)
        if table is None:
            lines.extend(_lines(rows[at]))
            at += 1
        else:
            flush()
            cells, stop = table
            parts = [segment for row in rows[at:stop] for segment in row.segments]
            font = common_font(word for segment in parts for word in segment.words)
            items.append(Table(tuple(map(tuple, cells)), font, page))
            at = stop
    flush()
    return items + [_ruled(grid, page) for grid in grids]


def _ruled(grid: Grid, page: int) -> Table:
    return Table(grid.rows, grid.font, page)


def _lines(row: Row) -> list[Line]:
    """A row as one line, or as several where what stands side by side is set in other sizes."""
    parts: list[list[Segment]] = []
    for segment in row.segments:
        size = parts[-1][-1].font.size if parts else segment.font.size
        if parts and abs(size - segment.font.size) <= 0.15 * size:
            parts[-1].append(segment)
        else:
            parts.append([segment])
    return [_line(part) for part in parts]


def _line(segments: list[Segment]) -> Line:
    words = [word for segment in segments for word in segment.words]
    font = common_font(words)
    font = Font(
        font.size,
        all(word.font.bold for word in words if any(map(str.isalnum, word.text)) or word.font.bold),
        all(word.font.mono for word in words),
    )
    text = " ".join(segment.text for segment in segments)
    return Line(text, around(segment.box for segment in segments), font)


def _paragraphs(lines: list[Line], page: int) -> list[Paragraph]:
    if not lines:
        return []
    left, right = min(one.box.left for one in lines), max(one.box.right for one in lines)
    pitches = [
        b.box.bottom - a.box.bottom
        for a, b in pairwise(lines)
        if abs(a.font.size - b.font.size) < 0.6 and b.box.bottom - a.box.bottom < 2.5 * a.font.size
    ]
    size = median(line.font.size for line in lines)
    column = _Column(left, right, median(pitches) if pitches else 0.0, size)
    found: list[list[Line]] = [[lines[0]]]
    for at in range(1, len(lines)):
        after = lines[at + 1] if at + 1 < len(lines) else None
        if column.parts(found[-1], lines[at], after):
            found.append([lines[at]])
        else:
            found[-1].append(lines[at])
    return [Paragraph(tuple(one), left, page) for one in found]


@dataclass(frozen=True, slots=True)
class _Column:
    """The edges of a column, and the usual distance and size of its lines."""

    left: float
    right: float
    pitch: float
    size: float

    def parts(self, paragraph: list[Line], line: Line, after: Line | None) -> bool:
        """Whether a line begins a new paragraph."""
        last, size = paragraph[-1], paragraph[-1].font.size
        if abs(line.font.size - size) > max(0.08 * size, 0.5) or line.font[1:] != last.font[1:]:
            return True
        if min(line.box.right, last.box.right) < max(line.box.left, last.box.left):
            return True  # on the other side of the page
        distance = line.box.bottom - last.box.bottom
        usual = 1.3 * self.pitch + 0.5 if self.pitch else 1.8 * size
        if distance > max(usual, 1.45 * size):
            return True
        divided = last.text.endswith((HYPHEN, "-")) and line.text[:1].islower()
        if divided or line.font.mono or size > 1.12 * self.size:
            return False  # indentation begins nothing in code and in headings of several lines
        if starts_item(line.text):
            return True
        width = max(self.right - self.left, 1.0)
        short = last.box.right < self.right - 0.25 * width
        if short and last.text.endswith(_SENTENCE_ENDS) and not line.text[:1].islower():
            return True
        indented = line.box.left - last.box.left > 0.8 * size
        if not indented or starts_item(paragraph[0].text):
            return False
        if last.box.right < self.right - 0.1 * width or len(paragraph) > 1:
            return True
        return after is None or after.box.left < line.box.left - 0.5 * size  # else it hangs


def starts_item(text: str) -> bool:
    """Whether a line begins with the mark of a list's item."""
    mark, _, rest = text.partition(" ")
    return bool(rest) and bool(MARK.match(mark))
