"""Tables with merged cells → rows of equal width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_LONGEST_REPEATED = 200  # heads are short; what is longer stands once
_MOST_COLUMNS = 1_000  # as browsers read colspan; beyond that column nothing is merged
_MOST_CELLS = 2_000_000


class Cell(NamedTuple):
    """A cell and how many columns and rows it covers."""

    text: str
    columns: int = 1
    rows: int = 1


def spread(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The rows with the text of a merged cell in every place that it covers.

    So each row keeps its heads and each column too. A cell as wide as the table is a line across
    it and stands once. Spans that reach beyond the table are cut.
    """
    grid: list[list[str | None]] = [[] for _ in rows]
    left = _MOST_CELLS
    for at, row in enumerate(rows):
        column = 0
        for cell in row:
            while column < len(grid[at]) and grid[at][column] is not None:
                column += 1
            columns = max(1, min(cell.columns, _MOST_COLUMNS - column))
            below = max(1, min(cell.rows, len(rows) - at))
            left -= columns * below
            if left < 0:
                columns = below = 1
            _put(grid[at : at + below], column, columns, cell.text)
            column += columns
    width = max(map(len, grid), default=0)
    filled = [[cell or "" for cell in row] + [""] * (width - len(row)) for row in grid]
    for at, row in enumerate(rows):
        if width > 1 and len(row) == 1 and row[0].columns >= width and row[0].rows <= 1:
            filled[at] = [row[0].text] + [""] * (width - 1)
    return filled


def _put(rows: list[list[str | None]], column: int, columns: int, text: str) -> None:
    repeated = text if len(text) <= _LONGEST_REPEATED else ""
    for down, row in enumerate(rows):
        row.extend([None] * (column + columns - len(row)))
        for across in range(columns):
            if row[column + across] is None:
                row[column + across] = text if down == across == 0 else repeated
