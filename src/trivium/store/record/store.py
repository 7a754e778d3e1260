"""What every SQL store shares: each write is one transaction, and each transaction a generation."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.clock import parse_time
from trivium.errors import InvalidValue, ModelMismatch, UnknownModel
from trivium.protocols import (
    Likeness,
    Model,
    SpellingSearch,
    TermStatistics,
    VectorLookup,
    VectorSearch,
    View,
    WordSearch,
)
from trivium.store.record.catalogue import RecordCatalogue
from trivium.store.record.database import Database, listed, repeatable, select
from trivium.store.record.feedback import RecordFeedback
from trivium.store.record.graph import RecordGraph
from trivium.store.record.history import RecordHistory
from trivium.store.record.inspect import status
from trivium.store.record.keys import RecordKeys
from trivium.store.record.ledger import RecordLedger
from trivium.store.record.queue import RecordQueue
from trivium.store.record.rows import chunk_of_row, document_of_row, parts_of
from trivium.store.record.writing import (
    activate_version,
    amend_draft,
    changed,
    new_generation,
    number_and_version,
    put_drafts,
    unindex_words,
)
from trivium.types import (
    Chunk,
    Document,
    Draft,
    Filter,
    Grant,
    Quad,
    Record,
    Version,
    document_of,
    owner_of,
)
from trivium.vectors import Floats32, unit


class RecordView(
    View,
    WordSearch,
    VectorSearch,
    VectorLookup,
    SpellingSearch,
    TermStatistics,
    Likeness,
    Protocol,
):
    """What a SQL store gives out: a view that serves every leg."""


class RecordStore(ABC):
    """Documents, versions, chunks, vectors and facts in a database's tables.

    Who derives from it adds views, and says what is wrong with the database itself (`check`).
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.feedback = RecordFeedback(database)
        self.catalogue = RecordCatalogue(database)
        self.history = RecordHistory(database)
        self.queue = RecordQueue(database)
        self.graph = RecordGraph(database, self._note_write)
        self.ledger = RecordLedger(database)
        self.keys = RecordKeys(database)
        self._wrote = False

    @abstractmethod
    def view(
        self,
        grant: Grant,
        as_of: datetime | None = None,
        *,
        instead: tuple[str, int] | None = None,
        model: str | None = None,
    ) -> RecordView:
        """The present, a moment of the past, or today with one thing changed: `instead` puts one
        document at another version, `model` looks at the vectors of another model.
        """

    @abstractmethod
    def check(self) -> list[str]: ...

    @abstractmethod
    def settle(self) -> None:
        """Write the derived index down if so much has changed that the next process would wait."""

    @abstractmethod
    def flush(self) -> None:
        """Write the derived index down, so that the next process starts from it."""

    @abstractmethod
    def close(self) -> None: ...

    def _note_write(self) -> None:
        self._wrote = True

    @property
    def database(self) -> Database:
        """The tables themselves, for whoever copies them."""
        return self._database

    @property
    def id(self) -> str:
        """What tells this library from all others; made when it is first asked for."""
        with self._database.reading() as reader:
            row = reader.execute("state", ("library",)).fetchone()
        if row is None:
            with self._database.writing() as transaction:
                transaction.execute("set_state_once", ("library", uuid.uuid4().hex))
                row = transaction.execute("state", ("library",)).fetchone()
        value: str = row["value"]
        return value

    # --- writing ---------------------------------------------------------------------------------

    @repeatable
    def put(
        self, drafts: Sequence[Draft], now: datetime, *, unless_same: bool = False
    ) -> list[Document]:
        with self._database.writing() as transaction:
            new = changed(transaction, drafts) if unless_same else drafts
            generation = new_generation(transaction, now) if new else 0
            stored = put_drafts(transaction, new, generation, now)
        self._wrote = True
        return stored

    @repeatable
    def amend(self, drafts: Sequence[Draft], now: datetime) -> None:
        with self._database.writing() as transaction:
            generation = new_generation(transaction, now)
            for draft in drafts:
                number, _ = number_and_version(transaction, draft.document.id)
                with self.graph.following(transaction, [number]):
                    amend_draft(transaction, draft, generation, now)
        self._wrote = True

    @repeatable
    def remove(self, documents: Sequence[str]) -> int:
        with self._database.writing() as transaction:
            found = [
                (row["number"], row["version"])
                for row in select(transaction, "documents_by_id", documents)
            ]
            if found:
                generation = new_generation(transaction, None)
                with self.graph.following(transaction, [n for n, _ in found]):
                    for number, version in found:
                        unindex_words(transaction, number, version, generation)
                        transaction.execute("delete_document", (number,))
        self._wrote = True
        return len(found)

    @repeatable
    def activate(self, document: str, version: int, now: datetime) -> None:
        with self._database.writing() as transaction:
            number, _ = number_and_version(transaction, document)
            with self.graph.following(transaction, [number]):
                activate_version(transaction, document, version, now)
        self._wrote = True

    @repeatable
    def use_model(self, model: Model) -> None:
        with self._database.writing() as transaction:
            values = (model.name, model.fingerprint, model.dimension)
            transaction.execute("add_model", values)
            if model.active:
                transaction.execute("deactivate_models")
                transaction.execute("activate_model", (model.fingerprint,))
            transaction.execute("wait_for_model", (model.fingerprint,))
            new_generation(transaction, None)
        self._wrote = True

    @repeatable
    def save_vectors(
        self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        if len(hashes) != len(vectors):
            raise InvalidValue(f"{len(vectors)} vectors were given for {len(hashes)} texts")
        with self._database.writing() as transaction:
            model = transaction.execute("model_by_fingerprint", (fingerprint,)).fetchone()
            if model is None:
                raise UnknownModel(f"the library has no model {fingerprint}; register it first")
            if vectors.shape[1] != model["dimension"]:
                raise ModelMismatch(
                    f"the vectors have {vectors.shape[1]} dimensions, the model "
                    f"{model['dimension']}; embed again with 'trivium embed'"
                )
            rows = [
                (hash, model["number"], transaction.vector(vector))
                for hash, vector in zip(hashes, unit(vectors), strict=True)
            ]
            transaction.executemany("insert_vector", rows)
            those = listed(hashes)
            transaction.execute("stop_waiting", {"model": model["number"], "hashes": those})
            generation = new_generation(transaction, None)
            values = {"generation": generation, "hashes": those}
            transaction.execute("note_vector_changes", values)
        self._wrote = True

    @repeatable
    def add_source(self, name: str, root: str) -> bool:
        """Name a root; False if the name or the root was taken meanwhile."""
        with self._database.writing() as transaction:
            return transaction.execute("add_source", (name, root)).rowcount > 0

    # --- reading ---------------------------------------------------------------------------------

    def find(self, names: Sequence[str], grant: Grant) -> dict[str, Document]:
        numbers = {name: int(name.removeprefix("#")) for name in names if _is_number(name)}
        with self._database.reading() as reader:
            rows = [
                *select(reader, "documents_by_id", names),
                *select(reader, "documents_by_id", [owner_of(name) for name in names]),
                *select(reader, "documents_by_uri", names),
                *select(reader, "documents_by_number", list(numbers.values())),
            ]
        known: dict[str | int, Document] = {}
        for document in map(document_of_row, reversed(rows)):
            if grant.allows(document.scope):
                known[document.uri] = known[document.number] = document
        for document in list(known.values()):
            known[document.id] = document
        found = {}
        for name in names:
            keys = (name, numbers.get(name, -1), owner_of(name) or -1)
            match = next((known[key] for key in keys if key in known), None)
            if match:
                found[name] = match
        return found

    def documents(self, filter: Filter, grant: Grant, limit: int | None = None) -> list[Document]:
        with self.view(grant) as view:
            found = view.browse(filter, "document", limit or 1 << 60)
            ids = [document_of(chunk) for chunk in found.ids]
            known = self.find(ids, grant)
            return [known[id] for id in ids]

    def chunks(self, document: str, version: int | None = None) -> list[Chunk]:
        with self._database.reading() as reader:
            if version is None:
                _, version = number_and_version(reader, document)
            rows = reader.execute("chunks_of_document", (document, version))
            return [chunk_of_row(row) for row in rows]

    def chunk(self, id: str) -> list[Chunk]:
        """The chunk of this id in whichever version, as a list of one; empty if there is none."""
        wanted = listed([parts_of(id)])
        with self._database.reading() as reader:
            rows = reader.execute("records", (wanted,))
            return [chunk_of_row(row) for row in rows]

    def versions(self, document: str) -> list[Version]:
        with self._database.reading() as reader:
            rows = reader.execute("versions_of_document", (document,))
            return [
                Version(
                    document=document,
                    version=row["version"],
                    pipeline=row["pipeline"],
                    source_hash=row["source_hash"],
                    made=parse_time(row["made"]),
                    active=bool(row["active"]),
                    chunks=row["chunks"],
                )
                for row in rows
            ]

    def text(self, document: str, version: int) -> str:
        """The extracted text of a version."""
        with self._database.reading() as reader:
            row = reader.execute("version_text", (document, version)).fetchone()
        return row["text"] if row else ""

    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Source hash and pipeline of each active version, to tell whether anything changed."""
        with self._database.reading() as reader:
            rows = select(reader, "active_pipelines", documents)
            return {row["id"]: (row["source_hash"], row["pipeline"]) for row in rows}

    def sources(self) -> dict[str, str]:
        """The named roots that documents came from."""
        with self._database.reading() as reader:
            rows = reader.execute("sources")
            return {row["name"]: row["root"] for row in rows}

    def active_model(self) -> Model | None:
        """The model whose vectors are searched; without a count of them."""
        with self._database.reading() as reader:
            row = reader.execute("active_model").fetchone()
        return Model(row["name"], row["fingerprint"], row["dimension"], True) if row else None

    def models(self) -> list[Model]:
        with self._database.reading() as reader:
            rows = reader.execute("models")
            return [
                Model(r["name"], r["fingerprint"], r["dimension"], bool(r["active"]), r["vectors"])
                for r in rows
            ]

    def vectors(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Floats32]:
        """The vectors of this model that there are, by the hash of what was embedded."""
        values = {"fingerprint": fingerprint, "hashes": listed(hashes)}
        with self._database.reading() as reader:
            rows = reader.execute("vectors_by_hash", values)
            return {row["hash"]: reader.floats(row["vector"]) for row in rows}

    def quads(self, document: str) -> list[Quad]:
        """The statements of a document's active version."""
        with self._database.reading() as reader:
            return [Quad(*row) for row in reader.execute("quads_of_document", (document,))]

    def pending(self, fingerprint: str, limit: int) -> list[Record]:
        with self._database.reading() as reader:
            values = {"fingerprint": fingerprint, "limit": limit}
            numbers = [r["number"] for r in reader.execute("pending", values)]
            chunks = [chunk_of_row(row) for row in select(reader, "records_by_number", numbers)]
            names = sorted({chunk.document for chunk in chunks})
            rows = select(reader, "documents_by_id", names)
            documents = {row["id"]: document_of_row(row) for row in rows}
        return [  # another writer may have removed one between two statements
            Record(documents[chunk.document], chunk)
            for chunk in chunks
            if chunk.document in documents
        ]

    def count_pending(self, fingerprint: str) -> int:
        with self._database.reading() as reader:
            count: int = reader.execute("count_pending", {"fingerprint": fingerprint}).fetchone()[0]
        return count

    def status(self) -> dict[str, Any]:
        return status(self._database)


def _is_number(name: str) -> bool:
    digits = name.removeprefix("#")
    return digits.isascii() and digits.isdecimal() and len(digits) < 18
