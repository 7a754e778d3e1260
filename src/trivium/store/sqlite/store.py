"""The store of a library folder: the record in SQLite, and arrays that answer searches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trivium.errors import LibraryCorrupt, NotALibrary, command
from trivium.kernels.indexing import give_back
from trivium.store.record.store import RecordStore
from trivium.store.sqlite.ahead import Ahead
from trivium.store.sqlite.connection import Connections, in_our_words, migrate
from trivium.store.sqlite.derived import LOG_LIMIT, DerivedIndex, Overtaken
from trivium.store.sqlite.fused import SqliteFused
from trivium.store.sqlite.inspect import check
from trivium.store.sqlite.view import SqliteView
from trivium.types import OWNER, Document, Draft, Grant

if TYPE_CHECKING:
    from trivium.store.lance import Keeper, LanceView

UNSETTLED = 2_000
"""Changes that a new process reads from the record in an instant; beyond, they are written down."""


class SqliteStore(RecordStore):
    """A library folder's `index.db` with the derived index in `cache/` beside it.

    With a `refusal` it is opened for reading only, and that is what a writer is told. `lance` is
    the place of a LanceDB dataset for the vectors: an address, or "" for the library's own cache.
    """

    def __init__(
        self,
        folder: Path,
        *,
        create: bool = False,
        refusal: str = "",
        lance: str | None = None,
    ) -> None:
        database = folder / "index.db"
        if not create and not database.is_file() and (folder / "library.toml").is_file():
            raise LibraryCorrupt(f"{database} is missing; restore it from a copy")
        if not create and not database.is_file():
            raise NotALibrary(f"{folder} holds no library; make one with {command('init', folder)}")
        if not create and database.stat().st_size == 0:
            raise LibraryCorrupt(f"{database} is empty; restore it from a copy")
        writable = os.access(folder, os.W_OK) and (create or os.access(database, os.W_OK))
        writable = writable and not refusal
        self._connections = Connections(database, writable=writable, refusal=refusal)
        if writable:
            migrate(self._connections)
        super().__init__(self._connections)
        library, cache = self.id, folder / "cache"
        self._derived = DerivedIndex(cache, library, writable=writable, with_vectors=lance is None)
        self._ahead = Ahead(folder, library, with_vectors=lance is None)
        self._keeper = None if lance is None else self._lance(lance, cache, library)
        self.fused = SqliteFused(self._connections)

    def _lance(self, place: str, cache: Path, library: str) -> Keeper:
        from trivium.store.lance import Keeper

        where = f"{place.rstrip('/')}/{library}" if place else str(cache / "lance")
        return Keeper(where, cache, library, self._derived.warn)

    def view(
        self,
        grant: Grant,
        as_of: datetime | None = None,
        *,
        instead: tuple[str, int] | None = None,
        model: str | None = None,
    ) -> SqliteView:
        if as_of is None and instead is None:
            self._ahead.forget()  # the view brings the index up to date
        if self._keeper is None:
            return SqliteView(self._connections, self._derived, grant, as_of, instead, model)
        return self._in_lance(self._keeper, grant, as_of, instead, model)

    def _in_lance(self, keeper: Keeper, grant: Grant = OWNER, *which: Any) -> LanceView:
        from trivium.store.lance import LanceView

        return LanceView(keeper, self._connections, self._derived, grant, *which)

    def status(self) -> dict[str, Any]:
        told = super().status()
        return told | {"lance": self._keeper.status()} if self._keeper else told

    def check(self) -> list[str]:
        problems = check(self._connections)
        if problems or self._keeper is None:
            return problems
        with self._in_lance(self._keeper) as view:
            return view.check_dataset()

    def put(
        self, drafts: Sequence[Draft], now: datetime, *, unless_same: bool = False
    ) -> list[Document]:
        """As for every store; after much of it, the derived index is begun in the background.

        It is asked for when vectors have followed, or before the next texts if they have not.
        """
        self._go_ahead()
        stored = super().put(drafts, now, unless_same=unless_same)
        self._ahead.count(sum(len(draft.passages) for draft in drafts))
        return stored

    def save_vectors(
        self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        super().save_vectors(fingerprint, hashes, vectors)
        self._go_ahead()

    def _go_ahead(self) -> None:
        if self._ahead.ask():
            self._derived.helped = True

    def settle(self) -> None:
        with self._connections.reading() as reader:
            since = self._derived.saved_generation
            (count,) = reader.execute("count_changes", (since,)).fetchone()
        if count > UNSETTLED:
            self.flush()

    def flush(self) -> None:
        if not self._connections.writable:
            return
        if self._ahead.busy:
            self._connections.checkpoint()  # while the child does its part
            self._ahead.wait()
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            reader.execute("BEGIN")
            try:
                self._derived.save(reader)
            except Overtaken:
                pass  # another thread is further, and will save what it has
            finally:
                reader.execute("COMMIT")
        self._trim_log()
        give_back()

    def optimize(self) -> int:
        """Merge the derived index and FTS5's own; how many pieces of the former there were.

        Vectors in LanceDB are written anew, from the record.
        """
        with self._connections.writing() as transaction:
            transaction.execute("optimize_words")
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            reader.execute("BEGIN")
            try:
                pieces = self._derived.optimize(reader)
            finally:
                reader.execute("COMMIT")
        self._trim_log()
        if self._keeper:
            with self._in_lance(self._keeper) as view:
                view.remake_dataset()
        return pieces

    def close(self) -> None:
        if self._wrote or self._derived.rebuilt:
            self.flush()
        self._ahead.close()
        self._connections.close()
        if self._wrote:
            give_back()

    def _trim_log(self) -> None:
        with self._connections.reading() as reader:
            (count,) = reader.execute("count_changes", (0,)).fetchone()
        if count > LOG_LIMIT:
            floor = self._derived.saved_generation
            with self._connections.writing() as transaction:
                transaction.execute("trim_changes", (floor,))
                transaction.execute("set_state", ("changes_floor", str(floor)))
