"""SPARQL 1.1 queries, in a child process that can be stopped, over a cache that is never stale.

The cache is one pyoxigraph store for each grant, in a folder whose name is a hash of the library,
the grant and the statements visible through it: another state has another name.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trivium.errors import InvalidValue, LibraryError
from trivium.graph.rdf import engine, term_quad
from trivium.types import Quad

SECONDS = 10.0
ROWS = 1_000
MEMORY = 2 << 30
"""Bytes of address space that a query may take before it is stopped."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave: columns and rows of terms in N-Triples' writing; or a truth.

    `cut` says that there were more rows than asked for.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    truth: bool | None = None
    cut: bool = False


def fill(folder: Path, quads: Iterable[Quad]) -> None:
    """Make the cache at `folder`, unless it is there; what a killed one left is replaced."""
    if folder.exists():
        return
    ox = engine()
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".making-"))
    try:
        store = ox.Store(str(beside / "store"))
        store.bulk_extend(term_quad(quad) for quad in quads)
        store.flush()
        del store  # its lock goes with it
        os.rename(beside, folder)
        for old in folder.parent.glob(f"{folder.name.partition('-')[0]}-*"):
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        if not folder.exists():  # otherwise somebody else made the same at the same time
            raise LibraryError(f"{folder} cannot be written: {error.strerror}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def ask(
    folder: Path,
    query: str,
    prefixes: Mapping[str, str],
    seconds: float = SECONDS,
    rows: int = ROWS,
) -> Answer:
    """Run a query in a child process; it is killed when its time is over."""
    request: dict[str, Any] = {
        "store": str(folder / "store"),
        "query": query,
        "prefixes": dict(prefixes),
        "rows": rows,
        "memory": MEMORY,
        "seconds": seconds,
    }
    command = [sys.executable, "-m", "trivium.graph.worker"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        start_new_session=True,
    ) as child:
        try:
            out, _ = child.communicate(json.dumps(request).encode(), timeout=seconds + 2)
        except subprocess.TimeoutExpired:
            raise InvalidValue(
                f"the query was stopped after {seconds:g} seconds; make it narrower or raise "
                "--timeout"
            ) from None
        finally:
            child.kill()
    return _answer(out, seconds)


def _environment() -> dict[str, str]:
    """What Python needs to find this package, and no secrets."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _answer(out: bytes, seconds: float) -> Answer:
    try:
        data: dict[str, Any] = json.loads(out)
    except ValueError:
        raise InvalidValue(
            f"the query needed more than {seconds:g} seconds of computing or {MEMORY >> 30} GB of "
            "memory and was stopped; make it narrower, or use LIMIT in its inner part"
        ) from None
    if "error" in data:
        raise InvalidValue(data["error"])
    if data["truth"] is not None:
        return Answer(truth=bool(data["truth"]))
    return Answer(tuple(data["columns"]), tuple(map(tuple, data["rows"])), None, data["cut"])
