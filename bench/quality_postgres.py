"""Quality on PostgreSQL beside a folder's: the same documents, vectors and questions on both.

    python bench/quality_postgres.py [--data ../shared/data] [--postgres ADDRESS] [--sets srd51 …]
                                     [--write]

The library of each collection is made as `trivium eval` makes it, and copied to a schema of its
own, so that no model is called twice. Without an address a server is started for it. `--write`
puts the table into bench/README.md with the commit it was measured at.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latency import write
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


Measured = dict[str, tuple[float, float]]
"""By way to answer: in a folder, and in PostgreSQL."""


def sets(folder: Path, address: str) -> Iterator[tuple[str, Measured]]:
    """Each set of queries by name."""
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
        yield judged.name, {way: (here[way], there[way]) for way in here}


def table(found: dict[str, Measured]) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    lines = [
        f"nDCG@10 in a folder / in PostgreSQL, commit {commit}.",
        "",
        f"| | {' | '.join(found)} |",
        f"|---|{'---:|' * len(found)}",
    ]
    for way in (*LEGS, *PROFILES):
        pairs = (found[name][way] for name in found)
        shown = (" / ".join(f"{one:.3f}".removeprefix("0") for one in pair) for pair in pairs)
        lines.append(f"| {way} | {' | '.join(shown)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--postgres", default="")
    parser.add_argument("--sets", nargs="*", default=["srd51", "cranfield", "scifact"])
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    with server() if not arguments.postgres else _given(arguments.postgres) as address:
        found: dict[str, Measured] = {}
        for folder in arguments.sets:
            for name, measured_there in sets(arguments.data / folder, address):
                found[name] = measured_there
                print(name, measured_there, file=sys.stderr, flush=True)
    text = table(found)
    print(text)
    if arguments.write:
        write("postgres", text)


@contextmanager
def _given(address: str) -> Iterator[str]:
    yield address


if __name__ == "__main__":
    main()
