"""What every extractor gives back: the text, and where its blocks stand in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias

BlockKind: TypeAlias = Literal["heading", "paragraph", "list", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]` of the extracted text, without a newline at its end.

    `level` is a heading's depth (1 is the highest) and 0 for everything else.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """A source as text. Blocks are in reading order, do not overlap and leave only blanks between.

    `title` is None when the source does not name itself (the caller takes the file's name),
    `fields` is what the source says about itself, unchecked, and `extractor` names the code and
    its version: it is part of the pipeline fingerprint. `notes` are sentences for the person who
    adds the file: what could not be read of it, what it really is.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    title: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    media_type: str = "text/plain"
    extractor: str = "plain/1"
    notes: tuple[str, ...] = ()


_LONGEST_TITLE = 300  # a heading path is a label; markup is looked for in no more than this
_ATX = re.compile(r"#{1,6}(?:[ \t]+|$)")
_ATX_CLOSE = re.compile(r"(?:^|(?<=[ \t]))#+$")
_UNDERLINE = re.compile(r"(?:=+|-+)")
_ATTRIBUTES = re.compile(r"\{[#.][^{}]*\}$")
_MARKUP_SIGN = re.compile(r"[\[<*_`\\]")
_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]"), r"\1"),  # [[note|shown]]
    (re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)"), r"\1"),  # [shown](address)
    (re.compile(r"!?\[([^\[\]]*)\]\[[^\[\]]*\]"), r"\1"),  # [shown][reference]
    (re.compile(r"</?a\b[^<>]*>|<!--.*?-->"), ""),
    (re.compile(r"(?<!\\)(\*{1,3}|(?<!\w)_{1,3})(?=\S)(.+?)(?<=[^\s\\])\1(?![*\w])"), r"\2"),
    (re.compile(r"(?<!\\)`+"), ""),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)


def heading_title(heading: str) -> str:
    """The words of a heading block: no marks, no underline, no inline markup, on one line.

    Headings of formats without marks come back as they are, so every extractor can use it.
    """
    line = heading.strip()
    body, _, last = line.rpartition("\n")
    if body and _UNDERLINE.fullmatch(last.strip()):
        line = body
    line = line[:_LONGEST_TITLE].rstrip()
    opening = _ATX.match(line)
    if opening:
        line = _ATX_CLOSE.sub("", line[opening.end() :]).rstrip()
    line = _ATTRIBUTES.sub("", line)
    if _MARKUP_SIGN.search(line):
        for pattern, replacement in _MARKUP:
            line = pattern.sub(replacement, line)
    return " ".join(line.split())


def blank_free(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blank lines at its front and without whitespace at its end.

    The first line keeps its indentation: in code it means something. An empty span says that
    there was nothing but whitespace.
    """
    piece = text[start:end]
    kept = len(piece.rstrip())
    if not kept:
        return start, start
    first = len(piece) - len(piece.lstrip())
    return start + piece.rfind("\n", 0, first) + 1, start + kept


def covering(extraction: Extraction) -> Iterator[Block]:
    """The blocks that hold something, and a paragraph for all text that no block holds."""
    text, position = extraction.text, 0
    for block in (*extraction.blocks, Block("paragraph", len(text), len(text))):
        gap = blank_free(text, position, max(block.start, position))
        if gap[0] < gap[1]:
            yield Block("paragraph", *gap)
        start, end = blank_free(text, max(block.start, position), block.end)
        if start < end:
            yield Block(block.kind, start, end, block.level, block.page)
        position = max(position, block.end)


# --- where a block can be cut --------------------------------------------------------------------

Spans: TypeAlias = list[tuple[int, int]]
Cut: TypeAlias = Callable[[str, int, int], Spans]

_LINE_END = re.compile(r"\n")
_WORD = re.compile(r"\S+")
_STANZA = re.compile(r"\n(?=[^\S\n]*\n)")
_ITEM_START = re.compile(r"^[ \t]?(?:[-+*•‣◦]|[0-9]{1,9}[.)])[ \t]", re.MULTILINE)
_SENTENCE_END = re.compile(
    r"""(?P<western>(?<![.!?…])[.!?…]++["'”’»)\]*_]*+\s++)|[。！？]++[」』”’）]*+\s*+"""
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[a-z]|mr|mrs|ms|dr|prof|st|vs|etc|cf|fig|no|vol|pp|al|eq|ca|approx|inc)|e\.g|i\.e)$",
    re.IGNORECASE,
)


def lines(text: str, start: int, end: int) -> Spans:
    """Lines that are not blank, with the blanks before but not behind them."""
    return _between(text, start, end, [m.end() for m in _LINE_END.finditer(text, start, end)])


def words(text: str, start: int, end: int) -> Spans:
    """Runs without whitespace."""
    return [match.span() for match in _WORD.finditer(text, start, end)]


def sentences(text: str, start: int, end: int) -> Spans:
    """Sentences without the whitespace around them; "Dr. No" and "e.g. this" are not cut."""
    cuts = []
    for match in _SENTENCE_END.finditer(text, start, end):
        before = text[max(start, match.start() - 8) : match.start()]
        follows = text[match.end() : match.end() + 1]
        if not match["western"] or not (follows.islower() or _ABBREVIATION.search(before)):
            cuts.append(match.end())
    return _between(text, start, end, cuts)


def items(text: str, start: int, end: int) -> Spans:
    """The items of a list, each with what is nested in it."""
    return _between(text, start, end, [m.start() for m in _ITEM_START.finditer(text, start, end)])


def stanzas(text: str, start: int, end: int) -> Spans:
    """Runs of lines between blank lines."""
    return _between(text, start, end, [m.end() for m in _STANZA.finditer(text, start, end)])


def _between(text: str, start: int, end: int, cuts: list[int]) -> Spans:
    borders = [start, *cuts, end]
    spans = [blank_free(text, left, right) for left, right in pairwise(borders)]
    return [(left, right) for left, right in spans if left < right]


CUTS: Mapping[BlockKind, tuple[Cut, ...]] = {
    "heading": (words,),
    "paragraph": (sentences, lines, words),
    "list": (items, lines, sentences, words),
    "table": (lines, words),
    "code": (stanzas, lines, words),
}
"""The ways to cut a block, from the one that does least harm to words, always the last."""
