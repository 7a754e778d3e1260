"""A library → a bundle: written beside its place, then moved there as a whole."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from glob import escape
from itertools import islice
from pathlib import Path
from typing import Any

from trivium.clock import format_time
from trivium.config import IndexSettings
from trivium.errors import InvalidValue, LibraryExists, LibraryReadOnly
from trivium.protocols import Model, Progress, silent
from trivium.store.omnidata.cache import forget_older
from trivium.store.omnidata.database import named_statements
from trivium.store.omnidata.fields import resource_values
from trivium.store.omnidata.importing import Shelf
from trivium.store.omnidata.manifest import FORMAT, FORMAT_VERSION, GENERATOR, NAME
from trivium.store.omnidata.reading import INDEX, MEMORIES, SUFFIX, is_bundle
from trivium.store.sqlite.connection import in_our_words
from trivium.types import NO_FILTER, OWNER, PUBLIC_SCOPE, Chunk, Document, Filter
from trivium.vectors import Floats32, pack
from trivium.version import __version__

BATCH = 64
_TABLES = ("create_resources", "create_chunks", "create_facts", "create_facts_index")
_WORDS = (
    "create_words",
    "fill_words",
    "keep_words_on_insert",
    "keep_words_on_delete",
    "keep_words_on_update",
)
_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What a bundle holds now.

    `model` is the one of most of its vectors, "" without any; `hidden` counts the documents whose
    scope is not public: whoever has the bundle can read them.
    """

    resources: int
    memories: int
    chunks: int
    embedded: int
    blobs: int
    model: str
    hidden: int


def export(
    store: Shelf,
    settings: IndexSettings,
    target: Path,
    now: datetime,
    filter: Filter = NO_FILTER,
    force: bool = False,
    progress: Progress = silent,
) -> ExportReport:
    """Write what a filter leaves of a library as a bundle: the active version of each document.

    It is one state of the library. If anything fails, there is no bundle, or the one that was
    there before. `force` replaces a bundle, and nothing but a bundle.
    """
    _check(target, force)
    partial = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        partial.mkdir(parents=True)
        forget_older(target.parent.glob(f".{escape(target.name)}.*.partial"))
        with store.view(OWNER):
            report = _Exporting(store, settings, partial, now, progress).write(filter)
        _move(partial, target)
    except OSError as error:
        raise LibraryReadOnly(
            f"{target} cannot be written: {error.strerror or error}; choose another place"
        ) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return report


def _check(target: Path, force: bool) -> None:
    if not is_bundle(target):
        raise InvalidValue(f"a bundle's name ends in {SUFFIX}; name it {target.stem}{SUFFIX}")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not ((target / NAME).is_file() and (target / INDEX).is_file()):
        raise LibraryExists(f"{target} exists and is no bundle; choose another name")
    if not force:
        raise LibraryExists(f"{target} exists already; replace it with --force")


def _move(partial: Path, target: Path) -> None:
    if not target.exists():
        partial.rename(target)
        return
    old = partial.with_name(f"{partial.name}.old")
    target.rename(old)
    try:
        partial.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


@dataclass
class _Exporting:
    """One export under way."""

    store: Shelf
    settings: IndexSettings
    folder: Path
    now: datetime
    progress: Progress
    _models: list[tuple[str, Model]] = field(default_factory=list)
    _roots: Mapping[str, str] = field(default_factory=dict)
    _embedded: Counter[str] = field(default_factory=Counter)
    _chunks: int = 0
    _blobs: set[str] = field(default_factory=set)
    _done: int = 0

    def write(self, filter: Filter) -> ExportReport:
        documents = sorted(self.store.documents(filter, OWNER), key=lambda one: one.number)
        if not documents and filter.narrows():
            raise InvalidValue("no document passes this filter; 'trivium list' shows what is there")
        self._models = _names(self.store.models())
        self._roots = self.store.sources()
        memories = [document for document in documents if document.kind == "memory"]
        resources = [document for document in documents if document.kind != "memory"]
        self._database(INDEX, resources, len(documents))
        self._database(MEMORIES, memories, len(documents))
        counts = {
            "resources": len(resources),
            "memories": len(memories),
            "chunks": self._chunks,
            "embedded": self._embedded.total(),
            "blobs": len(self._blobs),
        }
        event = {"at": format_time(self.now), "event": "export", "by": _generator(), **counts}
        self._text("ingress.log", json.dumps(event) + "\n")
        self._json("adapters.json", {"adapters": self._adapters(documents)})
        self._json(NAME, self._manifest(counts))  # last: a folder with a manifest is complete
        main = self._embedded.most_common(1)
        hidden = sum(document.scope != PUBLIC_SCOPE for document in documents)
        return ExportReport(**counts, model=main[0][0] if main else "", hidden=hidden)

    def _database(self, name: str, documents: Sequence[Document], total: int) -> None:
        path = self.folder / name
        named = named_statements()
        with in_our_words(path), closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            for statement in _TABLES:
                database.execute(named[statement])
            database.execute("BEGIN")
            for batch in _batches(documents):
                self.progress("exporting", self._done, total)
                self._fill(database, batch)
                self._done += len(batch)
            database.execute("COMMIT")
            for statement in _WORDS:
                database.execute(named[statement])
            if name == MEMORIES:
                database.execute(named["call_them_memories"])
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.progress("exporting", self._done, total)

    def _fill(self, database: sqlite3.Connection, documents: Sequence[Document]) -> None:
        named = named_statements()
        made_from = self.store.fingerprints([document.id for document in documents])
        chunks = {one.id: self.store.chunks(one.id, one.version) for one in documents}
        vectors = self._vectors([c.embedding_hash for some in chunks.values() for c in some])
        for document in documents:
            text = self.store.text(document.id, document.version)
            _, pipeline = made_from[document.id]
            values = resource_values(document, pipeline, text, self._blob(document, text))
            database.execute(named["insert_resource"], values)
            rows = [_chunk_values(chunk, vectors) for chunk in chunks[document.id]]
            database.executemany(named["insert_chunk"], rows)
            self._chunks += len(rows)
            self._embedded.update(row[5] for row in rows if row[5] is not None)
            quads = self.store.quads(document.id)
            database.executemany(
                named["insert_fact"],
                [
                    (document.id, q.subject, q.predicate, q.object, q.datatype, q.language, q.graph)
                    for q in quads
                ],
            )

    def _vectors(self, hashes: Sequence[str]) -> dict[str, tuple[str, Floats32]]:
        """Vectors of the active model; of another one where only that one has any."""
        found: dict[str, tuple[str, Floats32]] = {}
        for name, model in self._models:
            missing = [hash for hash in hashes if hash and hash not in found]
            if missing:
                vectors = self.store.vectors(model.fingerprint, missing)
                found |= {hash: (name, vector) for hash, vector in vectors.items()}
        return found

    def _blob(self, document: Document, text: str) -> str:
        """The name under which `blobs/` holds the document's source, or else its text."""
        source = self._source(document)
        if source is not None and self._copied(source, document.source_hash):
            return document.source_hash
        if not text:
            return ""
        data = text.encode("utf-8", "surrogatepass")
        name = hashlib.sha256(data).hexdigest()
        self._blob_path(name).write_bytes(data)
        return name

    def _source(self, document: Document) -> Path | None:
        """The file a document was read from. A uri may be a stranger's: it stays in its root."""
        name, _, relative = document.uri.partition(":")
        if not relative or name not in self._roots:
            return None
        try:
            root = Path(self._roots[name]).resolve()
            path = (root / relative).resolve()
            return path if path.is_relative_to(root) and path.is_file() else None
        except (OSError, ValueError):
            return None

    def _copied(self, source: Path, expected: str) -> bool:
        """Copy a source, unless it has changed since the document was read."""
        copy = self.folder / "blobs.partial"
        digest = hashlib.sha256()
        try:
            file = source.open("rb")
        except OSError:
            return False
        with file, copy.open("wb") as out:
            while block := file.read(_BLOCK):
                digest.update(block)
                out.write(block)
        if digest.hexdigest() != expected:
            copy.unlink()
            return False
        copy.rename(self._blob_path(digest.hexdigest()))
        return True

    def _blob_path(self, name: str) -> Path:
        path = self.folder / "blobs" / name[:2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        self._blobs.add(name)
        return path

    def _adapters(self, documents: Sequence[Document]) -> list[dict[str, Any]]:
        """Where the documents came from; no paths, since a bundle goes to other machines."""
        counts = Counter(document.uri.partition(":")[0] for document in documents)
        return [
            {"name": name, "kind": "folder" if name in self._roots else name, "resources": count}
            for name, count in sorted(counts.items())
        ]

    def _manifest(self, counts: Mapping[str, int]) -> dict[str, Any]:
        models = [
            {
                "model": name,
                "dimension": model.dimension,
                "fingerprint": model.fingerprint,
                "chunks": self._embedded[name],
            }
            for name, model in self._models
            if self._embedded[name]
        ]
        models.sort(key=lambda model: -self._embedded[str(model["model"])])
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "generator": _generator(),
            "created": format_time(self.now),
            "embedding": models[0] if models else None,
            "models": models,
            "index": {
                "template": self.settings.template,
                "chunk_size": self.settings.chunk_size,
                "chunk_overlap": self.settings.chunk_overlap,
            },
            "counts": counts,
            "files": [NAME, INDEX, MEMORIES, "blobs/", "adapters.json", "ingress.log"],
        }

    def _json(self, name: str, value: object) -> None:
        self._text(name, json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def _text(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")


def _chunk_values(chunk: Chunk, vectors: Mapping[str, tuple[str, Floats32]]) -> tuple[Any, ...]:
    """What `insert_chunk` binds."""
    name, vector = vectors.get(chunk.embedding_hash, (None, None))
    first, last = chunk.pages or (None, None)
    return (
        chunk.id,
        chunk.document,
        chunk.ordinal,
        chunk.text,
        pack(vector) if vector is not None else None,
        name,
        json.dumps(list(chunk.heading), ensure_ascii=False),
        first,
        last,
        chunk.start,
        chunk.end,
        chunk.subject,
        chunk.predicate,
        chunk.graph,
    )


def _names(models: Sequence[Model]) -> list[tuple[str, Model]]:
    """The models under the names that chunks call them by, the active one first."""
    twice = {name for name, count in Counter(m.name for m in models).items() if count > 1}
    ordered = sorted(models, key=lambda model: (not model.active, -model.vectors))
    return [(m.fingerprint if m.name in twice else m.name, m) for m in ordered]


def _batches(documents: Sequence[Document]) -> Iterator[list[Document]]:
    rest = iter(documents)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _generator() -> str:
    return f"{GENERATOR} {__version__}"
