"""Trivium beside its peers: the same texts, vectors and queries, one run, each in its own process.

    make .peers/.installed        # their environment: once
    python bench/peers.py [--chunks 100000] [--only NAME …] [--write]

A ratio is to LanceDB with its IVF and FTS indexes. Memory is the highest of building and searching,
less what the process had with texts and vectors loaded. `--write` puts the table into README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from latency import World, commit, write
from peer_systems import SYSTEMS

HERE = Path(__file__).parent
PEERS = HERE.parent / ".peers" / "bin" / "python"
QUERIES = 1_000  # each asked once; of fewer a hiccup of the machine would be the p95 of the best
YARDSTICK = "LanceDB, IVF and FTS indexes"
FIGURES = {
    "p50_ms": "p50 ms",
    "p95_ms": "p95 ms",
    "one_p50_ms": "p50, filter keeps 1 %",
    "half_p50_ms": "p50, filter keeps 50 %",
    "build_s": "build s",
    "memory_mb": "memory MB",
}


def prepared(folder: Path, chunks: int) -> None:
    """What every system is given."""
    world = World(chunks)
    (folder / "texts.json").write_text(json.dumps(world.texts(chunks)))
    np.save(folder / "vectors.npy", world.vectors(chunks))
    queries = world.queries(QUERIES)
    (folder / "queries.json").write_text(json.dumps(queries))
    np.save(folder / "query-vectors.npy", world.vectors(len(queries)))


def run(name: str, data: Path) -> dict[str, float] | None:
    """One system in a fresh process; None if it does not work here."""
    python = sys.executable if name.startswith("Trivium") else str(PEERS)
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(HERE / "peer_systems.py"), name, str(data), folder]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        print(f"{name}: {ended.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    row: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    print(name, {key: round(value, 2) for key, value in row.items()}, file=sys.stderr)
    return row


def table(chunks: int, rows: dict[str, dict[str, float] | None]) -> str:
    measured = rows.get(YARDSTICK)
    lines = [
        f"{chunks:,} chunks of about 90 words × 384 dimensions, {QUERIES:,} queries, commit "
        f"{commit()}; in brackets: times LanceDB with indexes.",
        "",
        f"| system | {' | '.join(FIGURES.values())} |",
        "|---" * (len(FIGURES) + 1) + "|",
    ]
    for name, row in rows.items():
        cells = (
            [_cell(row, measured, figure) for figure in FIGURES] if row else ["–"] * len(FIGURES)
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(row: dict[str, float], measured: dict[str, float] | None, figure: str) -> str:
    ratio = f" ({row[figure] / measured[figure]:.2f})" if measured else ""
    digits = 0 if figure == "memory_mb" else 1
    return f"{row[figure]:,.{digits}f}{ratio}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chunks", type=int, default=100_000)
    options.add_argument("--only", nargs="*", default=list(SYSTEMS))
    options.add_argument("--data", type=Path, help="keep what the systems are given here")
    options.add_argument("--write", action="store_true")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        data = asked.data or Path(temporary)
        if not (data / "query-vectors.npy").exists():
            data.mkdir(exist_ok=True)
            prepared(data, asked.chunks)
        rows = {name: run(name, data) for name in asked.only}
    text = table(asked.chunks, rows)
    print(text)
    if asked.write:
        write("peers", text)


if __name__ == "__main__":
    main()
