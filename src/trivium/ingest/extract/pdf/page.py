"""What PDFium knows of a page: words with their place and font, lines that are drawn, pictures.

Coordinates are points from the top left corner, y downwards, after the page has been turned so
that most of its text stands upright.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from trivium.ingest.extract.pdf.rules import read_rules
from trivium.ingest.extract.pdf.words import Box, Word, read_words


@dataclass(slots=True)
class Page:
    """A page as it is to be read; `turned` holds what stands in other directions."""

    number: int
    width: float
    height: float
    words: list[Word] = field(default_factory=list)
    turned: list[list[Word]] = field(default_factory=list)
    rules: list[Box] = field(default_factory=list)
    has_objects: bool = False


def read_page(page: Any, number: int) -> Page:
    """Read a page of a document that PDFium has opened."""
    frame = _frame(page)
    groups: dict[int, list[Word]] = {}
    for turn, word in read_words(page):
        groups.setdefault(turn, []).append(word)
    most = Counter({turn: sum(len(w.text) for w in words) for turn, words in groups.items()})
    main = max(most, key=lambda turn: (most[turn], -turn), default=0)
    turned = _Turn(main, frame)
    found = Page(number, turned.width, turned.height)
    found.words = [turned.word(word) for word in groups.get(main, ())]
    for turn in sorted(groups):
        if turn != main:
            other = _Turn(turn, frame)
            found.turned.append([other.word(word) for word in groups[turn]])
    found.has_objects = pdfium.FPDFPage_CountObjects(page) > 0
    found.rules = [turned.box(rule) for rule in read_rules(page)]
    return found


def _frame(page: Any) -> Box:
    """The visible part of the page in the file's own coordinates (y upwards)."""
    values = [ctypes.c_float() for _ in range(4)]
    references = [ctypes.byref(value) for value in values]
    if not pdfium.FPDFPage_GetCropBox(page, *references) and not pdfium.FPDFPage_GetMediaBox(
        page, *references
    ):
        return Box(0, 0, pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page))
    left, bottom, right, top = (float(value.value) for value in values)
    return Box(min(left, right), min(bottom, top), max(left, right), max(bottom, top))


class _Turn(NamedTuple):
    """Turns boxes by quarters, so that text in one direction stands upright."""

    quarters: int
    frame: Box

    @property
    def width(self) -> float:
        across, up = self.frame.right - self.frame.left, self.frame.bottom - self.frame.top
        return across if self.quarters % 2 == 0 else up

    @property
    def height(self) -> float:
        across, up = self.frame.right - self.frame.left, self.frame.bottom - self.frame.top
        return up if self.quarters % 2 == 0 else across

    def box(self, box: Box) -> Box:
        """From the file's coordinates (bottom left, y upwards) to those of reading."""
        left, low = box.left - self.frame.left, box.top - self.frame.top
        right, high = box.right - self.frame.left, box.bottom - self.frame.top
        match self.quarters:
            case 1:
                return Box(low, left, high, right)
            case 2:
                return Box(self.width - right, low, self.width - left, high)
            case 3:
                return Box(
                    self.width - high, self.height - right, self.width - low, self.height - left
                )
        return Box(left, self.height - high, right, self.height - low)

    def word(self, word: Word) -> Word:
        return word._replace(box=self.box(word.box))
