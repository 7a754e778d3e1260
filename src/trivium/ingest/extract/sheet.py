"""Spreadsheets (XLSX): a heading and a table for every sheet, with the values as last computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from lxml.etree import _Element as Element

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.package import (
    Package,
    core_properties,
    parse_xml,
    related,
    stream_xml,
)
from trivium.ingest.extract.trees import attribute, child, children, local, whole_number
from trivium.ingest.extract.writer import Writer, known_fields

EXTRACTOR = "xlsx/2"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

_MOST_COLUMNS = 16_384
_LETTERS = re.compile(r"[A-Z]{1,3}$")
_RANGE = re.compile(r"([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})$")
_LONGEST_MERGE = 1_000  # cells: what is larger is a banner, not a head
_ESCAPED = re.compile("_x(?![dD][89a-fA-F])([0-9A-Fa-f]{4})_")  # signs that XML cannot hold
_NOT_SHOWN = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.')
_DATE_SIGN = re.compile(r"[dmyhs]", re.I)
# Number formats that need no definition; the numbers come from the standard.
_DATES = frozenset((*range(14, 23), *range(27, 37), 45, 46, 47, *range(50, 59)))
_PERCENT = frozenset((9, 10))


def extract(data: bytes, name: str) -> Extraction:
    """Every sheet that has something in it, in the workbook's order.

    The first row with more than one cell is the head. Dates are written in ISO form, merged cells
    in every place that they cover.
    """
    package = Package(data)
    part = next(
        (one.target for one in package.relations("").values() if one.kind == "officeDocument"),
        "xl/workbook.xml",
    )
    if part not in package:
        raise SourceError("it holds no workbook. Check what it is and rename it.")
    book = package.xml(part)
    relations = package.relations(part)
    by_kind = {one.kind: one.target for one in relations.values()}
    strings = _shared_strings(package, by_kind.get("sharedStrings"))
    values = _Values(strings, package.optional(by_kind.get("styles", "")), _counts_from_1904(book))
    writer = Writer()
    for sheet in children(child(book, "sheets")):
        relation = relations.get(related(sheet))
        if relation is None or relation.kind != "worksheet" or relation.target not in package:
            continue
        rows = _rows(package.read(relation.target), relation.target, values)
        if any(map(any, rows)):
            writer.heading(sheet.get("name") or "", 1)
            writer.table(rows)
    properties = core_properties(package)
    title = properties.pop("title", None)
    # "Sheet1" is no title: without one the file's name says more.
    fields = known_fields(**properties)
    return writer.extraction(title, fields, MEDIA_TYPE, EXTRACTOR, headed=False)


def _counts_from_1904(book: Element) -> bool:
    return attribute(child(book, "workbookPr"), "date1904") in ("1", "true")


def _shared_strings(package: Package, part: str | None) -> list[str]:
    if not part or part not in package:
        return []
    root = parse_xml(package.read(part), part)
    return [_string(item) for item in children(root, "si")]


def _string(item: Element) -> str:
    """The text of a cell, without the reading aids (`rPh`) of Japanese."""
    parts = []
    for one in item:
        if local(one) == "t":
            parts.append(one.text or "")
        elif local(one) == "r":
            parts.extend(text.text or "" for text in children(one, "t"))
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), "".join(parts))


class _Values:
    """Turns what a cell holds into what it shows."""

    def __init__(self, strings: list[str], styles: Element | None, from_1904: bool) -> None:
        self._strings = strings
        self._start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30)
        formats = {
            whole_number(attribute(one, "numFmtId")): attribute(one, "formatCode") or ""
            for one in children(child(styles, "numFmts"))
        }
        self._kinds = [
            self._kind(whole_number(attribute(one, "numFmtId")), formats)
            for one in children(child(styles, "cellXfs"))
        ]

    def __call__(self, cell: Element) -> str:
        kind = cell.get("t") or "n"
        if kind == "inlineStr":
            inline = child(cell, "is")
            return _string(inline) if inline is not None else ""
        text = next((part.text for part in cell if str(part.tag).endswith("}v")), None) or ""
        if kind == "s":
            at = whole_number(text, -1)
            return self._strings[at] if 0 <= at < len(self._strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        return self._number(text, whole_number(cell.get("s"))) if kind == "n" and text else text

    def _number(self, text: str, style: int) -> str:
        kind = self._kinds[style] if 0 <= style < len(self._kinds) else ""
        if not kind and text.isdecimal() and len(text) < 16:
            return text
        try:
            number = float(text)
        except ValueError:
            return text
        if not math.isfinite(number):
            return text
        if kind == "date":
            return self._moment(number) or text
        if kind == "percent":
            return f"{_short(number * 100)}%"
        return _short(number)

    def _moment(self, days: float) -> str | None:
        try:
            moment = self._start + timedelta(seconds=round(days * 86_400))
        except (OverflowError, ValueError):
            return None
        if 0 <= days < 1:
            return moment.time().isoformat()
        whole_days = moment.time() == datetime.min.time()
        return moment.date().isoformat() if whole_days else moment.isoformat(" ")

    @staticmethod
    def _kind(number: int, formats: dict[int, str]) -> str:
        if number in _DATES:
            return "date"
        if number in _PERCENT:
            return "percent"
        code = _NOT_SHOWN.sub("", formats.get(number, "").split(";")[0])
        if code.lower() == "general":
            return ""
        if _DATE_SIGN.search(code):
            return "date"
        return "percent" if "%" in code else ""


def _short(number: float) -> str:
    """The number as a person would write it: 15 digits, as Excel keeps them, no ".0"."""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    return f"{number:.15g}"


def _rows(data: bytes, part: str, values: _Values) -> list[list[str]]:
    """The rows of a sheet in order, empty ones left out."""
    rows: dict[int, list[str]] = {}
    merged: list[str] = []
    latest = 0
    for element in _events(data, part):
        if local(element) == "mergeCell":
            merged.append(element.get("ref") or "")
            continue
        at = whole_number(element.get("r"), latest + 1)
        latest = at
        if element.get("hidden") in ("1", "true"):
            continue
        cells = _cells(element, values)
        if any(cells):
            rows[at] = cells
    widths = sorted(((len(row), at) for at, row in rows.items()), reverse=True)[:2]
    for reference in merged:
        _repeat(rows, reference, widths)
    return [rows[at] for at in sorted(rows)]


def _events(data: bytes, part: str) -> Iterator[Element]:
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    strict = "{http://purl.oclc.org/ooxml/spreadsheetml/main}"
    names = [space + name for space in (main, strict) for name in ("row", "mergeCell")]
    return stream_xml(data, part, *names)


def _cells(row: Element, values: _Values) -> list[str]:
    cells: list[str] = []
    column = -1
    for cell in row:
        if not str(cell.tag).endswith("}c"):
            continue
        letters = (cell.get("r") or "").rstrip("0123456789")
        column = _column(letters) if _LETTERS.match(letters) else column + 1
        text = values(cell).strip()
        if text and column < _MOST_COLUMNS:
            cells.extend([""] * (column + 1 - len(cells)))
            cells[column] = text
    return cells


@lru_cache(_MOST_COLUMNS)
def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _repeat(rows: dict[int, list[str]], reference: str, widths: Sequence[tuple[int, int]]) -> None:
    """Write a merged cell into every place it covers, unless it goes across the whole sheet.

    `widths` are the two widest rows, so that one is known whichever row is left out.
    """
    match = _RANGE.match(reference)
    if match is None:
        return
    left, top, right, bottom = _column(match[1]), int(match[2]), _column(match[3]), int(match[4])
    if (right - left + 1) * (bottom - top + 1) > _LONGEST_MERGE:
        return
    text = rows[top][left] if top in rows and left < len(rows[top]) else ""
    widest = next((width for width, at in widths if at != top), 0)
    if not text or (top == bottom and left == 0 and right + 1 >= widest):
        return
    for at in range(top, bottom + 1):
        if at in rows:
            row = rows[at]
            row.extend([""] * (right + 1 - len(row)))
            row[left : right + 1] = [text] * (right + 1 - left)
