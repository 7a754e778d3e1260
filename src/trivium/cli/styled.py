"""Lines of styled text for a terminal: a page of code where a whole library would be loaded.

A search that is answered in a few milliseconds must not wait ten times as long for the means to
print it. Tables, progress bars and everything else that is not a search go by way of `rich`.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from trivium.values import dataclass

Styled: TypeAlias = Sequence[tuple[str, str]]
"""Pieces of text, each with the names of its styles ("bold yellow"), "" for none."""

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_STYLES = {"bold": "1", "dim": "2"}
_COLOURS = {
    name: str(code)
    for code, name in enumerate(("red", "green", "yellow", "blue", "magenta", "cyan", "white"), 31)
}
PIPE_WIDTH = 120
"""Columns where there is no terminal: wide, so that little is broken in a pipe."""


def harmless(text: str) -> str:
    """What a document says without the signs that would steer a terminal, one for one."""
    return _UNSEEN.sub("\ufffd", text)


@dataclass(frozen=True, slots=True)
class Screen:
    """Where lines go, how wide it is, and what it can show."""

    width: int
    styles: bool
    colours: bool
    err: bool = False

    @classmethod
    def of(cls, err: bool = False) -> Screen:
        """Standard output or standard error as it is now; a pipe shows no styles at all."""
        stream = sys.stderr if err else sys.stdout
        if not stream.isatty():
            return cls(PIPE_WIDTH, styles=False, colours=False, err=err)
        plain = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
        return cls(
            _columns(stream.fileno()),
            styles=not plain,
            colours=not plain and not os.environ.get("NO_COLOR"),
            err=err,
        )

    def write(self, text: Styled = ()) -> None:
        """One line, as wide as it is."""
        line = "".join(self._shown(*piece) for piece in text).rstrip(" ")
        print(line, file=sys.stderr if self.err else sys.stdout)  # in the stream's own encoding

    def _shown(self, text: str, style: str) -> str:
        known = {**(_STYLES if self.styles else {}), **(_COLOURS if self.colours else {})}
        codes = ";".join(known[name] for name in style.split() if name in known)
        return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _columns(file: int) -> int:
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(file).columns or 80
    except OSError:
        return 80


def wrapped(text: Styled, width: int) -> Iterator[Styled]:
    """The text in lines of at most `width` columns; a word is broken only if it is wider."""
    whole = "".join(piece for piece, _ in text)
    for start, end in _lines(whole, max(width, 1)):
        yield _slice(text, start, end)


def _slice(text: Styled, start: int, end: int) -> Styled:
    pieces, at = [], 0
    for piece, style in text:
        if part := piece[max(start - at, 0) : max(end - at, 0)]:
            pieces.append((part, style))
        at += len(piece)
    return pieces


def _lines(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, without the blanks at its end."""
    for paragraph in re.finditer(r"[^\n]*(?:\n|\Z)", text):
        said = paragraph[0].rstrip("\n")
        if paragraph[0] or not text:
            for start, end in _broken(said, width):
                end = start + len(said[start:end].rstrip())
                yield paragraph.start() + start, paragraph.start() + end
    if text.endswith("\n"):
        yield len(text), len(text)


def _broken(text: str, width: int) -> Iterator[tuple[int, int]]:
    begin, column = 0, 0
    for word in re.finditer(r"^\s*\S+\s*|\S+\s*", text):
        start, size = word.start(), columns(word[0].rstrip())
        if column + size > width and start > begin:
            yield begin, start
            begin, column = start, 0
        while size > width:
            fits = _fitting(text[start:], width)
            start += fits
            yield begin, start
            begin, size = start, columns(text[start : word.end()].rstrip())
        column += columns(text[start : word.end()])
    yield begin, len(text)


def _fitting(text: str, width: int) -> int:
    """How many characters fit into so many columns, at least one."""
    used = 0
    for place, character in enumerate(text):
        used += columns(character)
        if used > width:
            return max(place, 1)
    return len(text)


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_column, text))


def _column(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
