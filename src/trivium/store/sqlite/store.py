"""The store: every write is one transaction, and each transaction is one generation."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.clock import parse_time
from trivium.errors import (
    InvalidValue,
    LibraryCorrupt,
    ModelMismatch,
    NotALibrary,
    UnknownModel,
)
from trivium.protocols import Model
from trivium.store.sqlite.catalogue import SqliteCatalogue
from trivium.store.sqlite.connection import (
    Connections,
    in_our_words,
    migrate,
    statements,
)
from trivium.store.sqlite.derived import LOG_LIMIT, DerivedIndex, Overtaken
from trivium.store.sqlite.feedback import SqliteFeedback
from trivium.store.sqlite.fused import SqliteFused
from trivium.store.sqlite.graph import SqliteGraph
from trivium.store.sqlite.history import SqliteHistory
from trivium.store.sqlite.inspect import check, status
from trivium.store.sqlite.ledger import SqliteLedger
from trivium.store.sqlite.queue import SqliteQueue
from trivium.store.sqlite.rows import chunk_of_row, document_of_row
from trivium.store.sqlite.view import SqliteView, parts_of
from trivium.store.sqlite.writing import (
    activate_version,
    amend_draft,
    new_generation,
    number_and_version,
    put_draft,
    select_json,
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
from trivium.vectors import Floats32, pack, unit, unpack

UNSETTLED = 2_000
"""Changes that a new process reads from the record in an instant; beyond, they are written down."""


class SqliteStore:
    """A library folder's `index.db` with the derived index in `cache/` beside it.

    With a `refusal` it is opened for reading only, and that is what a writer is told.
    """

    def __init__(self, folder: Path, *, create: bool = False, refusal: str = "") -> None:
        database = folder / "index.db"
        if not create and not database.is_file():
            raise NotALibrary(f"{folder} holds no library; make one with 'trivium init {folder}'")
        if not create and database.stat().st_size == 0:
            raise LibraryCorrupt(f"{database} is empty; restore it from a copy")
        writable = os.access(folder, os.W_OK) and (create or os.access(database, os.W_OK))
        writable = writable and not refusal
        self._connections = Connections(database, writable=writable, refusal=refusal)
        if writable:
            migrate(self._connections)
        self._derived = DerivedIndex(folder / "cache", self._library_id(), writable=writable)
        self.feedback = SqliteFeedback(self._connections)
        self.catalogue = SqliteCatalogue(self._connections)
        self.history = SqliteHistory(self._connections)
        self.queue = SqliteQueue(self._connections)
        self._wrote = False
        self.graph = SqliteGraph(self._connections, self._note_write)
        self.ledger = SqliteLedger(self._connections)
        self.fused = SqliteFused(self._connections)

    def _note_write(self) -> None:
        self._wrote = True

    def _library_id(self) -> str:
        with in_our_words(self._connections.path):
            query = statements()["state"]
            row = self._connections.reader().execute(query, ("library",)).fetchone()
        if row is None:
            with self._connections.write() as connection:
                new = uuid.uuid4().hex
                connection.execute(
                    "INSERT INTO state (key, value) VALUES ('library', ?) ON CONFLICT DO NOTHING",
                    (new,),
                )
                row = connection.execute(query, ("library",)).fetchone()
        value: str = row["value"]
        return value

    # --- writing ---------------------------------------------------------------------------------

    def put(self, drafts: Sequence[Draft], now: datetime) -> list[Document]:
        stored = []
        with self._connections.write() as connection:
            generation = new_generation(connection, now)
            for draft in drafts:
                stored.append(put_draft(connection, draft, generation, now))
        self._wrote = True
        return stored

    def amend(self, drafts: Sequence[Draft], now: datetime) -> None:
        with self._connections.write() as connection:
            generation = new_generation(connection, now)
            for draft in drafts:
                number, _ = number_and_version(connection, draft.document.id)
                with self.graph.following(connection, [number]):
                    amend_draft(connection, draft, generation, now)
        self._wrote = True

    def remove(self, documents: Sequence[str]) -> int:
        with self._connections.write() as connection:
            found = [
                (row["number"], row["version"])
                for row in select_json(connection, "documents_by_id", documents)
            ]
            if found:
                generation = new_generation(connection, None)
                with self.graph.following(connection, [n for n, _ in found]):
                    for number, version in found:
                        unindex_words(connection, number, version, generation)
                        connection.execute(statements()["delete_document"], (number,))
        self._wrote = True
        return len(found)

    def activate(self, document: str, version: int, now: datetime) -> None:
        with self._connections.write() as connection:
            number, _ = number_and_version(connection, document)
            with self.graph.following(connection, [number]):
                activate_version(connection, document, version, now)
        self._wrote = True

    def use_model(self, model: Model) -> None:
        with self._connections.write() as connection:
            values = (model.name, model.fingerprint, model.dimension)
            connection.execute(statements()["add_model"], values)
            if model.active:
                connection.execute(statements()["deactivate_models"])
                connection.execute(statements()["activate_model"], (model.fingerprint,))
            connection.execute(statements()["wait_for_model"], (model.fingerprint,))
            new_generation(connection, None)
        self._wrote = True

    def save_vectors(
        self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None:
        if len(hashes) != len(vectors):
            raise InvalidValue(f"{len(vectors)} vectors were given for {len(hashes)} texts")
        with self._connections.write() as connection:
            row = connection.execute(statements()["model_by_fingerprint"], (fingerprint,))
            model = row.fetchone()
            if model is None:
                raise UnknownModel(f"the library has no model {fingerprint}; register it first")
            if vectors.shape[1] != model["dimension"]:
                raise ModelMismatch(
                    f"the vectors have {vectors.shape[1]} dimensions, the model "
                    f"{model['dimension']}; embed again with 'trivium embed'"
                )
            rows = [
                (hash, model["number"], pack(vector))
                for hash, vector in zip(hashes, unit(vectors), strict=True)
            ]
            connection.executemany(statements()["insert_vector"], rows)
            done = [(model["number"], hash) for hash in hashes]
            connection.executemany(statements()["stop_waiting"], done)
            generation = new_generation(connection, None)
            values = {"generation": generation, "hashes": json.dumps(list(hashes))}
            connection.execute(statements()["note_vector_changes"], values)
        self._wrote = True

    def add_source(self, name: str, root: str) -> bool:
        """Name a root; False if the name or the root was taken meanwhile."""
        with self._connections.write() as connection:
            return connection.execute(statements()["add_source"], (name, root)).rowcount > 0

    # --- reading ---------------------------------------------------------------------------------

    def view(
        self,
        grant: Grant,
        as_of: datetime | None = None,
        *,
        instead: tuple[str, int] | None = None,
        model: str | None = None,
    ) -> SqliteView:
        """The present, a moment of the past, or today with one thing changed: `instead` puts one
        document at another version, `model` looks at the vectors of another model.
        """
        return SqliteView(self._connections, self._derived, grant, as_of, instead, model)

    def find(self, names: Sequence[str], grant: Grant) -> dict[str, Document]:
        numbers = {name: int(name.removeprefix("#")) for name in names if _is_number(name)}
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            rows = [
                *select_json(reader, "documents_by_id", names),
                *select_json(reader, "documents_by_id", [owner_of(name) for name in names]),
                *select_json(reader, "documents_by_uri", names),
                *select_json(reader, "documents_by_number", list(numbers.values())),
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
            ids = [document_of(chunk) for chunk, _ in found.scored]
            known = self.find(ids, grant)
            return [known[id] for id in ids]

    def chunks(self, document: str, version: int | None = None) -> list[Chunk]:
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            if version is None:
                _, version = number_and_version(reader, document)
            rows = reader.execute(statements()["chunks_of_document"], (document, version))
            return [chunk_of_row(row) for row in rows]

    def chunk(self, id: str) -> list[Chunk]:
        """The chunk of this id in whichever version, as a list of one; empty if there is none."""
        wanted = json.dumps([parts_of(id)])
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(statements()["records"], (wanted,))
            return [chunk_of_row(row) for row in rows]

    def versions(self, document: str) -> list[Version]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(
                statements()["versions_of_document"], (document,)
            )
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
        with in_our_words(self._connections.path):
            row = (
                self._connections.reader()
                .execute(statements()["version_text"], (document, version))
                .fetchone()
            )
        return row["text"] if row else ""

    def fingerprints(self, documents: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Source hash and pipeline of each active version, to tell whether anything changed."""
        with in_our_words(self._connections.path):
            rows = select_json(self._connections.reader(), "active_pipelines", documents)
            return {row["id"]: (row["source_hash"], row["pipeline"]) for row in rows}

    def sources(self) -> dict[str, str]:
        """The named roots that documents came from."""
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(statements()["sources"])
            return {row["name"]: row["root"] for row in rows}

    def active_model(self) -> Model | None:
        """The model whose vectors are searched; without a count of them."""
        with in_our_words(self._connections.path):
            row = self._connections.reader().execute(statements()["active_model"]).fetchone()
        return Model(row["name"], row["fingerprint"], row["dimension"], True) if row else None

    def models(self) -> list[Model]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(statements()["models"])
            return [
                Model(r["name"], r["fingerprint"], r["dimension"], bool(r["active"]), r["vectors"])
                for r in rows
            ]

    def vectors(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, Floats32]:
        """The vectors of this model that there are, by the hash of what was embedded."""
        values = {"fingerprint": fingerprint, "hashes": json.dumps(list(hashes))}
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(statements()["vectors_by_hash"], values)
            return {row["hash"]: unpack(row["vector"]) for row in rows}

    def quads(self, document: str) -> list[Quad]:
        """The statements of a document's active version."""
        with in_our_words(self._connections.path):
            query = statements()["quads_of_document"]
            return [Quad(*row) for row in self._connections.reader().execute(query, (document,))]

    def pending(self, fingerprint: str, limit: int) -> list[Record]:
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            values = {"fingerprint": fingerprint, "limit": limit}
            numbers = [r["number"] for r in reader.execute(statements()["pending"], values)]
            chunks = [
                chunk_of_row(row) for row in select_json(reader, "records_by_number", numbers)
            ]
            names = sorted({chunk.document for chunk in chunks})
            rows = select_json(reader, "documents_by_id", names)
            documents = {row["id"]: document_of_row(row) for row in rows}
        return [Record(documents[chunk.document], chunk) for chunk in chunks]

    def count_pending(self, fingerprint: str) -> int:
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            query = statements()["count_pending"]
            count: int = reader.execute(query, {"fingerprint": fingerprint}).fetchone()[0]
        return count

    def status(self) -> dict[str, Any]:
        return status(self._connections)

    def check(self) -> list[str]:
        return check(self._connections)

    def settle(self) -> None:
        """Write the derived index down if so much has changed that the next process would wait."""
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            since = self._derived.saved_generation
            (count,) = reader.execute(statements()["count_changes"], (since,)).fetchone()
        if count > UNSETTLED:
            self.flush()

    def flush(self) -> None:
        """Write the derived index down, so that the next process starts from it."""
        if not self._connections.writable:
            return
        with in_our_words(self._connections.path):
            reader = self._connections.reader()
            reader.execute("BEGIN")
            try:
                self._derived.save(reader)
            except Overtaken:
                pass  # another thread is further, and will save what it has
            finally:
                reader.execute("COMMIT")
        self._trim_log()

    def close(self) -> None:
        if self._wrote or self._derived.rebuilt:
            self.flush()
        self._connections.close()

    def _trim_log(self) -> None:
        query = statements()["count_changes"]
        (count,) = self._connections.reader().execute(query, (0,)).fetchone()
        if count > LOG_LIMIT:
            floor = self._derived.saved_generation
            with self._connections.write() as connection:
                connection.execute(statements()["trim_changes"], (floor,))
                connection.execute(statements()["set_state"], ("changes_floor", str(floor)))


def _is_number(name: str) -> bool:
    digits = name.removeprefix("#")
    return digits.isascii() and digits.isdecimal() and len(digits) < 18
