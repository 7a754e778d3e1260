"""`.omnidata` bundles: what goes out comes back the same, and a stranger's bundle does no harm."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trivium
from trivium import opening as libraries
from trivium.embed.hashing import Hashing
from trivium.errors import (
    InvalidValue,
    LibraryExists,
    LibraryReadOnly,
    NotALibrary,
    SourceError,
    TriviumError,
)
from trivium.library import Library
from trivium.store.omnidata import Bundle, export, take_in
from trivium.store.sqlite import SqliteStore
from trivium.types import Draft, Filter, LegState, Passage, Quad, Result
from trivium.vectors import unit

Run = Callable[..., CompletedProcess[str]]

QUERIES = (
    "dwarf king weapon",
    "who guards the bridge",
    "poisoned axe",
    "the city of smiths",
    "libraries by the sea",
    "gravewind",
    "C++ foo:bar",
)

ASKED: list[dict[str, Any]] = [
    {},
    {"include_memories": True},
    {"filter": Filter(scope=("all",))},
]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "trivium" / "bundles"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory, pattern: Path) -> Path:
    """A library with a second version, a rollback, a memory, odd metadata and a hidden note."""
    folder = tmp_path_factory.mktemp("sample") / "sample.trivium"
    shutil.copytree(pattern, folder)
    with trivium.open(folder) as library:
        library.add_text("The first reading.", title="Road", id="road")
        library.add_text("The second one.", title="Road", id="road", tags=["way"], scope="dm-only")
        library.add_text("The  cold\troad, 東京 — ünïcode.", title="Tabs\tand › signs", id="a@b/c")
        library.rollback("road", 1)
        library.add_text("The king likes his axe cold.", title="A taste", id="m1", kind="memory")
        library.add_entries(
            [
                {
                    "id": "odd",
                    "title": "Odd",
                    "description": "An axe with odd fields.",
                    "context": "Only at night",
                    "valid_from": "2020-01-01",
                    "valid_until": "2099-01-01",
                    "nested": {"list": [1, 2.5, None, True]},
                    "trivium": {"own": 1},
                }
            ]
        )
    return folder


@pytest.fixture
def bundle(tmp_path: Path, sample: Path) -> Path:
    """The sample as a bundle."""
    with trivium.open(sample) as library:
        library.export_bundle(tmp_path / "sample.omnidata")
    return tmp_path / "sample.omnidata"


def answer(result: Result) -> list[tuple[Any, ...]]:
    """Everything in an answer but versions and times."""
    return [
        (hit.document.id, hit.chunk.ordinal, hit.score, hit.parts, hit.snippet, hit.highlights)
        for hit in result
    ]


def found(library: Library, query: str, **asked: Any) -> list[str]:
    return [hit.document.id for hit in library.search(query, **asked)]


def contents(folder: Path) -> dict[str, str]:
    """Every file of a folder and a hash of it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def record(library: Library) -> list[tuple[Any, ...]]:
    """What the record holds about active versions, without numbers and versions."""
    with closing(sqlite3.connect(Path(library.folder) / "index.db")) as database:
        return database.execute(
            "SELECT d.id, d.uri, d.kind, d.title, d.key, d.context, d.media_type, d.category,"
            " d.scope, d.type, d.domain, d.severity, d.tags, d.metadata, d.valid_from,"
            " d.valid_until, d.created, d.updated, d.source_hash, v.pipeline, v.text, c.ordinal,"
            " c.text, c.heading, c.page_first, c.page_last, c.start, c.end, c.embedding_hash,"
            " e.vector, m.fingerprint FROM documents d"
            " JOIN versions v ON v.document = d.number AND v.version = d.version"
            " JOIN chunks c ON c.document = d.number AND c.version = d.version"
            " LEFT JOIN vectors e ON e.hash = c.embedding_hash"
            " LEFT JOIN models m ON m.number = e.model"
            " ORDER BY d.id, c.ordinal"
        ).fetchall()


# --- there and back ------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["omnidata", "default", "jicklejime", "allcodex"])
def test_export_then_import_gives_the_same_answers(
    tmp_path: Path, sample: Path, bundle: Path, profile: str
) -> None:
    report = libraries.from_bundle(bundle, tmp_path / "b.trivium")
    assert (len(report.added), report.waiting) == (10, 0)
    with trivium.open(sample) as one, trivium.open(tmp_path / "b.trivium") as other:
        for query in QUERIES:
            for asked in ASKED:
                before = one.search(query, profile=profile, **asked)
                after = other.search(query, profile=profile, **asked)
                assert answer(before) == answer(after)
                assert all(leg.state is not LegState.FAILED for leg in after.legs)
        assert len(one.search("axe", profile=profile)) > 2


def test_the_whole_world_of_the_examples_goes_there_and_back(
    tmp_path: Path, examples: Path
) -> None:
    with trivium.init(tmp_path / "a.trivium", model="hashing") as one:
        one.add(examples)
        one.export_bundle(tmp_path / "x.omnidata")
        with trivium.open(tmp_path / "x.omnidata") as other:
            for query in (*QUERIES, "what is under the chapel", "a room fills with water"):
                answers = [answer(lib.search(query, profile="omnidata")) for lib in (one, other)]
                assert answers[0] == answers[1] != []


def test_every_byte_of_the_active_record_comes_back(
    tmp_path: Path, sample: Path, bundle: Path
) -> None:
    libraries.from_bundle(bundle, tmp_path / "b.trivium")
    with trivium.open(sample) as one, trivium.open(tmp_path / "b.trivium") as other:
        assert record(one) == record(other)
        assert other.embed().embedded == 0
        assert other.doctor() == []
        [odd] = other.get("odd")
        assert odd.document.metadata["trivium"] == {"own": 1}
        [road] = other.get("road")
        assert (road.document.scope, road.text) == ("dm-only", "The first reading.")
        assert len(other.versions("road")) == 1  # only the active version travels


def test_a_bundle_of_an_import_is_the_same_bundle(tmp_path: Path, bundle: Path) -> None:
    with trivium.open(bundle) as library:
        library.export_bundle(tmp_path / "again.omnidata")
    rows = []
    for folder in (bundle, tmp_path / "again.omnidata"):
        with closing(sqlite3.connect(folder / "index.db")) as database:
            query = "SELECT resource_id, chunk_index, text, embedding FROM omnidata_chunks"
            rows.append(sorted(database.execute(query)))
    assert rows[0] == rows[1]


def test_facts_come_back(tmp_path: Path) -> None:
    document = trivium.types.Document("facts", "facts:a.ttl", "Facts", "facts")
    passage = Passage("an axe", subject="urn:axe", predicate="urn:label", graph="urn:g")
    quads = (Quad("urn:axe", "urn:label", "an axe", "xsd:string", "en", "urn:g"),)
    with trivium.init(tmp_path / "a.trivium", model="hashing") as one:
        store = one._store
        store.put([Draft(document, (passage,), ("",), "an axe", "p", quads)], one._now())
        one.export_bundle(tmp_path / "x.omnidata")
    libraries.from_bundle(
        tmp_path / "x.omnidata", tmp_path / "b.trivium", profile="default", model="none"
    )
    with trivium.open(tmp_path / "b.trivium") as other:
        assert tuple(other._store.quads("facts")) == quads
        assert found(other, "axe", filter=Filter(subjects=("urn:axe",))) == ["facts"]


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=6))
def test_a_unit_vector_stays_as_it_is(numbers: list[float]) -> None:
    once = unit(np.array([numbers], np.float32))
    assert unit(once).tobytes() == once.tobytes()


# --- what a bundle is ----------------------------------------------------------------------------


def test_plain_sqlite_searches_a_bundle(bundle: Path) -> None:
    with closing(sqlite3.connect(bundle / "index.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        rows = database.execute(
            "SELECT r.id, c.chunk_index FROM fts_chunks"
            " JOIN omnidata_chunks c ON c.rowid = fts_chunks.rowid"
            " JOIN omnidata_resources r ON r.id = c.resource_id"
            " WHERE fts_chunks MATCH 'forge OR smiths' ORDER BY bm25(fts_chunks), r.id"
        ).fetchall()
        assert len(rows) == 2
        [(id,)] = database.execute("SELECT id FROM omnidata_resources WHERE title = 'Emberfold'")
        assert {row[0] for row in rows} == {id}
        database.execute("UPDATE omnidata_chunks SET text = 'a zeppelin' WHERE number = 1")
        match = "SELECT rowid FROM fts_chunks WHERE fts_chunks MATCH 'zeppelin'"
        assert database.execute(match).fetchall() == [(1,)]


def test_the_manifest_says_what_is_there(bundle: Path) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["format"], manifest["version"]) == ("omnidata", 1)
    assert manifest["counts"] == {
        "resources": 9,
        "memories": 1,
        "chunks": 12,
        "embedded": 12,
        "blobs": 10,
    }
    assert manifest["embedding"] == {
        "model": "hashing",
        "dimension": 64,
        "fingerprint": Hashing().fingerprint,
        "chunks": 12,
    }
    for name in manifest["files"]:
        assert (bundle / name).exists()
    adapters = json.loads((bundle / "adapters.json").read_text())["adapters"]
    assert {"name": "notes", "kind": "folder", "resources": 4} in adapters
    assert json.loads((bundle / "ingress.log").read_text())["event"] == "export"
    with closing(sqlite3.connect(bundle / "memory.db")) as database:
        [(id, text)] = database.execute("SELECT id, text FROM omnidata_memories")
        assert (id, text) == ("m1", "The king likes his axe cold.")


def test_blobs_hold_the_sources_or_else_the_texts(world: Path, notes: Path, tmp_path: Path) -> None:
    (notes / "rules" / "combat.md").write_text("changed since")
    with trivium.open(world) as library:
        library.export_bundle(tmp_path / "x.omnidata")
    with closing(sqlite3.connect(tmp_path / "x.omnidata" / "index.db")) as database:
        blobs = dict(database.execute("SELECT title, blob FROM omnidata_resources"))
    kept = {
        title: (tmp_path / "x.omnidata" / "blobs" / name[:2] / name).read_bytes()
        for title, name in blobs.items()
    }
    assert all(hashlib.sha256(data).hexdigest() == blobs[title] for title, data in kept.items())
    assert kept["Emberfold"] == (notes / "places" / "emberfold.md").read_bytes()
    assert kept["Combat"].startswith(b"An axe does eight points")  # as it was read
    assert kept["Break ties by id"] == b"Equal scores are put in the order of their ids."


def test_a_filter_leaves_out_what_is_not_for_everybody(tmp_path: Path, world: Path) -> None:
    with trivium.open(world) as library:
        whole = library.export_bundle(tmp_path / "all.omnidata")
        public = library.export_bundle(tmp_path / "public.omnidata", filter=Filter(scope=("all",)))
        assert (whole.resources, whole.hidden) == (6, 1)
        assert (public.resources, public.hidden) == (5, 0)
        with pytest.raises(InvalidValue, match="no document passes"):
            library.export_bundle(tmp_path / "none.omnidata", filter=Filter(scope=("nobody",)))
    assert not (tmp_path / "none.omnidata").exists()
    assert b"poisoned" not in b"".join(
        path.read_bytes() for path in (tmp_path / "public.omnidata").rglob("*") if path.is_file()
    )


# --- a stranger's bundle, written with sqlite3 and struct alone ----------------------------------

SCHEMA = """
CREATE TABLE omnidata_resources (id TEXT PRIMARY KEY, uri TEXT, title TEXT, type TEXT,
  content_hash TEXT, metadata TEXT, created_at TEXT, updated_at TEXT, deleted_at TEXT, lang TEXT);
CREATE TABLE omnidata_chunks (id TEXT PRIMARY KEY, resource_id TEXT, chunk_index INTEGER,
  content TEXT, embedding BLOB, embedding_model TEXT, deleted_at TEXT, note TEXT);
CREATE VIRTUAL TABLE fts_chunks USING fts5 (content, content='omnidata_chunks');
"""
RESOURCES = [
    ("r1", "file:///home/ann/axes.md", "Axes", "doc", "h1", '{"tags": ["steel"], "floor": 3}',
     "2024-05-31T10:00:00Z", 1717150000, None, "en"),
    ("r2", "https://example.org/roads", None, None, None, None, None, None, None, None),
    ("r3", "file:///home/ann/gone.md", "Gone", "doc", "h3", "{}", None, None, "2024-06-01", None),
    ("r4", None, "Secret", None, None, '{"scope": "DM-only"}', None, None, None, None),
]  # fmt: skip
CHUNKS = [
    ("c2", "r1", 1, "The second axe is a hatchet.", None, "only the second"),
    ("c1", "r1", 0, "The first axe is a battle axe.", None, None),
    ("c3", "r1", 2, "The deleted axe is a labrys.", "2024-06-01", None),
    ("c4", "r2", 0, "A road to the north.", None, None),
    ("c5", "r3", 0, "A vanished axe.", None, None),
    ("c6", "r4", 0, "A secret axe.", None, None),
    ("c7", "nobody", 0, "An axe that belongs to no one.", None, None),
]


def packed(numbers: Any) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def write_bundle(
    folder: Path,
    vector: Callable[[str], tuple[bytes | None, str | None]] = lambda text: (None, None),
    manifest: str | None = '{"format": "omnidata", "version": "0.3"}',
) -> Path:
    """A bundle that Trivium had no part in; `vector` gives embedding and model for a text."""
    folder.mkdir()
    if manifest is not None:
        (folder / "manifest.json").write_text(manifest)
    with closing(sqlite3.connect(folder / "index.db")) as database, database:
        database.executescript(SCHEMA)
        database.executemany(
            "INSERT INTO omnidata_resources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", RESOURCES
        )
        for id, resource, index, text, deleted, note in CHUNKS:
            database.execute(
                "INSERT INTO omnidata_chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (id, resource, index, text, *vector(text), deleted, note),
            )
        database.execute("INSERT INTO fts_chunks (fts_chunks) VALUES ('rebuild')")
    return folder


def by_hashing(text: str) -> tuple[bytes, str]:
    return packed(Hashing().documents([text])[0].tolist()), "hashing"


def test_a_bundle_of_the_standard_library_is_read_and_searched(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata", by_hashing)
    with trivium.open(folder) as library:
        result = library.search("battle axe", profile="omnidata")
        assert [leg.state for leg in result.legs] == [LegState.OK, LegState.OK]
        assert result.hits[0].text == "The first axe is a battle axe."
        assert result.hits[0].score == pytest.approx(0.6 / 61 + 0.4 / 61)
        assert set(found(library, "axe")) == {"r1", "r2", "r4"}  # r2 by its vector alone
        [axes, roads, secret] = library.get("r1", "r2", "r4")
        assert [chunk.text for chunk in axes.chunks] == [
            "The first axe is a battle axe.",
            "The second axe is a hatchet.",
        ]
        document = axes.document
        assert (document.uri, document.title) == ("file:///home/ann/axes.md", "Axes")
        assert (document.type, document.tags, document.scope) == ("doc", ("steel",), "all")
        assert document.created == trivium.clock.parse_time("2024-05-31T10:00:00Z")
        assert document.updated == trivium.clock.parse_time("2024-05-31T10:06:40Z")
        assert document.metadata == {
            "floor": 3,
            "lang": "en",
            "chunks": [{}, {"note": "only the second"}],
        }
        assert axes.text == "The first axe is a battle axe.\n\nThe second axe is a hatchet."
        assert roads.document.title == "roads"
        assert (secret.document.scope, secret.document.uri) == ("dm-only", "omnidata:ann/r4")
        public = trivium.Grant(frozenset())
        assert "r4" not in [hit.document.id for hit in library.search("axe", grant=public)]


def test_what_is_deleted_softly_is_not_found(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata")
    report = libraries.from_bundle(folder, tmp_path / "b.trivium", model="none")
    assert (report.added, report.chunks) == (("r1", "r2", "r4"), 4)
    assert (report.deleted, report.deleted_chunks, report.orphans) == (1, 2, 1)
    with trivium.open(tmp_path / "b.trivium") as library:
        assert found(library, "labrys", profile="default", legs=["keyword"]) == []
        assert found(library, "vanished", profile="default", legs=["keyword"]) == []
        with pytest.raises(TriviumError):
            library.get("r3")


def test_a_later_deletion_is_reported_and_the_document_kept(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata")
    libraries.from_bundle(folder, tmp_path / "b.trivium", model="none")
    with closing(sqlite3.connect(folder / "index.db")) as database, database:
        database.execute("UPDATE omnidata_resources SET deleted_at = 'now' WHERE id = 'r2'")
        database.execute("UPDATE omnidata_chunks SET deleted_at = 'now' WHERE id = 'c2'")
    with trivium.open(tmp_path / "b.trivium") as library:
        report = library.import_bundle(folder)
        assert (report.updated, report.unchanged, report.gone) == (("r1",), ("r4",), ("r2",))
        [axes, _] = library.get("r1", "r2")
        assert len(axes.chunks) == 1
        assert len(library.versions("r1")) == 2


def test_vectors_of_an_unknown_model_are_kept_and_the_answer_says_so(tmp_path: Path) -> None:
    folder = write_bundle(
        tmp_path / "ann.omnidata", lambda text: (packed([3.0, 4.0, 0.0]), "text-embedding-9")
    )
    with trivium.open(folder) as library:
        assert library.settings.model == "none"
        [model] = library.status()["models"]
        assert model["fingerprint"] == "omnidata:text-embedding-9:3"
        assert (model["active"], model["dimension"]) == (True, 3)
        vectors = library._store.vectors(
            "omnidata:text-embedding-9:3", [c.embedding_hash for c in library.get("r1")[0].chunks]
        )
        expected = np.array([0.6, 0.8, 0.0], np.float32)
        assert all(np.array_equal(vector, expected) for vector in vectors.values())
        result = library.search("battle axe")
        assert result.hits[0].document.id == "r1"
        assert "the library's vectors are of omnidata:text-embedding-9:3" in result.degraded[0]
        assert found(library, "batle ax", profile="default")[0] == "r1"
    report = libraries.from_bundle(folder, tmp_path / "b.trivium", model="hashing")
    assert report.waiting == 4
    with trivium.open(tmp_path / "b.trivium") as library:
        assert library.embed().embedded == 4
        assert library.search("battle axe").degraded == ()


def test_texts_without_a_vector_wait_for_one(tmp_path: Path) -> None:
    folder = write_bundle(
        tmp_path / "ann.omnidata",
        lambda text: by_hashing(text) if "first" in text else (None, None),
    )
    report = libraries.from_bundle(folder, tmp_path / "b.trivium")
    assert (report.chunks, report.waiting) == (4, 3)
    with trivium.open(tmp_path / "b.trivium") as library:
        assert library.embed().embedded == 3
        assert library.doctor() == []


def test_of_several_models_the_most_frequent_is_searched(tmp_path: Path) -> None:
    def vector(text: str) -> tuple[bytes, str]:
        return (packed([1.0, 0.0]), "rare") if "road" in text else by_hashing(text)

    libraries.from_bundle(write_bundle(tmp_path / "a.omnidata", vector), tmp_path / "b.trivium")
    with trivium.open(tmp_path / "b.trivium") as library:
        models = {m["name"]: (m["active"], m["vectors"]) for m in library.status()["models"]}
        assert models == {"hashing": (True, 3), "rare": (False, 1)}
        library.export_bundle(tmp_path / "again.omnidata")
    with closing(sqlite3.connect(tmp_path / "again.omnidata" / "index.db")) as database:
        query = "SELECT embedding_model, count(*) FROM omnidata_chunks GROUP BY 1 ORDER BY 1"
        assert database.execute(query).fetchall() == [("hashing", 3), ("rare", 1)]


def test_a_name_is_not_enough_where_the_manifest_has_a_fingerprint(tmp_path: Path) -> None:
    manifest = {"embedding": {"model": "hashing", "dimension": 64, "fingerprint": "hashing:other"}}
    folder = write_bundle(tmp_path / "a.omnidata", by_hashing, json.dumps(manifest))
    with trivium.open(folder) as library:
        assert library.settings.model == "none"
        assert library.status()["models"][0]["fingerprint"] == "hashing:other"


def test_the_least_a_bundle_can_have(tmp_path: Path) -> None:
    (tmp_path / "bare.omnidata").mkdir()
    with closing(sqlite3.connect(tmp_path / "bare.omnidata" / "index.db")) as database, database:
        database.execute(
            "CREATE TABLE omnidata_chunks (chunk_id INTEGER, document_id INTEGER, text, "
            "chunk_index, embedding, embedding_model)"
        )
        database.execute("INSERT INTO omnidata_chunks VALUES (1, 7, 'an axe', 0, NULL, NULL)")
    with closing(sqlite3.connect(tmp_path / "bare.omnidata" / "memory.db")) as database, database:
        database.execute("CREATE TABLE memories (id, content, kind, embedding, embedding_model)")
        values = ("m", "the king's axe", "taste", *by_hashing("the king's axe"))
        database.execute("INSERT INTO memories VALUES (?, ?, ?, ?, ?)", values)
    with trivium.open(tmp_path / "bare.omnidata") as library:
        assert found(library, "axe", legs=["keyword"]) == ["7"]
        assert set(found(library, "axe", include_memories=True)) == {"7", "m"}
        [memory] = library.get("m")
        assert (memory.document.kind, memory.document.type) == ("memory", "taste")
        assert library.settings.model == "hashing"


def test_two_strangers_may_use_the_same_ids(tmp_path: Path) -> None:
    one = write_bundle(tmp_path / "one.omnidata")
    two = write_bundle(tmp_path / "two.omnidata")
    with closing(sqlite3.connect(two / "index.db")) as database, database:
        database.execute("UPDATE omnidata_resources SET uri = 'file:///bob.md' WHERE id = 'r1'")
        database.execute("UPDATE omnidata_chunks SET content = 'Bob' WHERE resource_id = 'r1'")
    libraries.from_bundle(one, tmp_path / "b.trivium", model="none")
    with trivium.open(tmp_path / "b.trivium") as library:
        report = library.import_bundle(two)
        assert len(report.added) == 2  # Bob's r1, and r4, which has no uri of its own
        assert report.unchanged == ("r2",)
        assert library.import_bundle(two).added == ()
        assert library.get("r1")[0].document.title == "Axes"
        assert library.get("file:///bob.md")[0].text == "Bob\n\nBob"


# --- harm ----------------------------------------------------------------------------------------


def spoil(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "index.db")) as database, database:
        for statement in statements:
            database.execute(statement)


def truncate(folder: Path) -> None:
    data = (folder / "index.db").read_bytes()
    (folder / "index.db").write_bytes(data[: len(data) // 2])


def scramble(folder: Path) -> None:
    data = bytearray((folder / "index.db").read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    (folder / "index.db").write_bytes(data)


def link_out(folder: Path) -> None:
    shutil.move(folder / "index.db", folder.parent / "elsewhere.db")
    (folder / "index.db").symlink_to(folder.parent / "elsewhere.db")


HARM: dict[str, tuple[Callable[[Path], object], str]] = {
    "manifest is no JSON": (lambda f: (f / "manifest.json").write_text("{oops"), "not JSON"),
    "manifest is binary": (lambda f: (f / "manifest.json").write_bytes(b"\xff\x00"), "not JSON"),
    "manifest is deep": (lambda f: (f / "manifest.json").write_text("[" * 99999), "not JSON"),
    "manifest is a list": (lambda f: (f / "manifest.json").write_text("[]"), "not a JSON object"),
    "manifest of another format": (
        lambda f: (f / "manifest.json").write_text('{"format": "zip"}'), "not omnidata",
    ),
    "manifest of the future": (
        lambda f: (f / "manifest.json").write_text('{"generator": "trivium 9", "version": 2}'),
        "upgrade Trivium",
    ),
    "manifest with a wrong dimension": (
        lambda f: (f / "manifest.json").write_text(
            '{"embedding_model": "hashing", "embedding_dimension": 65}'
        ),
        "has 256 bytes, where hashing has 65 numbers",
    ),
    "manifest with a huge dimension": (
        lambda f: (f / "manifest.json").write_text('{"embedding": {"model": "h", "dim": 1e99}}'),
        "write a number from 1 to",
    ),
    "no database": (lambda f: (f / "index.db").unlink(), "has no index.db"),
    "not a database": (lambda f: (f / "index.db").write_text("hello" * 99), "is damaged"),
    "half a database": (truncate, "damaged|cannot be read"),
    "a scrambled database": (scramble, "damaged|cannot be read"),
    "a link out of the bundle": (link_out, "leads out of the bundle"),
    "no chunks": (lambda f: spoil(f, "DROP TABLE omnidata_chunks"), "no table omnidata_chunks"),
    "chunks that are a view": (
        lambda f: spoil(f, "ALTER TABLE omnidata_chunks RENAME TO o",
                        "CREATE VIEW omnidata_chunks AS SELECT * FROM o"),
        "no table omnidata_chunks",
    ),
    "chunks without a text": (
        lambda f: spoil(f, "ALTER TABLE omnidata_chunks RENAME COLUMN content TO c"),
        "no column for its text",
    ),
    "a resource without an id": (
        lambda f: spoil(f, "UPDATE omnidata_resources SET id = NULL WHERE id = 'r1'"),
        "resource without an id",
    ),
    "an id twice": (
        lambda f: spoil(f, "CREATE TABLE t AS SELECT * FROM omnidata_resources",
                        "DROP TABLE omnidata_resources",
                        "ALTER TABLE t RENAME TO omnidata_resources",
                        "UPDATE omnidata_resources SET id = 'r1' WHERE id = 'r2'"),
        "two resources with the id 'r1'",
    ),
    "a text that is a BLOB": (
        lambda f: spoil(f, "UPDATE omnidata_chunks SET content = x'00ff' WHERE id = 'c1'"),
        "is bytes, not text",
    ),
    "an endless uri": (
        lambda f: spoil(f, "UPDATE omnidata_resources SET uri = printf('%.*c', 9999, 'u')"),
        "has 9999 characters",
    ),
    "a vector that is cut short": (
        lambda f: spoil(f, "UPDATE omnidata_chunks SET embedding = x'0000803f' WHERE id = 'c4'"),
        "chunk 'c4' has 4 bytes, where hashing has 64 numbers",
    ),
    "a vector that is text": (
        lambda f: spoil(f, "UPDATE omnidata_chunks SET embedding = '[1, 2]' WHERE id = 'c4'"),
        "not a BLOB of float32",
    ),
    "a vector that is no number": (
        lambda f: spoil(f, "UPDATE omnidata_chunks SET embedding = CAST(substr(embedding, 1, 252)"
                           " || x'0000c07f' AS BLOB) WHERE id = 'c4'"),
        "chunk 'c4' holds NaN",
    ),
}  # fmt: skip


@pytest.mark.parametrize("harm", HARM)
def test_a_bundle_with_a_fault_changes_nothing(tmp_path: Path, world: Path, harm: str) -> None:
    folder = write_bundle(tmp_path / "bad.omnidata", by_hashing)
    do, message = HARM[harm]
    do(folder)
    before = contents(world)
    with pytest.raises(SourceError, match=message), trivium.open(world) as library:
        library.import_bundle(folder)
    assert contents(world) == before
    with pytest.raises(SourceError, match=message):
        libraries.from_bundle(folder, tmp_path / "new.trivium")
    assert not (tmp_path / "new.trivium").exists()


def test_strange_values_do_no_harm(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata")
    spoil(
        folder,
        "UPDATE omnidata_resources SET title = 'red' || char(27) || '[31m' WHERE id = 'r1'",
        "UPDATE omnidata_resources SET metadata = 'not json', created_at = 'soon' WHERE id = 'r2'",
        "UPDATE omnidata_resources SET uri = 'notes:../../../etc/passwd' WHERE id = 'r4'",
        "UPDATE omnidata_chunks SET chunk_index = 'x' WHERE id = 'c4'",
        "UPDATE omnidata_chunks SET content = CAST(x'6178ff65' AS TEXT) WHERE id = 'c6'",
    )
    with trivium.open(folder) as library:
        [axes, roads, secret] = library.get("r1", "r2", "r4")
        assert axes.document.title == "red [31m"
        assert (roads.document.metadata, roads.document.created) == ({"metadata": "not json"}, None)
        assert secret.text == "ax\ufffde"


def test_a_uri_leads_nowhere(tmp_path: Path, world: Path, notes: Path) -> None:
    (tmp_path / "secret.txt").write_text("my diary")
    digest = hashlib.sha256(b"my diary").hexdigest()
    folder = write_bundle(tmp_path / "ann.omnidata")
    for id, uri in {"r1": "notes:../secret.txt", "r2": f"notes:{tmp_path}/secret.txt"}.items():
        spoil(folder, f"UPDATE omnidata_resources SET uri = '{uri}', content_hash = '{digest}' "
                      f"WHERE id = '{id}'")  # fmt: skip
    with trivium.open(world) as library:
        library.import_bundle(folder)
        library.export_bundle(tmp_path / "x.omnidata")
    assert digest not in [path.name for path in (tmp_path / "x.omnidata").rglob("*")]


def test_a_stranger_replaces_no_vector_of_ours(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "a.trivium", profile="omnidata", model="hashing") as library:
        library.add_text("The first axe is a battle axe.", title="Mine", id="mine")
        [chunk] = library.get("mine")[0].chunks
        before = library._store.vectors(Hashing().fingerprint, [chunk.embedding_hash])
        lies = write_bundle(tmp_path / "x.omnidata", lambda text: (packed([1.0] * 64), "hashing"))
        library.import_bundle(lies)
        after = library._store.vectors(Hashing().fingerprint, [chunk.embedding_hash])
        assert np.array_equal(before[chunk.embedding_hash], after[chunk.embedding_hash])


@pytest.mark.parametrize("template", ["{text.__class__}", "{text:>999999999}", "{0}", "{", 7])
def test_a_stranger_s_template_is_not_used(tmp_path: Path, template: object) -> None:
    manifest = {"generator": "trivium", "version": 1, "index": {"template": template}}
    folder = write_bundle(tmp_path / "x.omnidata", manifest=json.dumps(manifest))
    with trivium.open(folder) as library:
        assert library.settings.template == "{text}"


# --- where it lies -------------------------------------------------------------------------------


def test_a_bundle_is_searched_where_it_lies_and_never_written(
    tmp_path: Path, cache: Path, run: Run, sample: Path, bundle: Path
) -> None:
    before = contents(bundle)
    for command in (
        ("search", "axe"),
        ("search", "axe", "--profile", "default"),
        ("list",),
        ("get", "road"),
        ("status",),
        ("doctor",),
        ("versions", "road"),
    ):
        result = run(*command, "-L", bundle)
        assert (result.returncode, result.stderr) == (0, "")
    [shelf] = cache.iterdir()
    assert len(list(shelf.iterdir())) == 1
    assert json.loads(run("status", "-L", bundle, "--json").stdout)["library"] == str(bundle)
    (tmp_path / "x.md").write_text("x")
    for change in (["remove", "road"], ["add", "x.md"], ["rollback", "road", "1"]):
        refused = run(*change, "-L", bundle)
        assert refused.returncode == 1
        assert refused.stderr.endswith("is a bundle; 'trivium import' makes a library of it\n")
    assert contents(bundle) == before


def test_a_changed_bundle_is_read_again(tmp_path: Path, cache: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata")

    def made() -> int:
        with trivium.open(folder) as library:
            assert found(library, "axe", legs=["keyword"])
        return len(list(next(cache.iterdir()).iterdir()))

    assert [made(), made()] == [1, 1]
    for number in range(3):
        spoil(folder, f"UPDATE omnidata_chunks SET content = 'axe {number}' WHERE id = 'c4'")
        with trivium.open(folder) as library:
            assert library.get("r2")[0].text == f"axe {number}"
    assert made() == 2  # this import and the one before
    for file in next(cache.iterdir()).rglob("library.toml"):
        file.unlink()
    assert made() >= 1  # an import that was damaged is made again
    shutil.rmtree(folder)
    with pytest.raises(NotALibrary, match="there is no bundle"):
        trivium.open(folder)


def test_what_is_still_in_the_log_of_a_writer_is_read(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata")
    with closing(sqlite3.connect(folder / "index.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE omnidata_chunks SET content = 'a zeppelin' WHERE id = 'c4'")
        before = sorted(path.name for path in folder.iterdir())
        assert "index.db-wal" in before
        with trivium.open(folder) as library:
            assert found(library, "zeppelin", legs=["keyword"]) == ["r2"]
        assert sorted(path.name for path in folder.iterdir()) == before


def test_a_bundle_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "ann.omnidata")
    with Bundle(folder) as opened:
        spoil(folder, "DELETE FROM omnidata_chunks")
        with pytest.raises(SourceError, match="written while it was read"):
            list(opened.resources())


# --- all or nothing ------------------------------------------------------------------------------


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A store that cannot give out the text of the road."""
    real = SqliteStore.text

    def text(store: SqliteStore, document: str, version: int) -> str:
        if document == "road":
            raise KeyboardInterrupt
        return real(store, document, version)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "text", text)
        yield


def test_a_failed_export_leaves_no_half_bundle(tmp_path: Path, sample: Path, failing: None) -> None:
    with trivium.open(sample) as library, pytest.raises(KeyboardInterrupt):
        library.export_bundle(tmp_path / "new.omnidata")
    assert list(tmp_path.glob("*.omnidata*")) + list(tmp_path.glob(".*")) == []


def test_a_failed_replacement_leaves_the_old_bundle(
    tmp_path: Path, sample: Path, bundle: Path, failing: None
) -> None:
    before = contents(bundle)
    with trivium.open(sample) as library, pytest.raises(KeyboardInterrupt):
        library.export_bundle(bundle, force=True)
    assert contents(bundle) == before
    assert list(tmp_path.glob(".*")) == []


def test_what_a_killed_export_left_is_removed_a_day_later(tmp_path: Path, sample: Path) -> None:
    for name, age in {"old": 90_000, "new": 60}.items():
        folder = tmp_path / f".x.omnidata.{name}.partial"
        folder.mkdir()
        os.utime(folder, (time.time() - age,) * 2)
    with trivium.open(sample) as library:
        library.export_bundle(tmp_path / "x.omnidata")
    assert [path.name for path in tmp_path.glob(".x*")] == [".x.omnidata.new.partial"]


def test_only_a_bundle_is_replaced(tmp_path: Path, world: Path, bundle: Path) -> None:
    (tmp_path / "photos.omnidata").mkdir()
    (tmp_path / "photos.omnidata" / "cat.jpg").write_text("cat")
    with trivium.open(world) as library:
        with pytest.raises(LibraryExists, match="--force"):
            library.export_bundle(bundle)
        library.export_bundle(bundle, force=True)
        with pytest.raises(LibraryExists, match="is no bundle"):
            library.export_bundle(tmp_path / "photos.omnidata", force=True)
        with pytest.raises(InvalidValue, match=r"name it notes\.omnidata"):
            library.export_bundle(tmp_path / "notes", force=True)
    with trivium.open(bundle) as replaced:
        assert replaced.status()["documents"] == 6


def test_an_import_that_stopped_goes_on(
    tmp_path: Path, sample: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trivium.store.omnidata.importing.BATCH", 3)
    real, calls = SqliteStore.put, iter(range(100))

    def put(store: SqliteStore, *arguments: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return real(store, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "put", put)
        with pytest.raises(KeyboardInterrupt):
            libraries.from_bundle(bundle, tmp_path / "b.trivium")
    with trivium.open(sample) as one, trivium.open(tmp_path / "b.trivium") as other:
        assert other.status()["documents"] == 6
        report = other.import_bundle(bundle)
        assert (len(report.added), len(report.unchanged)) == (4, 6)
        assert record(one) == record(other)
        assert other.doctor() == []
        again = other.import_bundle(bundle)
        assert (again.added, again.updated, len(again.unchanged)) == ((), (), 10)


def test_an_import_into_a_library_keeps_what_is_there(
    tmp_path: Path, bundle: Path, world: Path
) -> None:
    with trivium.open(world) as library:
        library.add_text("Our own axe.", title="Ours", id="ours")
        library.add_text("Another road.", title="Road", id="road")
        report = library.import_bundle(bundle)
        assert sorted(report.added) == ["a@b/c", "m1", "odd"]
        assert (report.updated, len(report.unchanged)) == (("road",), 6)
        assert [version.version for version in library.versions("road")] == [1, 2]
        assert "ours" in found(library, "our own axe")


def test_a_library_that_cannot_be_written_is_refused(tmp_path: Path, bundle: Path) -> None:
    with trivium.open(bundle) as library, pytest.raises(LibraryReadOnly):
        library.import_bundle(write_bundle(tmp_path / "ann.omnidata"))


# --- the commands --------------------------------------------------------------------------------


def test_import_and_export_say_what_they_did(run: Run, world: Path, tmp_path: Path) -> None:
    exported = run("export", "--to", "x.omnidata", "-L", world)
    assert exported.returncode == 0
    assert exported.stdout == (
        "wrote x.omnidata: 6 resources, 8 chunks, 8 vectors of hashing, 6 blobs\n"
    )
    assert exported.stderr.startswith("! 1 documents are not for everybody")
    imported = run("import", "x.omnidata", "-L", "b.trivium")
    assert (imported.stdout, imported.stderr) == ("b.trivium: 6 added\n", "")
    again = json.loads(run("import", "x.omnidata", "-L", "b.trivium", "--json").stdout)
    assert (again["added"], len(again["unchanged"]), again["waiting"]) == ([], 6, 0)
    refused = run("import", "x.omnidata", "-L", "b.trivium", "--model", "none")
    assert (refused.returncode, refused.stdout) == (1, "")
    missing = run("import", "nowhere.omnidata", "-L", "c.trivium")
    assert missing.stderr == "error: there is no bundle at nowhere.omnidata; check the path\n"
    assert not (tmp_path / "c.trivium").exists()
    wrong = run("init", "y.omnidata")
    assert wrong.stderr == "error: y.omnidata is a bundle's name; name a library y.trivium\n"


def test_import_names_what_was_left_out(run: Run, tmp_path: Path) -> None:
    write_bundle(tmp_path / "ann.omnidata", lambda text: (packed([1.0, 0.0]), "far/away"))
    imported = run("import", "ann.omnidata", "-L", "b.trivium")
    assert imported.stdout == "b.trivium: 3 added\n"
    assert imported.stderr == (
        "! left out: 1 deleted resources, 2 deleted chunks, 1 chunks of no resource\n"
        "! the vectors are of far/away, which is not at hand: only words are searched; "
        "import into a new library with --model to embed again\n"
    )


def test_take_in_and_export_need_no_library(tmp_path: Path, bundle: Path) -> None:
    """The parts work on a store alone, as another surface would use them."""
    from functools import partial

    from trivium.config import IndexSettings
    from trivium.embed import embedder
    from trivium.ingest.draft import with_hashes

    settings = IndexSettings(model="none")
    hashed = partial(with_hashes, settings=settings)
    now = trivium.clock.parse_time("2026-06-01")
    (tmp_path / "bare").mkdir()
    store = SqliteStore(tmp_path / "bare", create=True)
    with Bundle(bundle) as source:
        report = take_in(source, store, None, embedder, hashed, now)
    assert len(report.added) == 10
    assert export(store, settings, tmp_path / "y.omnidata", now).embedded == 12
    store.close()
