"""The library that a set of documents needs: made once, kept in the user's cache folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib import resources
from pathlib import Path

from trivium.config import load_profile
from trivium.configuration import configuration
from trivium.embed import embedder as model_named
from trivium.errors import LibraryReadOnly
from trivium.evaluate.judged import Source
from trivium.evaluate.remember import (
    Remembered,
    RememberingEmbedder,
    RunMemory,
    cache_folder,
)
from trivium.ingest.draft import whole
from trivium.library import NO_MODEL, Library
from trivium.opening import init
from trivium.protocols import Progress, silent
from trivium.store.sqlite import SqliteStore
from trivium.types import Document
from trivium.version import __version__

MADE = datetime(2000, 1, 1, tzinfo=UTC)  # any moment, as long as it is always the same
BATCH = 500
_BUILDER = "1"  # changed when a library would come out differently


@dataclass(frozen=True, slots=True)
class Bench:
    """An open library with a model that remembers; `model` is None where there are no vectors."""

    library: Library
    model: RememberingEmbedder | None
    memory: RunMemory | None = None
    """Where rankings are kept, if the library is one that never changes."""

    def prepare(self, queries: Sequence[str]) -> None:
        """Have the queries' vectors at hand, so that searching calls no model."""
        if self.model:
            self.model.prepare(queries)


@contextmanager
def bench(library: Library) -> Iterator[Bench]:
    """A library to be measured. What its model makes is kept for the next time."""
    if library.model_name == NO_MODEL:
        yield Bench(library, None)
        return
    with Remembered(cache_folder() / "vectors.db") as vectors:
        model = RememberingEmbedder(model_named(library.model_name), vectors)
        before, library._embedder = library._embedder, model
        try:
            yield Bench(library, model)
        finally:
            library._embedder = before


@contextmanager
def built(
    documents: Sequence[Source], model: str | None = None, progress: Progress = silent
) -> Iterator[Bench]:
    """The library of these documents under the default profile, made if it is not there yet.

    A document is one chunk: its title and its text, and nothing of its id.
    """
    model = model_of(model)
    shelf = cache_folder() / "libraries" / _digest(documents)
    folder = shelf / _name(model)
    if not _is_whole(folder):
        _make(folder, documents, model)
        _forget_others(folder)
    with Library(folder) as library, bench(library) as made:
        if not made.model:
            yield made
            return
        library.embed(progress=progress)
        made_of = f"{shelf.name} {made.model.fingerprint}"
        yield replace(made, memory=RunMemory(made.model.disk, made_of))


def model_of(named: str | None) -> str:
    """The model that a folder is embedded with: the one that is named, else the settings'."""
    return named or configuration().settings.model or load_profile("default").index.model


def _make(folder: Path, documents: Sequence[Source], model: str) -> None:
    """Make it aside and move it into place, so that a half-made one is never taken for whole."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        workshop = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
    except OSError as error:
        raise LibraryReadOnly(
            f"{folder.parent} cannot be written ({error.strerror}); "
            "set XDG_CACHE_HOME to a folder that can"
        ) from error
    try:
        making = workshop / folder.name
        with init(making, profile="default", model=model) as library:
            settings = library.settings
        store = SqliteStore(making)
        try:
            for start in range(0, len(documents), BATCH):
                drafts = [
                    whole(Document(one.id, f"beir:{one.id}", one.title), one.text, settings)
                    for one in documents[start : start + BATCH]
                ]
                store.put(drafts, MADE)
        finally:
            store.close()
        (making / "whole").touch()
        shutil.rmtree(folder, ignore_errors=True)
        try:
            making.rename(folder)
        except OSError:
            if not _is_whole(folder):  # otherwise another process was quicker
                raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _is_whole(folder: Path) -> bool:
    return (folder / "whole").exists() and (folder / "index.db").exists()


def _digest(documents: Sequence[Source]) -> str:
    state = sha256()
    for one in documents:
        state.update(repr((one.id, one.title, one.text)).encode("utf-8", "surrogatepass"))
    return state.hexdigest()[:16]


def _name(model: str) -> str:
    """A name that changes with the model, the profile's settings and the form of the record.

    With the model's fingerprint, not its name alone: of two engines that make different vectors
    each has a library, and neither switches the other's to its own.
    """
    migrations = resources.files("trivium.store.sqlite").joinpath("migrations").iterdir()
    state = (
        _BUILDER,
        __version__,
        load_profile("default").index,
        "" if model == NO_MODEL else model_named(model).fingerprint,
        sorted(one.read_bytes() for one in migrations if one.name.endswith(".sql")),
    )
    return f"{model}-{sha256(repr(state).encode()).hexdigest()[:12]}.trivium"


def _forget_others(kept: Path) -> None:
    """Libraries of the same documents and model that an older Trivium made."""
    model = kept.name.rpartition("-")[0]
    for other in kept.parent.glob(f"{model}-*.trivium"):
        if other != kept:
            shutil.rmtree(other, ignore_errors=True)
