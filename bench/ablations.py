"""What each part of the default profile is worth: one row for each part removed.

    python bench/ablations.py [--data ../shared/data]

Measured where nothing was chosen: SciFact's test claims, and the even query ids of the others.
Writes its table into bench/README.md with the commit it was measured at.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from trivium.config import Profile, load_profile
from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import built
from trivium.evaluate.intervals import Bootstrap
from trivium.evaluate.measures import ndcg

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- ablations:begin -->", "<!-- ablations:end -->"
SETS = {
    "scifact": ("scifact", "queries.jsonl", "test.tsv"),
    "cranfield": ("cranfield", "queries.jsonl", "test.tsv"),
    "srd": ("srd51", "queries.jsonl", "test.tsv"),
    "srd clean": ("srd51", "queries_clean.jsonl", "clean.tsv"),
    "srd typo": ("srd51", "queries_typo.jsonl", "typo.tsv"),
    "srd join": ("srd51", "queries_join.jsonl", "join.tsv"),
    "chunk-eval": ("chunk-eval", "queries.jsonl", "test.tsv"),
}
WITHOUT = {
    "default": (),
    "without company": ("search.company.weight=0.0",),
    "without scores beyond the depth": ("search.fuse.beyond=nothing",),
    "without the guard": ("search.fuse.guard=false",),
    "scale ceiling, not between": (
        "search.fuse.scale.keyword=ceiling",
        "search.fuse.scale.trigram=ceiling",
    ),
    "BM25 k1 1.2, not .9": ("search.keyword.k1=1.2", "search.trigram.k1=1.2"),
    "BM25 b .75, not .5": ("search.keyword.b=0.75", "search.trigram.b=0.75"),
    "without the keyword leg": ('search.legs=["vector", "trigram"]',),
    "without the trigram leg": ('search.legs=["keyword", "vector"]',),
    "without the vector leg": ('search.legs=["keyword", "trigram"]',),
    "RRF k 60, keyword + vector": (
        'search.legs=["keyword", "vector"]',
        "search.fuse.method=rrf",
        "search.fuse.weights={}",
        "search.fuse.guard=false",
        "search.company.weight=0.0",
    ),
}


def held_out(folder: str, query: str) -> bool:
    return folder == "scifact" or int(re.sub(r"\D", "", query)) % 2 == 0


def measured(data: Path, name: str, profiles: Sequence[Profile]) -> list[list[float]]:
    """nDCG@10 of each query of a set, for each profile."""
    folder, queries, qrels = SETS[name]
    judged = read_folder(data / folder, queries, qrels)
    chosen = [id for id in judged.queries if held_out(folder, id)]
    with built(judged.documents) as made:
        made.prepare([judged.queries[id] for id in chosen])
        return [
            [
                ndcg(
                    [hit.id for hit in made.library.search(judged.queries[id], profile=profile)],
                    judged.judgements[id],
                    10,
                )
                for id in chosen
            ]
            for profile in profiles
        ]


def table(data: Path) -> list[str]:
    profiles = [load_profile("default", changes) for changes in WITHOUT.values()]
    columns = {name: measured(data, name, profiles) for name in SETS}
    lines = [f"| | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for row, name in enumerate(WITHOUT):
        cells = []
        for values in columns.values():
            mean = sum(values[row]) / len(values[row])
            gap = Bootstrap(len(values[0])).difference(values[row], values[0])
            cells.append(
                f"{mean:.3f}" if not row else f"{gap.mean:+.3f} ({gap.low:+.3f} … {gap.high:+.3f})"
            )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--readme", type=Path, default=ROOT / "bench" / "README.md")
    arguments = parser.parse_args()
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = "\n".join([f"Measured at commit {commit.strip()}.", "", *table(arguments.data)])
    page = arguments.readme.read_text(encoding="utf-8")
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has no marks {BEGIN} and {END}; put them back")
    arguments.readme.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
