"""Taking things in: files and folders → drafts → the store, in batches, with a report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any, Protocol

from trivium.config import IndexSettings
from trivium.errors import LibraryError, MissingExtra, SourceError, TriviumError
from trivium.factual import GraphStore
from trivium.graph.rdf import is_facts
from trivium.ingest.about import about, fact_files
from trivium.ingest.blocks import Extraction
from trivium.ingest.chunk import ESTIMATE, Ruler
from trivium.ingest.draft import (
    Fill,
    Given,
    cut,
    of_entry,
    of_extraction,
    same_fields,
    with_earlier_words,
    with_fields,
    with_its_date,
)
from trivium.ingest.entries import read_entries
from trivium.ingest.extract import Reader, refuse_large
from trivium.ingest.fields import Fields
from trivium.ingest.files import NotASource, denied, is_gone, normalise_lines, walk
from trivium.ingest.folders import FolderWords
from trivium.ingest.identity import (
    Waiting,
    identified,
    is_missing,
    permitted,
    under,
    uri_of,
    uris_below,
    was_edited,
)
from trivium.ingest.likeness import REFUSED, Likeness, sketch_of
from trivium.ingest.markdown import scan
from trivium.ingest.report import AddReport as AddReport
from trivium.origins import Catalogue
from trivium.protocols import Archive, Progress, Store
from trivium.text import content_hash
from trivium.types import OWNER, Document, Draft, Grant

BATCH = 64
"""Documents per transaction: few enough to lose little on Ctrl-C, enough to write fast."""

NO_BYTES = content_hash("")


class IngestStore(Store, Protocol):
    """A store that also keeps statements and remembers where documents came from."""

    @property
    def graph(self) -> GraphStore: ...
    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]: ...
    def sources(self) -> dict[str, str]: ...
    def add_source(self, name: str, root: str) -> bool: ...
    def text(self, document: str, version: int) -> str: ...
    @property
    def catalogue(self) -> Catalogue: ...


@dataclass
class Adding:
    """One `add` under way.

    `sync` removes the documents below a folder whose file is gone, `force` takes in what is nearly
    the same as something else, and no message mentions what is not within the grant.
    """

    store: IngestStore
    settings: IndexSettings
    given: Given
    now: datetime
    reprocess: bool
    progress: Progress
    extractor: str = "local"
    ruler: Ruler = ESTIMATE
    sync: bool = False
    force: bool = False
    grant: Grant = OWNER
    archive: Archive | None = None
    base: str | None = None  # of relative IRIs in facts
    _reader: Reader = field(init=False)
    _likeness: Likeness = field(init=False)
    _words: FolderWords = field(default_factory=FolderWords)
    _batch: list[Waiting] = field(default_factory=list)
    _seen: int = 0
    _total: int | None = None
    _added: list[str] = field(default_factory=list)
    _updated: list[str] = field(default_factory=list)
    _unchanged: list[str] = field(default_factory=list)
    _skipped: list[str] = field(default_factory=list)
    _errors: list[tuple[str, str]] = field(default_factory=list)
    _notes: list[tuple[str, str]] = field(default_factory=list)
    _renamed: list[str] = field(default_factory=list)
    _missing: list[str] = field(default_factory=list)
    _removed: list[str] = field(default_factory=list)
    facts: bool = False

    def __post_init__(self) -> None:
        self._reader = Reader(self.extractor)
        self._likeness = Likeness(self.store.catalogue, self._visible)

    def path(self, path: Path) -> None:
        """A file, or a folder with all it holds."""
        nothing = "there is no such file or folder; check the path" if is_gone(path) else ""
        if problem := nothing or denied(path):
            self._errors.append((str(path), problem))
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
        if not path.is_dir():
            why = "this is neither a file nor a folder; name what holds documents"
            self._errors.append((str(path), why))
            return
        self._name_source(path)
        anything_left = self._folder(path)
        self._look_for_missing(path.resolve(), anything_left=anything_left)

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
        draft = cut(document, extraction, self.settings, self.ruler)
        # A memory says that something happened, and may say it again.
        self._wait(Waiting(draft, id, mirrored=document.kind == "memory"))

    def entries(self, entries: Iterable[Mapping[str, Any]], name: str = "entries") -> None:
        try:
            data = json.dumps(list(entries), default=str).encode()
        except (TypeError, ValueError) as error:
            raise SourceError(f"{name} cannot be written as JSON: {error}") from error
        for entry in read_entries(data, name):
            draft = of_entry(entry, self.given, self.settings, self.now)
            self._wait(Waiting(draft, f"{name}, entry '{entry.id}'"))

    def finish(self) -> AddReport:
        self._reader.close()
        self._flush()
        self.store.catalogue.settle_sketches()
        return AddReport(
            tuple(self._added),
            tuple(self._updated),
            tuple(self._unchanged),
            tuple(self._errors),
            tuple(self._skipped),
            notes=(*self._words.notes, *self._notes),
            renamed=tuple(self._renamed),
            missing=tuple(self._missing),
            removed=tuple(self._removed),
        )

    def _folder(self, path: Path) -> bool:
        """Take in all files of a folder; whether there are any."""
        roots = self._roots()
        files = list(walk(path, lambda at, why: self._errors.append((str(at), why))))
        self._total = (self._total or 0) + len(files)
        for file in files:
            self._file(file, roots, asked_for=False)
        return bool(files)

    def _file(self, path: Path, roots: Mapping[str, Path], *, asked_for: bool) -> None:
        self._taken(path, partial(self._read, path, roots, asked_for), asked_for)

    def _taken(self, path: Path, read: Callable[[], list[Waiting]], asked_for: bool) -> None:
        self._seen += 1
        self.progress("read", self._seen, self._total)
        try:
            drafts = read()
        except (NotASource, MissingExtra) as error:
            if asked_for:
                self._errors.append((str(path), str(error)))
            else:  # something else that happens to lie in the folder
                self._skipped.append(str(path))
                if isinstance(error, MissingExtra):  # it could be read, were that installed
                    self._notes.append((str(path), f"skipped: {error}"))
            return
        except LibraryError:  # no fault of the file: all that follow would fare no better
            raise
        except TriviumError as error:
            self._errors.append((str(path), str(error)))
            return
        except OSError as error:
            reason = error.strerror or str(error)
            self._errors.append((str(path), f"cannot be read: {reason}; check its permissions"))
            return
        for one in drafts:
            self._wait(one)

    def _read(self, path: Path, roots: Mapping[str, Path], asked_for: bool) -> list[Waiting]:
        place = path.parent.resolve() / path.name
        uri = uri_of(place, roots)
        fill = partial(self._words.fill, folder=place.parent, root=roots[uri.partition(":")[0]])
        return self._drafts(path, uri, fill, mirrored=not asked_for)

    def _drafts(self, path: Path, uri: str, fill: Fill, *, mirrored: bool) -> list[Waiting]:
        if is_facts(path):
            self._facts(path, uri, fill)
            return []
        if path.suffix.lower() == ".json":
            refuse_large(path.stat().st_size)
            return [
                Waiting(
                    of_entry(entry, self.given, self.settings, self.now, fill),
                    f"{path}, entry '{entry.id}'",
                )
                for entry in read_entries(path.read_bytes(), str(path))
            ]
        self._reader.check(path.name, path.stat().st_size)
        data = path.read_bytes()
        extraction = self._reader(data, str(path))
        self._notes += [(str(path), note) for note in extraction.notes]
        if self.archive:
            self.archive.put(data)
        draft = of_extraction(
            extraction, path, uri, data, self.given, self.settings, self.ruler, fill
        )
        draft, problem = about(draft, self.store.graph)
        self._notes += [(str(path), problem)] if problem else []
        return [Waiting(draft, str(path), mirrored=mirrored)]

    def _facts(self, path: Path, uri: str, fill: Fill) -> None:
        """A file of facts may be larger than memory: it goes into the store by itself."""
        self._flush()
        self.facts = True
        files = fact_files(self.store, self.settings, self.given, self.now, self.reprocess)
        id, outcome = files(path, uri, fill, self.base, self.progress)
        getattr(self, f"_{outcome}").append(id)

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

    def _wait(self, one: Waiting) -> None:
        self._batch.append(one)
        if len(self._batch) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        """Write the batch: new versions for new content, new fields where only they changed."""
        sources = self.store.sources()
        waiting = identified(self._batch, self.store, sources)
        self._batch = []
        known = self._stored([one.draft.document.id for one in waiting])
        waiting, refused = permitted(waiting, known, self.grant)
        self._errors += refused
        batch = {
            one.draft.document.id: one.draft for one in self._compared(waiting, known, sources)
        }
        made_from = self.store.fingerprints(list(batch))
        added: list[Draft] = []
        updated: list[Draft] = []
        amended: list[Draft] = []
        unchanged: list[str] = []
        for id, draft in batch.items():
            stored = known.get(id)
            if stored is None:
                added.append(draft)
                continue
            draft = with_earlier_words(draft, stored, self.settings)
            if draft.document.uri != stored.uri:
                self._renamed.append(id)
            if self.reprocess or made_from[id] != (draft.document.source_hash, draft.pipeline):
                updated.append(draft)
            elif not same_fields(stored, with_its_date(draft.document, stored)):
                amended.append(replace(draft, document=with_its_date(draft.document, stored)))
            else:
                unchanged.append(id)
        for draft in updated:
            self._likeness.keep(draft.document, sketch_of(draft.document, draft.text))
        again = self.reprocess
        stored_now = self.store.put([*added, *updated], self.now, unless_same=not again)
        self._likeness.save()
        if amended:
            self.store.amend(amended, self.now)
        new = {document.id for document in stored_now}
        for drafts, report in ((added, self._added), (updated, self._updated)):
            ids = [draft.document.id for draft in drafts]
            report += [id for id in ids if id in new]
            unchanged += [id for id in ids if id not in new]  # somebody else was quicker
        self._updated += [draft.document.id for draft in amended]
        self._unchanged += unchanged

    def _compared(
        self, waiting: Sequence[Waiting], known: dict[str, Document], sources: Mapping[str, str]
    ) -> Iterator[Waiting]:
        """Without the new ones that nearly are another document; `known` grows by those moved."""
        for one in waiting:
            document = one.draft.document
            if document.id in known:
                yield one
                continue
            sketch = sketch_of(document, one.draft.text)
            alike = self._likeness.nearest(document, sketch)
            if (
                alike
                and alike.similarity >= REFUSED
                and was_edited(document, alike.document, sources)
            ):
                known[alike.document.id] = alike.document
                yield under(alike.document.id, one)
                continue
            if alike and alike.similarity >= REFUSED and not (one.mirrored or self.force):
                self._errors.append(
                    (one.name, f"{alike.sentence()}. Left out; add it with --force if it is meant.")
                )
                continue
            if alike:
                self._notes.append((one.name, f"{alike.sentence()}; both are kept."))
            # of code, many a file is empty on purpose
            if document.source_hash == NO_BYTES and document.media_type != "text/x-source":
                self._notes.append((one.name, "it is empty: 0 bytes; only its title is searched."))
            self._likeness.keep(document, sketch)
            yield one

    def _stored(self, ids: Sequence[str]) -> dict[str, Document]:
        found = self.store.find(ids, OWNER)
        return {id: document for id, document in found.items() if document.id == id}

    def _visible(self, names: Sequence[str]) -> list[tuple[Document, str]]:
        found = self.store.find(names, self.grant).values()
        return [(document, self.store.text(document.id, document.version)) for document in found]

    def _look_for_missing(self, folder: Path, *, anything_left: bool) -> None:
        """Name or remove the documents below a folder whose file is gone."""
        self._flush()
        sources = self.store.sources()
        read_by_adapters = {one.source for one in self.store.catalogue.adapters()}
        gone = [
            document.id
            for name, root in sources.items()
            if name not in read_by_adapters
            for prefix in uris_below(name, Path(root), folder)
            for document in self.store.catalogue.below(prefix)
            if is_missing(document, sources)
        ]
        if not self.sync or not gone:
            self._missing += gone
        elif anything_left or self.force:
            self.store.remove(gone)
            self._removed += gone
        else:
            self._missing += gone
            self._notes.append(
                (
                    str(folder),
                    f"nothing is left in it, so nothing was removed: {len(gone)} documents came "
                    "from there. Mount it, or add --force if it is meant to be empty.",
                )
            )
