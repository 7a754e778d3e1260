"""One database of a bundle: a table of resources, and one of the chunks that belong to them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from trivium.errors import SourceError
from trivium.store.omnidata.columns import CHUNK, MEMORY, RESOURCE, Columns, json_list
from trivium.store.omnidata.database import Database
from trivium.store.omnidata.fields import document_of, source_hash
from trivium.store.omnidata.manifest import LARGEST_DIMENSION, Manifest, plain_name
from trivium.types import Document, Passage, Quad

PIPELINE = "omnidata/1"
"""What made the chunks of a bundle that does not say."""

GROUP = 64
"""Resources read at a time: a few megabytes of vectors."""

Vector = tuple[str, bytes]
"""The name of a model, and a vector as the bundle holds it."""


@dataclass(frozen=True, slots=True)
class Resource:
    """A living resource with its living chunks; a chunk without a vector has None."""

    document: Document
    pipeline: str
    text: str
    passages: tuple[Passage, ...]
    vectors: tuple[Vector | None, ...]
    quads: tuple[Quad, ...] = ()


@dataclass
class Tally:
    """What was met while looking through a bundle."""

    ids: set[str] = field(default_factory=set)
    dimensions: dict[str, int] = field(default_factory=dict)
    embedded: Counter[str] = field(default_factory=Counter)
    deleted: list[tuple[str, str]] = field(default_factory=list)
    chunks: int = 0
    deleted_chunks: int = 0
    orphans: int = 0
    empty: int = 0


@dataclass
class _Plan:
    """Where a resource stands: its row, and those of its chunks in order."""

    row: int | None
    chunks: list[tuple[int, int]] = field(default_factory=list)


class Section:
    """A database that `look` has been through gives out its `resources`."""

    def __init__(
        self, database: Database, names: tuple[str, ...], kind: str, manifest: Manifest
    ) -> None:
        self.database = database
        self._kind = kind
        self._manifest = manifest
        self._plans: dict[str, _Plan] = {}
        tables = {name for (name,) in database.named("tables")}
        self._resources = next((name for name in names if name in tables), None)
        self._chunks = "omnidata_chunks" if "omnidata_chunks" in tables else None
        if self._chunks is None and kind != "memory":
            raise SourceError(
                f"{database.path} has no table omnidata_chunks; this is not an .omnidata bundle"
            )
        self._facts = manifest.ours and "omnidata_facts" in tables
        alone = self._chunks is None  # memories that are their own only chunk
        if self._resources:
            known = MEMORY if alone else RESOURCE
            self._resource = self._columns(self._resources, known, ("id",))
        if self._chunks:
            self._chunk = self._columns(self._chunks, CHUNK, ("resource", "text"))
        elif self._resources:
            chunk = {**CHUNK, "resource": RESOURCE["id"], "text": RESOURCE["text"]}
            self._chunk = replace(self._columns(self._resources, chunk, ("text",)), extra=())
            self._chunks = self._resources

    def rows(self) -> int:
        """How many rows there are to look at."""
        tables = [table for table in (self._resources, self._chunks) if table]
        counts = (self.database.execute(f"SELECT count(*) FROM {name}") for name in tables)
        return sum(cursor.fetchone()[0] for cursor in counts)

    def look(self, tally: Tally) -> Iterator[None]:
        """Check every row and plan what to give out; yields once for each."""
        gone: set[str] = set()
        for number, row in self._scan(self._resources):
            yield
            id = self._id(row)
            if id in tally.ids:
                raise SourceError(f"{self.database.path} has two resources with the id {id!r}")
            tally.ids.add(id)
            if self._resource.is_deleted(row):
                gone.add(id)
                tally.deleted.append((id, self._resource.line(row, "uri")))
                continue
            self._document(id, row, "")
            self._plans[id] = _Plan(number)
        if self._facts:
            self.database.named("facts_of", ("",)).fetchall()
        for number, row in self._scan(self._chunks):
            yield
            self._look_at_chunk(number, row, gone, tally)
        tally.empty += sum(not plan.chunks for plan in self._plans.values())
        self._plans = {id: plan for id, plan in self._plans.items() if plan.chunks}

    def resources(self, default_uri: str, uris: set[str]) -> Iterator[Resource]:
        """What the plan holds; a uri that another resource has used gets the id behind it."""
        plans = iter(self._plans.items())
        while group := list(islice(plans, GROUP)):
            rows = self._fetch(self._resources, [plan.row for _, plan in group])
            numbers = [number for _, plan in group for _, number in plan.chunks]
            chunks = self._fetch(self._chunks, numbers)
            for id, plan in group:
                row = rows[plan.row] if plan.row is not None else None
                document, pipeline = self._document(id, row, f"{default_uri}{id}")
                if document.uri in uris:
                    document = replace(document, uri=f"{document.uri}#{id}")
                uris.add(document.uri)
                pieces = [chunks[number] for _, number in sorted(plan.chunks)]
                yield self._made(document, pipeline, row, pieces)

    def _look_at_chunk(self, number: int, row: Sequence[Any], gone: set[str], tally: Tally) -> None:
        id = self._chunk.line(row, "resource")
        if self._chunk.is_deleted(row) or id in gone:
            tally.deleted_chunks += 1
            return
        if id not in self._plans:
            if self._resources or not id:
                tally.orphans += 1
                return
            tally.ids.add(id)
            self._plans[id] = _Plan(None)
        if self._chunk.text(row, "text") is None:
            tally.empty += 1
            return
        self._passage(row)
        vector = self._vector(row)
        if vector:
            self._check_vector(vector, row, tally)
        index = self._chunk.number(row, "index")
        self._plans[id].chunks.append((number if index is None else index, number))
        tally.chunks += 1

    def _check_vector(self, vector: Vector, row: Sequence[Any], tally: Tally) -> None:
        name, blob = vector
        what = f"{self.database.path}: the embedding of chunk {self._chunk.line(row, 'id')!r}"
        declared = self._manifest.declared(name).dimension
        dimension = tally.dimensions.setdefault(name, declared or len(blob) // 4)
        if len(blob) != 4 * dimension or not 0 < dimension <= LARGEST_DIMENSION:
            raise SourceError(
                f"{what} has {len(blob)} bytes, where {name} has {dimension} numbers of 4 bytes "
                "each; get the bundle again"
            )
        if not np.isfinite(np.frombuffer(blob, "<f4")).all():
            raise SourceError(f"{what} holds NaN or infinity; embed the text again")
        tally.embedded[name] += 1

    def _made(
        self,
        document: Document,
        pipeline: str,
        row: Sequence[Any] | None,
        pieces: Sequence[Sequence[Any]],
    ) -> Resource:
        extras = [self._chunk.extras(piece) for piece in pieces]
        if any(extras):
            document = replace(document, metadata={**document.metadata, "chunks": extras})
        placed = _numbered([self._passage(piece) for piece in pieces])
        if not document.source_hash:
            document = replace(document, source_hash=source_hash([p.text for p, _ in placed]))
        text = self._resource.text(row, "text") if row is not None else None
        text, passages = _laid_out(text, placed)
        vectors = tuple(self._vector(piece) for piece in pieces)
        quads = tuple(self._quads(document.id)) if self._facts else ()
        return Resource(document, pipeline or PIPELINE, text, passages, vectors, quads)

    def _document(self, id: str, row: Sequence[Any] | None, uri: str) -> tuple[Document, str]:
        if row is None:
            return Document(id, uri, id, self._kind), ""
        document, pipeline = document_of(self._resource, row, id, self._kind, uri)
        if self._kind == "memory" != document.kind:  # what kind of memory; all of them are one
            document = replace(document, kind="memory", type=document.type or document.kind)
        return document, pipeline

    def _id(self, row: Sequence[Any]) -> str:
        id = self._resource.line(row, "id")
        if not id.strip():
            raise SourceError(f"{self.database.path} has a resource without an id; give it one")
        return id

    def _passage(self, row: Sequence[Any]) -> tuple[Passage, bool]:
        """A chunk's text and what is known about it; whether that includes its place."""
        chunk = self._chunk
        first, last = chunk.number(row, "page_first"), chunk.number(row, "page_last")
        start, end = chunk.number(row, "start"), chunk.number(row, "end")
        passage = Passage(
            text=chunk.text(row, "text") or "",
            heading=json_list(chunk.text(row, "heading")),
            pages=None if first is None else (first, first if last is None else last),
            start=start or 0,
            end=end or 0,
            subject=chunk.text(row, "subject"),
            predicate=chunk.text(row, "predicate"),
            graph=chunk.text(row, "graph"),
            ordinal=chunk.number(row, "index") if chunk.text(row, "predicate") else None,
        )
        return passage, start is not None and end is not None

    def _vector(self, row: Sequence[Any]) -> Vector | None:
        blob = self._chunk.get(row, "embedding")
        if blob is None or blob == b"":
            return None
        if not isinstance(blob, bytes):
            raise SourceError(
                f"{self.database.path}: the embedding of chunk {self._chunk.line(row, 'id')!r} is "
                f"{type(blob).__name__}, not a BLOB of float32; export the bundle again"
            )
        declared = self._manifest.models
        name = plain_name(self._chunk.line(row, "model"))
        return name or (declared[0].name if declared else "unknown"), blob

    def _quads(self, id: str) -> Iterator[Quad]:
        for values in self.database.named("facts_of", (id,)):
            if all(isinstance(value, str) for value in values):
                yield Quad(*values)

    def _columns(
        self, table: str, synonyms: Mapping[str, tuple[str, ...]], needed: tuple[str, ...]
    ) -> Columns:
        cursor = self.database.execute(f"SELECT * FROM {table} LIMIT 0")  # a name from our lists
        return Columns.of(table, [name for name, *_ in cursor.description], synonyms, needed)

    def _scan(self, table: str | None) -> Iterator[tuple[int, Sequence[Any]]]:
        if table:
            rows = self.database.execute(f"SELECT _rowid_, * FROM {table} ORDER BY _rowid_")
            yield from ((row[0], row[1:]) for row in rows)

    def _fetch(self, table: str | None, numbers: Sequence[int | None]) -> dict[int, Sequence[Any]]:
        if not table:
            return {}
        query = f"SELECT _rowid_, * FROM {table} WHERE _rowid_ IN (SELECT value FROM json_each(?))"
        rows = self.database.execute(query, (json.dumps(numbers),))
        return {row[0]: row[1:] for row in rows}


def _numbered(placed: list[tuple[Passage, bool]]) -> list[tuple[Passage, bool]]:
    """The passages with the numbers that facts have of their own, if those can be true."""
    own = [passage.ordinal for passage, _ in placed if passage.ordinal is not None]
    usable = len(own) == len(placed) == len(set(own)) and all(0 <= n < 10**9 for n in own)
    if usable or not own:
        return placed
    return [(replace(passage, ordinal=None), known) for passage, known in placed]


def _laid_out(
    text: str | None, placed: Sequence[tuple[Passage, bool]]
) -> tuple[str, tuple[Passage, ...]]:
    """The text of a resource, and its passages with their place in it.

    Where the places are not given, they are looked for; where there is no text, or not all
    passages stand in it, it is made of the passages.
    """
    passages = [passage for passage, _ in placed]
    if text is not None:
        length = len(text)
        if all(known and 0 <= p.start <= p.end <= length for p, known in placed):
            return text, tuple(passages)
        starts: list[int] = []
        for passage in passages:
            starts.append(text.find(passage.text, starts[-1] if starts else 0))
            if starts[-1] < 0:
                break
        else:
            return text, tuple(map(_at, passages, starts))
    starts, length = [], 0
    for passage in passages:
        starts.append(length)
        length += len(passage.text) + 2
    return "\n\n".join(p.text for p in passages), tuple(map(_at, passages, starts))


def _at(passage: Passage, start: int) -> Passage:
    return replace(passage, start=start, end=start + len(passage.text))
