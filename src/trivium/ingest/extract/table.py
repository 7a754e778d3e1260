"""Tables as text (CSV, TSV): one Markdown table with the first row as its head."""

from __future__ import annotations

import csv
import io
from pathlib import PurePath

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.writer import Writer
from trivium.ingest.files import decode, normalise_lines

EXTRACTOR = "csv/1"

_SAMPLE_ROWS = 50
_LONGEST_CELL = 1_000_000
_SEPARATORS = ",;\t|"


def extract(data: bytes, name: str) -> Extraction:
    """The rows; commas, semicolons, tabs or bars between the cells are told apart by counting."""
    text = normalise_lines(decode(data, name))
    writer = Writer()
    separator = "\t" if PurePath(name).suffix.lower() == ".tsv" else _separator(text)
    writer.table(_rows(text, separator))
    return writer.extraction(None, {}, "text/csv", EXTRACTOR)


def _rows(text: str, separator: str, most: int | None = None) -> list[list[str]]:
    csv.field_size_limit(_LONGEST_CELL)
    rows = []
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
            rows.append(row)
            if most is not None and len(rows) >= most:
                break
    except csv.Error as error:
        raise SourceError(f"row {len(rows) + 1} cannot be read ({error}). Check it.") from error
    return rows


def _separator(text: str) -> str:
    """The sign that gives most rows the same number of cells, and as many cells as possible."""
    best, separator = (0.0, 0), ","
    for sign in _SEPARATORS:
        try:
            widths = [len(row) for row in _rows(text, sign, _SAMPLE_ROWS) if row]
        except SourceError:
            continue
        if not widths:
            continue
        common = max(set(widths), key=lambda width: (widths.count(width), width))
        score = (widths.count(common) / len(widths) if common > 1 else 0.0, common)
        if score > best:
            best, separator = score, sign
    return separator
