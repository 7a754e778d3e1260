"""Facts at size: importing quads in bounded memory, and filtered search over them.

    python bench/facts.py [QUADS ...]        # 100,000 and 1,000,000 by default

Each size is imported in a process of its own, without embedding, so that the highest memory is that
of this import alone. A fifth of the quads are string literals; the rest links, types and numbers.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trivium
from trivium.types import Filter

EX = "https://example.org/"
WORDS = [
    "salt",
    "hedge",
    "moon",
    "glass",
    "bridge",
    "lantern",
    "tower",
    "river",
    "frost",
    "ember",
    "archive",
    "oath",
]
ROUNDS = 30


def write(path: Path, quads: int) -> None:
    """Subjects of five statements each: a type, a label, a link and two numbers."""
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    number = "<http://www.w3.org/2001/XMLSchema#integer>"
    with path.open("w", encoding="utf-8") as file:
        for n in range(quads // 5):
            one, graph = f"<{EX}s{n}>", f"<{EX}g{n % 7}>"
            said = f"{WORDS[n % 12]} {WORDS[n // 12 % 12]} {WORDS[n // 144 % 12]} number {n}"
            file.write(f"{one} {kind} <{EX}T{n % 50}> {graph} .\n")
            file.write(f'{one} {label} "{said}" {graph} .\n')
            file.write(f"{one} <{EX}next> <{EX}s{(n + 1) % (quads // 5)}> {graph} .\n")
            file.write(f'{one} <{EX}age> "{n % 90}"^^{number} {graph} .\n')
            file.write(f'{one} <{EX}size> "{n}"^^{number} {graph} .\n')


def measure(quads: int, folder: Path) -> dict[str, float]:
    source = folder / "facts.nq"
    write(source, quads)
    with trivium.init(folder / "b.trivium", profile="worlds", model="none") as library:
        started = time.perf_counter()
        report = library.import_facts(source, embed=False)
        assert report.errors == (), report.errors
        imported = time.perf_counter() - started
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with trivium.open(folder / "b.trivium") as library:
        times = {
            "one subject": p50(library, Filter(subjects=(f"{EX}s7",))),
            "one type": p50(library, Filter(rdf_types=(f"{EX}T7",))),
            "one graph": p50(library, Filter(graphs=(f"{EX}g3",))),
            "no filter": p50(library, Filter()),
        }
        rare = library.search("number", filter=Filter(subjects=(f"{EX}s{quads // 10}",)))
        assert [hit.id for hit in rare] == [f"{EX}s{quads // 10}"]
    searching = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    size = (folder / "b.trivium" / "index.db").stat().st_size / 1e6
    return {
        "import_s": imported,
        "memory_mb": memory,
        "whole_mb": searching,
        "file_mb": source.stat().st_size / 1e6,
        "db_mb": size,
        **times,
    }


def p50(library: trivium.Library, filter: Filter) -> float:
    library.search("salt", filter=filter)
    taken = []
    for n in range(ROUNDS):
        started = time.perf_counter()
        library.search(f"{WORDS[n % 12]} {WORDS[n * 5 % 12]}", filter=filter)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(int(sys.argv[2]), Path(folder))))
        return
    sizes = [int(one.replace(",", "")) for one in sys.argv[1:]] or [100_000, 1_000_000]
    print(
        "| quads | file | import | quads/s | peak memory | one subject | one type | one graph "
        "| no filter |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for quads in sizes:
        run = subprocess.run(
            [sys.executable, __file__, "--child", str(quads)], capture_output=True, text=True
        )
        if run.returncode:
            sys.exit(run.stderr)
        m = json.loads(run.stdout)
        print(
            f"| {quads:,} | {m['file_mb']:.0f} MB | {m['import_s']:.0f} s | "
            f"{quads / m['import_s']:,.0f} | {m['memory_mb']:.0f} MB | {m['one subject']:.1f} ms | "
            f"{m['one type']:.1f} ms | {m['one graph']:.1f} ms | {m['no filter']:.1f} ms |"
        )


if __name__ == "__main__":
    main()
