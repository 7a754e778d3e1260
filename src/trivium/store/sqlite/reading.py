"""What the derived index reads of the record: words by batches, vectors a few at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, Parcel
from trivium.index.building import Row, build
from trivium.index.joining import ROWS, block_parcel
from trivium.index.segment import Segment
from trivium.store.record.rows import columns, filed
from trivium.store.sqlite.connection import statements
from trivium.vectors import Floats32

Numbers = NDArray[np.int64]
NOTHING: Numbers = np.empty(0, np.int64)


def numbers_of(cursor: sqlite3.Cursor) -> Numbers:
    cursor.row_factory = None
    return np.array([number for (number,) in cursor], np.int64)


def evenly(connection: sqlite3.Connection, numbers: Numbers, size: int) -> list[Numbers]:
    """Pieces of about that size, of whole documents: a document lies in one segment. A few chunks
    that are left over make no piece of their own.
    """
    pieces = np.array_split(numbers, max(1, round(len(numbers) / size)))
    wholes: list[int] = []
    last = -1
    for number in [int(piece[0]) for piece in pieces[1:]]:
        if number > last:  # a document of many pieces is gone through once
            first, last = _run_of(connection, number)
            wholes.append(first)
    return [piece for piece in np.split(numbers, np.searchsorted(numbers, wholes)) if len(piece)]


def _run_of(connection: sqlite3.Connection, chunk: int) -> tuple[int, int]:
    """First and last chunk of the same document; those of a version follow each other."""
    first, last = connection.execute(statements()["run_of_chunk"], (chunk,)).fetchone()
    return (chunk, chunk) if first is None else (int(first), int(last))


def batches(numbers: Numbers, size: int) -> Iterator[Numbers]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def read_segment(connection: sqlite3.Connection, numbers: Numbers) -> Segment:
    query = statements()["rows_to_index"]
    return build(_rows(connection.execute(query, {"chunks": json.dumps(numbers.tolist())})))


def _rows(cursor: sqlite3.Cursor) -> Iterator[Row]:
    cursor.row_factory = None  # names would take longer to look up than all the rest
    document = None
    for number, version, ordinal, text, heading, hash, subject, predicate, graph, *said in cursor:
        if document is None or document.number != said[0]:  # chunks of a document stand together
            document = filed(said)
        given = columns(document, tuple(json.loads(heading)) if heading != "[]" else (), text)
        embedded = hash != ""
        yield Row(number, version, ordinal, document, given, subject, predicate, graph, embedded)


def with_vectors_of(connection: sqlite3.Connection, numbers: Numbers, model: str) -> Numbers:
    """Those of these chunks that are active and have a vector of the model, ascending."""
    if not len(numbers):
        return NOTHING
    values = {"chunks": json.dumps(numbers.tolist()), "fingerprint": model}
    return numbers_of(connection.execute(statements()["chunks_with_vectors"], values))


def read_block(connection: sqlite3.Connection, numbers: Numbers, model: str) -> Parcel:
    """The vectors of these chunks, all of which have one, as the arrays of a block."""
    pieces = (_vectors(connection, few, model) for few in batches(numbers, ROWS))
    first = next(pieces)

    def matrix() -> Iterator[Floats32]:
        yield first
        yield from pieces

    return block_parcel(numbers, first.shape[1], matrix())


def _vectors(connection: sqlite3.Connection, numbers: Numbers, model: str) -> Floats32:
    values = {"chunks": json.dumps(numbers.tolist()), "fingerprint": model}
    cursor = connection.execute(statements()["vectors_of_chunks"], values)
    cursor.row_factory = None
    together = b"".join([vector for _, vector, _ in cursor])
    found: Array = np.frombuffer(together, "<f4")
    return found.reshape(len(numbers), -1)
