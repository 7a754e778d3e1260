"""A view whose vectors lie in LanceDB; words, spelling and everything else are the record's own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.errors import LibraryUnavailable, ModelMismatch
from trivium.index.lookup import yardstick
from trivium.protocols import Found
from trivium.store.lance.dataset import DatasetDamaged, Numbers, Rows, Vectors
from trivium.store.lance.keeping import Keeper
from trivium.store.lance.neighbours import LanceNeighbours
from trivium.store.sqlite.connection import statements
from trivium.store.sqlite.derived import (
    Overtaken,
    changes_floor,
    commit_stamp,
    with_model,
)
from trivium.store.sqlite.reading import numbers_of
from trivium.store.sqlite.view import SqliteView
from trivium.types import Filter, Unit, Yardstick
from trivium.vectors import Floats32, cosines, unpack
from trivium.vectors import unit as to_unit

_NONE = np.empty(0, np.int64)


class LanceView(SqliteView):
    """Today's vectors come from LanceDB; those of the past and of other models from the record."""

    def __init__(self, keeper: Keeper, *arguments: Any) -> None:
        self._keeper = keeper
        super().__init__(*arguments)

    def nearest(self, vector: NDArray[np.float32], filter: Filter, depth: int, unit: Unit) -> Found:
        record = self._recorded()
        if record is None:
            return super().nearest(vector, filter, depth, unit)
        query = to_unit(vector)
        if record.dimension != len(query):
            raise ModelMismatch(
                f"the query's vector has {len(query)} dimensions, the library's "
                f"{record.dimension}; search with the model it was made with"
            )
        try:
            return self._from_dataset(record, query, filter, depth, unit)
        except Overtaken:  # by another process: what this transaction sees is in the record
            pass
        except DatasetDamaged as error:
            self._keeper.warn(
                f"the LanceDB dataset cannot be used ({error}); the vectors were read from the "
                "record, which takes longer; see to the folder or the address"
            )
        self._seen = with_model(self._connection, self._seen.snapshot, self.model).seen_by(
            self._grant
        )
        self._masks = {}  # what filters leave was worked out for a snapshot without vectors
        return super().nearest(vector, filter, depth, unit)

    def check_dataset(self) -> list[str]:
        """What is wrong with the dataset, as `doctor` tells it."""
        record = self._recorded()
        return self._keeper.check(record, self.model) if record else []

    def remake_dataset(self) -> None:
        """The dataset as this view's record has it, whatever it was before."""
        if record := self._recorded():
            try:
                self._keeper.remake(record, self.model, record.dimension)
            except DatasetDamaged as error:
                raise LibraryUnavailable(
                    f"the LanceDB dataset at {self._keeper.place} cannot be written ({error}); "
                    "see to the folder or the address"
                ) from error

    def vectors(self, chunks: Sequence[str]) -> NDArray[np.float32]:
        record = self._recorded()
        return super().vectors(chunks) if record is None else self._read(record, chunks)

    def likeness(self, vector: NDArray[np.float32], chunks: Sequence[str]) -> dict[str, float]:
        record = self._recorded()
        if record is None:
            return super().likeness(vector, chunks)
        numbers = self._seen.numbers_of(chunks)
        rows = record.rows(np.unique(numbers[numbers >= 0]))
        found = cosines(rows.matrix, to_unit(vector)).tolist()
        known = dict(zip(rows.numbers.tolist(), found, strict=True))
        pairs = zip(chunks, numbers.tolist(), strict=True)
        return {chunk: known[number] for chunk, number in pairs if number in known}

    def _recorded(self) -> RecordedVectors | None:
        """What the dataset is made from; None where vectors are at hand as arrays or not at all."""
        if self._past or self._seen.snapshot.blocks or not self.model:
            return None
        query = statements()["model_by_fingerprint"]
        dimension = self._connection.execute(query, (self.model,)).fetchone()["dimension"]
        generation = self._seen.snapshot.generation
        return RecordedVectors(self._connection, self.model, dimension, generation)

    def _from_dataset(
        self, record: RecordedVectors, query: Floats32, filter: Filter, depth: int, unit: Unit
    ) -> Found:
        kept = self._keeper.current(record, self.model, record.dimension)
        try:
            return self._nearest(kept, record, query, filter, depth, unit)
        except DatasetDamaged:
            kept = self._keeper.rebuild(record, self.model, record.dimension, kept)
            return self._nearest(kept, record, query, filter, depth, unit)

    def _nearest(
        self,
        kept: Vectors,
        record: RecordedVectors,
        query: Floats32,
        filter: Filter,
        depth: int,
        unit: Unit,
    ) -> Found:
        selected = self._allowed(filter)
        living = zip(self._seen.snapshot.segments, selected, strict=True)
        numbers = [one.segment.numbers[mask] for one, mask in living]
        allowed = np.intersect1d(np.concatenate([*numbers, _NONE]), kept.numbers)
        near = LanceNeighbours(kept, query, allowed, self._grant.scopes)

        total = near.considered
        ids, scores = self._seen.first_units(
            lambda count: self._seen.standing(*near.nearest(count)), total, depth, unit
        )
        return Found(
            ids,
            scores,
            len(ids) == total,
            total,
            1.0,
            selected.embedded - total,
            self._yardstick(near, record, set(allowed.tolist())),
        )

    def _yardstick(
        self, near: LanceNeighbours, record: RecordedVectors, allowed: set[int]
    ) -> Yardstick:
        """Exact cosines of named chunks; mean and deviation as a sample of the allowed has them."""

        def score_of(chunks: Sequence[str]) -> list[float]:
            numbers = self._seen.numbers_of(chunks).tolist()
            given = cosines(self._read(record, chunks), near.query).tolist()
            return [
                score if number in allowed else 0.0
                for number, score in zip(numbers, given, strict=True)
            ]

        typical = near.typical()
        return replace(yardstick(score_of, [typical], len(typical)), count=near.considered)

    def _read(self, record: RecordedVectors, chunks: Sequence[str]) -> Floats32:
        """The record's vector of each chunk, zeros where there is none."""
        numbers = self._seen.numbers_of(chunks)
        rows = record.rows(np.unique(numbers[numbers >= 0]))
        given = np.zeros((len(chunks), record.dimension), np.float32)
        if len(rows.numbers):
            places = np.searchsorted(rows.numbers, numbers).clip(max=len(rows.numbers) - 1)
            there = rows.numbers[places] == numbers
            given[there] = rows.matrix[places[there]]
        return given


@dataclass(frozen=True, slots=True)
class RecordedVectors:
    """The vectors of a model as a transaction of the record sees them."""

    connection: sqlite3.Connection
    model: str
    dimension: int
    generation: int

    @property
    def stamp(self) -> str:
        return self.stamp_of(self.generation)

    @property
    def floor(self) -> int:
        return changes_floor(self.connection)

    def stamp_of(self, generation: int) -> str:
        return commit_stamp(self.connection, generation)

    def changed(self, since: int) -> Numbers:
        query = statements()["changed_in_any_way"]
        return numbers_of(self.connection.execute(query, (since,)))

    def every(self) -> Numbers:
        return numbers_of(self.connection.execute(statements()["active_chunk_numbers"]))

    def rows(self, numbers: Numbers) -> Rows:
        values = {"chunks": json.dumps(numbers.tolist()), "fingerprint": self.model}
        rows = self.connection.execute(statements()["vectors_of_chunks"], values).fetchall()
        matrix = np.empty((len(rows), self.dimension), np.float32)
        for place, row in enumerate(rows):
            matrix[place] = unpack(row["vector"])
        found = np.array([row["number"] for row in rows], np.int64)
        return Rows(found, [row["scope"] for row in rows], matrix)
