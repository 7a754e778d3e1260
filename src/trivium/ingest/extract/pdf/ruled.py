"""Tables with drawn borders: the lines make a grid, the words fall into its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trivium.ingest.extract.grid import Cell, spread
from trivium.ingest.extract.pdf.layout import (
    Grid,
    around,
    common_font,
    joined,
    reads_like_table,
    rows,
)
from trivium.ingest.extract.pdf.words import Box, Word

_NEAR = 3.0  # points between lines that are meant to be one, or to meet
_MOST_RULES = 2_000
_MOST_LINES = 150  # across or down, of one table
_CROWDED = 4  # rows of words in one cell that stand in columns: the borders are only a frame


def ruled_tables(words: Sequence[Word], rules: Sequence[Box]) -> tuple[list[Grid], list[Word]]:
    """The tables of a page, and the words that are in none of them."""
    across = [rule for rule in rules if rule.right - rule.left >= rule.bottom - rule.top]
    down = [rule for rule in rules if rule.right - rule.left < rule.bottom - rule.top]
    if len(across) < 2 or len(down) < 2 or len(rules) > _MOST_RULES:
        return [], list(words)
    tables, left = [], list(words)
    for group in _groups(across, down):
        table = _table(group, left)
        if table is not None:
            grid, used = table
            tables.append(grid)
            left = [word for word in left if word.place not in used]
    return tables, left


@dataclass(slots=True)
class _Lines:
    """Lines that touch each other."""

    across: list[Box] = field(default_factory=list)
    down: list[Box] = field(default_factory=list)

    @property
    def box(self) -> Box:
        return around([*self.across, *self.down])


def _groups(across: list[Box], down: list[Box]) -> list[_Lines]:
    every = [*across, *down]
    parent = list(range(len(every)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for one in range(len(every)):
        for other in range(one):
            if _meet(every[one], every[other]):
                parent[root(one)] = root(other)
    groups: dict[int, _Lines] = {}
    for at, rule in enumerate(every):
        lines = groups.setdefault(root(at), _Lines())
        (lines.across if at < len(across) else lines.down).append(rule)
    return sorted(groups.values(), key=lambda lines: (lines.box.top, lines.box.left))


def _meet(one: Box, other: Box) -> bool:
    return (
        one.left - _NEAR <= other.right
        and other.left - _NEAR <= one.right
        and one.top - _NEAR <= other.bottom
        and other.top - _NEAR <= one.bottom
    )


def _table(lines: _Lines, words: list[Word]) -> tuple[Grid, set[int]] | None:
    xs = _places([(rule.left + rule.right) / 2 for rule in lines.down])
    ys = _places([(rule.top + rule.bottom) / 2 for rule in lines.across])
    if not (3 <= len(xs) <= _MOST_LINES and 3 <= len(ys) <= _MOST_LINES):
        return None
    frame = Box(xs[0], ys[0], xs[-1], ys[-1])
    cells = _cells(lines, xs, ys)
    contents: dict[tuple[int, int], list[Word]] = {}
    used: set[int] = set()
    for word in words:
        x, y = (word.box.left + word.box.right) / 2, (word.box.top + word.box.bottom) / 2
        if not (frame.left <= x <= frame.right and frame.top <= y <= frame.bottom):
            continue
        column = max(at for at, edge in enumerate(xs[:-1]) if edge <= x)
        row = max(at for at, edge in enumerate(ys[:-1]) if edge <= y)
        contents.setdefault(cells[row][column], []).append(word)
        used.add(word.place)
    if len(contents) < 4 or any(map(_is_crowded, contents.values())):
        return None
    table = _spread(cells, contents)
    if not reads_like_table(cell for row in table for cell in row):
        return None
    width = max(sum(map(bool, row)) for row in table)
    font = common_font(word for words in contents.values() for word in words)
    return (Grid(tuple(map(tuple, table)), font, frame), used) if width > 1 else None


def _places(values: list[float]) -> list[float]:
    """The values in order, those that lie together as one."""
    places: list[list[float]] = []
    for value in sorted(values):
        if places and value - places[-1][-1] <= _NEAR:
            places[-1].append(value)
        else:
            places.append([value])
    return [sum(place) / len(place) for place in places]


def _cells(lines: _Lines, xs: list[float], ys: list[float]) -> list[list[tuple[int, int]]]:
    """For every field of the grid the field at the top left of the cell that it belongs to."""
    cells = [[(row, column) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
    for row in range(len(ys) - 1):
        middle = (ys[row] + ys[row + 1]) / 2
        for column in range(1, len(xs) - 1):
            if not _is_drawn_down(lines.down, xs[column], middle):
                cells[row][column] = cells[row][column - 1]
    for row in range(1, len(ys) - 1):
        for column in range(len(xs) - 1):
            middle = (xs[column] + xs[column + 1]) / 2
            if not _is_drawn_across(lines.across, ys[row], middle):
                above = cells[row - 1][column]
                same_left = cells[row][column] == (row, column) or column == 0
                if same_left and above[1] == column:
                    old = cells[row][column]
                    cells[row] = [above if cell == old else cell for cell in cells[row]]
    return cells


def _is_drawn_down(down: list[Box], x: float, y: float) -> bool:
    return any(
        abs((rule.left + rule.right) / 2 - x) <= _NEAR and rule.top - 1 <= y <= rule.bottom + 1
        for rule in down
    )


def _is_drawn_across(across: list[Box], y: float, x: float) -> bool:
    return any(
        abs((rule.top + rule.bottom) / 2 - y) <= _NEAR and rule.left - 1 <= x <= rule.right + 1
        for rule in across
    )


def _is_crowded(words: list[Word]) -> bool:
    """Whether a cell holds what looks like a table itself."""
    split = 0
    for row in rows(words):
        split += any(b.box.left - a.box.right > 2 * b.font.size for a, b in pairwise(row))
    return split >= _CROWDED


def _spread(
    cells: list[list[tuple[int, int]]], contents: dict[tuple[int, int], list[Word]]
) -> list[list[str]]:
    table: list[list[Cell]] = []
    for row, fields in enumerate(cells):
        line = []
        for column, cell in enumerate(fields):
            if cell != (row, column):
                continue
            text = " ".join(joined(words) for words in rows(contents.get(cell, [])))
            columns = sum(1 for field in fields if field == cell)
            height = sum(1 for other in cells if other[column] == cell)
            line.append(Cell(text, columns, height))
        table.append(line)
    return spread(table)
