"""Keeps the derived index in step with the record, by generation.

A snapshot at generation g becomes the current one by reading again the chunks that were changed
since g; a missing, stale or damaged cache is the same from generation 0. Writers write the
result down, so that the next process starts from it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import CacheDamaged, Parcel
from trivium.index.documents import Mask
from trivium.index.folder import CacheFolder, compact_blocks, compact_segments
from trivium.index.matrix import Block
from trivium.index.snapshot import LivingBlock, LivingSegment, Snapshot
from trivium.store.sqlite.connection import statements
from trivium.store.sqlite.reading import (
    NOTHING,
    evenly,
    numbers_of,
    read_block,
    read_segment,
    with_vectors_of,
)

BATCH = 20_000
"""About so many chunks have their words read at a time: bounds the memory of a rebuild."""

KEPT = 4_096
"""Chunks whose words or vectors are worth a file before anybody has asked for one: with fewer,
a search that reads an edit would wait for the disk.
"""

LOG_LIMIT = 200_000
"""Changes kept before the log is cut at the last snapshot written down."""

EMPTY = Snapshot(0)


class Overtaken(Exception):
    """The index has been brought further than the state that a transaction sees."""


class DerivedIndex:
    """The current snapshot of one library, shared by all threads of the process."""

    def __init__(
        self, folder: Path, library: str, *, writable: bool, with_vectors: bool = True
    ) -> None:
        self._cache = CacheFolder(folder, library)
        self._writable = writable
        self._with_vectors = with_vectors
        self._lock = threading.RLock()
        self._snapshot: Snapshot | None = None
        self._saved = 0
        self._warnings: list[str] = []
        self.rebuilt = False
        """Whether what is on disk was found missing or damaged and is still to be replaced."""
        self.helped = False
        """Whether another process may have written down what this one has not indexed, and left
        much of it to be merged.
        """

    def current(self, connection: sqlite3.Connection, *, going_back: bool = False) -> Snapshot:
        """The snapshot of the state that this connection's transaction sees.

        `Overtaken` if there is a newer one already, unless the caller insists on `going_back`.
        """
        (generation,) = connection.execute(statements()["generation"]).fetchone()
        snapshot = self._snapshot
        if snapshot and snapshot.generation == generation:
            return snapshot
        with self._lock:
            start = self._snapshot
            if start and start.generation > generation and not going_back:
                raise Overtaken
            if start is None or not changes_floor(connection) <= start.generation <= generation:
                start = self._load(connection, generation)
            elif self.helped:
                start = self._further(connection, start, generation)
            if start.generation < changes_floor(connection):
                start = EMPTY
            try:
                snapshot = self._caught_up(connection, start, generation)
            except CacheDamaged as error:  # met while looking for what has changed
                return self.rebuild(connection, str(error), start)
            if self._snapshot is None or self._snapshot.generation < generation:
                self._snapshot = snapshot
            return snapshot

    def keep_up(self, connection: sqlite3.Connection) -> None:
        """Write down what is committed while more is to come: little of it is merged.

        It reads in a transaction of its own, which ends before anything is merged: the log could
        not begin anew before.
        """
        connection.execute("BEGIN")
        try:
            snapshot = self.current(connection)
            stamp = commit_stamp(connection, snapshot.generation)
        finally:
            connection.execute("COMMIT")
        if snapshot.generation != self._saved:
            with self._lock:
                self._snapshot = self._cache.save(snapshot, stamp, more=True)
                self._saved = snapshot.generation

    def save(self, connection: sqlite3.Connection) -> None:
        """Write the current snapshot down, unless it is there already."""
        snapshot = self.current(connection)
        is_saved = snapshot.generation == self._saved and not self.helped
        if not self._writable or is_saved:
            return
        stamp = commit_stamp(connection, snapshot.generation)
        with self._lock:
            try:
                self._snapshot = self._saving(connection, snapshot, stamp)
            except OSError as error:  # the record has it all; only the next start is slower
                self.warn(f"the search cache cannot be written ({error.strerror}); see to cache/")
                return
            self._saved, self.rebuilt, self.helped = snapshot.generation, False, False

    def optimize(self, connection: sqlite3.Connection) -> int:
        """Merge everything into one segment and one block on the disk; how many were merged."""
        snapshot = self.current(connection)
        counts = len(snapshot.segments), len(snapshot.blocks)
        stamp = commit_stamp(connection, snapshot.generation)
        with self._lock:
            try:
                self._snapshot = self._cache.save(snapshot, stamp, as_one=True)
            except CacheDamaged as error:  # met while merging; start over from the record
                rebuilt = self.rebuild(connection, str(error), snapshot)
                self._snapshot = self._cache.save(rebuilt, stamp, as_one=True)
            self._saved, self.rebuilt = snapshot.generation, False
        return sum(count for count in counts if count > 1)

    def _saving(self, connection: sqlite3.Connection, snapshot: Snapshot, stamp: str) -> Snapshot:
        try:
            return self._cache.save(snapshot, stamp)
        except CacheDamaged as error:  # met while merging; start over from the record
            return self._cache.save(self.rebuild(connection, str(error), snapshot), stamp)

    def rebuild(self, connection: sqlite3.Connection, reason: str, damaged: Snapshot) -> Snapshot:
        """A snapshot made from the record alone, in place of a damaged one; said once."""
        (generation,) = connection.execute(statements()["generation"]).fetchone()
        with self._lock:
            now = self._snapshot
            if now is not None and now is not damaged and now.generation == generation:
                return now  # another leg met the same damage first
            self.rebuilt = True
            self.warn(f"the search cache was damaged ({reason}) and has been rebuilt")
            self._saved = 0
            if self._writable:
                with suppress(OSError):
                    self._cache.clear()
            self._snapshot = self._caught_up(connection, EMPTY, generation)
            return self._snapshot

    def _caught_up(
        self, connection: sqlite3.Connection, start: Snapshot, generation: int
    ) -> Snapshot:
        keeping = _Keeping(self._cache if self._writable else None)
        return _catch_up(connection, start, generation, keeping, with_vectors=self._with_vectors)

    @property
    def saved_generation(self) -> int:
        """Up to which write the cache on disk reaches."""
        return self._saved

    def _load(self, connection: sqlite3.Connection, generation: int) -> Snapshot:
        damage = ""
        for _ in range(2):  # the files may be replaced between reading the manifest and them
            try:
                loaded = self._cache.load()
                break
            except CacheDamaged as error:
                damage = str(error)
        else:
            self.warn(f"the search cache was damaged ({damage}) and has been rebuilt")
            self.rebuilt = True
            return EMPTY
        if loaded is None:
            self.rebuilt = generation > 0
            return EMPTY
        snapshot, stamp = loaded
        if snapshot.generation > generation:
            return EMPTY  # this transaction began before the snapshot was written
        if stamp != commit_stamp(connection, snapshot.generation):
            self.warn("the search cache belonged to another copy of this library; it was rebuilt")
            return EMPTY
        self._saved = snapshot.generation
        return snapshot

    def _further(
        self, connection: sqlite3.Connection, start: Snapshot, generation: int
    ) -> Snapshot:
        """What was written down meanwhile, if that is of this history and nearer; it is not taken
        for saved, because whoever goes on writing leaves much to be merged.
        """
        with suppress(CacheDamaged):
            found, stamp = self._cache.load() or (EMPTY, "")
            fits = start.generation < found.generation <= generation
            if fits and stamp == commit_stamp(connection, found.generation):
                return found
        return start

    def take_warnings(self) -> tuple[str, ...]:
        """What was repaired since the last call, each thing said once."""
        with self._lock:
            taken = tuple(self._warnings)
            self._warnings.clear()
        return taken

    def warn(self, message: str) -> None:
        """Something was repaired, or cannot be; the next answer says so."""
        self._warnings.append(message)


def with_model(connection: sqlite3.Connection, snapshot: Snapshot, model: str) -> Snapshot:
    """The same words with the vectors of another model; read anew each time."""
    numbers = numbers_of(connection.execute(statements()["active_chunk_numbers"]))
    found = with_vectors_of(connection, numbers, model)
    if not len(found):
        return Snapshot(snapshot.generation, model, snapshot.segments)
    living = _in_memory(read_block(connection, found, model))
    return Snapshot(snapshot.generation, model, snapshot.segments, (living,))


def commit_stamp(connection: sqlite3.Connection, generation: int) -> str:
    row = connection.execute(statements()["commit_stamp"], (generation,)).fetchone()
    return row["stamp"] if row else ""


def active_fingerprint(connection: sqlite3.Connection) -> str:
    row = connection.execute(statements()["active_model"]).fetchone()
    return row["fingerprint"] if row else ""


def changes_floor(connection: sqlite3.Connection) -> int:
    """Snapshots older than this cannot be caught up: their changes are no longer listed."""
    row = connection.execute(statements()["state"], ("changes_floor",)).fetchone()
    return int(row["value"]) if row else 0


@dataclass(frozen=True, slots=True)
class _Keeping:
    """Puts large pieces on the disk as soon as they are made, so that memory holds one at a time.

    Where that is not possible they stay in memory: it is only a cache.
    """

    cache: CacheFolder | None

    def segment(self, living: LivingSegment) -> LivingSegment:
        if self.cache and len(living.alive) >= KEPT:
            with suppress(OSError):
                return self.cache.kept_segment(living)
        return living

    def block(self, read: Callable[[], Parcel], count: int) -> LivingBlock:
        if self.cache and count >= KEPT:
            with suppress(OSError):
                return self.cache.kept_block(read(), count)
        return _in_memory(read())


def _in_memory(parcel: Parcel) -> LivingBlock:
    block = Block(parcel.unpacked())
    return LivingBlock(block, np.ones(len(block), bool))


def _catch_up(
    connection: sqlite3.Connection,
    snapshot: Snapshot,
    generation: int,
    keeping: _Keeping,
    *,
    with_vectors: bool,
) -> Snapshot:
    model = active_fingerprint(connection)
    if snapshot.generation:
        words = _changed(connection, snapshot.generation, "w")
        vectors = _changed(connection, snapshot.generation, "v")
    else:
        words = vectors = numbers_of(connection.execute(statements()["active_chunk_numbers"]))
    old_blocks = snapshot.blocks if with_vectors else ()
    if snapshot.generation and snapshot.model != model:
        old_blocks = ()
        vectors = numbers_of(connection.execute(statements()["active_chunk_numbers"]))
    segments = [
        replace(one, alive=_without(one.alive, one.segment.rows_of(words)))
        for one in snapshot.segments
    ]
    blocks = [
        replace(one, alive=_without(one.alive, np.flatnonzero(np.isin(one.block.numbers, vectors))))
        for one in old_blocks
    ]
    for numbers in evenly(connection, words, BATCH):
        segment = read_segment(connection, numbers)
        if len(segment):
            segments.append(keeping.segment(LivingSegment(segment, np.ones(len(segment), bool))))
    found = with_vectors_of(connection, vectors, model) if model and with_vectors else NOTHING
    if len(found):
        blocks.append(keeping.block(lambda: read_block(connection, found, model), len(found)))
    return Snapshot(
        generation, model, _compact_in_memory(segments), _compact_blocks_in_memory(blocks)
    )


def _compact_in_memory(segments: Sequence[LivingSegment]) -> tuple[LivingSegment, ...]:
    """Merge only what is not on disk, so that a reader never rewrites a large library."""
    on_disk = tuple(one for one in segments if one.file)
    return on_disk + compact_segments(tuple(one for one in segments if not one.file))


def _compact_blocks_in_memory(blocks: Sequence[LivingBlock]) -> tuple[LivingBlock, ...]:
    on_disk = tuple(one for one in blocks if one.file)
    return on_disk + compact_blocks(tuple(one for one in blocks if not one.file))


def _without(alive: Mask, rows: NDArray[np.int64]) -> Mask:
    if not len(rows):
        return alive
    left = alive.copy()
    left[rows] = False
    return left


def _changed(connection: sqlite3.Connection, since: int, what: str) -> NDArray[np.int64]:
    return numbers_of(connection.execute(statements()["changed_chunks"], (since, what)))
