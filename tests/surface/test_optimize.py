"""`trivium optimize` and `search --timing`: fewer pieces, the same answers, and where time went."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.store.sqlite import SqliteStore, derived
from trivium.types import OWNER, Bm25, Clause, Document, Draft, Filter, Passage, Phrase, WordQuery

Run = Callable[..., CompletedProcess[str]]


def pieces(folder: Path) -> int:
    manifest = json.loads((folder / "cache" / "manifest.json").read_text())
    return len(manifest["segments"]) + len(manifest["blocks"])


def library_with_pieces(folder: Path) -> None:
    with trivium.init(folder, model="hashing") as library:
        for number in range(60):
            library.add_text(f"the axe of hall {number}", title=f"Hall {number}", id=f"h{number}")
    with trivium.open(folder) as library:
        library.add_text("a hammer for the axe", title="Hammer", id="hammer")


def test_optimize_merges_the_pieces_and_changes_no_answer(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "t.trivium"
    library_with_pieces(folder)
    with trivium.open(folder) as library:
        before = [(hit.chunk.id, hit.score) for hit in library.search("axe hammer")]
    assert pieces(folder) > 2
    merged = run("optimize", "-L", str(folder))
    assert merged.returncode == 0
    assert "pieces" in merged.stderr
    assert pieces(folder) == 2
    again = run("optimize", "-L", str(folder))
    assert (again.returncode, again.stderr.strip()) == (0, "nothing to merge")
    with trivium.open(folder) as library:
        assert [(hit.chunk.id, hit.score) for hit in library.search("axe hammer")] == before
        assert library.doctor() == []


def test_what_is_put_on_the_disk_while_an_index_is_made_changes_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large library is indexed in pieces that go to the disk; here every piece is large."""
    folder = tmp_path / "t.trivium"
    library_with_pieces(folder)
    with trivium.open(folder) as library:
        before = [(hit.chunk.id, hit.score) for hit in library.search("axe hammer", limit=50)]
    shutil.rmtree(folder / "cache")
    monkeypatch.setattr(derived, "BATCH", 7)
    monkeypatch.setattr(derived, "KEPT", 1)
    with trivium.open(folder) as library:
        assert [
            (hit.chunk.id, hit.score) for hit in library.search("axe hammer", limit=50)
        ] == before
        assert len(list((folder / "cache").glob("words-*"))) == 9  # 61 chunks, 7 at a time
        library.add_text("an axe that came later", title="Late", id="late")
    manifest = json.loads((folder / "cache" / "manifest.json").read_text())
    left = {path.name for path in (folder / "cache").glob("*.arrays*")}
    assert left == {*manifest["segments"], *manifest["blocks"], manifest["alive"]}
    with trivium.open(folder) as library:
        library.remove("late")
        assert [
            (hit.chunk.id, hit.score) for hit in library.search("axe hammer", limit=50)
        ] == before
        assert library.doctor() == []


def test_a_document_is_counted_once_however_much_is_indexed_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(derived, "BATCH", 50)
    store = SqliteStore(tmp_path, create=True)
    drafts = [
        Draft(Document(f"hall-{n:03}", f"halls:{n}", "Hall"), (Passage("an axe"),) * 7, ("",) * 7)
        for n in range(100)
    ]
    store.put(drafts, datetime(2026, 1, 1, tzinfo=UTC))
    query = WordQuery.any_of([Clause((Phrase(("ax",)),))])
    with store.view(OWNER) as view:
        assert view.words(query, Bm25(), Filter(), 1_000, "document").matched == 100
    store.close()


def test_timing_says_what_each_stage_took(tmp_path: Path, run: Run) -> None:
    folder = tmp_path / "t.trivium"
    library_with_pieces(folder)
    printed = run("search", "-L", str(folder), "axe", "--timing", "--json")
    assert json.loads(printed.stdout)["query"] == "axe"
    for word in ("retrieve", "rank", "judge", "show", "keyword", "vector", "trigram"):
        assert word in printed.stderr
