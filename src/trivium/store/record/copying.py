"""A whole record into another, row for row: ids, versions, vectors, facts and decisions stay.

Rows go over in batches, each with a note of how far it has come, so a copy that was interrupted
goes on. Words are indexed when all rows are there; no model is called. Keys stay behind: whoever
may ask here need not be let in there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from trivium.errors import LibraryCorrupt, LibraryExists
from trivium.protocols import Progress
from trivium.store.record.database import Database, Transaction
from trivium.store.record.rows import document_of_row
from trivium.store.record.store import RecordStore
from trivium.store.record.writing import index_words, new_generation
from trivium.types import Grant

TABLES: Mapping[str, tuple[object, ...]] = {
    "sources": ("",),
    "documents": (-1,),
    "versions": (-1, -1),
    "activations": (-1,),
    "chunks": (-1,),
    "models": (-1,),
    "vectors": (-1, ""),
    "waiting": (-1, ""),
    "quads": (-1,),
    "prefixes": (-1, ""),
    "struck": ("", "", "", "", "", ""),
    "links": (-1, "", ""),
    "feedback": (-1,),
    "ledger": (-1,),
    "blobs": ("", ""),
    "sketches": (-(2**62), -1),
    "adapters": ("",),
}
"""What is copied, whatever is referred to before what refers to it; and for each table a key that
stands before all others."""

BATCH = 1000
_FIRST = ("sources", TABLES["sources"])
_STATE = "copy"
_WORDS = "words"


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy holds, by table; `resumed` if an earlier try had begun it."""

    rows: Mapping[str, int]
    resumed: bool


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far a copy has come: of which state of which library, and after which key of a table."""

    library: str
    stamp: str
    table: str
    key: tuple[object, ...]

    @classmethod
    def read(cls, text: str) -> _Mark:
        data = json.loads(text)
        return cls(data["library"], data["stamp"], data["table"], tuple(data["key"]))

    def write(self, transaction: Transaction) -> None:
        data = {"library": self.library, "stamp": self.stamp, "table": self.table, "key": self.key}
        transaction.execute("set_state", (_STATE, json.dumps(data)))


def unfinished(database: Database) -> bool:
    """Whether a copy into this record was begun and not finished."""
    with database.reading() as reader:
        row = reader.execute("state", (_STATE,)).fetchone()
    return row is not None and row["value"] != ""


def begin(source: RecordStore, target: RecordStore) -> None:
    """Note in `target` that it becomes a copy; `LibraryExists` if it is anything else already."""
    if source.database.writable:  # what an `add` that was stopped has left
        source.catalogue.settle_sketches()
    with source.view(Grant()):
        origin = _origin(source)
    if _begun(target, origin) is None:
        with target.database.writing() as transaction:
            _Mark(*origin, *_FIRST).write(transaction)


def copy_record(source: RecordStore, target: RecordStore, progress: Progress) -> Copied:
    """All of one state of `source` into `target`, where `begin` was called."""
    with source.view(Grant()):  # one state, whatever is written meanwhile
        origin = _origin(source)
        mark = _begun(target, origin) or _Mark(*origin, *_FIRST)
        resumed = (mark.table, mark.key) != _FIRST
        counts = {table: _count(source.database, table) for table in TABLES}
        for table in TABLES:
            if mark.table == table:
                mark = _copy_table(source.database, target.database, mark, counts, progress)
        _index(target, mark, counts["documents"], progress)
        _verify(source.database, target.database, progress)
    with target.database.writing() as transaction:
        transaction.execute("numbers_go_on").fetchall()
        transaction.execute("set_state", (_STATE, ""))
    return Copied(counts, resumed)


def _origin(source: RecordStore) -> tuple[str, str]:
    with source.database.reading() as reader:
        (generation,) = reader.execute("generation").fetchone()
        row = reader.execute("commit_stamp", (generation,)).fetchone()
    return source.id, row["stamp"] if row else ""


def _begun(target: RecordStore, origin: tuple[str, str]) -> _Mark | None:
    with target.database.reading() as reader:
        row = reader.execute("state", (_STATE,)).fetchone()
        (documents,) = reader.execute("count_rows_of_documents").fetchone()
        (models,) = reader.execute("count_rows_of_models").fetchone()
    if row is None or not row["value"]:
        if documents or models:
            raise LibraryExists("it holds something already; choose another place")
        return None
    mark = _Mark.read(row["value"])
    if (mark.library, mark.stamp) != origin:
        raise LibraryExists(
            "it holds the beginning of a copy of another library or of an earlier state; "
            "remove it and copy again"
        )
    return mark


def _copy_table(
    source: Database, target: Database, mark: _Mark, counts: Mapping[str, int], progress: Progress
) -> _Mark:
    names = [*TABLES, _WORDS]
    done = 0
    table = mark.table
    width = len(TABLES[table])
    following = names[names.index(table) + 1]
    while True:
        with source.reading() as reader:
            given = _after(reader, table, mark.key)
        with target.writing() as transaction:
            if given:
                values = [_bound(transaction, table, row) for row in given]
                transaction.executemany(f"copy_into_{table}", values)
                mark = replace(mark, key=given[-1][:width])
            if len(given) < BATCH:
                mark = replace(mark, table=following, key=TABLES.get(following, (-1,)))
            mark.write(transaction)
        done += len(given)
        progress(table, min(done, counts[table]), counts[table])
        if mark.table != table:
            return mark


def _index(target: RecordStore, mark: _Mark, count: int, progress: Progress) -> None:
    """Make the active versions searchable, a batch of documents at a time."""
    done = 0
    while True:
        with target.database.writing() as transaction:
            rows = transaction.execute("documents_after", (*mark.key, 100)).fetchall()
            if not rows:
                return
            generation = new_generation(transaction, None)
            for row in rows:
                document = document_of_row(row)
                index_words(transaction, document, document.number, document.version, generation)
            mark = replace(mark, key=(rows[-1]["number"],))
            mark.write(transaction)
        done += len(rows)
        progress(_WORDS, min(done, count), count)


def _verify(source: Database, target: Database, progress: Progress) -> None:
    for number, table in enumerate(TABLES, start=1):
        if _digest(source, table) != _digest(target, table):
            raise LibraryCorrupt(
                f"the copy of '{table}' differs from its original; remove the copy and try again"
            )
        progress("verify", number, len(TABLES))


def _digest(database: Database, table: str) -> tuple[int, str]:
    """How many rows a table has, and a hash of all that they say."""
    count, hash = 0, sha256()
    for row in _rows(database, table):
        hash.update(repr(row).encode())
        count += 1
    return count, hash.hexdigest()


def _rows(database: Database, table: str) -> Iterator[tuple[Any, ...]]:
    key = TABLES[table]
    while True:
        with database.reading() as reader:
            given = _after(reader, table, key)
        yield from given
        if len(given) < BATCH:
            return
        key = given[-1][: len(key)]


def _after(reader: Transaction, table: str, key: tuple[object, ...]) -> list[tuple[Any, ...]]:
    """The next rows of a table after a key: a batch, or fewer if there are no more."""
    rows = reader.execute(f"rows_of_{table}", (*key, BATCH)).fetchall()
    if table == "vectors":  # model by model: not every database has an index by both
        (model, _) = key
        while len(rows) < BATCH:
            following = reader.execute("rows_of_models", (model, 1)).fetchone()
            if following is None:
                break
            model = following["number"]
            rows += reader.execute("rows_of_vectors", (model, "", BATCH - len(rows))).fetchall()
    return [_plain(reader, table, row) for row in rows]


def _plain(reader: Transaction, table: str, row: Any) -> tuple[Any, ...]:
    """A row in values that every database has."""
    values = tuple(row)
    if table == "vectors":
        return (*values[:-1], reader.floats(values[-1]).tobytes())
    return values


def _bound(transaction: Transaction, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
    if table == "vectors":
        return (*row[:-1], transaction.vector(np.frombuffer(row[-1], "<f4")))
    return row


def _count(database: Database, table: str) -> int:
    with database.reading() as reader:
        (count,) = reader.execute(f"count_rows_of_{table}").fetchone()
    return int(count)
