"""What is indexed at a time: whole documents, and none of them gone through twice."""

from __future__ import annotations

import sqlite3

import numpy as np

from trivium.store.sqlite.reading import evenly


def chunks_of(*sizes: int) -> sqlite3.Connection:
    """Documents of so many chunks, one after the other."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE chunks (number INTEGER PRIMARY KEY, document, version)")
    for document, size in enumerate(sizes):
        rows = [(document, 1)] * size
        connection.executemany("INSERT INTO chunks (document, version) VALUES (?, ?)", rows)
    return connection


def test_pieces_begin_with_documents() -> None:
    connection = chunks_of(3, 3, 3, 3)
    pieces = [piece.tolist() for piece in evenly(connection, np.arange(1, 13), 4)]
    assert pieces == [[1, 2, 3], [4, 5, 6], [7, 8, 9, 10, 11, 12]]
    assert evenly(connection, np.arange(0), 4) == []


def test_a_document_of_many_pieces_is_asked_for_once() -> None:
    connection = chunks_of(5, 90, 5)
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    pieces = evenly(connection, np.arange(1, 101), 10)
    assert [(piece[0], len(piece)) for piece in pieces] == [(1, 5), (6, 95)]
    assert len(asked) == 1


def test_a_chunk_that_is_gone_is_a_document_of_its_own() -> None:
    connection = chunks_of(4, 4)
    connection.execute("DELETE FROM chunks WHERE number = 5")
    pieces = [piece.tolist() for piece in evenly(connection, np.arange(1, 9), 4)]
    assert pieces == [[1, 2, 3, 4], [5, 6, 7, 8]]
