"""Paragraphs and tables of all pages → blocks: what is a heading, a list, code, or furniture."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, TypeAlias

from trivium.ingest.extract.pdf.paragraphs import (
    Item,
    Paragraph,
    Recognised,
    Table,
    starts_item,
    undivided,
)
from trivium.ingest.extract.pdf.words import Font
from trivium.ingest.extract.writer import Writer

_LARGER = 1.12  # times the body's size, for a line to be a heading by its size
_LONGEST_HEADING, _LONGEST_BOLD = 200, 120
_MOST_HEADING_LINES = 3
_DEEPEST = 6
_MARGIN = 0.12  # share of the page's height in which headers and footers stand
_NUMBER_MARGIN = 0.18  # the same for a number alone: TeX puts it far from the edge
_FEWEST_REPEATS = 3
_PAGE_NUMBER = re.compile(
    r"[-–—\s]*(?:page |seite )?(?:[0-9]{1,4}|[ivxlc]{1,7})"
    r"(?:\s*(?:of|von|/)\s*[0-9]{1,4})?[-–—\s]*$",
    re.I,
)
_Key: TypeAlias = tuple[str, int, int]
_NUMBER_ALONE: _Key = ("", 0, 0)
_NUMBER = re.compile(r"[0-9]{1,5}")
_WORD = re.compile(r"[^\W\d_]{3}|[\u3040-\u9fff\uac00-\ud7af]{2}")
_NOT_LETTERS = re.compile(r"[\W_]+")
_FRONT_NUMBER = re.compile(r"^[0-9ivx]{0,4}(?:\.[0-9]+)*\.?\s+", re.I)


class Entry(NamedTuple):
    """An entry of the document's outline; `level` counts from 1."""

    title: str
    level: int
    page: int


@dataclass(slots=True)
class Document:
    """The items of all pages; `heights` are those of the pages by their number."""

    items: list[Item] = field(default_factory=list)
    heights: dict[int, float] = field(default_factory=dict)


def write(document: Document, outline: Sequence[Entry], writer: Writer) -> None:
    """Write everything but headers, footers and page numbers."""
    items = _without_furniture(document)
    headings = _Headings(items, outline)
    pending: list[Paragraph] = []  # of one list, or of one piece of code, or a single one
    for at, item in enumerate(items):
        if pending and not _goes_on(pending[-1], item, headings.level(at), headings.body):
            _flush(pending, writer, headings.body)
        if isinstance(item, Paragraph) and not headings.level(at):
            pending.append(item)
            continue
        writer.page = item.page
        if isinstance(item, Table):
            writer.table(item.rows)
        elif isinstance(item, Recognised):
            writer.paragraph(item.text)
        else:
            writer.heading(item.text, headings.level(at))
    _flush(pending, writer, headings.body)


def _goes_on(last: Paragraph, item: Item, level: int, body: Font) -> bool:
    """Whether an item belongs to the list, or to the code, that is under way on its page."""
    if not isinstance(item, Paragraph) or level or item.page != last.page:
        return False
    kind = _kind(last, body)
    return kind != "text" and _kind(item, body) == kind


def _kind(item: Paragraph, body: Font) -> str:
    if item.font.mono and not body.mono and len(item.lines) > 1:
        return "code"
    return "list" if starts_item(item.lines[0].text) else "text"


def _flush(pending: list[Paragraph], writer: Writer, body: Font) -> None:
    if not pending:
        return
    writer.page = pending[0].page
    kind = _kind(pending[0], body)
    if kind == "code":
        for one in pending:
            writer.code("\n".join(_indented(one)))
    elif kind == "list":
        writer.list(_items(pending))
    else:
        for one in pending:
            writer.paragraph(one.text)
    pending.clear()


def _indented(paragraph: Paragraph) -> list[str]:
    """The lines with blanks in front, as far as they stand from the margin."""
    left = min(line.box.left for line in paragraph.lines)
    width = max(0.6 * paragraph.font.size, 1.0)  # of a character of a font with equal widths
    return [
        " " * min(round((line.box.left - left) / width), 80) + undivided([line.text])
        for line in paragraph.lines
    ]


def _items(paragraphs: list[Paragraph]) -> list[str]:
    """The items of a list, indented by where they begin."""
    edges: list[float] = []
    for left in sorted(one.lines[0].box.left for one in paragraphs):
        if not edges or left - edges[-1] > 4:
            edges.append(left)
    return [
        "  " * min(sum(1 for edge in edges if edge <= one.lines[0].box.left + 0.1) - 1, 8)
        + _marked(one.text)
        for one in paragraphs
    ]


def _marked(text: str) -> str:
    mark, _, rest = text.partition(" ")
    return f"{mark if any(map(str.isalnum, mark)) else '-'} {rest}"


# --- headers and footers -------------------------------------------------------------------------


def _without_furniture(document: Document) -> list[Item]:
    """The items without page numbers, and without lines that return at the edge of many pages."""
    edges = [_at_edge(item, document) for item in document.items]
    pages: dict[_Key, list[int]] = {}
    for item, keys in zip(document.items, edges, strict=True):
        for key in keys:
            pages.setdefault(key, []).append(item.page)
    returning = {key for key, found in pages.items() if _returns(sorted(set(found)))}
    kept: list[Item] = []
    for item, keys in zip(document.items, edges, strict=True):
        if _NUMBER_ALONE in keys or not returning.isdisjoint(keys):
            continue
        if isinstance(item, Paragraph) and not any(map(str.isalnum, item.text)):
            continue  # a line drawn with signs
        kept.append(item)
    left = {item.page for item in kept}
    alone = [item for item in document.items if item.page not in left]
    return sorted([*kept, *alone], key=lambda item: item.page)  # no page is left empty


def _returns(pages: list[int]) -> bool:
    """Whether something stands on many pages of a stretch; chapters have their own headers."""
    return len(pages) >= _FEWEST_REPEATS and pages[-1] - pages[0] < 3 * len(pages)


def _at_edge(item: Item, document: Document) -> list[_Key]:
    """By what a line at the top or bottom edge may be known again; nothing for other items.

    The same words at the same height, but for a number that grows with the pages.
    """
    if not isinstance(item, Paragraph) or len(item.lines) > 2:
        return []
    height = document.heights.get(item.page, 0.0)
    top, bottom = item.lines[0].box.top, item.lines[-1].box.bottom
    text, place = item.text, round(top / 4)
    is_number = bool(_PAGE_NUMBER.match(text))
    margin = height * (_NUMBER_MARGIN if is_number else _MARGIN)
    if margin < bottom and top < height - margin:
        return []
    if is_number:
        return [_NUMBER_ALONE]
    keys: list[_Key] = [(text, place, 0)]
    for number in _NUMBER.finditer(text):
        ahead = int(number[0]) - item.page
        keys.append((text[: number.start()] + "#" + text[number.end() :], place, ahead))
        if number.start() == 0 or number.end() == len(text):
            keys.append(("#", place, ahead))
    return keys


# --- headings ------------------------------------------------------------------------------------


class _Headings:
    """Which paragraphs are headings, and of which level."""

    def __init__(self, items: Sequence[Item], outline: Sequence[Entry]) -> None:
        self.body = _body_font(items)
        self._items = items
        self._levels: dict[int, int] = {}
        listed = self._listed(outline)
        found = {at: one.font for at, one in self._candidates()}
        for at in self._on_title_page(found):
            if at not in listed:
                del found[at]
        levels = self._style_levels(found, listed)
        for at, font in found.items():
            self._levels[at] = listed.get(at) or levels[_style(font)]
        for at, level in listed.items():
            self._levels.setdefault(at, level)

    def level(self, at: int) -> int:
        return self._levels.get(at, 0)

    def _candidates(self) -> list[tuple[int, Paragraph]]:
        return [
            (at, item)
            for at, item in enumerate(self._items)
            if isinstance(item, Paragraph) and self._looks_like_one(item)
        ]

    def _looks_like_one(self, paragraph: Paragraph) -> bool:
        text, font = paragraph.text, paragraph.font
        if len(paragraph.lines) > _MOST_HEADING_LINES or len(text) > _LONGEST_HEADING:
            return False
        if not _WORD.search(text) or (font.mono and not self.body.mono):
            return False
        if font.size >= _LARGER * self.body.size:
            return True
        return (
            font.bold
            and not self.body.bold
            and font.size >= 0.9 * self.body.size
            and len(text) <= _LONGEST_BOLD
            and len(paragraph.lines) < _MOST_HEADING_LINES
            and not text.endswith((".", ",", ";"))
        )

    def _on_title_page(self, found: dict[int, Font]) -> list[int]:
        """Lines between the title and the text that only name the author, the date or the place."""
        if not found:
            return []
        first = self._items[min(found)].page
        largest = max(found, key=lambda at: (found[at].size, -at))
        if self._items[largest].page != first:
            return []
        elsewhere = {_style(font) for at, font in found.items() if self._items[at].page != first}
        begins = next(
            (at for at, one in enumerate(self._items) if at > largest and at not in found), None
        )
        return [
            at
            for at, font in found.items()
            if self._items[at].page == first
            and not font.bold
            and font.size < found[largest].size
            and _style(font) not in elsewhere
            and (begins is None or at < begins)
        ]

    def _listed(self, outline: Sequence[Entry]) -> dict[int, int]:
        """Paragraphs that the outline names, with the level it gives them."""
        by_page: dict[int, list[tuple[int, Paragraph]]] = {}
        for at, item in enumerate(self._items):
            if isinstance(item, Paragraph) and len(item.lines) <= _MOST_HEADING_LINES:
                by_page.setdefault(item.page, []).append((at, item))
        listed: dict[int, int] = {}
        for entry in outline:
            title = _letters(entry.title)
            bare = _letters(_FRONT_NUMBER.sub("", entry.title))
            matching = [
                (item.font.size, -at)
                for at, item in by_page.get(entry.page, ())
                if title and at not in listed and _is_called(item.text, title, bare)
            ]
            if matching:  # the largest: a running header may say the same
                listed[-max(matching)[1]] = min(entry.level, _DEEPEST)
        return listed

    def _style_levels(
        self, found: dict[int, Font], listed: dict[int, int]
    ) -> dict[tuple[float, bool], int]:
        """Larger styles get higher levels; where the outline knows a style, its level counts."""
        known: dict[tuple[float, bool], Counter[int]] = {}
        for at, level in listed.items():
            if at in found:
                known.setdefault(_style(found[at]), Counter())[level] += 1
        pages: dict[tuple[float, bool], set[int]] = {}
        for at, font in found.items():
            pages.setdefault(_style(font), set()).add(self._items[at].page)
        levels: dict[tuple[float, bool], int] = {}
        before, last = 0, dict[bool, tuple[float, bool]]()
        for style in sorted(pages, key=lambda one: (-one[0], not one[1])):
            if style in known:
                counts = known[style]
                before = min(level for level in counts if counts[level] == max(counts.values()))
            elif style[1] in last and _is_rescaled(style, last[style[1]], pages):
                before = levels[last[style[1]]]
            else:
                before = min(before + 1, _DEEPEST)
            levels[style] = before
            last[style[1]] = style
        return levels


def _style(font: Font) -> tuple[float, bool]:
    return round(font.size * 2) / 2, font.bold


def _is_rescaled(
    style: tuple[float, bool],
    larger: tuple[float, bool],
    pages: dict[tuple[float, bool], set[int]],
) -> bool:
    """Whether two styles are one on pages that were printed at different scales."""
    return style[0] >= 0.9 * larger[0] and pages[style].isdisjoint(pages[larger])


def _is_called(text: str, title: str, bare: str) -> bool:
    return _letters(text) == title or _letters(_FRONT_NUMBER.sub("", text)) in (title, bare)


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text.casefold())


def _body_font(items: Sequence[Item]) -> Font:
    """The size of most lines (of a form: that of its rows, not of its small print), and how most
    characters of that size are set."""
    lines: Counter[float] = Counter()
    characters: Counter[Font] = Counter()
    for item in items:
        if isinstance(item, Recognised):
            continue
        size, bold = _style(item.font)
        texts = item.rows if isinstance(item, Table) else [[line.text] for line in item.lines]
        lines[size] += len(texts)
        characters[Font(size, bold, item.font.mono)] += sum(map(len, chain(*texts)))
    common = max(lines, key=lambda size: (lines[size], -size), default=10.0)
    looks = [font for font in characters if font.size == common]
    plain = Font(common, False, False)
    return max(looks, key=lambda font: (characters[font], not font.bold), default=plain)
