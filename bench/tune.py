"""Does `trivium tune` keep its hands still? A hundred times on judgements that mean nothing.

    python bench/tune.py [--data ../shared/data] [--sets srd51 cranfield] [--runs 100]

Each run gives every query the judgements of another one, drawn by lot, so nothing can be learned;
whoever changes the profile then has fallen for chance. The first row of a set is the true
judgements. Settings are tried once for all runs: what they rank does not depend on judgements.
Writes its table into bench/README.md with the commit it was measured at.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import built
from trivium.evaluate.measures import Judgements
from trivium.tune import prepared, tuned

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- tune:begin -->", "<!-- tune:end -->"


def shuffled(judgements: Judgements, seed: int) -> dict[str, dict[str, int]]:
    """Every query with the judgements of some query, drawn without putting back."""
    names = list(judgements)
    order = np.random.default_rng(seed).permutation(len(names))
    return {name: dict(judgements[names[at]]) for name, at in zip(names, order, strict=True)}


def row(data: Path, name: str, count: int) -> str:
    given = read_folder(data / name)
    with built(given.documents) as made, prepared(made, given) as runs:
        started = time.perf_counter()
        truly = tuned(runs, given.judgements)
        took = time.perf_counter() - started
        print(name, truly.why, truly.changes, f"{took:.0f} s", file=sys.stderr)
        kept = 0
        for seed in range(count):
            found = tuned(runs, shuffled(given.judgements, seed), seed)
            kept += found.keep
            if not found.keep:
                print(name, seed, found.why, found.changes, file=sys.stderr)
        tried = runs.tried
    gain = f"{truly.gain.mean:+.4f} ({truly.gain.low:+.4f} … {truly.gain.high:+.4f})"
    verdict = "keep" if truly.keep else "change"
    return (
        f"| {name} | {truly.queries} | {truly.before:.3f} | {gain} | {verdict} | {took:.0f} | "
        f"{kept} of {count} | {tried} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--readme", type=Path, default=ROOT / "bench" / "README.md")
    parser.add_argument("--sets", nargs="+", default=["srd51", "cranfield"])
    parser.add_argument("--runs", type=int, default=100)
    arguments = parser.parse_args()
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [
        f"Measured at commit {commit.strip()}.",
        "",
        "| set | queries | nDCG@10 | held-out gain | verdict | s | kept when shuffled | tried |",
        "|---|---|---|---|---|---|---|---|",
        *(row(arguments.data, name, arguments.runs) for name in arguments.sets),
    ]
    block = "\n".join([BEGIN, *lines, END])
    page = arguments.readme.read_text(encoding="utf-8")
    marks = re.compile(f"{BEGIN}.*{END}", re.DOTALL)
    if not marks.search(page):
        raise SystemExit(f"the page has no marks {BEGIN} and {END}; put them back")
    arguments.readme.write_text(marks.sub(lambda _: block, page), encoding="utf-8")


if __name__ == "__main__":
    main()
