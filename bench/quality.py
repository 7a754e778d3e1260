"""Quality on every shared collection: runs the evaluation and writes its table.

    python bench/quality.py [--data ../shared/data] [--readme bench/README.md] [--html FOLDER]

The table goes between the marks in `bench/README.md`, with the commit it was measured at; what
else stands there is left alone. Vectors and libraries are kept in the user's cache folder, so the
first run takes minutes and the next ones do not.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from trivium.evaluate import Evaluation, Options, Row, evaluate_folder
from trivium.evaluate.intervals import Bootstrap
from trivium.evaluate.page import write_page
from trivium.processors import processors

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- quality:begin -->", "<!-- quality:end -->"
UNTIMED = 5  # as few as tell that a profile does what its stages say
TUNED_ON = {"train"}  # what the weights were chosen on says nothing about others
SHOWN = ("ndcg@10", "recall@100")
BASELINES = {  # the table in the collections' README: nDCG@10 (gain 2^grade − 1) and recall@100
    ("scifact", "fts5"): (0.690, 0.923),
    ("scifact", "vector"): (0.649, 0.928),
    ("scifact", "rrf60 plain"): (0.720, 0.952),
    ("cranfield", "fts5"): (0.549, 0.754),
    ("cranfield", "vector"): (0.508, 0.795),
    ("cranfield", "rrf60 plain"): (0.569, 0.804),
}
CLOSE = 0.005


def folders(data: Path) -> list[Path]:
    """Every BEIR folder, those with most to do first."""
    return sorted(
        (corpus.parent for corpus in data.glob("*/corpus.jsonl")),
        key=lambda folder: -sum(path.stat().st_size for path in folder.glob("*.jsonl")),
    )


def measured(folder: Path) -> list[Evaluation]:
    """All sets of queries of a folder."""
    found = []
    for queries in sorted(folder.glob("queries*.jsonl")):
        if queries.stem.partition("_")[2] in TUNED_ON:
            continue
        started = time.perf_counter()
        # times mean nothing while another process runs; bench/latency.py takes them
        one = evaluate_folder(folder, queries=queries.stem, options=Options(timed=UNTIMED))
        took = time.perf_counter() - started
        print(f"{one.set}: {len(one.queries)} queries, {took:.0f} s", file=sys.stderr)
        found.append(one)
    return found


def table(found: list[Evaluation], measure: str) -> list[str]:
    """A row for each way to answer, a column for each set; the best of a set is bold."""
    names = list(dict.fromkeys(row.name for one in found for row in one.rows))
    lines = [
        f"| {measure} | " + " | ".join(one.set for one in found) + " |",
        "|---|" + "---:|" * len(found),
    ]
    for name in names:
        cells = [_cell(one, name, measure) for one in found]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _cell(evaluation: Evaluation, name: str, measure: str) -> str:
    values = {row.name: row.mean(measure) for row in evaluation.rows}
    if name not in values:
        return "–"
    text = _number(values[name])
    return f"**{text}**" if values[name] == max(values.values()) else text


def comparison(found: list[Evaluation]) -> list[str]:
    """`default` beside what it is made of, and beside the hybrid anybody writes."""
    lines = [
        "| nDCG@10 of default | beside keyword | beside vector | beside rrf60 plain |",
        "|---|---:|---:|---:|",
    ]
    for one in found:
        best = one.row("default")
        cells = [_gap(one, best, other) for other in ("keyword", "vector", "rrf60 plain")]
        lines.append(f"| {one.set} | " + " | ".join(cells) + " |")
    return lines


def _gap(evaluation: Evaluation, best: Row, other: str) -> str:
    values = evaluation.row(other).scores["ndcg@10"]
    gap = Bootstrap(len(evaluation.queries)).difference(best.scores["ndcg@10"], values)
    text = f"{gap.mean:+.3f} ({gap.low:+.3f} … {gap.high:+.3f})"
    return text if gap.certain else f"*{text}*"


def baselines(found: list[Evaluation]) -> list[str]:
    """What the collections' README publishes, and what is measured here."""
    lines = [
        "| plain parts | published | measured | within .005 |",
        "|---|---|---|---|",
    ]
    for one in found:
        for row in one.rows:
            if (one.set, row.name) not in BASELINES:
                continue
            published = BASELINES[one.set, row.name]
            here = row.mean("ndcg_exp@10"), row.mean("recall@100")
            close = all(abs(a - b) <= CLOSE for a, b in zip(published, here, strict=True))
            lines.append(
                f"| {one.set}, {row.name} | {_pair(published)} | {_pair(here)} | "
                f"{'yes' if close else 'no'} |"
            )
    return lines


def _pair(values: tuple[float, float]) -> str:
    return " / ".join(map(_number, values))


def _number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def commit() -> str:
    """The commit at hand; a plus says that something was changed since."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        changed = "+" if git("status", "--porcelain", "--", "src") else ""
        return f"`{git('rev-parse', '--short', 'HEAD')}{changed}`"
    except (OSError, subprocess.CalledProcessError):
        return "an unknown commit"


def section(found: list[Evaluation]) -> str:
    queries = sum(len(one.queries) for one in found)
    lines = [
        f"Measured at commit {commit()}: {len(found)} sets, {queries} queries, "
        f"model {found[0].model}, unit document. The best of each set is bold.",
    ]
    for measure in SHOWN:
        lines += ["", *table(found, measure)]
    lines += [
        "",
        "Differences with their 95 % intervals (paired bootstrap over the queries, fixed seed); "
        "those in italics may be chance.",
        "",
        *comparison(found),
        "",
        "The published baselines count 2^grade − 1 as gain, which matters for Cranfield only:",
        "",
        *baselines(found),
    ]
    return "\n".join(lines)


def replaced(text: str, new: str) -> str:
    """The page with what stands between the marks replaced."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the page has no marks {BEGIN} and {END}; put them back")
    return f"{head}{BEGIN}\n{new}\n{END}{tail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--readme", type=Path, default=ROOT / "bench" / "README.md")
    parser.add_argument("--html", type=Path, help="also write a page for each set into this folder")
    arguments = parser.parse_args()
    started = time.perf_counter()
    chosen = folders(arguments.data)
    if not chosen:
        raise SystemExit(f"{arguments.data} holds no BEIR folder; name another with --data")
    with ProcessPoolExecutor(processors(), get_context("spawn")) as pool:
        found = [one for several in pool.map(measured, chosen) for one in several]
    found.sort(key=lambda one: one.set)
    if arguments.html:
        arguments.html.mkdir(parents=True, exist_ok=True)
    for one in found if arguments.html else ():
        write_page(one, arguments.html / f"{one.set.replace('/', '-')}.html")
    page = arguments.readme.read_text(encoding="utf-8")
    arguments.readme.write_text(replaced(page, section(found)), encoding="utf-8")
    took = time.perf_counter() - started
    print(f"wrote {arguments.readme} after {took:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
