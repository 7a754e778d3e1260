"""Keeping the index in step with the record: new segments, and many small ones made into one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from psycopg import Connection

from trivium.index.building import build
from trivium.index.documents import Mask
from trivium.index.merging import merge
from trivium.store.postgres import segments
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.segments import SQL, Kept
from trivium.store.record.rows import document_of_row, index_row

MOST_SEGMENTS = 8
"""Of like size; more make each search ask for more pieces, fewer rewrite the same words often."""

SMALL = 256
"""Rows of a segment that a single write makes; all below are of one size."""

MOST_DEAD = 0.25
"""The share of dead rows from which on a segment is worth writing anew."""


def index_new(connection: Connection[Row]) -> None:
    """Make a segment of what this transaction has put into `words`."""
    found = connection.execute(SQL["unindexed_rows"], binary=True).fetchall()
    if not found:
        return
    connection.execute(SQL["revive"])
    documents = {row["id"]: document_of_row(row) for row in found}
    segment = build([index_row(row, documents[row["id"]]) for row in found])
    last = connection.execute("SELECT this_generation()").fetchone()
    assert last is not None
    segments.keep(connection, segment, last[0], last[0])


@dataclass(frozen=True, slots=True)
class _Span:
    """A segment by number, the generations it stands for, and its rows: all, and alive."""

    number: int
    first: int
    last: int
    chunks: int
    alive: int

    @property
    def size(self) -> int:
        return max(0, int(math.log(max(1, self.alive) / SMALL, MOST_SEGMENTS)))


def tidy(connection: Connection[Row], most: int = MOST_SEGMENTS) -> bool:
    """Merge the newest segments while there are too many of like size; whether there were any."""
    spans = _spans(connection)
    run = _run(spans, most)
    if not run:
        return False
    _merge(connection, run)
    return True


def _spans(connection: Connection[Row]) -> list[_Span]:
    dead = np.sort([row["generation"] for row in connection.execute(SQL["dead_chunks"])])
    spans = []
    for row in connection.execute(SQL["segment_keys"]):
        gone = np.searchsorted(dead, row["last"], "right") - np.searchsorted(dead, row["first"])
        alive = row["chunks"] - int(gone)
        spans.append(_Span(row["number"], row["first"], row["last"], row["chunks"], alive))
    return spans


def _run(spans: Sequence[_Span], most: int) -> list[_Span]:
    """Neighbours that are worth one segment: a tail of many small ones, or one that is half dead.

    Sizes go by powers of `most`, so each row is written anew once for each of these powers.
    """
    for size in range(max((span.size for span in spans), default=0), -1, -1):
        tail = [*takewhile(lambda span: span.size <= size, reversed(spans))][::-1]  # noqa: B023
        if sum(span.size == size for span in tail) > most:
            return tail
    for span in spans:
        if span.chunks - span.alive > MOST_DEAD * span.chunks:
            return [span]
    return []


def _merge(connection: Connection[Row], run: Sequence[_Span]) -> None:
    kept = segments.rows_of(connection, [span.number for span in run])
    ordered = {span.number: kept[span.number] for span in run}
    whole = segments.whole(connection, ordered)
    alive = [living(connection, kept[s.number], s.first, s.last) for s in run]
    connection.execute(SQL["drop_segments"], {"segments": [span.number for span in run]})
    first, last = run[0].first, run[-1].last
    connection.execute(SQL["drop_dead"], {"first": first, "last": last})
    if any(mask.any() for mask in alive):
        segments.keep(connection, merge(whole, alive), first, last)


def living(connection: Connection[Row], kept: Kept, first: int, last: int) -> Mask:
    """Which rows of a segment are in force."""
    found = connection.execute(
        "SELECT chunk FROM dead WHERE generation BETWEEN %s AND %s", (first, last)
    )
    gone = np.array([row["chunk"] for row in found], np.int64)
    mask = np.ones(len(kept.segment), bool)
    mask[kept.segment.rows_of(np.unique(gone))] = False
    return mask
