"""Keeps the dataset in step with the record, by generation, as the derived index is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from trivium.store.lance.dataset import Dataset, DatasetDamaged, Note, Numbers, Rows, Vectors, alone
from trivium.store.sqlite.derived import BATCH, Overtaken


class RecordOfVectors(Protocol):
    """What the dataset is made from: one state of the record."""

    @property
    def generation(self) -> int: ...
    @property
    def stamp(self) -> str: ...
    @property
    def floor(self) -> int:
        """Changes before this generation are no longer listed."""

    def stamp_of(self, generation: int) -> str: ...
    def changed(self, since: int) -> Numbers:
        """Chunks whose words, scope or vector changed since."""

    def every(self) -> Numbers:
        """All active chunks."""

    def rows(self, numbers: Numbers) -> Rows:
        """Those of the chunks that are active and have a vector of this model."""


@dataclass(slots=True)
class Keeper:
    """The dataset of one library, shared by all threads of the process."""

    place: str
    folder: Path
    library: str
    warn: Callable[[str], None]
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _vectors: Vectors | None = None
    _dataset: Dataset | None = None

    def status(self) -> dict[str, Any]:
        """Where the dataset is, which index it has, and the recall measured when that was made."""
        told: dict[str, Any] = {"place": self.place}
        try:
            note = self._open().note()
        except DatasetDamaged as error:
            return told | {"problem": str(error)}
        if note:
            told |= {"index": note.index, "recall": note.recall, "probes": note.probes}
            told |= {"generation": note.generation, "edits": note.edits}
        return told

    def current(self, record: RecordOfVectors, model: str, dimension: int) -> Vectors:
        """The vectors of the state that `record` is; made anew where they are damaged."""
        now = self._vectors
        if now and (now.note.generation, now.note.model) == (record.generation, model):
            return now
        with self._lock, alone(self.folder):
            try:
                self._vectors = self._brought_up(record, model, dimension)
            except DatasetDamaged as error:
                self._vectors = self._anew(record, model, dimension)
                self.warn(f"the LanceDB dataset was damaged ({error}) and has been rebuilt")
            return self._vectors

    def rebuild(
        self, record: RecordOfVectors, model: str, dimension: int, damaged: Vectors
    ) -> Vectors:
        """From the record alone, unless another thread has met the same damage first."""
        with self._lock, alone(self.folder):
            if self._vectors is damaged or self._vectors is None:
                self._vectors = self._anew(record, model, dimension)
                self.warn("the LanceDB dataset was damaged and has been rebuilt")
            return self._vectors

    def remake(self, record: RecordOfVectors, model: str, dimension: int) -> None:
        """Make the dataset anew, whatever it is now."""
        with self._lock, alone(self.folder):
            self._vectors = self._anew(record, model, dimension)

    def check(self, record: RecordOfVectors, model: str) -> list[str]:
        """Where the dataset is not what the record says; nothing is changed.

        What was written since, and a dataset of another state, is brought up by the next search.
        """
        try:
            dataset = self._open()
            note = dataset.note()
            if note is None or not self._follows(note, record, model):
                return []
            if note.generation > record.generation:  # by another process, since this one looked
                return []
            wrong = _count_wrong(dataset.open(note), record, record.changed(note.generation))
        except DatasetDamaged as error:
            return [f"the LanceDB dataset at {self.place} cannot be read ({error}); {_REMEDY}"]
        told = f"{wrong} vectors of the LanceDB dataset at {self.place} are not those of the record"
        return [f"{told}; {_REMEDY}"] if wrong else []

    def _open(self) -> Dataset:
        if self._dataset is None:
            self._dataset = Dataset(self.place)
        return self._dataset

    def _brought_up(self, record: RecordOfVectors, model: str, dimension: int) -> Vectors:
        dataset = self._open()
        note = dataset.note()
        if note is None or not self._follows(note, record, model):
            return self._rebuilt(record, model, dimension)
        if note.generation > record.generation:
            raise Overtaken
        if note.generation < record.generation:
            after = replace(note, generation=record.generation, stamp=record.stamp)
            changed = record.changed(note.generation)
            rows = record.rows(changed)
            gone = np.setdiff1d(changed, rows.numbers)
            note = dataset.change(note, after, gone, rows)
        return dataset.open(note)

    def _follows(self, note: Note, record: RecordOfVectors, model: str) -> bool:
        """Whether the changes that the record lists lead from the note's state to its own."""
        if note.library != self.library or note.model != model or note.generation < record.floor:
            return False
        return note.generation > record.generation or note.stamp == record.stamp_of(note.generation)

    def _anew(self, record: RecordOfVectors, model: str, dimension: int) -> Vectors:
        self._open().clear()
        return self._rebuilt(record, model, dimension)

    def _rebuilt(self, record: RecordOfVectors, model: str, dimension: int) -> Vectors:
        dataset = self._open()
        note = Note(self.library, model, record.generation, record.stamp, "", 0)
        return dataset.open(dataset.create(note, _batches(record), dimension))


_REMEDY = "run 'trivium optimize', which makes the dataset anew"


def _count_wrong(kept: Vectors, record: RecordOfVectors, changed: Numbers) -> int:
    """Rows that are missing, too many, or not the record's to the bit; but not those changed."""
    numbers = np.setdiff1d(record.every(), changed)
    wrong, known = 0, 0
    for start in range(0, len(numbers), BATCH):
        rows = record.rows(numbers[start : start + BATCH])
        found, matrix = kept.fetch(rows.numbers)
        scopes = kept.scopes(found)
        there = np.isin(rows.numbers, found)
        known += len(found)
        said = [scope for scope, is_there in zip(rows.scopes, there, strict=True) if is_there]
        same = np.array([scopes.get(n) == s for n, s in zip(found.tolist(), said, strict=True)])
        same = same & (matrix.view("u4") == rows.matrix[there].view("u4")).all(axis=1)
        wrong += int(np.count_nonzero(~there) + np.count_nonzero(~same))
    return wrong + len(np.setdiff1d(kept.numbers, changed)) - known


def _batches(record: RecordOfVectors) -> Iterator[Rows]:
    numbers = record.every()
    for start in range(0, len(numbers), BATCH):
        rows = record.rows(numbers[start : start + BATCH])
        if len(rows.numbers):
            yield rows
