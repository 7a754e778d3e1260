"""How fast notes become searchable: extract, chunk, store, embed, and whether it stays so.

    python bench/ingest.py [--sizes 1000 10000 100000] [--embed 200] [--write]

Notes of about 1.5 KB are generated from the words of a fixed vocabulary, each with a title, two
headings, paragraphs and a list; no two are alike. `words searchable` is the whole of `library.add`
without embedding, from reading the files to the commit, and the first search after it. `extract`,
`chunk` and `store` are the same work taken apart; `embed` is measured on fewer notes, because it is
the same for each. Cost per document should not grow with the number of documents.
"""

from __future__ import annotations

import argparse
import platform
import random
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import trivium
from trivium.config import IndexSettings
from trivium.embed import embedder
from trivium.embed.minilm import MiniLM
from trivium.ingest.chunk import Ruler
from trivium.ingest.draft import Given, of_extraction
from trivium.ingest.markdown import extract
from trivium.store.sqlite import SqliteStore

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- ingest:begin -->", "<!-- ingest:end -->"
FOLDER = 500  # files in a folder, as people have them
BATCH = 64
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def vocabulary(draw: random.Random) -> tuple[list[str], list[float]]:
    syllables = ["ba", "ren", "tor", "mi", "sel", "dun", "gar", "lo", "vek", "ash", "ir", "um"]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(20_000)]
    return words, [1 / rank for rank in range(1, len(words) + 1)]  # as words in a language are


def note(draw: random.Random, words: list[str], weights: list[float], number: int) -> str:
    drawn = iter(draw.choices(words, weights, k=210))

    def take(count: int) -> str:
        return " ".join(next(drawn) for _ in range(count))

    paragraphs = [f"{take(24)}. {take(24)}." for _ in range(3)]
    items = "\n".join(f"- {take(6)}" for _ in range(5))
    first, second, third = paragraphs
    head = f"---\ntags: [{take(1)}, {take(1)}]\n---\n# {take(3)} {number}\n\n"
    return f"{head}{first}\n\n## {take(2)}\n\n{second}\n\n## {take(2)}\n\n{items}\n\n{third}\n"


def write_notes(folder: Path, count: int) -> int:
    draw = random.Random(count)
    words, weights = vocabulary(draw)
    total = 0
    for number in range(count):
        place = folder / f"{number // FOLDER:04}"
        if number % FOLDER == 0:
            place.mkdir(parents=True)
        total += (place / f"note {number:06}.md").write_text(note(draw, words, weights, number))
    return total


class Clock:
    """Seconds since it was made: on the wall, and of the processor, which others do not slow."""

    def __init__(self) -> None:
        self._started = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        wall, processor = self._started
        return time.perf_counter() - wall, time.process_time() - processor


def searchable(folder: Path, notes: Path, count: int) -> dict[str, tuple[float, float]]:
    """What it takes to add, to the first answer, and for an `add` that finds nothing new."""
    with trivium.init(folder, model="none") as library:
        clock = Clock()
        report = library.add(notes)
        added = clock.read()
        assert len(report.added) == count, report.errors[:3]
        clock = Clock()
        assert library.search("note").total >= 0
        first = clock.read()
    with trivium.open(folder) as library:
        clock = Clock()
        assert len(library.add(notes).unchanged) == count
        again = clock.read()
    return {"added": added, "first": first, "again": again}


def taken_apart(folder: Path, notes: Path, ruler: Ruler) -> dict[str, float]:
    """Seconds of each part, one after the other."""
    settings = IndexSettings(model="none")
    files = sorted(notes.rglob("*.md"))
    started = time.perf_counter()
    read = [(file, file.read_bytes()) for file in files]
    extracted = [extract(data, file.name) for file, data in read]
    times = {"extract": time.perf_counter() - started}
    started = time.perf_counter()
    drafts = [
        of_extraction(found, file, f"notes:{file}", data, Given(), settings, ruler)
        for found, (file, data) in zip(extracted, read, strict=True)
    ]
    times["chunk"] = time.perf_counter() - started
    store = SqliteStore(folder, create=True)
    started = time.perf_counter()
    for at in range(0, len(drafts), BATCH):
        store.put(drafts[at : at + BATCH], NOW)
    times["store"] = time.perf_counter() - started
    store.close()
    return times


def embedding(folder: Path, notes: Path, count: int) -> float:
    """Seconds for the meaning of so many notes."""
    with trivium.init(folder, model="minilm") as library:
        for file in sorted(notes.rglob("*.md"))[:count]:
            library.add(file, embed=False, force=True)
        started = time.perf_counter()
        library.embed()
        return time.perf_counter() - started


def _row(size: int, took: dict[str, tuple[float, float]]) -> str:
    def each(part: str) -> str:
        return " | ".join(f"{1000 * seconds / size:.2f}" for seconds in took[part])

    added, first = took["added"][0], took["first"][0]
    return f"| {size:,} | {added:.2f} | {each('added')} | {first:.2f} | {each('again')} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how fast notes become searchable.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--embed", type=int, default=200, help="notes to embed, 0 for none")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    arguments = parser.parse_args()
    model = embedder("minilm")
    assert isinstance(model, MiniLM)
    ruler = Ruler(model.name, model.count_tokens)
    lines = [
        "| notes | words searchable, s | ms a note | processor, ms a note "
        "| first search, s | nothing new, ms a note | processor, ms a note |",
        "|---|---|---|---|---|---|---|",
    ]
    parts: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for size in arguments.sizes:
            base = Path(scratch, str(size))
            notes = base / "notes"
            average = write_notes(notes, size) / size
            took = searchable(base / "x.trivium", notes, size)
            lines.append(_row(size, took))
            print(lines[-1], flush=True)
            if size == arguments.sizes[0]:
                (base / "parts").mkdir()
                parts = taken_apart(base / "parts", notes, ruler)
                parts = {name: 1000 * seconds / size for name, seconds in parts.items()}
                if arguments.embed:
                    seconds = embedding(base / "e.trivium", notes, arguments.embed)
                    parts["embed"] = 1000 * seconds / min(arguments.embed, size)
    lines += ["", "| part | ms a note |", "|---|---|"]
    lines += [f"| {name} | {milliseconds:.2f} |" for name, milliseconds in parts.items()]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    about = (
        f"Generated notes of {average:,.0f} bytes, {platform.machine()}, "
        f"Python {platform.python_version()}, commit {commit}."
    )
    text = about + "\n\n" + "\n".join(lines)
    print(text)
    if arguments.write:
        readme = ROOT / "bench" / "README.md"
        before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        readme.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
