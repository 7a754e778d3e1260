"""What extractors write their blocks to: one text, exact spans, nothing that cannot be stored."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from trivium.clock import format_time, parse_time
from trivium.errors import InvalidValue, SourceError
from trivium.ingest.blocks import Block, BlockKind, Extraction

LONGEST_TEXT = 50_000_000
"""Characters: fifty times the Bible in one file is data or a bomb, not something to read."""

_WHOLE_TABLE = 2_000
_TABLE_PART = 1_000  # a passage of the default size holds about as much of a table
_LONGEST_FIELD = 1_000
_LONGEST_TITLE = 300

_NO_TITLE = re.compile(r"$|[0-9]+(?:\.[0-9]+)*\.?\s|(?:table of )?contents$|inhalt", re.I)
_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_LINE_ENDS = re.compile("\r\n?|\x0c|\x85|\u2028|\u2029")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_JOINED_LETTERS = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)


def clean(text: str) -> str:
    """The text as it can be stored and found: `\\n` at line ends, no control characters,
    letters composed, and typographic ligatures (ﬁ) as the letters they stand for."""
    if text.isascii() and text.isprintable():  # most are
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _UNWANTED.sub("", text)
    text = _HALF_CHARACTER.sub("\ufffd", text)
    return unicodedata.normalize("NFC", text.translate(_JOINED_LETTERS))


def one_line(text: str) -> str:
    """The cleaned text with single blanks for every run of whitespace."""
    return " ".join(clean(text).split())


def table_text(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows as Markdown tables, the first row as their head; nothing for an empty table.

    A long table comes in parts that each begin with the head, so that every passage of it still
    says what its columns are. Rows and columns without any text are left out.
    """
    filled = _without_empty([[one_line(cell).replace("|", "\\|") for cell in row] for row in rows])
    if not filled:
        return []
    head, *body = (f"| {' | '.join(row)} |" for row in filled)
    head += "\n|" + "---|" * len(filled[0])
    most = max(_TABLE_PART, 4 * len(head))
    if len(head) + sum(map(len, body)) <= max(_WHOLE_TABLE, most):
        return ["\n".join([head, *body])]
    parts: list[list[str]] = []
    room = 0
    for line in body:
        if len(line) + 1 > room or not parts:
            parts.append([head])
            room = most - len(head)
        parts[-1].append(line)
        room -= len(line) + 1
    return ["\n".join(part) for part in parts]


def _without_empty(rows: list[list[str]]) -> list[list[str]]:
    """The rows at one width, without those rows and columns in which nothing stands."""
    rows = [row for row in rows if any(row)]
    used = sorted({column for row in rows for column, cell in enumerate(row) if cell})
    return [[row[at] if at < len(row) else "" for at in used] for row in rows]


class Writer:
    """Collects the blocks of one source in reading order.

    What comes out obeys `Extraction`: `text[start:end]` is each block, in order, with a blank
    line between them. Texts are cleaned on the way; a block in which nothing is left is not
    written. More than `LONGEST_TEXT` characters raise `SourceError`.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._length = 0
        self.notes: list[str] = []
        self.page: int | None = None

    def __len__(self) -> int:
        return len(self._blocks)

    def heading(self, text: str, level: int) -> None:
        self._add("heading", one_line(text), max(1, min(level, 9)))

    def paragraph(self, text: str) -> None:
        lines = (" ".join(line.split()) for line in clean(text).split("\n"))
        self._add("paragraph", "\n".join(line for line in lines if line))

    def list(self, items: Sequence[str]) -> None:
        """Items with their marks (`- `, `1. `), two blanks of indentation for each level."""
        lines = (clean(item).rstrip().replace("\n", " ") for item in items)
        self._add("list", "\n".join(line for line in lines if line.strip()))

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Rows of cells, heads first. What stands alone in its row above them is a paragraph."""
        filled = [[cell for cell in row if cell.strip()] for row in rows]
        head = next((at for at, cells in enumerate(filled) if len(cells) > 1), len(rows))
        for cells in filled[:head]:
            self.paragraph("\n".join(cells))
        for part in table_text(rows[head:]):
            self._add("table", part)

    def code(self, text: str) -> None:
        lines = (line.rstrip() for line in clean(text).expandtabs(4).split("\n"))
        self._add("code", "\n".join(lines).strip("\n"))

    def note(self, sentence: str) -> None:
        """Something the person who adds the file should know."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def extraction(
        self,
        title: str | None,
        fields: Mapping[str, Any],
        media_type: str,
        extractor: str,
        *,
        headed: bool = True,
    ) -> Extraction:
        """All that was written. Without a title the first heading of the highest level is it,
        unless it is numbered or the headings are no names (`headed=False`)."""
        text = "".join(self._parts)
        given = one_line(title or "")[:_LONGEST_TITLE]
        return Extraction(
            text,
            tuple(self._blocks),
            given or (self._first_heading(text) if headed else None),
            fields,
            media_type,
            extractor,
            tuple(self.notes),
        )

    def _first_heading(self, text: str) -> str | None:
        headings = [block for block in self._blocks if block.kind == "heading"]
        first = min(headings, key=lambda block: block.level, default=None)
        title = text[first.start : first.end][:_LONGEST_TITLE] if first else ""
        return None if _NO_TITLE.match(title) else title

    def _add(self, kind: BlockKind, text: str, level: int = 0) -> None:
        if not text.strip():
            return
        if self._parts:
            self._parts.append("\n\n")
            self._length += 2
        start, end = self._length, self._length + len(text)
        if end > LONGEST_TEXT:
            raise SourceError(
                f"it holds more than {LONGEST_TEXT // 1_000_000} million characters of text. "
                "Split it into smaller files."
            )
        self._parts.append(text)
        self._blocks.append(Block(kind, start, end, level, self.page))
        self._length = end


def known_fields(**values: object) -> dict[str, Any]:
    """Fields for an extraction: those that say something, with times that really are times.

    `created` and `updated` may be text in ISO 8601 or datetimes; what does not parse is dropped,
    because a wrong date inside a file is no reason to refuse the file.
    """
    fields: dict[str, Any] = {}
    for key, value in values.items():
        if key in ("created", "updated"):
            moment = _time(value)
            if moment:
                fields[key] = moment
        elif isinstance(value, str):
            short = one_line(value)[:_LONGEST_FIELD]
            if short:
                fields[key] = short
        elif isinstance(value, list):
            items = [one_line(item)[:_LONGEST_FIELD] for item in value if isinstance(item, str)]
            if any(items):
                fields[key] = [item for item in items if item]
    return fields


def _time(value: object) -> str | None:
    if not value:
        return None
    try:
        moment = parse_time(value)  # type: ignore[arg-type]  # refuses what is no time
    except InvalidValue:
        return None
    return format_time(moment) if 1900 < moment.year < 2200 else None
