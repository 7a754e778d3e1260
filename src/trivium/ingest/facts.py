"""Files of facts → documents whose statements are streamed into the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from trivium.config import IndexSettings
from trivium.factual import GraphStore
from trivium.graph.passages import MEDIA_TYPES, hash_of_file, modified
from trivium.graph.rdf import Facts, engine
from trivium.graph.reading import Reading
from trivium.ingest.draft import (
    Fill,
    Given,
    as_they_are,
    document_id,
    of_stored,
    same_fields,
    with_earlier_words,
    with_fields,
    with_its_date,
)
from trivium.ingest.fields import Fields
from trivium.protocols import Progress, Store, silent
from trivium.types import OWNER, Document, Draft

Outcome: TypeAlias = Literal["added", "updated", "unchanged"]


class FactStore(Store, Protocol):
    """A store that keeps statements too."""

    @property
    def graph(self) -> GraphStore: ...
    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]: ...


@dataclass(frozen=True, slots=True)
class FactFiles:
    """Takes in one file of facts after the other; each is stored whole or not at all."""

    store: FactStore
    settings: IndexSettings
    given: Given
    now: datetime
    reprocess: bool = False
    reading: Reading = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reading", Reading(self.settings))

    def __call__(
        self,
        path: Path,
        uri: str,
        fill: Fill = as_they_are,
        base: str | None = None,
        progress: Progress = silent,
    ) -> tuple[str, Outcome]:
        """The document's id, and what became of it."""
        engine()  # a missing package is said before anything is read
        stored = self.store.find([uri], OWNER).get(uri)
        if stored is not None and stored.uri != uri:
            stored = None
        id = stored.id if stored else document_id(uri)
        document = self._document(path, uri, id, fill)
        source = Facts(path, document.id, base, progress)
        if stored is None:
            self.store.graph.put(document, source, self.reading, self.now)
            return document.id, "added"
        document = with_earlier_words(Draft(document, (), ()), stored, self.settings).document
        before = self.store.fingerprints([document.id])[document.id]
        if self.reprocess or before != (document.source_hash, self.reading.pipeline):
            self.store.graph.put(document, source, self.reading, self.now)
            return document.id, "updated"
        document = with_its_date(document, stored)
        if same_fields(stored, document):
            return document.id, "unchanged"
        draft = of_stored(document, self.store.chunks(document.id), self.settings)
        self.store.amend([draft], self.now)
        return document.id, "updated"

    def _document(self, path: Path, uri: str, id: str, fill: Fill) -> Document:
        state = path.stat()
        document = Document(
            id=id,
            uri=uri,
            title=path.stem,
            kind="facts",
            key=uri.partition(":")[2].removesuffix(path.suffix),
            media_type=MEDIA_TYPES[path.suffix.lower()],
            source_hash=hash_of_file(path),
            source_size=state.st_size,
            source_mtime=state.st_mtime_ns,
        )
        given = replace(self.given, kind=None)
        return with_fields(document, fill(Fields()), given, modified(path))
