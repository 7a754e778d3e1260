"""How well passages fit the answers that people look for, beside chunks of a fixed size.

    python bench/chunks.py [--data ../shared/data/chunk-eval] [--write]

Five long texts and 472 questions, each with the exact spans of its answer. Everything is counted
in tokens of the model that searches (MiniLM), each text tokenised once, so that all ways to cut
are measured with one ruler:

    recall     answer tokens that the chunks hold / answer tokens
    precision  answer tokens that the chunks hold / tokens of the chunks, repeated ones included
    IoU        answer tokens that the chunks hold / (answer tokens + tokens of the chunks - held)

*Best chunk*: for each answer span the one chunk with the highest IoU; what cutting alone can do.
*Top 5*: the five chunks nearest to the question by the model, among those of all texts together.
*At recall .90*: the least number of chunks a question for which the mean recall reaches .90, and
what precision and IoU are then. A way to cut that needs less text for the same recall is better.

Vectors are kept in the user's cache folder, so the first run takes minutes and the next do not.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trivium.embed import embedder
from trivium.embed.minilm import MiniLM
from trivium.evaluate.remember import Remembered, RememberingEmbedder, cache_folder
from trivium.ingest.blocks import Extraction
from trivium.ingest.chunk import Chunking, chunk
from trivium.ingest.markdown import extract

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- chunks:begin -->", "<!-- chunks:end -->"
TOP = 5  # what the field reports
DEEPEST = 60  # chunks a question; whoever needs more has failed
ENOUGH = 0.90
BATCH = 500

Span = tuple[int, int]
Cut = Callable[["Text"], list[Span]]


@dataclass(frozen=True)
class Text:
    """A text with the places of its tokens."""

    name: str
    extraction: Extraction
    starts: list[int]
    ends: list[int]

    def tokens(self, span: Span) -> Span:
        """The tokens that a span of characters touches."""
        return bisect_right(self.ends, span[0]), bisect_left(self.starts, span[1])


@dataclass(frozen=True)
class Question:
    text: str
    source: str
    answers: list[Span]


@dataclass(frozen=True)
class Measured:
    recall: float
    precision: float
    iou: float


@dataclass(frozen=True)
class Row:
    name: str
    chunks: int
    mean_tokens: float
    best: Measured
    top: Measured
    depth: int | None
    enough: Measured | None


def read_texts(data: Path, model: MiniLM) -> dict[str, Text]:
    texts = {}
    for path in sorted((data / "corpora").glob("*.md")):
        extraction = extract(path.read_bytes(), path.name)
        if extraction.text != path.read_text(encoding="utf-8"):
            raise SystemExit(f"{path} is not extracted as it stands; its spans would not fit")
        encoding = model.tokenizer.encode(extraction.text, add_special_tokens=False)
        offsets = encoding.offsets
        starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
        texts[path.stem] = Text(path.stem, extraction, starts, ends)
    return texts


def read_questions(data: Path, texts: dict[str, Text]) -> list[Question]:
    with (data / "questions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Question(
            row["question"],
            row["corpus_id"],
            [
                texts[row["corpus_id"]].tokens((one["start_index"], one["end_index"]))
                for one in json.loads(row["references"])
            ],
        )
        for row in rows
    ]


def structure(chunking: Chunking, count: Callable[[str], int]) -> Cut:
    def cut(text: Text) -> list[Span]:
        return [(one.start, one.end) for one in chunk(text.extraction, chunking, count)]

    return cut


def fixed(size: int) -> Cut:
    def cut(text: Text) -> list[Span]:
        count = len(text.starts)
        firsts = range(0, count, size)
        return [(text.starts[first], text.ends[min(first + size, count) - 1]) for first in firsts]

    return cut


def shared(one: Span, other: Span) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def union(spans: Sequence[Span]) -> list[Span]:
    """The same tokens, none twice."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def fit(held: int, answer: int, retrieved: int) -> Measured:
    return Measured(
        held / answer, held / retrieved if retrieved else 0.0, held / (answer + retrieved - held)
    )


def mean(measured: Sequence[Measured]) -> Measured:
    rows = np.array([(one.recall, one.precision, one.iou) for one in measured])
    return Measured(*rows.mean(axis=0).tolist())


def best_chunk(answer: Span, chunks: Sequence[Span]) -> Measured:
    length = answer[1] - answer[0]
    fits = (fit(shared(answer, one), length, one[1] - one[0]) for one in chunks)
    return max(fits, key=lambda one: (one.iou, one.recall))


def retrieved(question: Question, found: Iterator[tuple[str, Span]], depth: int) -> list[Measured]:
    """The measures after 1, 2 … `depth` chunks."""
    answers = union(question.answers)
    length = sum(end - start for start, end in answers)
    total, mine = 0, []
    steps = []
    for (source, span), _ in zip(found, range(depth), strict=False):
        total += span[1] - span[0]
        if source == question.source:
            mine.append(span)
        held = sum(shared(answer, one) for answer in answers for one in union(mine))
        steps.append(fit(held, length, total))
    return steps


def measure(
    name: str,
    cut: Cut,
    texts: dict[str, Text],
    questions: list[Question],
    model: RememberingEmbedder,
) -> Row:
    spans = [(text, span) for text in texts.values() for span in cut(text)]
    pieces = [text.extraction.text[start:end] for text, (start, end) in spans]
    places = [(text.name, text.tokens(span)) for text, span in spans]
    by_text = {name: [span for source, span in places if source == name] for name in texts}
    best = [
        best_chunk(answer, by_text[question.source])
        for question in questions
        for answer in question.answers
    ]
    vectors = np.concatenate(
        [model.documents(pieces[at : at + BATCH]) for at in range(0, len(pieces), BATCH)]
    )
    steps = []
    for question in questions:
        order = np.argsort(-(vectors @ model.query(question.text)), kind="stable")
        steps.append(retrieved(question, (places[at] for at in order), DEEPEST))
    by_depth = [mean([one[depth] for one in steps]) for depth in range(DEEPEST)]
    depth = next((at for at, one in enumerate(by_depth) if one.recall >= ENOUGH), None)
    return Row(
        name,
        len(places),
        float(np.mean([end - start for _, (start, end) in places])),
        mean(best),
        by_depth[TOP - 1],
        None if depth is None else depth + 1,
        None if depth is None else by_depth[depth],
    )


def table(rows: list[Row]) -> str:
    lines = [
        "| cut | chunks | tokens | best chunk: recall | precision | IoU "
        "| top 5: recall | precision | IoU | chunks for recall .90 | precision | IoU |",
        "|---|" + "---|" * 11,
    ]
    for row in rows:
        cells = [row.name, f"{row.chunks:,}", f"{row.mean_tokens:.0f}", *_shown(row.best)]
        cells += _shown(row.top)
        cells += [str(row.depth), *_shown(row.enough)[1:]] if row.enough else ["> 60", "–", "–"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _shown(one: Measured) -> list[str]:
    return [f"{value:.3f}" for value in (one.recall, one.precision, one.iou)]


def write(text: str) -> None:
    readme = ROOT / "bench" / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how well chunks fit answers.")
    parser.add_argument("--data", type=Path, default=ROOT / "../shared/data/chunk-eval")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    parser.add_argument("--also", nargs="*", default=[], help="more sizes of ours, SIZE/OVERLAP")
    arguments = parser.parse_args()
    model = MiniLM()
    texts = read_texts(arguments.data, model)
    questions = read_questions(arguments.data, texts)
    cuts: dict[str, Cut] = {}
    chunkings = [Chunking(), *(Chunking(*map(int, one.split("/"))) for one in arguments.also)]
    for chunking in chunkings:
        name = f"ours {chunking.size}/{chunking.overlap}"
        cuts[name] = structure(chunking, model.count_tokens)
    for size in (200, 400, 800):
        cuts[f"fixed {size}"] = fixed(size)
    with Remembered(cache_folder() / "vectors.db") as kept:
        remembering = RememberingEmbedder(embedder("minilm"), kept)
        remembering.prepare(question.text for question in questions)
        rows = []
        for name, cut in cuts.items():
            rows.append(measure(name, cut, texts, questions, remembering))
            print(rows[-1], file=sys.stderr)
    answers = sum(len(question.answers) for question in questions)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    text = (
        f"{len(questions)} questions, {answers} answer spans, model minilm, commit {commit}.\n\n"
        + table(rows)
    )
    print(text)
    if arguments.write:
        write(text)


if __name__ == "__main__":
    main()
