"""The same chunks, vectors and queries in every store, one after the other in one run.

    python bench/stores.py [--chunks 100000] [--write]

Each store is filled and searched in a process of its own, whose highest memory is reported.
PostgreSQL is a server started for the run, with the settings below and as safe as it always is; its
memory is that of its processes when the last search is done. `--write` puts the table into
bench/README.md with the commit it was measured at.
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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from latency import FINGERPRINT, NOW, Given, World, fill, timed, write
from trivium.config import Profile, load_profile
from trivium.pipeline import Search
from trivium.store.record.store import RecordStore
from trivium.types import OWNER, Filter, SearchRequest

STORES = ("SQLite", "PostgreSQL", "SQLite + LanceDB")
QUERIES = 60
CLIENTS = 8
SETTINGS = "-c shared_buffers=512MB -c max_wal_size=4GB"
"""Room for 100,000 chunks with their vectors; what a small server of a team would have."""
SERVER = Path(__file__).parent.parent / "tests" / "servers"


def opened(name: str, place: str, *, create: bool = False) -> RecordStore:
    if name == "PostgreSQL":
        from trivium.store.postgres.address import Address
        from trivium.store.postgres.store import PostgresStore

        return PostgresStore(Address.parse(place), create=create)
    from trivium.store.sqlite import SqliteStore

    Path(place).mkdir(exist_ok=True)
    return SqliteStore(Path(place), create=create, lance="" if "Lance" in name else None)


def measure(name: str, place: str, chunks: int) -> dict[str, Any]:
    """All figures of one store."""
    world = World(chunks)
    store = opened(name, place, create=True)
    started = time.perf_counter()
    fill(store, world.texts(chunks), world.vectors(chunks))
    store.close()
    store = opened(name, place)
    queries = world.queries()[:QUERIES]
    embedder = Given(dict(zip(queries, world.vectors(len(queries)), strict=True)))
    profile = load_profile("default")
    with ThreadPoolExecutor(4 * CLIENTS) as pool:

        def run(query: str, legs: tuple[str, ...], filter: Filter, used: Profile) -> None:
            with store.view(OWNER) as view:
                search = Search(view, used, embedder, lambda: pool, NOW)
                search(SearchRequest(query, legs=legs, filter=filter))

        run(queries[0], (), Filter(), profile)  # whatever a store still has to build
        figures: dict[str, Any] = {"build, s": time.perf_counter() - started}
        for case, (legs, filter, used) in _cases(profile).items():
            for query in queries[:5]:
                run(query, legs, filter, used)
            times = [timed(partial(run, query, legs, filter, used)) for query in queries]
            figures[f"{case}, p50 ms"] = float(np.percentile(times, 50))
            figures[f"{case}, p95 ms"] = float(np.percentile(times, 95))
        for clients in (1, CLIENTS):
            figures[f"{clients} client{'s' if clients > 1 else ''}, searches/s"] = _throughput(
                lambda query: run(query, (), Filter(), profile), queries, clients
            )
    figures["memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures["memory of the server, MB"] = _memory_of_server(place) if "://" in place else 0.0
    store.close()
    return figures


def _memory_of_server(address: str) -> float:
    """Of all processes that work for it, what they share counted once."""
    import psycopg

    with psycopg.connect(address.partition("?")[0]) as connection:
        rows = connection.execute("SELECT pid FROM pg_stat_activity").fetchall()
        shares = [Path(f"/proc/{pid}/smaps_rollup").read_text() for (pid,) in rows]
    return sum(int(share.split("Pss:")[1].split()[0]) for share in shares) / 1024


def _cases(profile: Profile) -> dict[str, tuple[tuple[str, ...], Filter, Profile]]:
    half = Filter(category=tuple(f"c{i}" for i in range(50)))
    two = replace(profile, search=replace(profile.search, legs=("keyword", "vector")))
    return {
        "keyword": (("keyword",), Filter(), profile),
        "vector": (("vector",), Filter(), profile),
        "spelling": (("trigram",), Filter(), profile),
        "keyword + vector": ((), Filter(), two),
        "hybrid": ((), Filter(), profile),
        "hybrid, 1 % left": ((), Filter(category=("c7",)), profile),
        "hybrid, 50 % left": ((), half, profile),
        "hybrid, document 001": ((), Filter(), load_profile("jicklejime")),
    }


def _throughput(run: Callable[[str], None], queries: list[str], clients: int) -> float:
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(run, queries * 2))
    return 2 * len(queries) / (time.perf_counter() - started)


def server(name: str) -> AbstractContextManager[Any]:
    if name != "PostgreSQL":
        return nullcontext()
    sys.path.insert(0, str(SERVER))
    from postgres import own_server

    return own_server(SETTINGS)


def table(chunks: int, figures: dict[str, dict[str, float]]) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    names = list(figures)
    return "\n".join(
        [
            f"{chunks:,} chunks of about 90 words × 384 dimensions, {QUERIES} queries, model "
            f"{FINGERPRINT}, {os.cpu_count()} cores, {platform.machine()}, "
            f"Python {platform.python_version()}, commit {commit}.",
            "",
            f"| | {' | '.join(names)} |",
            f"|---|{'---|' * len(names)}",
            *(
                f"| {row} | {' | '.join(f'{figures[name][row]:,.1f}' for name in names)} |"
                for row in figures[names[0]]
            ),
        ]
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chunks", type=int, default=100_000)
    options.add_argument("--write", action="store_true")
    options.add_argument("--one", choices=STORES, help=argparse.SUPPRESS)
    options.add_argument("--place", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.one, asked.place, asked.chunks)))
        return
    figures = {}
    for name in STORES:
        with tempfile.TemporaryDirectory() as folder, server(name) as running:
            place = f"{running.url}?schema=bench" if running else f"{folder}/library"
            command = [sys.executable, __file__, "--one", name, "--place", place]
            command += ["--chunks", str(asked.chunks)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            figures[name] = json.loads(done.stdout)
            print(name, json.dumps(figures[name]), file=sys.stderr)
    text = table(asked.chunks, figures)
    print(text)
    if asked.write:
        write("stores", text)


if __name__ == "__main__":
    main()
