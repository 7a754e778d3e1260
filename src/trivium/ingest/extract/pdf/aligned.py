"""Tables without borders: rows whose parts stand below each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from trivium.ingest.extract.pdf.layout import Segment, around, reads_like_table
from trivium.ingest.extract.pdf.words import Box

MARK = re.compile(
    r"(?:[•●○◦▪■□‣·–—*-]|\(?(?:[0-9]{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|[0-9]{0,2}(?:\.[0-9]{1,2}){1,3}\.?)$"
)
"""What may stand before the items of a list, alone."""

_FARTHEST = 2.6  # sizes of the font between two rows of a table
_ALIGNED = 0.7  # share of the cells that must stand exactly below others
_LONGEST_CELLS = 12  # words on average: beyond that it is prose side by side


@dataclass(frozen=True, slots=True)
class Row:
    """Segments beside each other, from left to right."""

    segments: tuple[Segment, ...]
    box: Box


def rows_of(segments: Sequence[Segment]) -> list[Row]:
    """The segments of a region in rows from top to bottom."""
    rows: list[list[Segment]] = []
    core: Box | None = None
    for segment in sorted(segments, key=lambda one: (one.box.top + one.box.bottom, one.box.left)):
        box = segment.box
        middle = (box.top + box.bottom) / 2
        if core is not None and core.top < middle < core.bottom:
            rows[-1].append(segment)
        else:
            rows.append([segment])
            core = box
    return [
        Row(tuple(sorted(row, key=lambda one: one.box.left)), around(one.box for one in row))
        for row in rows
    ]


def table_at(rows: Sequence[Row], first: int) -> tuple[list[list[str]], int] | None:
    """The table that begins with this row, as cells, and the row behind it; None if none does."""
    run = _Run(rows[first]) if len(rows[first].segments) > 1 else None
    if run is None:
        return None
    stop = first + 1
    while stop < len(rows) and run.takes(rows, stop):
        stop += 1
    while run.rows and len(run.rows[-1][0].segments) == 1 and run.rows[-1][1] == [0]:
        run.rows.pop()  # a line at the margin behind the table is not part of it
        stop -= 1
    return (run.cells(), stop) if run.is_table() else None


class _Run:
    """Rows that may be a table, and the columns that they have so far."""

    def __init__(self, row: Row) -> None:
        self.columns = [[one.box.left, one.box.right] for one in row.segments]
        self.rows: list[tuple[Row, list[int]]] = [(row, list(range(len(row.segments))))]
        self._size = row.segments[0].font.size

    def takes(self, rows: Sequence[Row], at: int) -> bool:
        row, before = rows[at], self.rows[-1][0]
        if row.box.top - before.box.bottom > _FARTHEST * self._size:
            return False
        if len(row.segments) > 1:
            return self._fit(row)
        return self._continues(row, rows[at + 1] if at + 1 < len(rows) else None)

    def _fit(self, row: Row) -> bool:
        """Take a row in if its parts stand in the columns, or between them as new ones."""
        columns = [list(column) for column in self.columns]
        places: list[list[float]] = []
        aligned = 0
        for segment in row.segments:
            over = [c for c in columns if c[0] < segment.box.right and segment.box.left < c[1]]
            if len(over) > 1:  # a head above several columns
                places.append(over[0])
                continue
            if over:
                aligned += self._aligns(segment, over[0])
                over[0][0] = min(over[0][0], segment.box.left)
                over[0][1] = max(over[0][1], segment.box.right)
                places.append(over[0])
            else:
                new = [segment.box.left, segment.box.right]
                columns.append(new)
                places.append(new)
        columns.sort()
        if aligned * 2 < min(len(row.segments), len(self.columns)):
            return False
        order = {id(column): at for at, column in enumerate(columns)}
        if len(columns) > len(self.columns):
            self._renumber(columns)
        self.columns = columns
        self.rows.append((row, [order[id(column)] for column in places]))
        return True

    def _renumber(self, columns: list[list[float]]) -> None:
        """Say anew in which column each part stands, after columns were added."""
        self.rows = [
            (
                row,
                [
                    max(
                        range(len(columns)),
                        key=lambda at: (
                            min(columns[at][1], segment.box.right)
                            - max(columns[at][0], segment.box.left)
                        ),
                    )
                    for segment in row.segments
                ],
            )
            for row, _ in self.rows
        ]

    def _continues(self, row: Row, following: Row | None) -> bool:
        """Take in a row of one part: a cell that goes on, or a row with a head and no values."""
        (segment,) = row.segments
        near = 0.5 * self._size
        place = next(
            (at for at, c in enumerate(self.columns) if abs(c[0] - segment.box.left) < near), None
        )
        if place is None:
            return False
        if place == 0:
            heads = [one for one, places in self.rows if places and places[0] == 0]
            same = heads and heads[-1].segments[0].font == segment.font
            if not same or following is None or len(following.segments) < 2:
                return False
            if len(self.columns) > 1 and segment.box.right > self.columns[1][0]:
                return False
        self.rows.append((row, [place]))
        return True

    def _aligns(self, segment: Segment, column: list[float]) -> bool:
        near, box = 0.6 * self._size, segment.box
        return (
            abs(box.left - column[0]) < near
            or abs(box.right - column[1]) < near
            or abs(box.left + box.right - column[0] - column[1]) < 2 * near
        )

    def is_table(self) -> bool:
        split = [(row, places) for row, places in self.rows if len(row.segments) > 1]
        columns = len(self.columns)
        if len(split) < (2 if columns > 2 else 3):
            return False
        texts = [one.text for row, _ in self.rows for one in row.segments]
        if sum(len(text.split()) for text in texts) > _LONGEST_CELLS * len(texts):
            return False
        firsts = [row.segments[0].text for row, places in split if places[0] == 0]
        if columns == 2 and all(map(MARK.match, firsts)):
            return False  # a list
        return reads_like_table(texts) and self._alignment() >= _ALIGNED

    def _alignment(self) -> float:
        """The share of parts that stand exactly below another of their column."""
        columns: dict[int, list[Box]] = {}
        for row, places in self.rows:
            for segment, place in zip(row.segments, places, strict=True):
                columns.setdefault(place, []).append(segment.box)
        step = max(0.5 * self._size, 1.0)
        fitting = total = 0
        for boxes in columns.values():
            total += len(boxes)
            edges = (
                Counter(round(edge(box) / step) for box in boxes)
                for edge in (_left, _right, _middle)
            )
            best = max(max(c[at] + c[at + 1] for at in c) for c in edges)
            fitting += best if len(boxes) > 1 else 0
        return fitting / max(total, 1)

    def cells(self) -> list[list[str]]:
        table = []
        for row, places in self.rows:
            cells = [""] * len(self.columns)
            for segment, place in zip(row.segments, places, strict=True):
                cells[place] = f"{cells[place]} {segment.text}".strip()
            table.append(cells)
        return table


def _left(box: Box) -> float:
    return box.left


def _right(box: Box) -> float:
    return box.right


def _middle(box: Box) -> float:
    return (box.left + box.right) / 2
