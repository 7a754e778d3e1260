"""The dilution guard: what a search is worth when one leg has nothing to say.

    python bench/lots.py [--data ../shared/data] [--sets scifact …] [--half even|odd|both] [--write]

For each set and each leg, that leg is replaced by one that ranks chunks *by lot*, with the scores
that it really gave, and by the answer to *another question* of the set. Beside nDCG@10 of the
hybrid stands its distance to the best of the legs that are left: below −.01 the guard has failed.
Lots are drawn eight times, and the mean is shown: a single draw is .005 luckier or less.
The first column is the hybrid of sound legs, and what the guard costs there.

Constants are chosen on the odd query ids (and SciFact's train claims); `--half even` shows the
others alone, `both` the sets as they are.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from trivium.config import Profile, load_profile
from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import built
from trivium.evaluate.measures import Grades, ndcg
from trivium.fuse import group
from trivium.guard import guarded
from trivium.pipeline import Search
from trivium.types import (
    NO_FILTER,
    Candidate,
    Leg,
    LegState,
    Ranking,
    SearchRequest,
    document_of,
)

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- lots:begin -->", "<!-- lots:end -->"
SETS = {
    "scifact": ("scifact", "queries.jsonl", "test.tsv"),
    "cranfield": ("cranfield", "queries.jsonl", "test.tsv"),
    "srd": ("srd51", "queries.jsonl", "test.tsv"),
    "srd clean": ("srd51", "queries_clean.jsonl", "clean.tsv"),
    "srd typo": ("srd51", "queries_typo.jsonl", "typo.tsv"),
    "srd join": ("srd51", "queries_join.jsonl", "join.tsv"),
    "chunk-eval": ("chunk-eval", "queries.jsonl", "test.tsv"),
}
TRAIN = {"scifact": ("scifact", "queries_train.jsonl", "train.tsv")}
PAGE = 10
DRAWS = 8


@dataclass(frozen=True)
class Asked:
    """A query with what its legs found, before any guard."""

    text: str
    grades: Grades
    legs: Sequence[Leg]


def by_lot(leg: Leg, chunks: Sequence[str], lot: Random) -> Leg:
    """The leg's own scores, given to chunks that were drawn by lot; others get what most have."""
    if leg.state is not LegState.OK or leg.yardstick is None:
        return leg
    order = lot.sample(chunks, min(len(leg.ranking), len(chunks)))
    scores = [one.score for one in leg.ranking.candidates]
    given = dict(zip(order, scores, strict=False))
    measure, seed, lowest = leg.yardstick, lot.random(), scores[-1]

    def score_of(ids: Sequence[str]) -> list[float]:
        for id in ids:
            if id not in given:
                drawn = Random(f"{seed} {id}").gauss(measure.mean, measure.deviation)
                given[id] = min(max(drawn, 0.0), lowest)
        return [given[id] for id in ids]

    found = tuple(Candidate(id, score) for id, score in zip(order, scores, strict=False))
    ranking = replace(leg.ranking, candidates=found)
    return replace(leg, ranking=ranking, yardstick=replace(measure, score_of=score_of))


def worth(search: Search, asked: Asked, legs: Sequence[Leg], *, guard: bool = True) -> float:
    heard = guarded(list(legs), asked.text, search._texts) if guard else list(legs)
    ranked = search._rank(SearchRequest(asked.text, PAGE), heard)
    return ndcg([document_of(one.id) for one in ranked.candidates[:PAGE]], asked.grades, PAGE)


def alone(leg: Leg, grades: Grades) -> float:
    chunks = [one.id for one in leg.ranking.candidates]
    units = {chunk: document_of(chunk) for chunk in chunks}
    ranked: Ranking = group(leg.ranking, units)
    return ndcg([units[one.id] for one in ranked.candidates[:PAGE]], grades, PAGE)


def collected(
    search: Search, queries: Mapping[str, str], judged: Mapping[str, Grades]
) -> list[Asked]:
    found = []
    for id, text in queries.items():
        request = SearchRequest(text, PAGE)
        depths = search.depths(request)
        legs = [search.retrieved(name, request, depths[name]) for name in depths]
        found.append(Asked(text, judged[id], legs))
    return found


def chosen(folder: str, half: str, id: str) -> bool:
    if folder == "scifact" or half == "both":
        return True
    return int(re.sub(r"\D", "", id) or 0) % 2 == (half == "odd")


def measured(data: Path, name: str, half: str, profile: Profile) -> dict[str, float]:
    """nDCG@10: sound, unguarded, each leg alone, and each leg replaced."""
    place = TRAIN.get(name, SETS[name]) if half == "odd" else SETS[name]
    judged = read_folder(data / place[0], place[1], place[2])
    queries = {id: text for id, text in judged.queries.items() if chosen(place[0], half, id)}
    if name == "scifact" and half == "odd":
        queries = dict(list(queries.items())[::3])
    with built(judged.documents) as made:
        made.prepare(list(queries.values()))
        with made.library.searching(profile) as search:
            asked = collected(search, queries, judged.judgements)
            chunks = [id for id, _ in search.view.browse(NO_FILTER, "chunk", 1 << 60).scored]
            return {key: float(np.mean(values)) for key, values in cells(search, asked, chunks)}


def cells(
    search: Search, asked: Sequence[Asked], chunks: Sequence[str]
) -> Iterator[tuple[str, list[float]]]:
    yield "sound", [worth(search, one, one.legs) for one in asked]
    yield "unguarded", [worth(search, one, one.legs, guard=False) for one in asked]
    lot = Random(8)
    for at, name in enumerate(search.profile.search.legs):
        yield name, [alone(one.legs[at], one.grades) for one in asked]
        lots, others = [], []
        for place, one in enumerate(asked):
            for _ in range(DRAWS):
                noise = by_lot(one.legs[at], chunks, lot)
                lots.append(worth(search, one, _with(one.legs, at, noise)))
            stranger = asked[(place + len(asked) // 2) % len(asked)].legs[at]
            others.append(worth(search, one, _with(one.legs, at, stranger)))
        yield f"{name} by lot", lots
        yield f"{name} of another", others


def _with(legs: Sequence[Leg], at: int, leg: Leg) -> list[Leg]:
    return [*legs[:at], leg, *legs[at + 1 :]]


def row(name: str, found: Mapping[str, float], legs: Sequence[str]) -> str:
    cost = found["sound"] - found["unguarded"]
    shown = [f"{found['sound']:.3f} ({cost:+.3f})"]
    for leg in legs:
        best = max(found[other] for other in legs if other != leg)
        for kind in ("by lot", "of another"):
            value = found[f"{leg} {kind}"]
            shown.append(f"{value:.3f} ({value - best:+.3f})")
    return f"| {name} | {' | '.join(shown)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--readme", type=Path, default=ROOT / "bench" / "README.md")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--half", choices=["even", "odd", "both"], default="both")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    profile = load_profile("default")
    legs = profile.search.legs
    heads = [f"{leg} {kind}" for leg in legs for kind in ("by lot", "of another")]
    lines = [f"| | sound (guard) | {' | '.join(heads)} |", "|---|" + "---|" * (len(heads) + 1)]
    for name in arguments.sets:
        lines.append(row(name, measured(arguments.data, name, arguments.half, profile), legs))
        print(lines[-1], file=sys.stderr, flush=True)
    if not arguments.write:
        return
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    block = "\n".join([BEGIN, f"Measured at commit {commit.strip()}.", "", *lines, END])
    page = arguments.readme.read_text(encoding="utf-8")
    marks = re.compile(f"{BEGIN}.*{END}", re.DOTALL)
    if not marks.search(page):
        raise SystemExit(f"the page has no marks {BEGIN} and {END}; put them back")
    arguments.readme.write_text(marks.sub(lambda _: block, page), encoding="utf-8")


if __name__ == "__main__":
    main()
