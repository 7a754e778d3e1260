"""The one façade: fill a library, search it, look after it. Surfaces call nothing below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from trivium.config import Profile, load_profile, read_library_toml
from trivium.embed import embedder as model_named
from trivium.errors import (
    InvalidValue,
    ModelError,
    UnknownDocument,
)
from trivium.freshness import freshness
from trivium.pipeline import Search, check_scopes, require_legs
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
    from trivium.store.omnidata import Bundle, ExportReport, ImportReport

EMBED_BATCH = 100
"""Texts per model call: what document 004 says, and small enough to lose little on Ctrl-C."""

NO_MODEL = "none"


class Library:
    """An open library. Use it as a context manager, or call `close`."""

    def __init__(self, folder: Path, *, bundle: Path | None = None) -> None:
        self.folder = bundle or folder
        self.profile_name, self.settings = read_library_toml(folder)
        refusal = f"{bundle} is a bundle; 'trivium import' makes a library of it" if bundle else ""
        self._store = SqliteStore(folder, refusal=refusal)
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
        extractor: str = "local",
        embed: bool = True,
        progress: Progress = silent,
    ) -> AddReport:
        """Take in files, folders (recursively) and `.json` files of entries.

        What cannot be read is named in the report; the rest goes in. Words are searchable when a
        batch is stored; `embed=True` then adds meaning, and if the model fails, says so.
        `extractor="azure"` sends PDF, Office files and pictures to Azure to be read there.
        """
        adding = self._adding(scope, category, tags, kind, reprocess, progress, extractor)
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
        extractor: str = "local",
    ) -> Adding:
        from trivium.ingest.add import Adding
        from trivium.ingest.draft import Given

        given = Given(scope, category, tuple(tags), kind)
        now = self._now()
        return Adding(self._store, self.settings, given, now, reprocess, progress, extractor)

    def import_bundle(
        self, bundle: str | Path | Bundle, *, progress: Progress = silent
    ) -> ImportReport:
        """Take in a bundle: documents, chunks and vectors; taken in again, it changes nothing.

        All of it is checked before anything is written; if the writing stops, it can be repeated.
        """
        from trivium.ingest.draft import with_hashes
        from trivium.store.omnidata import opened, take_in

        own, hashed = self._model(), partial(with_hashes, settings=self.settings)
        with opened(bundle, progress) as source:
            return take_in(source, self._store, own, model_named, hashed, self._now(), progress)

    def export_bundle(
        self,
        path: str | Path,
        *,
        filter: Filter = NO_FILTER,
        force: bool = False,
        progress: Progress = silent,
    ) -> ExportReport:
        """Write a bundle with the active version of every document that the filter leaves."""
        from trivium.store.omnidata import export

        settings, now = self.settings, self._now()
        return export(self._store, settings, Path(path), now, filter, force, progress)

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
            result = search(request)
        sources = self._store.sources()
        checked = (replace(h, freshness=freshness(h.document, sources)) for h in result.hits)
        return replace(result, hits=tuple(checked))

    def check_profile(self, profile: Profile) -> None:
        """An error if this library lacks a leg that the profile needs."""
        with self._store.view(OWNER) as view:
            require_legs(view, profile, self._model())

    # --- looking at and after what is there ------------------------------------------------------

    def get(self, *names: str, grant: Grant = OWNER) -> list[Reading]:
        """Documents or chunks by id, `#number` or uri, whole; an unknown one is an error."""
        found = self._found(names, grant)
        readings = []
        for name, document in ((name, found[name]) for name in names):
            if document.is_called(name):
                text = self._store.text(document.id, document.version)
                readings.append(Reading(document, tuple(self._store.chunks(document.id)), text))
            else:
                [chunk] = self._store.chunk(name) or [self._unknown(name)]
                readings.append(Reading(document, (chunk,), chunk.text))
        return readings

    def documents(
        self, filter: Filter = NO_FILTER, *, limit: int | None = None, grant: Grant = OWNER
    ) -> list[Document]:
        """The documents that a filter leaves, in the order of their ids."""
        with self._store.view(grant) as view:
            check_scopes(view, filter, grant)
        return self._store.documents(filter, grant, limit)

    def versions(self, name: str, *, grant: Grant = OWNER) -> list[Version]:
        """Every reading of a document, oldest first."""
        return self._store.versions(self._found([name], grant)[name].id)

    def rollback(self, name: str, version: int) -> None:
        """Make an earlier version the active one; no model is called."""
        from trivium.ingest.draft import of_stored

        id = self._found([name], OWNER)[name].id
        self._store.activate(id, version, self._now())
        [document] = self._found([id], OWNER).values()  # its vectors are those of today's title
        draft = of_stored(document, self._store.chunks(id), self.settings)
        self._store.amend([draft], self._now())

    def remove(self, *names: str) -> int:
        """Remove documents with all their versions; if one is unknown, nothing is removed."""
        found = self._found(names, OWNER)
        for name, document in found.items():
            if not document.is_called(name):
                raise InvalidValue(f"'{name}' is a chunk; remove its document '{document.id}'")
        return self._store.remove(sorted({document.id for document in found.values()}))

    def status(self) -> dict[str, Any]:
        """Counts, models and what waits."""
        return {
            "library": str(self.folder),
            "profile": self.profile_name,
            "model": self.settings.model,
            **self._store.status(),
            "models": [asdict(model) for model in self._store.models()],
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
                self._unknown(name)
        return found

    def _unknown(self, name: str) -> NoReturn:
        raise UnknownDocument(f"there is no document '{name}'; 'trivium list' shows them")

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
