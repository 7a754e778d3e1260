"""A bundle → a library: documents, chunks and vectors, in batches that can be taken up again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Protocol

import numpy as np

from trivium.protocols import Embedder, Model, Progress, Store, silent
from trivium.store.omnidata.manifest import Declared, local_model
from trivium.store.omnidata.reading import Bundle
from trivium.store.omnidata.section import Resource
from trivium.text import content_hash
from trivium.types import OWNER, Chunk, Draft, Passage, Quad
from trivium.vectors import Floats32, unit, unpack

BATCH = 64
"""Documents per transaction: few enough to lose little on Ctrl-C, enough to write fast."""


class Shelf(Store, Protocol):
    """A store that a bundle can be written to and made from."""

    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]: ...
    def text(self, document: str, version: int) -> str: ...
    def sources(self) -> dict[str, str]: ...
    def quads(self, document: str) -> list[Quad]: ...
    def count_pending(self, fingerprint: str) -> int: ...
    def settle(self) -> None: ...
    def vectors(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Floats32]:
        """The vectors of this model that there are, by the hash of what was embedded."""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    `gone` are documents of the library that the bundle calls deleted; they are kept. `deleted`,
    `deleted_chunks`, `orphans` (chunks of no resource) and `empty` (resources without chunks,
    chunks without text) count what was left out. `models` are those of the bundle's vectors, as
    the library has them now; `waiting` counts texts without a vector of the library's own model.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    chunks: int = 0
    deleted: int = 0
    deleted_chunks: int = 0
    orphans: int = 0
    empty: int = 0
    models: tuple[Model, ...] = ()
    waiting: int = 0


def take_in(
    bundle: Bundle,
    store: Shelf,
    own: Embedder | None,
    named: Callable[[str], Embedder],
    hashed: Callable[[Draft], Draft],
    now: datetime,
    progress: Progress = silent,
) -> ImportReport:
    """Write all that lives in a bundle; what is there already is left alone.

    `own` is the library's model, `named` gives models by name, `hashed` fills in the hashes of
    what is embedded. Killed half-way, the next run goes on where this one stopped.
    """
    models = _registered(bundle, store, own, named)
    writing = _Writing(bundle, store, models, hashed, now)
    resources, done = bundle.resources(), 0
    total = len(bundle.survey.ids) - len(bundle.survey.deleted)
    while batch := list(islice(resources, BATCH)):
        progress("importing", done, total)
        writing.write(batch)
        done += len(batch)
    progress("importing", done, done)
    store.settle()
    survey = bundle.survey
    used = {model.fingerprint for model, _ in models.values()}
    return ImportReport(
        added=tuple(writing.added),
        updated=tuple(writing.updated),
        unchanged=tuple(writing.unchanged),
        gone=tuple(_gone(bundle, store)),
        chunks=survey.chunks,
        deleted=len(survey.deleted),
        deleted_chunks=survey.deleted_chunks,
        orphans=survey.orphans,
        empty=survey.empty,
        models=tuple(model for model in store.models() if model.fingerprint in used),
        waiting=store.count_pending(own.fingerprint) if own else 0,
    )


def _gone(bundle: Bundle, store: Shelf) -> Iterator[str]:
    """The documents of the library that the bundle has deleted."""
    found = store.find([id for id, _ in bundle.survey.deleted], OWNER)
    for id, uri in bundle.survey.deleted:
        stored = found.get(id)
        if stored and stored.id == id and (bundle.manifest.ours or stored.uri == uri):
            yield id


def _registered(
    bundle: Bundle, store: Shelf, own: Embedder | None, named: Callable[[str], Embedder]
) -> dict[str, tuple[Model, bool]]:
    """The bundle's models by their names there, and whether each is at hand here.

    A library that has no active model yet gets one: its own, or, if it has none of its own and
    the bundle's main one is not at hand either, that one, so that an answer can say whose vectors
    there are.
    """
    models: dict[str, tuple[Model, bool]] = {}
    undecided = store.active_model() is None
    if undecided and own:
        store.use_model(Model(own.name, own.fingerprint, own.dimension, True))
    known = {model.fingerprint: model.dimension for model in store.models()}
    for place, embedded in enumerate(bundle.survey.models):
        local = local_model(embedded.declared, named, own)
        fingerprint = local.fingerprint if local else _foreign(embedded.declared, known)
        name = local.name if local else embedded.declared.name
        only = undecided and own is None and local is None and place == 0
        model = Model(name, fingerprint, embedded.declared.dimension, active=only)
        if only or fingerprint not in known:
            store.use_model(model)
        models[embedded.declared.name] = model, local is not None
    return models


def _foreign(declared: Declared, known: Mapping[str, int]) -> str:
    """The fingerprint of vectors that no model at hand makes."""
    fingerprint, dimension = declared.fingerprint, declared.dimension
    if fingerprint and known.get(fingerprint, dimension) == dimension:
        return fingerprint
    return f"omnidata:{declared.name}:{dimension}"


@dataclass
class _Writing:
    """One import under way."""

    bundle: Bundle
    store: Shelf
    models: Mapping[str, tuple[Model, bool]]
    hashed: Callable[[Draft], Draft]
    now: datetime
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)

    def write(self, batch: Sequence[Resource]) -> None:
        """Vectors before documents: what becomes visible is whole."""
        drafts = [self.hashed(_draft(resource)) for resource in self._identified(batch)]
        self._save_vectors(batch, drafts)
        ids = [draft.document.id for draft in drafts]
        known = self.store.find(ids, OWNER)
        made_from = self.store.fingerprints(ids)
        fresh: list[Draft] = []
        amended: list[Draft] = []
        for draft in drafts:
            stored = known.get(draft.document.id)
            if stored is None or stored.id != draft.document.id:
                self.added.append(draft.document.id)
                fresh.append(draft)
            elif made_from[stored.id] != (
                draft.document.source_hash,
                draft.pipeline,
            ) or not self._same_chunks(draft):
                self.updated.append(stored.id)
                fresh.append(draft)
            elif stored != replace(draft.document, number=stored.number, version=stored.version):
                self.updated.append(stored.id)
                amended.append(draft)
            else:
                self.unchanged.append(stored.id)
        if fresh:
            self.store.put(fresh, self.now)
        if amended:
            self.store.amend(amended, self.now)

    def _identified(self, batch: Sequence[Resource]) -> Iterator[Resource]:
        """The resources under the ids and uris that they can have in this library.

        A resource is the document that has its id, else the one that has its uri. Ids of other
        programs may be as short as "1": there, the same id with another uri is another document.
        """
        names = [name for one in batch for name in (one.document.id, one.document.uri)]
        found = self.store.find(names, OWNER)
        for resource in batch:
            document = resource.document
            by_id, by_uri = found.get(document.id), found.get(document.uri)
            if by_id and by_id.id != document.id:
                by_id = None
            if by_uri and by_uri.uri != document.uri:
                by_uri = None
            if by_id and by_id != by_uri and not self.bundle.manifest.ours:
                by_id, document = None, replace(document, id=content_hash(document.uri)[:16])
            if by_uri and by_uri != by_id:
                if by_id is None and by_uri.id not in self.bundle.survey.ids:
                    document = replace(document, id=by_uri.id)
                else:
                    document = replace(document, uri=f"omnidata:{document.id}")
            yield replace(resource, document=document)

    def _same_chunks(self, draft: Draft) -> bool:
        stored = self.store.chunks(draft.document.id)
        return tuple(map(_passage, stored)) == draft.passages

    def _save_vectors(self, batch: Sequence[Resource], drafts: Sequence[Draft]) -> None:
        for name, (model, local) in self.models.items():
            vectors = {
                hash: unit(unpack(vector[1]))
                for resource, draft in zip(batch, drafts, strict=True)
                for vector, hash in zip(resource.vectors, draft.embedding_hashes, strict=True)
                if vector and hash and vector[0] == name
            }
            kept = self.store.vectors(model.fingerprint, list(vectors))
            # What a model at hand has made is not replaced by what a stranger says it would make.
            new = {
                hash: vector
                for hash, vector in vectors.items()
                if hash not in kept or not (local or np.array_equal(kept[hash], vector))
            }
            if new:
                rows = np.stack(list(new.values()))
                self.store.save_vectors(model.fingerprint, list(new), rows)


def _draft(resource: Resource) -> Draft:
    return Draft(
        resource.document,
        resource.passages,
        ("",) * len(resource.passages),
        resource.text,
        resource.pipeline,
        resource.quads,
    )


def _passage(chunk: Chunk) -> Passage:
    return Passage(
        chunk.text,
        chunk.heading,
        chunk.pages,
        chunk.start,
        chunk.end,
        chunk.subject,
        chunk.predicate,
        chunk.graph,
        chunk.ordinal if chunk.predicate else None,
    )
