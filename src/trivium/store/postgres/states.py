"""The states of the index that this process knows: rows of segments, and which are in force."""

from __future__ import annotations

import threading

import numpy as np
from psycopg import Connection

from trivium.index.snapshot import LivingSegment, Snapshot
from trivium.store.postgres import segments
from trivium.store.postgres.adapting import Row
from trivium.store.postgres.nearest import Model, has_graph
from trivium.store.postgres.segments import SQL, Kept

Key = tuple[int, str]
"""A segment's number and the stamp of its last commit: a restored copy has other stamps."""


Moment = tuple[int, str, int, int]
"""A generation and its stamp; and since merging makes none, the newest segment and how many."""


class State:
    """One generation of the index: a snapshot whose segments know no words, and their keys."""

    def __init__(self, snapshot: Snapshot, numbers: list[int], kept: list[Kept]) -> None:
        self.snapshot = snapshot
        self.numbers = numbers
        self.kept = kept


class States:
    """Gives out the state that a transaction sees; asks only for what it has not seen before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Key, Kept] = {}
        self._newest: tuple[Moment, State] | None = None
        self._graphs: set[str] = set()

    def current(self, connection: Connection[Row]) -> State:
        key: Moment = tuple(connection.execute(SQL["index_state"]).fetchone() or (0, "", 0, 0))
        newest = self._newest
        if newest and newest[0] == key:
            return newest[1]
        with self._lock:
            state = self._read(connection, key[0])
            if self._newest is None or self._newest[0][0] <= key[0]:
                self._newest = key, state
            return state

    def has_graph(self, connection: Connection[Row], model: Model) -> bool:
        """Whether the vectors of a model are indexed; asked until they are."""
        if model.index not in self._graphs and has_graph(connection, model):
            self._graphs.add(model.index)
        return model.index in self._graphs

    def _read(self, connection: Connection[Row], generation: int) -> State:
        rows = connection.execute(SQL["segment_keys"]).fetchall()
        keys: list[Key] = [(row["number"], row["stamp"]) for row in rows]
        wanted = [key for key in keys if key not in self._kept]
        if wanted:
            read = segments.rows_of(connection, [number for number, _ in wanted])
            self._kept |= {key: read[key[0]] for key in wanted}
        kept = [self._kept[key] for key in keys]
        dead = _dead(connection)
        living = []
        for row, one in zip(rows, kept, strict=True):
            mask = np.ones(len(one.segment), bool)
            first, last = np.searchsorted(dead["generation"], [row["first"], row["last"] + 1])
            mask[one.segment.rows_of(np.unique(dead["chunk"][first:last]))] = False
            living.append(LivingSegment(one.segment, mask))
        if not self._newest or self._newest[0][0] <= generation:  # an older reader needs the others
            self._kept = {key: self._kept[key] for key in keys}
        return State(Snapshot(generation, "", tuple(living)), [key[0] for key in keys], kept)


def _dead(connection: Connection[Row]) -> np.ndarray:
    found = connection.execute(SQL["dead_chunks"], binary=True).fetchall()
    pairs = np.array([tuple(row) for row in found], [("generation", "i8"), ("chunk", "i8")])
    return np.sort(pairs, order="generation", kind="stable")
