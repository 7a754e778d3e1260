"""Latency, build time and memory of a library of generated chunks with given vectors.

    python bench/latency.py [--chunks 100000] [--write]

Text follows a natural word distribution (Zipf), about 90 words a chunk; vectors are given, so no
model is called. `--write` puts the table into bench/README.md with the commit it was measured at.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trivium.config import Profile, load_profile
from trivium.pipeline import Search
from trivium.protocols import Model
from trivium.store.record.store import RecordStore
from trivium.store.sqlite import SqliteStore
from trivium.text import content_hash
from trivium.types import OWNER, Document, Draft, Filter, Passage, SearchRequest

DIMENSION = 384
NOW = datetime(2026, 1, 1, tzinfo=UTC)
QUERIES = 200
AT_ONCE, SECONDS = 8, 2.0
README = Path(__file__).parent / "README.md"
FINGERPRINT = "given/384"


class Given:
    """An embedder whose query vectors are given beforehand, so that no model is timed."""

    name = "given"
    fingerprint = FINGERPRINT
    dimension = DIMENSION

    def __init__(self, queries: dict[str, NDArray[np.float32]]) -> None:
        self._queries = queries

    def query(self, text: str) -> NDArray[np.float32]:
        return self._queries[text]

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise AssertionError("documents are given with their vectors")


class World:
    """Words with natural frequencies, chunks of them, and vectors around a few hundred themes."""

    def __init__(self, chunks: int, seed: int = 1) -> None:
        self.chance = np.random.default_rng(seed)
        self.count = chunks
        letters = self.chance.integers(97, 123, (60_000, 12)).astype(np.uint8)
        lengths = self.chance.integers(3, 12, 60_000)
        self.words = [bytes(row[:n]).decode() for row, n in zip(letters, lengths, strict=True)]
        weights = 1.0 / np.arange(2, len(self.words) + 2) ** 1.05
        self.weights = weights / weights.sum()
        self.themes = self.chance.normal(size=(300, DIMENSION)).astype(np.float32)

    def texts(self, count: int) -> list[str]:
        lengths = self.chance.integers(60, 120, count)
        picked = self.chance.choice(len(self.words), int(lengths.sum()), p=self.weights)
        ends = np.cumsum(lengths)
        return [
            " ".join(self.words[word] for word in picked[end - length : end])
            for end, length in zip(ends, lengths, strict=True)
        ]

    def vectors(self, count: int) -> NDArray[np.float32]:
        themes = self.themes[self.chance.integers(0, len(self.themes), count)]
        noise = self.chance.normal(size=(count, DIMENSION)).astype(np.float32)
        return (themes + noise).astype(np.float32)

    def queries(self, count: int = QUERIES) -> list[str]:
        """Three to six words, neither the commonest nor the rarest."""
        sizes = self.chance.integers(3, 7, count)
        ranks = np.exp(self.chance.uniform(np.log(20), np.log(20_000), int(sizes.sum())))
        ends = np.cumsum(sizes)
        return [
            " ".join(self.words[int(rank)] for rank in ranks[end - size : end])
            for end, size in zip(ends, sizes, strict=True)
        ]


def store(folder: Path, texts: Sequence[str], vectors: NDArray[np.float32]) -> dict[str, float]:
    """Store chunks with their vectors and write the derived index down."""
    library = SqliteStore(folder, create=True)
    started = time.perf_counter()
    fill(library, texts, vectors)
    stored = time.perf_counter()
    library.flush()
    library.close()
    done = time.perf_counter()
    return {"store_s": stored - started, "index_s": done - stored, "build_s": done - started}


def fill(library: RecordStore, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Put chunks with their vectors into a store, as an import would."""
    library.use_model(Model("given", FINGERPRINT, DIMENSION, True))
    batch = 2_000
    for start in range(0, len(texts), batch):
        drafts, hashes = [], []
        for number, text in enumerate(texts[start : start + batch], start):
            hash = content_hash(text)
            document = Document(
                id=f"d{number:07}",
                uri=f"bench:{number}",
                title=text[:30],
                category=f"c{number % 100}",
                source_hash=hash,
            )
            drafts.append(Draft(document, (Passage(text, end=len(text)),), (hash,), text, "bench"))
            hashes.append(hash)
        library.put(drafts, NOW)
        library.save_vectors(FINGERPRINT, hashes, vectors[start : start + batch])


def build(folder: Path, world: World) -> dict[str, float]:
    return store(folder, world.texts(world.count), world.vectors(world.count))


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000


def percentiles(name: str, values: Sequence[float]) -> dict[str, object]:
    return {
        "name": name,
        "p50_ms": round(float(np.percentile(values, 50)), 2),
        "p95_ms": round(float(np.percentile(values, 95)), 2),
    }


def measure(folder: Path, world: World) -> list[dict[str, object]]:
    """p50 and p95 of each leg, of hybrid, and of hybrid behind filters."""
    queries = world.queries()
    embedder = Given(dict(zip(queries, world.vectors(len(queries)), strict=True)))
    store = SqliteStore(folder)
    profile = load_profile("default")
    rows = []
    one_percent = Filter(category=("c7",))
    half = Filter(category=tuple(f"c{i}" for i in range(50)))

    def run(query: str, legs: tuple[str, ...], filter: Filter, used: Profile) -> None:
        with store.view(OWNER) as view:
            search = Search(view, used, embedder, None, NOW)
            search(SearchRequest(query, legs=legs, filter=filter))

    two = replace(profile, search=replace(profile.search, legs=("keyword", "vector")))
    cases: dict[str, tuple[tuple[str, ...], Filter, Profile]] = {
        "keyword": (("keyword",), Filter(), profile),
        "vector": (("vector",), Filter(), profile),
        "trigram": (("trigram",), Filter(), profile),
        "keyword + vector": ((), Filter(), two),
        "hybrid (all three)": ((), Filter(), profile),
        "hybrid, filter keeps 1 %": ((), one_percent, profile),
        "hybrid, filter keeps 50 %": ((), half, profile),
    }
    for name, (legs, filter, used) in cases.items():
        for query in queries[:10]:
            run(query, legs, filter, used)
        times = [timed(partial(run, query, legs, filter, used)) for query in queries]
        rows.append(percentiles(name, times))
    rows.append(percentiles("edit to visible", edits(store, run, queries)))
    store.close()
    return rows


class Searching:
    """Searches as fast as they go, one after the other or several threads at once."""

    def __init__(self, folder: Path) -> None:
        world = World(0)
        self._queries = world.queries()
        vectors = world.vectors(len(self._queries))
        self._embedder = Given(dict(zip(self._queries, vectors, strict=True)))
        self.store, self._profile = SqliteStore(folder), load_profile("default")
        self.rate(1)  # what is read once is read

    def _work(self, first: int, until: float) -> int:
        done = 0
        while time.perf_counter() < until:
            with self.store.view(OWNER) as view:
                search = Search(view, self._profile, self._embedder, None, NOW)
                search(SearchRequest(self._queries[(first + done) % len(self._queries)]))
            done += 1
        return done

    def rate(self, threads: int) -> float:
        """Searches a second."""
        with ThreadPoolExecutor(threads) as searching:
            started = time.perf_counter()
            until = started + SECONDS
            runs = [searching.submit(self._work, 25 * i, until) for i in range(threads)]
            done = sum(run.result() for run in runs)
            return done / (time.perf_counter() - started)


def throughput(folder: Path) -> dict[str, float]:
    """Searches a second of one thread, of several that share a library, and of two processes, which
    share nothing but the processors: what the machine allows.
    """
    searching = Searching(folder)
    rates = [(searching.rate(1), searching.rate(AT_ONCE)) for _ in range(3)]
    searching.store.close()
    one, several = (float(np.median(some)) for some in zip(*rates, strict=True))
    alone, apart = (processes(folder, count) for count in (1, 2))
    return {
        "searches a second, one thread": one,
        f"searches a second, {AT_ONCE} threads": several,
        f"{AT_ONCE} threads, times one": several / one,
        "two processes, times one": apart / alone,
    }


def processes(folder: Path, count: int) -> float:
    """Searches a second of so many processes at once."""
    command = [sys.executable, __file__, "--rate", "--folder", str(folder)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
    return sum(float(one.communicate()[0]) for one in running)


def edits(
    store: SqliteStore,
    run: Callable[[str, tuple[str, ...], Filter, Profile], None],
    queries: Sequence[str],
) -> list[float]:
    """From the call that stores a changed document to the end of the search that sees it."""
    profile = load_profile("default")
    times = []
    for number in range(20):
        text = f"changed text number {number} of the bench"
        document = Document(f"d{number:07}", f"bench:{number}", "changed", source_hash=str(number))
        draft = Draft(document, (Passage(text, end=len(text)),), ("",), text, "bench")

        def change(draft: Draft = draft, query: str = queries[number]) -> None:
            store.put([draft], NOW)
            run(query, ("keyword",), Filter(), profile)

        times.append(timed(change))
    return times


COLD = """
import sys, time
started = time.perf_counter()
from trivium.store.sqlite import SqliteStore
from trivium.config import load_profile
from trivium.pipeline import Search
from trivium.types import OWNER, SearchRequest
from datetime import datetime, UTC
from pathlib import Path
store = SqliteStore(Path(sys.argv[1]))
with store.view(OWNER) as view:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    search = Search(view, load_profile("default"), None, None, now)
    search(SearchRequest(sys.argv[2], legs=("keyword",)))
print((time.perf_counter() - started) * 1000)
"""


def cold_start(folder: Path, query: str) -> float:
    """A new process, from its first import to its first answer, words only.

    Modules are compiled beforehand, as in any installation; the first run sees to that.
    """
    command = [sys.executable, "-c", COLD, str(folder), query]
    compiled = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    runs = []
    for _ in range(6):
        ended = subprocess.run(command, capture_output=True, check=True, env=compiled)
        runs.append(float(ended.stdout))
    return float(np.median(runs[1:]))


def commit() -> str:
    """The commit that is measured."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def table(chunks: int, built: dict[str, float], rows: list[dict[str, object]]) -> str:
    lines = [
        f"{chunks:,} chunks of about 90 words × {DIMENSION} dimensions, {QUERIES} queries of three "
        f"to six words, {platform.machine()}, Python {platform.python_version()}, "
        f"commit {commit()}.",
        "",
        "| what | p50 ms | p95 ms |",
        "|---|---|---|",
        *(f"| {row['name']} | {row['p50_ms']} | {row['p95_ms']} |" for row in rows),
        "",
        "| what | value |",
        "|---|---|",
        *(f"| {name} | {value:,.{2 if value < 10 else 1}f} |" for name, value in built.items()),
    ]
    return "\n".join(lines)


def write(section: str, text: str) -> None:
    """Replace one marked section of the README."""
    begin, end = f"<!-- {section}:begin -->", f"<!-- {section}:end -->"
    page = README.read_text(encoding="utf-8") if README.exists() else "# Benchmarks\n"
    if begin not in page:
        page += f"\n## {section.capitalize()}\n\n{begin}\n{end}\n"
    head, _, rest = page.partition(begin)
    tail = rest.partition(end)[2]
    README.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chunks", type=int, default=100_000)
    options.add_argument("--write", action="store_true")
    options.add_argument("--folder", type=Path)
    options.add_argument("--rate", action="store_true", help="only searches a second, of --folder")
    asked = options.parse_args()
    if asked.rate:
        print(Searching(asked.folder).rate(1))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        world = World(asked.chunks)
        built: dict[str, float] = {}
        if not (folder / "index.db").exists():
            built = build(folder, world)
        query = world.queries()[0]
        cold = cold_start(folder, query)
        rows = measure(folder, world)
        built |= throughput(folder)
        megabytes = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6
        built |= {
            "cold process to first words-only answer, ms": cold,
            "peak memory, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "library on disk, MB": megabytes,
        }
    text = table(asked.chunks, built, rows)
    print(text)
    print(json.dumps({"built": built, "rows": rows}), file=sys.stderr)
    if asked.write:
        write("latency", text)


if __name__ == "__main__":
    main()
