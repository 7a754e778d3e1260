"""Taking things in: files and folders → drafts → the store, in batches, with a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, Protocol

from trivium.config import IndexSettings
from trivium.errors import SourceError, TriviumError
from trivium.ingest.blocks import Extraction
from trivium.ingest.chunk import ESTIMATE, Ruler
from trivium.ingest.draft import (
    Given,
    cut,
    of_entry,
    of_extraction,
    same_fields,
    with_earlier_words,
    with_fields,
)
from trivium.ingest.entries import read_entries
from trivium.ingest.extract import Reader, refuse_large
from trivium.ingest.fields import Fields
from trivium.ingest.files import NotASource, normalise_lines, walk
from trivium.ingest.markdown import scan
from trivium.protocols import Progress, Store
from trivium.text import content_hash
from trivium.types import OWNER, Document, Draft

BATCH = 64
"""Documents per transaction: few enough to lose little on Ctrl-C, enough to write fast."""


class IngestStore(Store, Protocol):
    """A store that also remembers where documents came from."""

    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]: ...
    def sources(self) -> dict[str, str]: ...
    def add_source(self, name: str, root: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class AddReport:
    """What an `add` did; `waiting` counts texts without a vector.

    `errors` and `notes` are (name, message): what was not taken in, and what was but for a part.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()
    skipped: tuple[str, ...] = ()
    waiting: int = 0
    model_problem: str = ""
    notes: tuple[tuple[str, str], ...] = ()


@dataclass
class Adding:
    """One `add` under way."""

    store: IngestStore
    settings: IndexSettings
    given: Given
    now: datetime
    reprocess: bool
    progress: Progress
    extractor: str = "local"
    ruler: Ruler = ESTIMATE
    _reader: Reader = field(init=False)
    _batch: list[Draft] = field(default_factory=list)
    _seen: int = 0
    _total: int | None = None
    _added: list[str] = field(default_factory=list)
    _updated: list[str] = field(default_factory=list)
    _unchanged: list[str] = field(default_factory=list)
    _skipped: list[str] = field(default_factory=list)
    _errors: list[tuple[str, str]] = field(default_factory=list)
    _notes: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reader = Reader(self.extractor)

    def path(self, path: Path) -> None:
        """A file, or a folder with all it holds."""
        if not path.exists():
            self._errors.append((str(path), "there is no such file or folder; check the path"))
            return
        if path.suffix == ".trivium" and path.is_dir():
            self._errors.append((str(path), "this is a library, not a source; add the originals"))
            return
        if path.suffix == ".omnidata" and path.is_dir():
            self._errors.append((str(path), "this is a bundle; take it in with 'trivium import'"))
            return
        if path.is_file():
            self._name_source(path.parent)
            self._file(path, self._roots(), asked_for=True)
            return
        self._name_source(path)
        roots = self._roots()
        files = list(walk(path, lambda at, why: self._errors.append((str(at), why))))
        self._total = (self._total or 0) + len(files)
        for file in files:
            self._file(file, roots, asked_for=False)

    def text(
        self, text: str, title: str, id: str, *, source: str = "text", type: str | None = None
    ) -> None:
        clean, title, id = (
            given.encode("utf-8", "replace").decode() for given in (text, title, id)
        )
        document = Document(
            id=id,
            uri=f"{source}:{id}",
            title=title,
            kind=self.given.kind or "note",
            source_hash=content_hash(clean),
        )
        document = with_fields(document, Fields(type=type), self.given, self.now)
        plain = normalise_lines(clean)
        extraction = Extraction(plain, scan(plain), extractor="text/1")
        self._draft(cut(document, extraction, self.settings, self.ruler))

    def entries(self, entries: Iterable[Mapping[str, Any]], name: str = "entries") -> None:
        try:
            data = json.dumps(list(entries), default=str).encode()
        except (TypeError, ValueError) as error:
            raise SourceError(f"{name} cannot be written as JSON: {error}") from error
        for draft in self._entries(data, name):
            self._draft(draft)

    def finish(self) -> AddReport:
        self._reader.close()
        self._flush()
        return AddReport(
            tuple(self._added),
            tuple(self._updated),
            tuple(self._unchanged),
            tuple(self._errors),
            tuple(self._skipped),
            notes=tuple(self._notes),
        )

    def _file(self, path: Path, roots: Mapping[str, Path], *, asked_for: bool) -> None:
        self._seen += 1
        self.progress("read", self._seen, self._total)
        try:
            drafts = self._read(path, roots)
        except NotASource as error:
            if asked_for:
                self._errors.append((str(path), str(error)))
            else:  # something else that happens to lie in the folder
                self._skipped.append(str(path))
            return
        except TriviumError as error:
            self._errors.append((str(path), str(error)))
            return
        except OSError as error:
            reason = error.strerror or str(error)
            self._errors.append((str(path), f"cannot be read: {reason}; check its permissions"))
            return
        for draft in drafts:
            self._draft(draft)

    def _read(self, path: Path, roots: Mapping[str, Path]) -> list[Draft]:
        if path.suffix.lower() == ".json":
            refuse_large(path.stat().st_size)
            return self._entries(path.read_bytes(), str(path))
        self._reader.check(path.name, path.stat().st_size)
        data = path.read_bytes()
        extraction = self._reader(data, str(path))
        self._notes += [(str(path), note) for note in extraction.notes]
        uri = _uri(path.parent.resolve() / path.name, roots)
        return [of_extraction(extraction, path, uri, data, self.given, self.settings, self.ruler)]

    def _entries(self, data: bytes, name: str) -> list[Draft]:
        return [
            of_entry(entry, self.given, self.settings, self.now)
            for entry in read_entries(data, name)
        ]

    def _name_source(self, folder: Path) -> None:
        """Make the folder a source, unless it lies in one."""
        absolute = folder.resolve()
        base = (absolute.name or "root").replace(":", "-")
        names = chain((base,), (f"{base}-{number}" for number in count(2)))
        for name in names:
            known = self.store.sources()
            if any(absolute.is_relative_to(root) for root in known.values()):
                return
            free = name not in known and name not in ("entry", "text", "upload", "memory")
            if free and self.store.add_source(name, str(absolute)):
                return

    def _roots(self) -> dict[str, Path]:
        return {name: Path(root) for name, root in self.store.sources().items()}

    def _draft(self, draft: Draft) -> None:
        self._batch.append(draft)
        if len(self._batch) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        """Write the batch: new versions for new content, new fields where only they changed."""
        batch = {draft.document.id: draft for draft in self._batch}
        self._batch = []
        known = self.store.find(list(batch), OWNER)
        made_from = self.store.fingerprints(list(batch))
        added: list[Draft] = []
        updated: list[Draft] = []
        amended: list[Draft] = []
        unchanged: list[str] = []
        for id, draft in batch.items():
            stored = known.get(id)
            if stored is None or stored.id != id:
                added.append(draft)
                continue
            draft = with_earlier_words(draft, stored, self.settings)
            if self.reprocess or made_from[id] != (draft.document.source_hash, draft.pipeline):
                updated.append(draft)
            elif not same_fields(stored, _kept(draft.document, stored)):
                amended.append(replace(draft, document=_kept(draft.document, stored)))
            else:
                unchanged.append(id)
        if added or updated:
            self.store.put([*added, *updated], self.now)
        if amended:
            self.store.amend(amended, self.now)
        self._added += [draft.document.id for draft in added]
        self._updated += [draft.document.id for draft in (*updated, *amended)]
        self._unchanged += unchanged


def _uri(path: Path, roots: Mapping[str, Path]) -> str:
    """`source:path` in the innermost source, so that a folder within a folder is stored once."""
    inside = [(name, root) for name, root in roots.items() if path.is_relative_to(root)]
    name, root = max(inside, key=lambda one: len(one[1].parts))
    return f"{name}:{path.relative_to(root).as_posix()}"


def _kept(drafted: Document, stored: Document) -> Document:
    """Entries and texts without a date of their own keep the one of their first arrival."""
    if drafted.uri.startswith(("entry:", "text:", "memory:")):
        return replace(drafted, created=stored.created, updated=stored.updated)
    return drafted
