"""A cold start is mostly imports, so what a search does not need must not be loaded by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import trivium

UNNEEDED = (
    *("onnxruntime", "tokenizers", "pyoxigraph", "yaml", "markdown_it", "pypdfium2", "watchfiles"),
    *("fastapi", "uvicorn", "mcp", "psycopg", "lancedb", "fsspec"),
    *("asyncio", "concurrent.futures", "http.client", "logging", "multiprocessing", "rich"),
    *("numpy.random", "numpy.ma"),
    *("trivium.ingest", "trivium.embed.http", "trivium.endpoint", "trivium.chat"),
    *("trivium.settings", "trivium.configuration", "trivium.context", "trivium.answering"),
    *("trivium.evaluate", "trivium.federation", "trivium.store.omnidata", "trivium.store.postgres"),
)
FACTS = """@prefix : <http://example.org/> .
:varn <http://www.w3.org/2000/01/rdf-schema#label> "Ysolde Varn" ; :says "The lamps went out." .
"""
PROGRAM = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
sys.argv[0] = "trivium"
from trivium.cli import main
main()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cold")
    (folder / "lamps.md").write_text("# Lamps\n\nYsolde Varn lit the lamps.\n", encoding="utf-8")
    (folder / "facts.ttl").write_text(FACTS, encoding="utf-8")
    with trivium.init(folder / "cold.trivium") as library:
        library.add(folder, embed=False)
    return folder / "cold.trivium"


@pytest.mark.parametrize("shape", ["json", "table"])
def test_a_search_by_words_loads_nothing_else(library: Path, shape: str) -> None:
    words = ["search", "-L", str(library), "--leg", "keyword", "Ysolde Varn lamps"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words, *(["--json"] if shape == "json" else [])],
        capture_output=True,
        text=True,
        check=True,
    )
    if shape == "json":
        kinds = {hit["kind"] for hit in json.loads(done.stdout)["hits"]}
        assert kinds == {"note", "facts"}  # labels of facts were looked up, too
    loaded = set(done.stderr.split())
    assert "trivium.pipeline" in loaded
    assert sorted(name for name in UNNEEDED if name in loaded) == []
