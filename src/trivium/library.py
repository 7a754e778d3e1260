"""The one façade: fill a library, search it, look after it. Surfaces call nothing below."""

from __future__ import annotations

import builtins
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from trivium.config import IndexSettings, Profile, load_profile, parse
from trivium.embed import embedder as model_named
from trivium.errors import (
    InvalidValue,
    LibraryExists,
    LibraryReadOnly,
    ModelError,
    NotALibrary,
    UnknownDocument,
)
from trivium.pipeline import Search, require_legs
from trivium.protocols import Embedder, Model, Progress, silent
from trivium.store.sqlite import SqliteStore
from trivium.types import (
    NO_FILTER,
    OWNER,
    Document,
    Filter,
    Grant,
    Mode,
    Reading,
    Result,
    SearchRequest,
    Version,
)

if TYPE_CHECKING:  # reading files is not part of searching; its modules load when they are needed
    from trivium.ingest.add import Adding, AddReport

EMBED_BATCH = 100
"""Texts per model call: what document 004 says, and small enough to lose little on Ctrl-C."""

NO_MODEL = "none"


def init(path: str | Path, *, profile: str = "default", model: str | None = None) -> Library:
    """Make an empty library at `path`, frozen to the profile's `[index]` settings."""
    folder = Path(path)
    if (folder / "index.db").exists():
        raise LibraryExists(f"there is a library at {folder} already; choose another path")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise LibraryExists(f"{folder} is not an empty folder; choose another path")
    settings = load_profile(profile).index
    if model is not None:
        settings = replace(settings, model=model)
    if settings.model != NO_MODEL:
        model_named(settings.model)  # an unknown name fails before anything is written
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "library.toml").write_text(_library_toml(profile, settings), encoding="utf-8")
    except OSError as error:
        raise LibraryReadOnly(f"{folder} cannot be made: {error.strerror}") from error
    SqliteStore(folder, create=True).close()
    return Library(folder)


def open(path: str | Path, *, create: bool = False) -> Library:
    """Open the library at `path`; with `create` make it first where there is none."""
    folder = Path(path)
    if create and not (folder / "index.db").exists():
        return init(folder)
    return Library(folder)


class Library:
    """An open library. Use it as a context manager, or call `close`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.profile_name, self.settings = _read_library_toml(folder)
        self._store = SqliteStore(folder)
        self._embedder: Embedder | None = None
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="trivium")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Write down what the next process can start from, and let go of the files."""
        self._pool.shutdown()
        self._store.close()

    # --- filling ---------------------------------------------------------------------------------

    def add(
        self,
        *paths: str | Path,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        reprocess: bool = False,
        embed: bool = True,
        progress: Progress = silent,
    ) -> AddReport:
        """Take in files, folders (recursively) and `.json` files of entries.

        What cannot be read is named in the report; the rest goes in. Words are searchable when a
        batch is stored; `embed=True` then adds meaning, and if the model fails, says so.
        """
        adding = self._adding(scope, category, tags, kind, reprocess, progress)
        for path in paths:
            adding.path(Path(path))
        return self._finish(adding, embed, progress)

    def add_text(
        self,
        text: str,
        *,
        title: str,
        id: str | None = None,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        embed: bool = True,
    ) -> AddReport:
        """Take in a text that is not in a file; the same `id` again makes a new version."""
        adding = self._adding(scope, category, tags, kind)
        adding.text(text, title, id or title)
        return self._finish(adding, embed, silent)

    def add_entries(
        self,
        entries: Iterable[Mapping[str, Any]],
        *,
        embed: bool = True,
        progress: Progress = silent,
    ) -> AddReport:
        """Take in knowledge entries: mappings with id, title, description, tags …"""
        adding = self._adding(progress=progress)
        adding.entries(entries)
        return self._finish(adding, embed, progress)

    def _adding(
        self,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        reprocess: bool = False,
        progress: Progress = silent,
    ) -> Adding:
        from trivium.ingest.add import Adding
        from trivium.ingest.draft import Given

        given = Given(scope, category, tuple(tags), kind)
        return Adding(self._store, self.settings, given, self._now(), reprocess, progress)

    def _finish(self, adding: Adding, embed: bool, progress: Progress) -> AddReport:
        report = adding.finish()
        waiting = 0
        problem = ""
        if embed and self.settings.model != NO_MODEL:
            try:
                self.embed(progress=progress)
            except ModelError as error:
                problem = str(error)
            waiting = self.waiting()
        self._store.settle()
        return replace(report, waiting=waiting, model_problem=problem)

    def embed(self, *, progress: Progress = silent) -> int:
        """Embed what has no vector yet; each batch is kept at once, so nothing is done twice."""
        from trivium.ingest.draft import embedding_input

        model = self._model()
        if model is None:
            raise InvalidValue("this library has no embedding model; it was made with 'none'")
        self._register(model)
        total, done = self._store.count_pending(model.fingerprint), 0
        while batch := self._store.pending(model.fingerprint, EMBED_BATCH):
            progress("embed", done, total)
            texts = [embedding_input(self.settings.template, r.document, r.chunk) for r in batch]
            hashes = [record.chunk.embedding_hash for record in batch]
            self._store.save_vectors(model.fingerprint, hashes, model.documents(texts))
            done += len(batch)
        if total:
            progress("embed", done, total)
        return done

    def waiting(self) -> int:
        """How many distinct texts still wait for their vector."""
        model = self._model()
        return self._store.count_pending(model.fingerprint) if model else 0

    # --- searching -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        mode: Mode = "scan",
        legs: Sequence[str] = (),
        include_memories: bool = False,
        facets: bool = False,
        cursor: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """Search by meaning, words and spelling; the result explains how it came about."""
        request = SearchRequest(
            query, limit, filter, mode, tuple(legs), include_memories, facets, cursor
        )
        return self.answer(request, profile=profile, grant=grant, now=now)

    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """The same for a request object."""
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        with self._store.view(grant, request.filter.as_of) as view:
            search = Search(view, profile, self._model(), self._pool, now or self._now(), grant)
            return search(request)

    def check_profile(self, profile: Profile) -> None:
        """An error if this library lacks a leg that the profile needs."""
        with self._store.view(OWNER) as view:
            require_legs(view, profile, self._model())

    # --- looking at and after what is there ------------------------------------------------------

    def get(self, *names: str, grant: Grant = OWNER) -> list[Reading]:
        """Documents or chunks by id, `#number` or uri, whole; an unknown one is an error."""
        found = self._found(names, grant)
        readings = []
        for name in names:
            chunks = self._store.chunks(found[name].id)
            one = [chunk for chunk in chunks if chunk.id == name]
            text = one[0].text if one else self._store.text(found[name].id, found[name].version)
            readings.append(Reading(found[name], tuple(one or chunks), text))
        return readings

    def documents(
        self, filter: Filter = NO_FILTER, *, limit: int | None = None, grant: Grant = OWNER
    ) -> list[Document]:
        """The documents that a filter leaves, in the order of their ids."""
        return self._store.documents(filter, grant, limit)

    def versions(self, name: str, *, grant: Grant = OWNER) -> list[Version]:
        """Every reading of a document, oldest first."""
        return self._store.versions(self._found([name], grant)[name].id)

    def rollback(self, name: str, version: int) -> None:
        """Make an earlier version the active one; no model is called."""
        self._store.activate(self._found([name], OWNER)[name].id, version, self._now())

    def remove(self, *names: str) -> int:
        """Remove documents with all their versions; if one is unknown, nothing is removed."""
        found = self._found(names, OWNER)
        return self._store.remove(sorted({document.id for document in found.values()}))

    def status(self) -> dict[str, Any]:
        """Counts, models and what waits."""
        models = [
            {
                "name": m.name,
                "fingerprint": m.fingerprint,
                "dimension": m.dimension,
                "active": m.active,
                "vectors": m.vectors,
            }
            for m in self._store.models()
        ]
        return {
            "library": str(self.folder),
            "profile": self.profile_name,
            "model": self.settings.model,
            **self._store.status(),
            "models": models,
            "waiting": self.waiting(),
            "sources": self._store.sources(),
        }

    def doctor(self) -> list[str]:
        """What is wrong; an empty list says that all is well."""
        return self._store.check()

    def _found(self, names: Sequence[str], grant: Grant) -> dict[str, Document]:
        found = self._store.find(names, grant)
        for name in names:
            if name not in found:
                raise UnknownDocument(f"there is no document '{name}'; 'trivium list' shows them")
        return found

    def _model(self) -> Embedder | None:
        if self.settings.model == NO_MODEL:
            return None
        if self._embedder is None:
            self._embedder = model_named(self.settings.model)
        return self._embedder

    def _register(self, model: Embedder) -> None:
        active = self._store.active_model()
        if active is None or active.fingerprint != model.fingerprint:
            self._store.use_model(Model(model.name, model.fingerprint, model.dimension, True))

    def _now(self) -> datetime:
        return datetime.now(UTC)


def _library_toml(profile: str, settings: IndexSettings) -> str:
    lines = [
        "# What this library was made with. The model and the chunks depend on it: do not edit.",
        f'profile = "{profile}"',
        "",
        "[index]",
    ]
    for name in ("model", "chunk_size", "chunk_overlap", "template"):
        value = getattr(settings, name)
        escaped = (
            value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            if (isinstance(value, str))
            else value
        )
        lines.append(f'{name} = "{escaped}"' if isinstance(value, str) else f"{name} = {value}")
    return "\n".join(lines) + "\n"


def _read_library_toml(folder: Path) -> tuple[str, IndexSettings]:
    path = folder / "library.toml"
    try:
        with builtins.open(path, "rb") as file:
            data = tomllib.load(file)
    except FileNotFoundError as error:
        raise NotALibrary(
            f"{folder} holds no library; make one with 'trivium init {folder}'"
        ) from error
    except OSError as error:
        raise NotALibrary(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NotALibrary(f"{path} is not valid TOML ({error}); restore it from a copy") from error
    profile = data.get("profile", "default")
    return str(profile), parse(IndexSettings, data.get("index", {}), "index.")
