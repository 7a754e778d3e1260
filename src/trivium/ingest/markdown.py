"""Markdown: YAML front matter, and the top-level blocks of CommonMark with GFM tables.

Only the top level matters (a list is one block with all that is nested in it), so a scanner over
lines is enough. A property test holds it against markdown-it, which takes ten times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from trivium.ingest.blocks import Block, BlockKind, Extraction, heading_title
from trivium.ingest.fields import split_front_matter, text_field
from trivium.ingest.files import decode, normalise_lines

EXTRACTOR = "markdown/1"

_ATX = re.compile(r"#{1,6}(?:[ \t]|$)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_ITEM = re.compile(r" {0,3}(?:([-+*])|([0-9]{1,9})([.)]))(?=[ \t]|$)")
_NESTED_MARKS = re.compile(r"(?: {0,3}(?:>|(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t])) ?){1,20}")
_DELIMITER_CELL = re.compile(r"[ \t]*:?-+:?[ \t]*")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_NEVER = 1_000_000_000
_OPENING_SIGNS = frozenset("#`~>-+*_<0123456789")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|"
    "header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|"
    "param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_VERBATIM_TAGS = "script|pre|style|textarea"
_ATTRIBUTE = r"""\s+[a-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_LONE_TAG = rf"(?:<[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*\s*/?>|</[a-z][a-z0-9-]*\s*>)\s*$"
_HTML = tuple(
    # How an HTML block begins, what its last line holds, whether it ends an open paragraph.
    (re.compile(begin, re.I), re.compile(end, re.I), interrupts)
    for begin, end, interrupts in (
        (rf"<(?:{_VERBATIM_TAGS})(?=\s|>|$)", rf"</(?:{_VERBATIM_TAGS})>", True),
        (r"<!--", r"-->", True),
        (r"<\?", r"\?>", True),
        (r"<![a-z]", r">", True),
        (r"<!\[CDATA\[", r"\]\]>", True),
        (rf"</?(?:{_BLOCK_TAGS})(?=\s|/?>|$)", r"^\s*$", True),
        (_LONE_TAG, r"^\s*$", False),
    )
)


def extract(data: bytes, name: str) -> Extraction:
    """The body behind the front matter, verbatim but for line ends, and its blocks.

    Raises `SourceError`, naming the file, when the text cannot be decoded or its front matter
    cannot be read.
    """
    fields, text = split_front_matter(normalise_lines(decode(data, name)), name)
    blocks = scan(text)
    headings = (text[block.start : block.end] for block in blocks if block.level == 1)
    title = text_field(fields, "title", name) or heading_title(next(headings, "")) or None
    return Extraction(text, blocks, title, fields, "text/markdown", EXTRACTOR)


def scan(text: str) -> tuple[Block, ...]:
    """The top-level blocks of Markdown text with `\\n` line ends, in order.

    Block quotes, HTML, link definitions and lines across the page count as paragraphs.
    """
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    blocks = []
    position = 0
    while position < len(lines):
        if not lines[position].strip():
            position += 1
            continue
        found = _read_block(lines, position)
        stop = found.stop
        while not lines[stop - 1].strip():
            stop -= 1
        blocks.append(Block(found.kind, starts[position], starts[stop] - 1, found.level))
        position = found.stop
    return tuple(blocks)


# --- lines ---------------------------------------------------------------------------------------


def _indent(line: str, column: int = 0) -> int:
    """The column of the first character that is not blank, for a line that starts at `column`."""
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 4 - column % 4
        else:
            break
    return column


def _is_rule(content: str) -> bool:
    signs = "".join(content.split())
    return len(signs) >= 3 and signs[0] in "-*_" and signs == signs[0] * len(signs)


def _closes(line: str, fence: str) -> bool:
    content = line.strip()
    return len(content) >= len(fence) and content == fence[0] * len(content) and _indent(line) < 4


def _opening(line: str) -> str:
    """The sign of the block that begins here when no paragraph is open, or "".

    "---" is a line across the page and "<>" HTML that never ends a paragraph.
    """
    content = line.lstrip(" ")
    if not content or content[0] not in _OPENING_SIGNS or len(line) - len(content) > 3:
        return ""
    sign = content[0]
    if sign == ">":
        return ">"
    if sign == "#":
        return "#" if _ATX.match(content) else ""
    if sign in "`~":
        return "`" if _FENCE.match(content) else ""
    if sign == "<":
        found = (interrupts for begin, _, interrupts in _HTML if begin.match(content))
        return {True: "<", False: "<>", None: ""}[next(found, None)]
    if _is_rule(content):
        return "---"
    return "-" if _ITEM.match(content) else ""


def _begins_block(line: str) -> bool:
    """Whether the line ends what stands before it (but see `_interrupts` for open paragraphs)."""
    return _opening(line) not in ("", "<>")


def _interrupts(line: str) -> bool:
    """Whether the line ends an open paragraph: a list only with text, and counted from 1."""
    item = _item(line)
    return _begins_block(line) and (not item or (item.content != "" and item.number in (None, 1)))


def _is_table(lines: list[str], first: int) -> bool:
    """Whether a header row and a delimiter row of as many cells stand here."""
    if "|" not in lines[first] or first + 1 == len(lines) or _indent(lines[first + 1]) >= 4:
        return False
    delimiters = lines[first + 1].strip()
    if len(delimiters) < 2 or delimiters[0] not in "|-:" or delimiters[:2] in ("- ", "-\t"):
        return False
    cells = _row(delimiters)
    fitting = len(_row(lines[first].strip())) == len(cells) and _indent(lines[first]) < 4
    return fitting and all(_DELIMITER_CELL.fullmatch(cell) for cell in cells)


def _ends_table(line: str) -> bool:
    return not line.strip() or _indent(line) >= 4 or _begins_block(line)


def _row(row: str) -> list[str]:
    cells = _CELL_BORDER.split(row)
    return cells[0 if cells[0] else 1 : None if cells[-1] else -1]


# --- blocks --------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """A block that ends before line `stop`; blank lines at its end are not part of it."""

    kind: BlockKind
    stop: int
    level: int = 0


def _read_block(lines: list[str], first: int) -> _Found:
    line = lines[first]
    if _indent(line) >= 4:
        end = _until(lines, first + 1, lambda line: line.strip() and _indent(line) < 4)
        return _Found("code", end)
    content = line.lstrip(" ")
    match _opening(line):
        case "#":
            return _Found("heading", first + 1, len(content) - len(content.lstrip("#")))
        case "`":
            fence = _FENCE.match(content)
            last = _until(lines, first + 1, lambda line: fence and _closes(line, fence[0]))
            return _Found("code", min(last + 1, len(lines)))
        case "<" | "<>":
            ends = next(end for begin, end, _ in _HTML if begin.match(content))
            last = _until(lines, first, ends.search)
            return _Found("paragraph", min(last + 1, len(lines)))
        case ">":
            return _Found("paragraph", _end_of_quote(lines, first))
        case "-":
            return _Found("list", _end_of_list(lines, first))
        case "---":
            return _Found("paragraph", first + 1)
    if _is_table(lines, first):
        return _Found("table", _until(lines, first + 2, _ends_table))
    return _read_paragraph(lines, first)


def _until(lines: list[str], first: int, stops: Callable[[str], object]) -> int:
    return next((at for at in range(first, len(lines)) if stops(lines[at])), len(lines))


def _read_paragraph(lines: list[str], first: int) -> _Found:
    for position in range(first + 1, len(lines)):
        line = lines[position]
        if not line.strip():
            return _Found("paragraph", position)
        underline = _SETEXT.match(line)
        if underline:
            return _Found("heading", position + 1, 1 if underline[1][0] == "=" else 2)
        if _interrupts(line) or _is_table(lines, position):
            return _Found("paragraph", position)
    return _Found("paragraph", len(lines))


@dataclass(slots=True)
class _Inside:
    """What is open inside a quote or a list item: it decides whether a lazy line belongs to it."""

    fence: str = ""
    paragraph: bool = False

    def read(self, content: str) -> None:
        if self.fence:
            self.fence = "" if _closes(content, self.fence) else self.fence
            return
        nested = _NESTED_MARKS.match(content)
        content = content[nested.end() :] if nested else content
        fence = _FENCE.match(content.lstrip(" ")) if _opening(content) == "`" else None
        self.fence = fence[0] if fence else ""
        text = content.strip() != "" and (self.paragraph or _indent(content) < 4)
        self.paragraph = text and not _begins_block(content)

    def takes(self, line: str) -> bool:
        return self.paragraph and not _begins_block(line)


def _end_of_quote(lines: list[str], first: int) -> int:
    inside = _Inside()
    for position in range(first, len(lines)):
        line = lines[position]
        if _opening(line) == ">":
            inside.read(line.lstrip(" ")[1:].removeprefix(" "))
        elif not line.strip() or not inside.takes(line):
            return position
    return len(lines)


class _Item(NamedTuple):
    """The first line of a list item; lines indented to `column` belong to the item."""

    sign: str
    number: int | None
    column: int
    content: str


def _item(line: str) -> _Item | None:
    mark = _ITEM.match(line)
    if mark is None or _is_rule(line):
        return None
    rest = line[mark.end() :]
    gap = _indent(rest, mark.end()) - mark.end()
    # A gap of five is one blank and an indented code block.
    column = mark.end() + (gap if rest.strip() and gap <= 4 else 1)
    content = line.expandtabs(4)[column:] if rest.strip() else ""
    return _Item(mark[1] or mark[3], int(mark[2]) if mark[2] else None, column, content)


def _end_of_list(lines: list[str], first: int) -> int:
    inside = _Inside()
    sign, column, hollow = "", _NEVER, False
    for position in range(first, len(lines)):
        line = lines[position]
        item = _item(line)
        if not line.strip():
            inside.read("")
            if hollow:  # an item may begin with one empty line, not with two
                column = _NEVER
        elif _indent(line) >= column:
            inside.read(line.expandtabs(4)[column:])
            hollow = False
        elif item and item.sign == (sign or item.sign):
            sign, column, hollow = item.sign, item.column, not item.content
            inside = _Inside()
            inside.read(item.content)
        elif not inside.takes(line):
            return position
    return len(lines)
