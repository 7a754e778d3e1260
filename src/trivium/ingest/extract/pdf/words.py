"""The words of a page with their places and fonts, as PDFium's characters give them."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import pypdfium2.raw as pdfium

HYPHEN = "\u00ad"
"""Stands at the end of a word that was divided at the end of a line."""

_MOST_CHARACTERS = 200_000  # a page of fine print has 10,000
_BOLD_NAME = re.compile(r"bold|black|heavy|semib|demi|cmbx|sfbx|-bd|medi(?:um)?$", re.I)
_MONO_NAME = re.compile(r"mono|courier|consol|typewriter|cmtt|sftt|menlo", re.I)
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_DIVIDED = (0x02, 0xFFFE)  # how PDFium writes a hyphen at the end of a line
_BLANK = 0x20  # and everything below
_OTHER_BLANKS = frozenset((0xA0, 0xFFFF, 0x2002, 0x2003, 0x3000))


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class Font(NamedTuple):
    """How a word is set; `size` is what it measures on the page."""

    size: float
    bold: bool
    mono: bool


class Word(NamedTuple):
    """A run of characters without a blank. `glued` says that none stands before it either.

    `place` counts the words in the order of the file, which is often the order of reading.
    """

    text: str
    box: Box
    font: Font
    place: int
    glued: bool = False


def is_right_to_left(text: str) -> bool:
    return len(_RIGHT_TO_LEFT.findall(text)) * 2 > len(text)


def read_words(page: Any) -> list[tuple[int, Word]]:
    """The words of a page in the file's order and coordinates, each with its direction.

    The direction counts the quarters by which the text is turned. `Box.top` is the lower edge
    here: PDF counts from the bottom.
    """
    text = pdfium.FPDFText_LoadPage(page)
    if not text:
        return []
    try:
        return list(_Glyphs(text).words())
    finally:
        pdfium.FPDFText_ClosePage(text)


class _Glyphs:
    """The characters of a page, put together to words."""

    def __init__(self, text: Any) -> None:
        self._text = text
        self._fonts: dict[int, Font] = {}
        self._looks: dict[int, tuple[bool, bool]] = {}

    def words(self) -> Iterator[tuple[int, Word]]:
        text = self._text
        unicode, loose = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox
        rectangle = pdfium.FS_RECTF()
        reference = ctypes.byref(rectangle)
        place = 0
        word: _OpenWord | None = None
        for at in range(min(pdfium.FPDFText_CountChars(text), _MOST_CHARACTERS)):
            code = unicode(text, at)
            if code <= _BLANK or code in _DIVIDED or code in _OTHER_BLANKS:
                if word:
                    yield word.closed(place, HYPHEN if code in _DIVIDED else "")
                    place, word = place + 1, None
                continue
            if not loose(text, at, reference):
                continue
            box = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
            glued = False
            if word and not word.takes(box):
                glued = word.touches(box)
                yield word.closed(place, "")
                place, word = place + 1, None
            if word is None:
                turn = round(pdfium.FPDFText_GetCharAngle(text, at) / (math.pi / 2)) % 4
                word = _OpenWord(turn, self._font(at, Box(*box), turn), glued)
            word.add(code, box)
        if word:
            yield word.closed(place, "")

    def _font(self, at: int, box: Box, turn: int) -> Font:
        item = pdfium.FPDFText_GetTextObject(self._text, at)
        key = _address(item)
        if key not in self._fonts or not key:
            self._fonts[key] = Font(_size(item, box, turn), *self._look(item))
        return self._fonts[key]

    def _look(self, item: Any) -> tuple[bool, bool]:
        """Whether a text object is bold, and whether its characters are all as wide."""
        font = pdfium.FPDFTextObj_GetFont(item) if item else None
        key = _address(font)
        if key not in self._looks:
            self._looks[key] = _look_of(font) if key else (False, False)
        return self._looks[key]


def _address(handle: Any) -> int:
    return (ctypes.cast(handle, ctypes.c_void_p).value or 0) if handle else 0


def _size(item: Any, box: Box, turn: int) -> float:
    """What a text object's font measures; the height of a character where it does not say."""
    measured = box.bottom - box.top if turn % 2 == 0 else box.right - box.left
    size, matrix = ctypes.c_float(), pdfium.FS_MATRIX()
    if not item or not pdfium.FPDFTextObj_GetFontSize(item, ctypes.byref(size)):
        return round(measured / 1.1, 1)
    scale = 1.0
    if pdfium.FPDFPageObj_GetMatrix(item, ctypes.byref(matrix)):
        scale = math.hypot(matrix.c, matrix.d)
    points: float = size.value * scale
    if not 0.4 * measured < points < 2.5 * measured:  # set inside a scaled form
        points = measured / 1.1
    return round(points, 1)


def _look_of(font: Any) -> tuple[bool, bool]:
    name = _string(lambda buffer, length: pdfium.FPDFFont_GetBaseFontName(font, buffer, length))
    flags = pdfium.FPDFFont_GetFlags(font)
    bold = pdfium.FPDFFont_GetWeight(font) >= 600 or bool(_BOLD_NAME.search(name))
    return bold, (flags > 0 and bool(flags & 1)) or bool(_MONO_NAME.search(name))


def _string(call: Callable[[Any, int], int]) -> str:
    buffer = ctypes.create_string_buffer(256)
    length = call(buffer, 256)
    return buffer.raw[: max(0, min(length, 256) - 1)].decode("utf-8", "replace")


_Corners: TypeAlias = tuple[float, float, float, float]


class _OpenWord:
    """A word that may go on. Every character passes through here, so it is kept plain."""

    __slots__ = ("_boxes", "_codes", "_font", "_glued", "_last", "_turn")

    def __init__(self, turn: int, font: Font, glued: bool) -> None:
        self._turn = turn
        self._font = font
        self._glued = glued
        self._codes: list[int] = []
        self._boxes: list[_Corners] = []
        self._last: _Corners = (0.0, 0.0, 0.0, 0.0)

    def add(self, code: int, box: _Corners) -> None:
        self._codes.append(code)
        self._boxes.append(box)
        self._last = box

    def takes(self, box: _Corners) -> bool:
        """Whether a character in this box stands beside the last one, as large and as high."""
        left, low, right, high = box
        last_left, last_low, last_right, last_high = self._last
        same = low == last_low and high == last_high and self._turn == 0
        if same and low - high < 2 * (left - last_right) <= high - low:
            return True  # nearly always
        if self._turn % 2:
            left, low, right, high = low, left, high, right
            last_left, last_low, last_right, last_high = (
                self._last[1],
                self._last[0],
                *(self._last[3], self._last[2]),
            )
        height = max(last_high - last_low, 0.1)
        if abs(low + high - last_low - last_high) > 0.6 * height:
            return False
        if abs(height - (high - low)) > 0.12 * height:
            return False
        return max(left - last_right, last_left - right) <= 0.5 * height

    def touches(self, box: _Corners) -> bool:
        along = self._turn % 2
        gap = max(box[along] - self._last[2 + along], self._last[along] - box[2 + along])
        return abs(gap) <= 0.15 * max(self._font.size, 1.0)

    def closed(self, place: int, end: str) -> tuple[int, Word]:
        text = "".join(map(chr, self._codes))
        if not text.isascii() and _RIGHT_TO_LEFT.search(text):
            text = self._logical()
        lefts, lows, rights, highs = zip(*self._boxes, strict=True)
        box = Box(min(lefts), min(lows), max(rights), max(highs))
        return self._turn, Word(text + end, box, self._font, place, self._glued)

    def _logical(self) -> str:
        """Arabic and Hebrew are drawn from left to right and read the other way.

        PDFium also turns round what stands for a single sign, so equal places are turned too.
        """
        placed = [(box[0] + box[2], at) for at, box in enumerate(self._boxes)]
        return "".join(chr(self._codes[at]) for _, at in sorted(placed, reverse=True))
