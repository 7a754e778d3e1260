"""Quality on PostgreSQL beside a folder's: the same documents, vectors and questions on both.

    python bench/quality_postgres.py [--data ../shared/data] [--postgres ADDRESS] [--sets srd51 …]

The library of each collection is made as `trivium eval` makes it, and copied to a schema of its
own, so that no model is called twice. Without an address a server is started for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium import opening
from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import bench, built
from trivium.evaluate.judged import Judged
from trivium.evaluate.measures import scores
from trivium.evaluate.systems import of_documents
from trivium.library import Library

ROOT = Path(__file__).parent.parent
LEGS = ("keyword", "vector", "trigram")
PROFILES = ("default", "jicklejime", "omnidata")


@contextmanager
def server() -> Iterator[str]:
    sys.path.insert(0, str(ROOT / "tests" / "servers"))
    from postgres import Server

    started = Server()
    try:
        yield started.url
    finally:
        started.remove()


def measured(library: Library, judged: Judged) -> dict[str, float]:
    """nDCG@10 of each way to answer: the legs of `default` one by one, and whole profiles."""
    found = {}
    with bench(library) as made:
        made.prepare(list(judged.queries.values()))
        for name in (*LEGS, *PROFILES):
            profile = of_documents("default" if name in LEGS else name)
            legs = (name,) if name in LEGS else ()
            run = {
                query: [
                    hit.document.id
                    for hit in library.search(text, limit=10, profile=profile, legs=legs)
                ]
                for query, text in judged.queries.items()
            }
            values = scores(run, judged.judgements, list(judged.queries))["ndcg@10"]
            found[name] = sum(values) / len(values)
    return found


def rows(folder: Path, address: str) -> Iterator[str]:
    """A line for each set of queries and way to answer: folder, PostgreSQL."""
    copied = ""
    for queries in sorted(folder.glob("queries*.jsonl")):
        judged = read_folder(folder, queries.stem, None)
        with built(judged.documents) as made:
            here = measured(made.library, judged)
            if not copied:
                copied = f"{address}?schema=quality_{folder.name}"
                opening.copy(made.library.folder, copied)
        with Library(copied) as library:
            there = measured(library, judged)
        for name in here:
            yield f"| {judged.name} | {name} | {here[name]:.4f} | {there[name]:.4f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--postgres", default="")
    parser.add_argument("--sets", nargs="*", default=["srd51", "cranfield", "scifact"])
    arguments = parser.parse_args()
    with server() if not arguments.postgres else _given(arguments.postgres) as address:
        print("| set | | a folder | PostgreSQL |\n|---|---|---:|---:|", flush=True)
        for name in arguments.sets:
            for line in rows(arguments.data / name, address):
                print(line, flush=True)


@contextmanager
def _given(address: str) -> Iterator[str]:
    yield address


if __name__ == "__main__":
    main()
