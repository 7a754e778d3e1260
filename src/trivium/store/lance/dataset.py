"""A LanceDB dataset of vectors: rows by chunk number, and a note of what state they are of.

The dataset is derived from the record. The note is written after the rows and names the version
of the table that belongs to it, so a writer that dies in between leaves the old state in force.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trivium.errors import MissingExtra, install
from trivium.vectors import Floats32, cosines

if TYPE_CHECKING:
    import pyarrow

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

INDEXED_FROM = 50_000
"""Below, LanceDB reads every vector in less time than an approximate index would save."""

EDITS_UNTIL_COMPACTED = 50
"""Each write is a fragment and a version; so many are read almost as fast as one."""

OLD = timedelta(minutes=10)
"""Older versions of the table are let go: no search holds one for so long."""

WANTED_RECALL = 0.99
"""Measured by 40 questions, so what is promised (.98) lies an error of the measurement below."""

SAMPLE = 1024
"""Vectors kept in memory, to know how near an average chunk is to a query."""

_NOTE = "note"


class DatasetDamaged(Exception):
    """The dataset is not what was written. Never leaves the store: the answer is to rebuild."""


@dataclass(frozen=True, slots=True)
class Note:
    """Which state of which library the rows of a table are."""

    library: str
    model: str
    generation: int
    stamp: str
    table: str
    version: int
    edits: int = 0
    index: str = "flat"
    probes: int = 0
    recall: float = 1.0
    """recall@10 of the index against reading everything, as measured when it was built."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Vectors by chunk number, with the scope of their documents."""

    numbers: Numbers
    scopes: Sequence[str]
    matrix: Floats32


def lancedb_package() -> Any:
    """LanceDB itself, which is an extra."""
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtra(
            f"vectors in LanceDB need another package; {install('lance')}"
        ) from error
    return lancedb


class Dataset:
    """The tables at one place: a folder or the address of an object store."""

    def __init__(self, place: str) -> None:
        os.environ.setdefault("LANCEDB_LOG", "error")  # what it says by itself is not for users
        self.place = place
        package = lancedb_package()
        with _told_as_damage():
            self._database = package.connect(place)

    def note(self) -> Note | None:
        """What the dataset says of itself; None if there is nothing yet."""
        with _told_as_damage():
            if _NOTE not in self._tables():
                return None
            rows = self._database.open_table(_NOTE).to_arrow().to_pylist()
            return Note(**rows[-1]) if rows else None

    def create(self, note: Note, batches: Iterable[Rows], dimension: int) -> Note:
        """A new table of all rows; the others are dropped once the note names it."""
        name = f"vectors-{uuid.uuid4().hex[:12]}"
        with _told_as_damage():
            table = self._database.create_table(name, schema=_schema(dimension))
            for rows in batches:
                table.add(_arrow(rows, dimension))
            made = _indexed(table, replace(note, table=name, edits=0))
            self._write(made)
            for other in self._tables():
                if other not in (name, _NOTE):
                    self._database.drop_table(other)
        return made

    def change(self, before: Note, after: Note, gone: Numbers, rows: Rows) -> Note:
        """The table with some rows gone and others put in their place or added."""
        with _told_as_damage():
            table = self._database.open_table(before.table)
            for some in _portions(gone):
                table.delete(_among(some))
            if len(rows.numbers):
                (
                    table.merge_insert("number")
                    .when_matched_update_all()
                    .when_not_matched_insert_all()
                    .execute(_arrow(rows, rows.matrix.shape[1]))
                )
            after = replace(after, edits=before.edits + 1, version=table.version)
            if after.edits >= EDITS_UNTIL_COMPACTED:
                table.optimize(cleanup_older_than=OLD)
                grown = after.index == "flat" and table.count_rows() >= INDEXED_FROM
                after = replace(after, edits=0, version=table.version)
                after = _indexed(table, after) if grown else after
            self._write(after)
        return after

    def clear(self) -> None:
        """Drop all tables, unread: a damaged note would stand in the way of a new one."""
        with _told_as_damage():
            for name in self._tables():
                self._database.drop_table(name)

    def open(self, note: Note) -> Vectors:
        """The rows that a note speaks of, whatever is written meanwhile."""
        with _told_as_damage():
            table = self._database.open_table(note.table)
            table.checkout(note.version)
            return Vectors(table, note)

    def _tables(self) -> list[str]:
        return list(self._database.list_tables(limit=1000).tables)

    def _write(self, note: Note) -> None:
        import pyarrow

        rows = pyarrow.Table.from_pylist([asdict(note)])
        table = self._database.create_table(_NOTE, rows, mode="overwrite")
        if note.edits == 0:
            table.optimize(cleanup_older_than=OLD)


class Vectors:
    """One version of the table, for reading."""

    def __init__(self, table: Any, note: Note) -> None:
        self._table = table
        self.note = note
        found = table.search().select(["number"]).limit(table.count_rows()).to_arrow()
        self.numbers: Numbers = np.sort(found["number"].to_numpy())
        step = max(1, len(self.numbers) // SAMPLE)
        self.sample_numbers, self.sample = self.fetch(self.numbers[::step][:SAMPLE])

    def fetch(self, numbers: Numbers) -> tuple[Numbers, Floats32]:
        """The vectors of these chunks, in ascending order of those that have one."""
        parts = [_numpy(some) for some in self._read(numbers, ["number", "vector"])]
        if not parts:
            return np.empty(0, np.int64), np.empty((0, 0), np.float32)
        found = np.concatenate([some for some, _ in parts])
        order = np.argsort(found)
        return found[order], np.concatenate([matrix for _, matrix in parts])[order]

    def scopes(self, numbers: Numbers) -> dict[int, str]:
        """The scopes that these chunks are found within."""
        parts = self._read(numbers, ["number", "scope"])
        return {row["number"]: row["scope"] for some in parts for row in some.to_pylist()}

    def _read(self, numbers: Numbers, columns: list[str]) -> Iterator[pyarrow.Table]:
        for some in _portions(numbers):
            with _told_as_damage():
                query = self._table.search().where(_among(some)).limit(len(some))
                found = query.select(columns).to_arrow()
            yield found

    def search(
        self, query: Floats32, count: int, scopes: frozenset[str] | None, *, everything: bool
    ) -> tuple[Numbers, Floats]:
        """The nearest rows within the scopes, with their cosines; `everything` reads all rows."""
        with _told_as_damage():
            asked = self._table.search(query, vector_column_name="vector").distance_type("cosine")
            if everything or self.note.index == "flat":
                asked = asked.bypass_vector_index()
            else:
                asked = asked.minimum_nprobes(self.note.probes).maximum_nprobes(0)
            if scopes is not None:
                asked = asked.where(_of_scopes(scopes), prefilter=True)
            columns = ["number", "vector", "_distance"]
            numbers, matrix = _numpy(asked.limit(count).select(columns).to_arrow())
        return numbers, cosines(matrix, query) if len(numbers) else np.empty(0)


def _indexed(table: Any, note: Note) -> Note:
    """With an index where there is enough to search, as thorough as the wanted recall needs."""
    from lancedb.index import BTree, IvfFlat

    table.create_index("number", config=BTree())
    count = table.count_rows()
    if count < INDEXED_FROM:
        return replace(note, version=table.version)
    partitions = max(16, round(count**0.5))
    table.create_index("vector", config=IvfFlat(distance_type="cosine", num_partitions=partitions))
    note = replace(note, index=f"IVF of {partitions} parts", version=table.version)
    measured = Vectors(table, note)
    # Between two vectors, as questions are: a stored one lies in the middle of its own part.
    chosen = measured.sample[:: max(1, len(measured.sample) // 40)]
    queries = chosen + 0.5 * np.roll(chosen, 1, axis=0)
    exact = [set(measured.search(q, 10, None, everything=True)[0].tolist()) for q in queries]
    probes = max(8, partitions // 32)
    while True:
        measured.note = note = replace(note, probes=probes)
        found = [set(measured.search(q, 10, None, everything=False)[0].tolist()) for q in queries]
        shares = [len(a & b) / max(1, len(a)) for a, b in zip(exact, found, strict=True)]
        note = replace(note, recall=round(sum(shares) / len(shares), 4))
        if note.recall >= WANTED_RECALL or probes >= partitions:
            return note
        probes = min(2 * probes, partitions)


def _schema(dimension: int) -> pyarrow.Schema:
    import pyarrow

    return pyarrow.schema(
        [
            ("number", pyarrow.int64()),
            ("scope", pyarrow.string()),
            ("vector", pyarrow.list_(pyarrow.float32(), dimension)),
        ]
    )


def _arrow(rows: Rows, dimension: int) -> pyarrow.Table:
    import pyarrow

    flat = pyarrow.array(np.ascontiguousarray(rows.matrix).reshape(-1))
    return pyarrow.table(
        {
            "number": pyarrow.array(rows.numbers),
            "scope": pyarrow.array(rows.scopes, pyarrow.string()),
            "vector": pyarrow.FixedSizeListArray.from_arrays(flat, dimension),
        },
        schema=_schema(dimension),
    )


def _numpy(table: pyarrow.Table) -> tuple[Numbers, Floats32]:
    vectors = table["vector"].combine_chunks()
    width = vectors.type.list_size
    matrix = vectors.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
    return table["number"].to_numpy().astype(np.int64), matrix.astype(np.float32)


def _portions(numbers: Numbers) -> Iterator[Numbers]:
    for start in range(0, len(numbers), 1000):
        yield numbers[start : start + 1000]


def _among(numbers: Numbers) -> str:
    return f"number IN ({','.join(map(str, numbers.tolist()))})"


def _of_scopes(scopes: frozenset[str]) -> str:
    """Values cannot be bound in LanceDB's language; a quote is doubled, as in SQL."""
    quoted = ("'" + scope.replace("'", "''") + "'" for scope in sorted(scopes))
    return f"scope IN ({','.join(quoted)})"


@contextmanager
def _told_as_damage() -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise DatasetDamaged(_reason(error)) from error


def _reason(error: Exception) -> str:
    """What LanceDB says, without its names for errors and the places in its own source."""
    first = next(iter(str(error).splitlines()), "") or repr(error)
    plain = re.sub(r"^lance error: (?:\w+\(\w+\): )?|, /\S+\.rs:\d+:\d+$", "", first)
    return plain if len(plain) <= _LONGEST_REASON else plain[:_LONGEST_REASON] + " …"


_LONGEST_REASON = 200


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Only one process at a time brings the dataset of a library up to date."""
    try:
        import fcntl
    except ImportError:  # Windows: two writers do the same work twice, with the same result
        yield
        return
    with _told_as_damage():
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder / "lance.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
