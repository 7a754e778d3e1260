"""A bundle, read: first all of it is looked at, then it is given out resource by resource.

A bundle is a stranger's data. Everything is checked before anything is given out, its files are
never written, and no name in it is ever used as a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from trivium.config import IndexSettings
from trivium.errors import NotALibrary, SourceError
from trivium.protocols import Embedder, Progress, silent
from trivium.store.omnidata.database import Database, readable
from trivium.store.omnidata.manifest import Declared, local_model, read_manifest
from trivium.store.omnidata.section import Resource, Section, Tally

SUFFIX = ".omnidata"
INDEX, MEMORIES = "index.db", "memory.db"
_TABLES = {
    INDEX: (("omnidata_resources",), "note"),
    MEMORIES: (("omnidata_memories", "memories", "omnidata_resources"), "memory"),
}
_EVERY = 500
"""Rows between two reports of progress."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """A model as the chunks name it, and how many of them have a vector of it."""

    declared: Declared
    chunks: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What a bundle holds, and what of it is left out.

    `deleted` gives id and uri of the resources that are deleted softly; `orphans` are chunks of
    no resource, `empty` counts resources without chunks and chunks without a text.
    """

    ids: frozenset[str]
    chunks: int
    models: tuple[Embedded, ...]
    """The most frequent first."""
    deleted: tuple[tuple[str, str], ...] = ()
    deleted_chunks: int = 0
    orphans: int = 0
    empty: int = 0


def is_bundle(path: Path) -> bool:
    """Whether a path is meant as a bundle."""
    return path.suffix == SUFFIX


def opened(bundle: str | Path | Bundle, progress: Progress) -> AbstractContextManager[Bundle]:
    """The bundle at a path for as long as it is needed; one that is open already stays so."""
    return nullcontext(bundle) if isinstance(bundle, Bundle) else Bundle(Path(bundle), progress)


class Bundle:
    """A bundle open for reading, checked from end to end. Use it as a context manager.

    `SourceError` says what is wrong with it. What it gives out is one state: if somebody writes
    to the bundle meanwhile, that is an error too.
    """

    def __init__(self, folder: Path, progress: Progress = silent) -> None:
        self.folder = folder
        if not folder.is_dir():
            raise NotALibrary(f"there is no bundle at {folder}; check the path")
        self.manifest = read_manifest(folder)
        self._stack = ExitStack()
        try:
            self._sections = [self._section(name) for name in _TABLES if self._has(name)]
            self.survey = self._look(progress)
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def resources(self) -> Iterator[Resource]:
        """The living resources that have chunks; ids and uris are unique among them."""
        uris: set[str] = set()
        name = self.folder.name.removesuffix(SUFFIX) or "bundle"
        for section in self._sections:
            with readable(section.database.path):
                for resource in section.resources(f"omnidata:{name}/", uris):
                    section.database.check_unchanged()
                    yield resource

    def settings(
        self, settings: IndexSettings, model: str | None, named: Callable[[str], Embedder]
    ) -> IndexSettings:
        """The settings for a library of its own: template and model are those of the vectors."""
        settings = self.manifest.over(settings)
        if model is None and self.survey.models:
            local = local_model(self.survey.models[0].declared, named)
            model = local.name if local else "none"
        return replace(settings, model=model or settings.model)

    def _has(self, name: str) -> bool:
        path = self.folder / name
        if not path.is_file():
            if name == INDEX:
                raise SourceError(f"{self.folder} has no {name}; this is not a whole bundle")
            return False
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise SourceError(f"{path} leads out of the bundle; get the bundle again")
        return True

    def _section(self, name: str) -> Section:
        database = self._stack.enter_context(Database(self.folder / name))
        tables, kind = _TABLES[name]
        with readable(database.path):
            return Section(database, tables, kind, self.manifest)

    def _look(self, progress: Progress) -> Survey:
        tally, done, total = Tally(), 0, 0
        for section in self._sections:
            with readable(section.database.path):
                total += section.rows()
        for section in self._sections:
            with readable(section.database.path):
                for _ in section.look(tally):
                    done += 1
                    if done % _EVERY == 0:
                        progress("checking", done, total)
                section.database.check_unchanged()
        return Survey(
            ids=frozenset(tally.ids),
            chunks=tally.chunks,
            models=tuple(
                Embedded(
                    replace(self.manifest.declared(name), dimension=tally.dimensions[name]), count
                )
                for name, count in sorted(tally.embedded.items(), key=lambda one: (-one[1], one[0]))
            ),
            deleted=tuple(tally.deleted),
            deleted_chunks=tally.deleted_chunks,
            orphans=tally.orphans,
            empty=tally.empty,
        )
