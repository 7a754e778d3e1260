"""Following a folder: what happened to single files, and what is gone for good."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from trivium.errors import LibraryError, SourceError, TriviumError
from trivium.ingest.adapters import adapter
from trivium.ingest.add import Adding
from trivium.ingest.draft import Fill, as_they_are, of_extraction
from trivium.ingest.files import denied, is_gone, is_skipped
from trivium.ingest.folders import FOLDER_FILE
from trivium.ingest.identity import Waiting, is_missing, uri_of
from trivium.origins import DocumentSource, Link
from trivium.types import OWNER


def belongs(path: Path, roots: Iterable[Path]) -> bool:
    """Whether a path below one of the roots is to be read there, by its name."""
    inside = next((root for root in roots if path.is_relative_to(root)), None)
    if inside is None:
        return False
    *folders, name = path.relative_to(inside).parts or (".",)
    return not any(map(is_skipped, folders)) and (name == FOLDER_FILE or not is_skipped(name))


class Mirroring(Adding):
    """An `add` of what changed, and of nothing else."""

    def changed(self, paths: Iterable[Path]) -> None:
        """Take in the files, and folders with all they hold, in which something happened."""
        for path in sorted(paths):
            if os.path.islink(path):
                continue
            if problem := denied(path):
                self._errors.append((str(path), problem))
            elif path.name == FOLDER_FILE:  # what it says holds for all files below it
                self._folder(path.parent)
            elif path.is_dir():
                self._folder(path)
            elif path.is_file():
                self._file(path, self._roots(), asked_for=False)

    def upload(self, path: Path, uri: str, fill: Fill = as_they_are) -> None:
        """Take in a file that lies here only for now."""
        stored = self.store.find([uri], OWNER).get(uri)
        if stored and stored.uri == uri and not self.grant.allows(stored.scope):
            why = f"'{path.name}' cannot be stored under this name; choose another"
            self._errors.append((path.name, why))
            return
        self._taken(path, partial(self._drafts, path, uri, fill, mirrored=False), True)

    def adapted(self, name: str, path: Path) -> None:
        """Bring the library in step with a source that an adapter reads."""
        problem = denied(path)
        if problem or not path.is_dir():
            self._errors.append((str(path), problem or "there is no such folder; check the path"))
            return
        root = path.resolve()
        source = adapter(name, root)
        self._name_source(root)
        roots = self._roots()
        place, _, inside = uri_of(root / "x", roots).partition(":")
        if inside != "x":
            raise SourceError(f"{path} lies in the source '{place}'; add it as a part of that")
        states = {one.source: one for one in self.store.catalogue.adapters()}
        earlier = states[place].watermark if place in states else ""
        earlier = earlier if place in states and states[place].adapter == name else ""
        stored = self.store.catalogue.below(f"{place}:")
        known = {one.uri.partition(":")[2]: one.source_hash for one in stored}
        changes = source.sync("" if self.reprocess else earlier, {} if self.reprocess else known)
        self._errors += changes.errors
        self._unchanged += [
            one.id for one in stored if one.uri.partition(":")[2] in changes.skipped
        ]
        wanted = (*changes.created, *changes.updated)
        self._total = len(wanted)
        failed = len(self._errors)
        links = {}
        for file in wanted:
            links[f"{place}:{file}"] = self._item(source, root, file, f"{place}:{file}")
        self._flush()
        self._keep_links(place, links)
        self._remove([f"{place}:{file}" for file in changes.removed])
        # What could not be read is tried again the next time.
        done = changes.watermark if len(self._errors) == failed else ""
        self.store.catalogue.keep_adapter(place, name, done)

    def _item(
        self, source: DocumentSource, root: Path, file: str, uri: str
    ) -> tuple[str, ...] | None:
        """Take in one document of a source; its links, or None if it could not be read."""
        self._seen += 1
        self.progress("read", self._seen, self._total)
        try:
            item = source.read(file)
            self._reader.check(file, len(item.data))
            extraction = self._reader(item.data, file)
            if self.archive:
                self.archive.put(item.data)
            fields = {**extraction.fields, **item.fields}
            draft = of_extraction(
                replace(extraction, fields=fields),
                *(root / file, uri, item.data, self.given, self.settings, self.ruler),
                partial(self._words.fill, folder=(root / file).parent, root=root),
                item.modified,
            )
        except LibraryError:  # no fault of the file
            raise
        except (TriviumError, OSError) as error:
            self._errors.append((file, str(error)))
            return None
        self._notes += [(file, note) for note in extraction.notes]
        self._wait(Waiting(draft, file, mirrored=True))
        return item.links

    def _keep_links(self, place: str, links: Mapping[str, tuple[str, ...] | None]) -> None:
        """Links by the id of what they lead to; a name where nothing is there (yet)."""
        read = {uri: found for uri, found in links.items() if found is not None}
        targets = {f"{place}:{target}" for found in read.values() for target in found}
        known = self.store.find(sorted({*read, *targets}), OWNER)
        self.store.catalogue.keep_links(
            {
                known[uri].id: [
                    Link(known[f"{place}:{to}"].id if f"{place}:{to}" in known else to)
                    for to in found
                ]
                for uri, found in read.items()
                if uri in known
            }
        )

    def _remove(self, uris: Sequence[str]) -> None:
        found = self.store.find(uris, OWNER)
        ids = [found[uri].id for uri in uris if uri in found and found[uri].uri == uri]
        if ids:
            self.store.remove(ids)
            self._removed += ids

    def gone(self, paths: Iterable[Path]) -> None:
        """Remove the documents of these files and folders, if they still are not there."""
        self._flush()
        sources, roots = self.store.sources(), self._roots()
        for path in sorted(paths):
            if path.name == FOLDER_FILE and not is_gone(path.parent):
                self._folder(path.parent)
                continue
            uri = uri_of(path, roots)
            found = [*self.store.find([uri], OWNER).values()]
            found += self.store.catalogue.below(f"{uri}/")
            missing = [one.id for one in found if is_missing(one, sources)]
            if missing:
                self.store.remove(missing)
                self._removed += missing
