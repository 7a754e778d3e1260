"""What was made once and is kept in the user's cache folder: vectors, and rankings.

Vectors are keyed by the model's fingerprint and the SHA-256 of the exact input, rankings by all
that made them, down to the engine's own source; so neither can ever be stale, and deleting the
file costs nothing but time.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trivium.errors import LibraryCorrupt, LibraryReadOnly
from trivium.evaluate.measures import Run
from trivium.protocols import Embedder
from trivium.store.record.statements import statements
from trivium.store.sqlite.connection import WAIT_SECONDS, in_our_words
from trivium.vectors import pack, unpack


def cache_folder() -> Path:
    """Where evaluation keeps what it can make again: under XDG_CACHE_HOME, else `~/.cache`."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "trivium" / "evaluate"


class Remembered:
    """The vectors on disk. Use it as a context manager, or call `close`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._statements = statements(Path(__file__).parent / "evaluate.sql")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise LibraryReadOnly(
                f"{path.parent} cannot be written ({error.strerror}); "
                "set XDG_CACHE_HOME to a folder that can"
            ) from error
        try:
            self._connection = self._opened()
        except LibraryCorrupt:  # nothing is lost that could not be made again
            path.unlink()
            self._connection = self._opened()

    def _opened(self) -> sqlite3.Connection:
        with in_our_words(self.path):
            connection = sqlite3.connect(self.path, timeout=WAIT_SECONDS)
            try:
                connection.execute(self._statements["make_vectors"])
                connection.execute(self._statements["make_runs"])
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def known(self, model: str, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """The vectors that are there, by key."""
        found: dict[bytes, NDArray[np.float32]] = {}
        with in_our_words(self.path):
            for key in keys:
                row = self._connection.execute(self._statements["vector"], (model, key)).fetchone()
                if row:
                    found[key] = unpack(row[0])
        return found

    def keep(self, model: str, pairs: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Add vectors, all or none."""
        rows = [(model, key, pack(vector)) for key, vector in pairs]
        with in_our_words(self.path), self._connection:
            self._connection.executemany(self._statements["keep_vector"], rows)

    def run(self, key: bytes) -> Run | None:
        """The rankings of this key, if they are there."""
        with in_our_words(self.path):
            row = self._connection.execute(self._statements["run"], (key,)).fetchone()
        if row is None:
            return None
        return {query: tuple(ids) for query, ids in json.loads(row[0]).items()}

    def keep_run(self, key: bytes, run: Run) -> None:
        with in_our_words(self.path), self._connection:
            self._connection.execute(self._statements["keep_run"], (key, json.dumps(run)))


@dataclass(frozen=True, slots=True)
class RunMemory:
    """Rankings of one set by one engine: `made_of` names the documents, the queries, the model."""

    disk: Remembered
    made_of: str

    def about(self, queries: Mapping[str, str]) -> RunMemory:
        """The same for these queries only."""
        return replace(self, made_of=f"{self.made_of} {sorted(queries.items())!r}")

    def known(self, name: str, profile: object) -> Run | None:
        return self.disk.run(self._key(name, profile))

    def keep(self, name: str, profile: object, run: Run) -> None:
        self.disk.keep_run(self._key(name, profile), run)

    def _key(self, name: str, profile: object) -> bytes:
        made_of = repr((name, profile, self.made_of, engine()))
        return sha256(made_of.encode("utf-8", "surrogatepass")).digest()


@cache
def engine() -> str:
    """A digest of this very engine: of every file of the package."""
    state = sha256()
    package = Path(__file__).parents[1]
    for file in sorted(package.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            state.update(file.relative_to(package).as_posix().encode())
            state.update(file.read_bytes())
    return state.hexdigest()


class RememberingEmbedder:
    """A model that is asked for each text once; it stays unloaded while everything is known.

    A model may read a question in another way than a document, so each keeps keys of its own.
    """

    def __init__(self, model: Embedder, vectors: Remembered) -> None:
        self._model = model
        self.disk = vectors
        self._queries: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    @property
    def dimension(self) -> int:
        return self._model.dimension

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector for each text, as the model gives it."""
        keys = [_key("document", text) for text in texts]
        known = self.disk.known(self.fingerprint, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = dict(zip(missing, self._model.documents(list(missing.values())), strict=True))
            self.disk.keep(self.fingerprint, made.items())
            known |= made
        if not keys:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([known[key] for key in keys])

    def query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question; free of cost once `prepare` has seen it, in any thread."""
        if text in self._queries:
            return self._queries[text]
        return self._model.query(text)

    def prepare(self, texts: Iterable[str]) -> None:
        """Make or find the vectors of questions, so that asking them calls no model."""
        keys = {_key("query", text): text for text in texts}
        known = self.disk.known(self.fingerprint, list(keys))
        made = {key: self._model.query(text) for key, text in keys.items() if key not in known}
        self.disk.keep(self.fingerprint, made.items())
        for key, vector in (known | made).items():
            self._queries[keys[key]] = vector


def _key(role: str, text: str) -> bytes:
    return sha256(f"{role}\n{text}".encode("utf-8", "surrogatepass")).digest()
