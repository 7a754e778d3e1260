"""Filling a library: files, texts, entries and bundles in, vectors after them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from trivium.errors import ModelError, UnknownDocument, UnknownModel
from trivium.library.base import NO_MODEL
from trivium.library.embedding import Embedding
from trivium.protocols import CountsTokens, Progress, silent
from trivium.types import NO_FILTER, OWNER, Filter, Grant

if TYPE_CHECKING:  # reading files is not part of searching; its modules load when they are needed
    from trivium.ingest.add import Adding, AddReport
    from trivium.ingest.chunk import Ruler
    from trivium.ingest.mirror import Mirroring
    from trivium.store.omnidata import Bundle, ExportReport, ImportReport


class Filling(Embedding):
    """What puts something into the library."""

    def add(
        self,
        *paths: str | Path,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        reprocess: bool = False,
        extractor: str = "local",
        sync: bool = False,
        force: bool = False,
        source: str | None = None,
        embed: bool = True,
        progress: Progress = silent,
        grant: Grant = OWNER,
    ) -> AddReport:
        """Take in files, folders (recursively) and `.json` files of entries.

        What cannot be read is named in the report; the rest goes in. Words are searchable when a
        batch is stored; `embed=True` then adds meaning, and if the model fails, says so.
        `extractor="azure"` sends PDF, Office files and pictures to Azure to be read there.
        A file that moved keeps its document; `sync=True` removes documents below the folders whose
        file is gone. Files and entries that are nearly the same as another document are left out
        unless `force`; what was found in a folder is taken in and noted. Reports mention no
        document outside the grant. `source` names the kind of source that the paths are: folder,
        obsidian, git or one of an installed package; what is gone from it is removed.
        """
        adding = self._adding(scope, category, tags, kind, reprocess, progress, extractor)
        adding.sync, adding.force, adding.grant = sync, force, grant
        for path in paths:
            if source is None:
                adding.path(Path(path))
            else:
                adding.adapted(source, Path(path))
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
        force: bool = False,
        embed: bool = True,
        grant: Grant = OWNER,
    ) -> AddReport:
        """Take in a text that is not in a file; the same `id` again makes a new version."""
        adding = self._adding(scope, category, tags, kind)
        adding.force, adding.grant = force, grant
        adding.text(text, title, id or title)
        return self._finish(adding, embed, silent)

    def upload(
        self,
        *files: Path,
        place: str = "",
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        reprocess: bool = False,
        force: bool = False,
        embed: bool = True,
        progress: Progress = silent,
        grant: Grant = OWNER,
    ) -> AddReport:
        """Take in files that lie here only for now, under `upload:PLACE/NAME`; the report calls
        them by their names.

        The same name again makes a new version, the same content again makes nothing. Whoever may
        not see a scope cannot write to it, nor over what is in it.
        """
        adding = self._adding(scope, category, tags, kind, reprocess, progress)
        adding.force, adding.grant = force, grant
        for file in files:
            adding.upload(file, f"upload:{place}/{file.name}" if place else f"upload:{file.name}")
        report = self._finish(adding, embed, progress)
        for folder in {file.parent for file in files}:
            report = report.renamed_places(f"{folder}/", "")
        return report

    def reingest(
        self,
        name: str,
        *,
        embed: bool = True,
        progress: Progress = silent,
        grant: Grant = OWNER,
    ) -> AddReport:
        """Read a document's source again and make a new version of it: the file where it lies, or
        the copy that is kept where it is gone or came as an upload.
        """
        from trivium.ingest.files import denied

        document = self._found([name], grant)[name]
        source, _, path = document.uri.partition(":")
        root = self._store.sources().get(source)
        adding = self._adding(reprocess=True, progress=progress)
        adding.grant = grant
        if root and (denied(Path(root, path)) or Path(root, path).is_file()):
            adding.path(Path(root, path))
            report = self._finish(adding, embed, progress)
            return report.renamed_places(f"{root}/", f"{source}:")
        from trivium.ingest.draft import filled

        data = self._archive().get(document.source_hash)
        if data is None:
            raise UnknownDocument(f"the source of '{name}' is not kept; add it again")
        with TemporaryDirectory(prefix="trivium-") as folder:
            file = Path(folder, PurePosixPath(path).name)
            file.write_bytes(data)
            adding.upload(file, document.uri, partial(filled, document))
            return self._finish(adding, embed, progress).renamed_places(f"{folder}/", "")

    def add_entries(
        self,
        entries: Iterable[Mapping[str, Any]],
        *,
        force: bool = False,
        embed: bool = True,
        progress: Progress = silent,
        grant: Grant = OWNER,
    ) -> AddReport:
        """Take in knowledge entries: mappings with id, title, description, tags …"""
        adding = self._adding(progress=progress)
        adding.force, adding.grant = force, grant
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
        base: str | None = None,
    ) -> Mirroring:
        from trivium.ingest.draft import Given
        from trivium.ingest.mirror import Mirroring

        given = Given(scope, category, tuple(tags), kind)
        return Mirroring(
            self._store,
            self.settings,
            given,
            self._now(),
            reprocess,
            progress,
            extractor,
            self._ruler(),
            archive=self._archive() if self.settings.keep_sources else None,
            base=base,
        )

    def _ruler(self) -> Ruler:
        """The tokenizer of the library's model; an estimate where it has none, or none at hand."""
        from trivium.ingest.chunk import ESTIMATE, Ruler

        made_with = self.settings.model  # a model of later days does not cut the texts anew
        try:
            model = None if made_with == NO_MODEL else self._named(made_with)
        except UnknownModel:
            if made_with == self.model_name:
                raise
            return ESTIMATE  # it was switched from and is gone; that must not stop an `add`
        if not isinstance(model, CountsTokens):
            return ESTIMATE
        try:
            model.count_tokens("")
        except ModelError:  # the words go in; `embed` will say what is missing
            return ESTIMATE
        return Ruler(model.name, model.count_tokens)

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
            return take_in(source, self._store, own, self._named, hashed, self._now(), progress)

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
        if embed and self.model_name != NO_MODEL:
            try:
                made = self._embed_waiting(progress)
                problem = next((why for _, why in made.failed), "")
            except ModelError as error:
                problem = str(error)
            waiting = self.waiting()
        self._store.settle()
        _, sending = self.send_sources()
        return replace(report, waiting=waiting, model_problem=problem, blob_problem=sending)
