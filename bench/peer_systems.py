"""The systems that `peers.py` compares, each behind the same three methods.

    python bench/peer_systems.py NAME DATA FOLDER

Nothing of Trivium is imported unless it is asked for: the peers have an environment of their own.
Every system is used as its documentation shows it: words and vectors, joined by reciprocal rank.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

K, LIMIT, DEPTH = 60, 10, 100
CATEGORIES = 100
Vectors = NDArray[np.float32]
Half = list(range(CATEGORIES // 2))


class System(Protocol):
    """One system: built once, then searched; a filter is a list of categories."""

    def build(self, texts: Sequence[str], vectors: Vectors) -> None: ...
    def open(self, queries: Sequence[str], vectors: Vectors) -> None: ...
    def search(self, query: str, vector: Vectors, categories: list[int] | None) -> int:
        """How many hits there were."""


class Trivium:
    profile = "default"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        import latency

        latency.store(self._folder, texts, vectors)

    def open(self, queries: Sequence[str], vectors: Vectors) -> None:
        import latency
        from trivium.config import load_profile
        from trivium.store.sqlite import SqliteStore

        self._embedder = latency.Given(dict(zip(queries, vectors, strict=True)))
        self._store, self._profile = SqliteStore(self._folder), load_profile(self.profile)

    def search(self, query: str, vector: Vectors, categories: list[int] | None) -> int:
        import latency
        from trivium.pipeline import Search
        from trivium.types import OWNER, Filter, SearchRequest

        filter = Filter(category=tuple(f"c{one}" for one in categories or ()))
        with self._store.view(OWNER) as view:
            search = Search(view, self._profile, self._embedder, None, latency.NOW)
            return len(search(SearchRequest(query, filter=filter)))


class TriviumRrf(Trivium):
    profile = "allcodex"


class LanceFlat:
    indexed = False

    def __init__(self, folder: Path) -> None:
        import lancedb

        self._database = lancedb.connect(str(folder))

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        import pyarrow

        table = self._database.create_table(
            "chunks",
            pyarrow.table(
                {
                    "id": pyarrow.array(range(len(texts))),
                    "text": pyarrow.array(texts),
                    "category": pyarrow.array([i % CATEGORIES for i in range(len(texts))]),
                    "vector": pyarrow.FixedSizeListArray.from_arrays(
                        pyarrow.array(vectors.reshape(-1)), vectors.shape[1]
                    ),
                }
            ),
        )
        table.create_fts_index("text")
        if self.indexed:
            table.create_index(metric="cosine", vector_column_name="vector")
            table.create_scalar_index("category")
            table.wait_for_index([index.name for index in table.list_indices()])

    def open(self, queries: Sequence[str], vectors: Vectors) -> None:
        from lancedb.rerankers import RRFReranker

        self._table, self._fusion = self._database.open_table("chunks"), RRFReranker()

    def search(self, query: str, vector: Vectors, categories: list[int] | None) -> int:
        asked = self._table.search(query_type="hybrid").vector(vector).text(query)
        if categories is not None:
            asked = asked.where(f"category IN ({', '.join(map(str, categories))})", prefilter=True)
        return len(asked.rerank(self._fusion).limit(LIMIT).to_list())


class LanceIvf(LanceFlat):
    indexed = True


SQL = """
WITH near AS (
  SELECT rowid AS id, row_number() OVER (ORDER BY distance) AS rank FROM vectors
  WHERE vector MATCH :vector AND k = :depth {near}
), held AS (
  SELECT rowid AS id, row_number() OVER (ORDER BY rank) AS rank FROM (
    SELECT rowid, rank FROM words WHERE words MATCH :words {held} ORDER BY rank LIMIT :depth)
)
SELECT id, sum(1.0 / (60 + rank)) AS score FROM (SELECT * FROM near UNION ALL SELECT * FROM held)
GROUP BY id ORDER BY score DESC LIMIT 10
"""


class SqliteVec:
    def __init__(self, folder: Path) -> None:
        import apsw  # Python's own sqlite3 may be built without extensions
        import sqlite_vec

        self._database = apsw.Connection(str(folder / "peer.db"))
        self._database.enable_load_extension(True)
        self._database.load_extension(sqlite_vec.loadable_path())

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        run = self._database
        run.execute("BEGIN")
        run.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        run.execute(
            "CREATE VIRTUAL TABLE vectors USING vec0(category INTEGER, "
            f"vector float[{vectors.shape[1]}] distance_metric=cosine)"
        )
        run.execute("CREATE TABLE chunks (id INTEGER PRIMARY KEY, category INTEGER)")
        rows = range(len(texts))
        run.executemany("INSERT INTO chunks VALUES (?, ?)", [(i, i % CATEGORIES) for i in rows])
        run.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
        run.executemany(
            "INSERT INTO vectors (rowid, category, vector) VALUES (?, ?, ?)",
            ((i, i % CATEGORIES, vectors[i].tobytes()) for i in rows),
        )
        run.execute("COMMIT")

    def open(self, queries: Sequence[str], vectors: Vectors) -> None:
        pass

    def search(self, query: str, vector: Vectors, categories: list[int] | None) -> int:
        near = held = ""
        if categories is not None:
            wanted = ", ".join(map(str, categories))
            near = f"AND category IN ({wanted})"
            held = f"AND rowid IN (SELECT id FROM chunks WHERE category IN ({wanted}))"
        words = " OR ".join(f'"{word}"' for word in query.split())
        values = {"vector": vector.tobytes(), "depth": DEPTH, "words": words}
        return len(list(self._database.execute(SQL.format(near=near, held=held), values)))


class MilvusLite:
    def __init__(self, folder: Path) -> None:
        from pymilvus import MilvusClient

        self._client = MilvusClient(str(folder / "peer.db"))

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        from pymilvus import DataType, Function, FunctionType, MilvusClient

        schema = MilvusClient.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("text", DataType.VARCHAR, max_length=4000, enable_analyzer=True)
        schema.add_field("category", DataType.INT64)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=vectors.shape[1])
        schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(
            Function(
                name="bm25",
                function_type=FunctionType.BM25,
                input_field_names=["text"],
                output_field_names=["words"],
            )
        )
        index = MilvusClient.prepare_index_params()
        index.add_index("vector", index_type="FLAT", metric_type="COSINE")
        index.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        self._client.create_collection("chunks", schema=schema, index_params=index)
        for start in range(0, len(texts), 2_000):
            rows = range(start, min(start + 2_000, len(texts)))
            self._client.insert(
                "chunks",
                [
                    {"id": i, "text": texts[i], "category": i % CATEGORIES, "vector": vectors[i]}
                    for i in rows
                ],
            )

    def open(self, queries: Sequence[str], vectors: Vectors) -> None:
        self._client.load_collection("chunks")

    def search(self, query: str, vector: Vectors, categories: list[int] | None) -> int:
        from pymilvus import AnnSearchRequest, RRFRanker

        given: dict[str, Any] = {}
        if categories is not None:
            given["expr"] = f"category in {categories}"
        near = AnnSearchRequest([vector.tolist()], "vector", {}, DEPTH, **given)
        held = AnnSearchRequest([query], "words", {}, DEPTH, **given)
        return len(self._client.hybrid_search("chunks", [near, held], RRFRanker(K), LIMIT)[0])


class TantivyNumpy:
    def __init__(self, folder: Path) -> None:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_integer_field("id", stored=True, fast=True)
        builder.add_integer_field("category", indexed=True)
        builder.add_text_field("text", tokenizer_name="en_stem")
        self._index = tantivy.Index(builder.build(), str(folder))
        self._tantivy, self._file = tantivy, folder / "vectors.npy"

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        writer = self._index.writer()
        for i, text in enumerate(texts):
            writer.add_document(self._tantivy.Document(id=i, category=i % CATEGORIES, text=text))
        writer.commit()
        writer.wait_merging_threads()
        np.save(self._file, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def open(self, queries: Sequence[str], vectors: Vectors) -> None:
        self._matrix: Vectors = np.load(self._file)
        self._index.reload()
        self._searcher = self._index.searcher()
        self._categories = np.arange(len(self._matrix)) % CATEGORIES

    def search(self, query: str, vector: Vectors, categories: list[int] | None) -> int:
        similar = self._matrix @ vector
        if categories is not None:
            similar[~np.isin(self._categories, categories)] = -np.inf
            wanted = " OR ".join(f"category:{one}" for one in categories)
            query = f"+({query}) +({wanted})"
        near = np.argpartition(-similar, DEPTH)[:DEPTH]
        near = near[np.argsort(-similar[near])]
        found = self._searcher.search(self._index.parse_query(query, ["text"]), DEPTH).hits
        held = [self._searcher.doc(address)["id"][0] for _, address in found]
        scores: dict[int, float] = defaultdict(float)
        for ranking in (near.tolist(), held):
            for rank, one in enumerate(ranking, start=1):
                scores[one] += 1 / (K + rank)
        return len(sorted(scores, key=lambda one: -scores[one])[:LIMIT])


SYSTEMS: dict[str, Callable[[Path], System]] = {
    "Trivium, profile default": Trivium,
    "Trivium, profile allcodex": TriviumRrf,
    "LanceDB, IVF and FTS indexes": LanceIvf,
    "LanceDB, flat": LanceFlat,
    "SQLite FTS5 + sqlite-vec": SqliteVec,
    "milvus-lite": MilvusLite,
    "tantivy + numpy": TantivyNumpy,
}


def memory(field: str) -> float:
    """A figure of /proc/self/status, in MB."""
    status = Path("/proc/self/status").read_text()
    return (
        int(next(line for line in status.splitlines() if line.startswith(field)).split()[1]) / 1e3
    )


def measured(system: System, data: Path) -> dict[str, float]:
    """Build, then search; what the system takes beside the texts and vectors that it is given."""
    texts = json.loads((data / "texts.json").read_text())
    vectors = np.load(data / "vectors.npy")
    queries = json.loads((data / "queries.json").read_text())
    asked = np.load(data / "query-vectors.npy")
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the highest memory is counted from here
    before, started = memory("VmRSS"), time.perf_counter()
    system.build(texts, vectors)
    built = time.perf_counter() - started
    system.open(queries, asked)
    row = {"build_s": built}
    for name, categories in (("", None), ("one_", [7]), ("half_", Half)):
        rounds = list(zip(queries, asked, strict=True))
        if name:
            rounds = rounds[: len(rounds) // 2]
        for query, vector in rounds[:10]:
            assert system.search(query, vector, categories), "found nothing"
        times = []
        for query, vector in rounds:
            moment = time.perf_counter()
            system.search(query, vector, categories)
            times.append((time.perf_counter() - moment) * 1000)
            if sum(times) > 5_000:
                break  # slow ones are known well enough by then
        row[f"{name}p50_ms"] = float(np.percentile(times, 50))
        row[f"{name}p95_ms"] = float(np.percentile(times, 95))
    row["memory_mb"] = memory("VmHWM") - before
    return row


if __name__ == "__main__":
    name, data, folder = sys.argv[1:4]
    print(json.dumps(measured(SYSTEMS[name](Path(folder)), Path(data))))
