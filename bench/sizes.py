"""Latency against size: libraries from 1,000 chunks on, each in a process of its own.

    python bench/sizes.py [--sizes 1000 10000 100000 1000000] [--write]

`--write` puts the table into README.md and the plot into sizes.svg. `--vocabulary` measures instead
how long it takes to find what an unknown word may stand for among 500,000 words.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from latency import README, World, build, commit, measure, write
from trivium.index.building import Row
from trivium.index.building import build as build_segment
from trivium.index.snapshot import LivingSegment, Seen, Snapshot
from trivium.index.spelling import similar, starting
from trivium.types import OWNER, Document

PLOT = README.parent / "sizes.svg"
LINES = {"hybrid (all three)": "#b3372f", "keyword": "#b58900", "vector": "#268bd2"}
WIDTH, HEIGHT, MARGIN = 640, 360, 56
VOCABULARY = 500_000


def one_size(chunks: int) -> dict[str, float]:
    """p50 of each road at this size, and how long the library took to build."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(chunks)
        built = build(Path(folder), world)
        rows = measure(Path(folder), world)
    found = {str(row["name"]): float(str(row["p50_ms"])) for row in rows}
    return {"chunks": chunks, "build_s": built["build_s"], **found}


def plot(rows: list[dict[str, float]]) -> str:
    """Milliseconds against chunks, both axes by powers of ten."""
    sizes = [row["chunks"] for row in rows]
    times = [row[name] for row in rows for name in LINES]
    left, right = math.log10(min(sizes)), math.log10(max(sizes)) or 1.0
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def place(chunks: float, ms: float) -> tuple[float, float]:
        across = (math.log10(chunks) - left) / ((right - left) or 1.0)
        up = (math.log10(ms) - low) / ((high - low) or 1)
        inner = WIDTH - 2 * MARGIN
        return MARGIN + across * inner, HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="24">Median of a search in ms, by chunks</text>',
    ]
    for power in range(low, high + 1):
        x, y = place(min(sizes), 10**power)
        drawn.append(f'<path d="M{x:.0f} {y:.0f}H{WIDTH - MARGIN}" stroke="#ddd"/>')
        drawn.append(
            f'<text x="{x - 6:.0f}" y="{y + 4:.0f}" text-anchor="end">{10**power:g}</text>'
        )
    for size in sizes:
        x, _ = place(size, 10**low)
        y = HEIGHT - MARGIN + 18
        drawn.append(f'<text x="{x:.0f}" y="{y}" text-anchor="middle">{size:,.0f}</text>')
    for line, (name, colour) in enumerate(LINES.items()):
        points = " ".join("{:.1f},{:.1f}".format(*place(r["chunks"], r[name])) for r in rows)
        drawn.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        y = 44 + 16 * line
        drawn.append(f'<text x="{MARGIN + 12}" y="{y}" fill="{colour}">{name}</text>')
    return "\n".join([*drawn, "</svg>", ""])


def table(rows: list[dict[str, float]]) -> str:
    names = [name for name in rows[0] if name not in ("chunks", "build_s")]
    head = f"| chunks | build s | {' | '.join(f'{name}, p50 ms' for name in names)} |"
    lines = [f"Commit {commit()}.", "", head, "|---" * (len(names) + 2) + "|"]
    for row in rows:
        cells = " | ".join(f"{row[name]:,.1f}" for name in names)
        lines.append(f"| {row['chunks']:,.0f} | {row['build_s']:,.1f} | {cells} |")
    return "\n".join(lines)


def vocabulary() -> dict[str, float]:
    """Look-alikes and completions of words that are not there, in a vocabulary of 500,000."""
    chance = np.random.default_rng(1)
    letters = chance.integers(97, 123, (VOCABULARY, 12)).astype(np.uint8)
    lengths = chance.integers(4, 12, VOCABULARY)
    words = [bytes(row[:n]).decode() for row, n in zip(letters, lengths, strict=True)]
    rows = [
        Row(n, 1, 0, Document(f"d{n:04}", f"bench:{n}", ""), ("", "", "", text, "", ""))
        for n, text in enumerate(" ".join(words[i::500]) for i in range(500))
    ]
    segment = build_segment(rows)
    living = LivingSegment(segment, np.ones(len(segment), bool))
    parts = Seen.through(Snapshot(1, segments=(living,)), OWNER).parts
    times = []
    for word in (word[:2] + word[3:] for word in words[:: VOCABULARY // 200] if len(word) > 5):
        moment = time.perf_counter()
        similar(parts, word, (int(len(word) * 2 / 3), int(len(word) * 1.5)), 100)
        starting(parts, word, 100)
        times.append((time.perf_counter() - moment) * 1000)
    return {
        "words": float(len(segment.surfaces)),
        "p50_ms": float(np.percentile(times, 50)),
        "p95_ms": float(np.percentile(times, 95)),
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000]
    )
    options.add_argument("--one", type=int)
    options.add_argument("--vocabulary", action="store_true")
    options.add_argument("--write", action="store_true")
    asked = options.parse_args()
    if asked.vocabulary or asked.one:
        print(json.dumps(vocabulary() if asked.vocabulary else one_size(asked.one)))
        return
    rows = []
    for size in asked.sizes:
        command = [sys.executable, __file__, "--one", str(size)]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        rows.append(json.loads(ended.stdout.splitlines()[-1]))
        print(rows[-1], file=sys.stderr)
    print(table(rows))
    if asked.write:
        write("sizes", table(rows))
        PLOT.write_text(plot(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
