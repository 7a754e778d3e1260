"""Documents, versions and vectors in dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.errors import InvalidValue, ModelMismatch, UnknownDocument, UnknownModel
from trivium.protocols import Model
from trivium.store.reference.matching import RDF_TYPE, SUBCLASS_OF
from trivium.store.reference.view import ReferenceView
from trivium.types import (
    VERDICTS,
    Chunk,
    Document,
    Draft,
    Filter,
    Grant,
    Judgement,
    Quad,
    Record,
    Verdict,
    Version,
    chunk_id,
    document_of,
    owner_of,
)
from trivium.vectors import Floats32
from trivium.vectors import unit as to_unit


@dataclass
class _Reading:
    """One version of a document."""

    version: int
    chunks: list[Chunk]
    quads: tuple[Quad, ...]
    text: str
    pipeline: str
    source_hash: str
    made: datetime


@dataclass(frozen=True)
class _Moment:
    """What a document was like from a moment on."""

    at: datetime
    document: Document
    chunks: tuple[Chunk, ...]


@dataclass
class _Shelf:
    """A document with all its versions, and what it was like when."""

    document: Document
    readings: dict[int, _Reading] = field(default_factory=dict)
    moments: list[_Moment] = field(default_factory=list)

    def note(self, now: datetime) -> None:
        chunks = self.readings[self.document.version].chunks
        self.moments.append(_Moment(now, self.document, tuple(chunks)))

    def is_of(self, draft: Draft) -> bool:
        """Whether the active version was made of the same."""
        active = self.readings[self.document.version]
        return (active.source_hash, active.pipeline) == (
            draft.document.source_hash,
            draft.pipeline,
        )


class ReferenceFeedback:
    """Judgements in a list."""

    def __init__(self, shelves: Mapping[str, _Shelf]) -> None:
        self._shelves = shelves
        self._judgements: list[Judgement] = []

    def record(self, judgements: Sequence[Judgement], now: datetime) -> None:
        self._judgements += judgements

    def judgements(self, grant: Grant) -> list[Judgement]:
        return [
            one
            for one in self._judgements
            if one.document in self._shelves
            and grant.allows(self._shelves[one.document].document.scope)
        ]

    def counts(self, grant: Grant) -> dict[Verdict, int]:
        visible = [one.verdict for one in self.judgements(grant)]
        return {verdict: visible.count(verdict) for verdict in VERDICTS}


class ReferenceStore:
    """Documents, versions and vectors in dictionaries."""

    def __init__(self) -> None:
        self._shelves: dict[str, _Shelf] = {}
        self._models: dict[str, Model] = {}
        self._vectors: dict[tuple[str, str], Floats32] = {}
        self._sources: dict[str, str] = {}
        self.feedback = ReferenceFeedback(self._shelves)
        self._next_number = 1
        self._generation = 0

    def put(
        self, drafts: Sequence[Draft], now: datetime, *, unless_same: bool = False
    ) -> list[Document]:
        stored = []
        for draft in drafts:
            shelf = self._shelves.get(draft.document.id)
            if unless_same and shelf and shelf.is_of(draft):
                continue
            number = shelf.document.number if shelf else self._next_number
            version = max(shelf.readings, default=0) + 1 if shelf else 1
            document = replace(draft.document, number=number, version=version)
            if shelf is None:
                self._next_number += 1
                shelf = self._shelves[document.id] = _Shelf(document)
            shelf.document = document
            shelf.readings[version] = _Reading(
                version,
                [_chunk(document, version, i, draft) for i in range(len(draft.passages))],
                draft.quads,
                draft.text,
                draft.pipeline,
                document.source_hash,
                now,
            )
            shelf.note(now)
            stored.append(document)
        self._generation += 1
        return stored

    def amend(self, drafts: Sequence[Draft], now: datetime) -> None:
        for draft in drafts:
            shelf = self._shelf(draft.document.id)
            old = shelf.document
            shelf.document = replace(draft.document, number=old.number, version=old.version)
            reading = shelf.readings[old.version]
            reading.chunks = [
                replace(chunk, embedding_hash=hash)
                for chunk, hash in zip(reading.chunks, draft.embedding_hashes, strict=True)
            ]
            shelf.note(now)
        self._generation += 1

    def remove(self, documents: Sequence[str]) -> int:
        found = [id for id in dict.fromkeys(documents) if id in self._shelves]
        for id in found:
            del self._shelves[id]
        self._generation += 1
        return len(found)

    def activate(self, document: str, version: int, now: datetime) -> None:
        shelf = self._shelf(document)
        if version not in shelf.readings:
            raise UnknownDocument(
                f"{document} has no version {version}; 'trivium versions' lists them"
            )
        [*_, last] = [m for m in shelf.moments if m.document.version == version]
        shelf.document = last.document.brought_back(shelf.document)
        shelf.note(now)
        self._generation += 1

    def find(self, names: Sequence[str], grant: Grant) -> dict[str, Document]:
        found: dict[str, Document] = {}
        for name in names:
            for shelf in self._shelves.values():
                one = shelf.document
                called = (one.id, one.uri, f"#{one.number}", str(one.number))
                if (name in called or owner_of(name) == one.id) and grant.allows(one.scope):
                    found.setdefault(name, one)
                    if name in (one.id, one.uri):  # a number is meant only if nothing is so called
                        found[name] = one
        return found

    def documents(self, filter: Filter, grant: Grant, limit: int | None = None) -> list[Document]:
        found = self.view(grant).browse(filter, "document", limit or len(self._shelves))
        return [self._shelves[document_of(chunk)].document for chunk, _ in found.scored]

    def chunks(self, document: str, version: int | None = None) -> list[Chunk]:
        shelf = self._shelf(document)
        return list(shelf.readings[version or shelf.document.version].chunks)

    def versions(self, document: str) -> list[Version]:
        shelf = self._shelf(document)
        return [
            Version(
                document,
                one.version,
                one.pipeline,
                one.source_hash,
                one.made,
                one.version == shelf.document.version,
                len(one.chunks),
            )
            for one in shelf.readings.values()
        ]

    def text(self, document: str, version: int) -> str:
        return self._shelf(document).readings[version].text

    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]:
        shelves = [self._shelves[id] for id in documents if id in self._shelves]
        return {
            s.document.id: (s.document.source_hash, s.readings[s.document.version].pipeline)
            for s in shelves
        }

    def sources(self) -> dict[str, str]:
        return dict(self._sources)

    def add_source(self, name: str, root: str) -> bool:
        if name in self._sources or root in self._sources.values():
            return False
        self._sources[name] = root
        return True

    def chunk(self, id: str) -> list[Chunk]:
        record = self._record(id)
        return [record.chunk] if record else []

    def active_model(self) -> Model | None:
        return next((model for model in self._models.values() if model.active), None)

    def models(self) -> list[Model]:
        return [
            replace(model, vectors=sum(1 for _, name in self._vectors if name == fingerprint))
            for fingerprint, model in self._models.items()
        ]

    def use_model(self, model: Model) -> None:
        self._models.setdefault(model.fingerprint, model)
        if model.active:
            self._models = {
                fingerprint: replace(one, active=fingerprint == model.fingerprint)
                for fingerprint, one in self._models.items()
            }
        self._generation += 1

    def pending(self, fingerprint: str, limit: int) -> list[Record]:
        waiting: dict[str, Record] = {}
        for record in self._active():
            hash = record.chunk.embedding_hash
            if hash and (hash, fingerprint) not in self._vectors:
                waiting.setdefault(hash, record)
        return list(waiting.values())[:limit]

    def count_pending(self, fingerprint: str) -> int:
        return len(self.pending(fingerprint, 1 << 60))

    def save_vectors(
        self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        if len(hashes) != len(vectors):
            raise InvalidValue(f"{len(vectors)} vectors were given for {len(hashes)} texts")
        if fingerprint not in self._models:
            raise UnknownModel(f"the library has no model {fingerprint}; register it first")
        dimension = self._models[fingerprint].dimension
        if vectors.shape[1] != dimension:
            raise ModelMismatch(
                f"the vectors have {vectors.shape[1]} dimensions, the model {dimension}; "
                "embed again with 'trivium embed'"
            )
        for hash, vector in zip(hashes, to_unit(vectors), strict=True):
            self._vectors[hash, fingerprint] = vector
        self._generation += 1

    def view(self, grant: Grant, as_of: datetime | None = None) -> ReferenceView:
        model = next((m.fingerprint for m in self._models.values() if m.active), "")
        records = [r for r in self._active(as_of) if self._may_see(grant, r.document)]
        types = {
            (quad.subject, quad.predicate, quad.object)
            for moment in self._moments(as_of)
            if self._may_see(grant, moment.document)
            for quad in self._shelves[moment.document.id].readings[moment.document.version].quads
            if quad.predicate in (RDF_TYPE, SUBCLASS_OF)
        }
        vectors = {
            record.chunk.id: self._vectors[record.chunk.embedding_hash, model]
            for record in records
            if (record.chunk.embedding_hash, model) in self._vectors
        }
        then = {record.chunk.id: record for record in records}
        return ReferenceView(model, records, vectors, types, then.get if as_of else self._record)

    def status(self) -> dict[str, Any]:
        shelves = self._shelves.values()
        return {
            "documents": len(shelves),
            "chunks": sum(1 for _ in self._active()),
            "versions": sum(len(shelf.readings) for shelf in shelves),
            "facts": sum(len(s.readings[s.document.version].quads) for s in shelves),
            "kinds": dict(sorted(Counter(s.document.kind for s in shelves).items())),
            "scopes": dict(sorted(Counter(s.document.scope for s in shelves).items())),
            "generation": self._generation,
        }

    def check(self) -> list[str]:
        return []

    def settle(self) -> None:
        """Nothing is written anywhere."""

    def flush(self) -> None:
        """Nothing is written anywhere."""

    def close(self) -> None:
        """Nothing is held open."""

    def _shelf(self, document: str) -> _Shelf:
        if document not in self._shelves:
            raise UnknownDocument(f"there is no document '{document}'; 'trivium list' shows them")
        return self._shelves[document]

    def _active(self, as_of: datetime | None = None) -> Iterator[Record]:
        for moment in self._moments(as_of):
            for chunk in moment.chunks:
                yield Record(moment.document, chunk)

    def _moments(self, as_of: datetime | None) -> Iterator[_Moment]:
        """What each document was like at a moment, or is like now."""
        for shelf in self._shelves.values():
            moments = [m for m in shelf.moments if as_of is None or m.at <= as_of]
            yield from moments[-1:]

    def _may_see(self, grant: Grant, document: Document) -> bool:
        """Its scope then and its scope today."""
        today = self._shelves[document.id].document
        return grant.allows(today.scope) and grant.allows(document.scope)

    def _record(self, chunk: str) -> Record | None:
        shelf = self._shelves.get(document_of(chunk))
        for reading in shelf.readings.values() if shelf else ():
            for one in reading.chunks:
                if shelf and one.id == chunk:
                    return Record(shelf.document, one)
        return None


def _chunk(document: Document, version: int, nth: int, draft: Draft) -> Chunk:
    passage = draft.passages[nth]
    ordinal = nth if passage.ordinal is None else passage.ordinal
    return Chunk(
        chunk_id(document.id, version, ordinal),
        document.id,
        version,
        ordinal,
        passage.text,
        passage.heading,
        passage.pages,
        passage.start,
        passage.end,
        passage.subject,
        passage.predicate,
        passage.graph,
        draft.embedding_hashes[nth],
    )
