"""Vectors in LanceDB: the record's own answers, kept in step, and never fewer than exist."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import worlds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_stores import apply, same_yardstick
from worlds import NOW, Operation

from trivium.protocols import Model
from trivium.store.reference import ReferenceStore
from trivium.store.sqlite import SqliteStore
from trivium.types import Document, Draft, Filter, Grant, Passage, Unit

pytest.importorskip("lancedb", reason="the extra 'lance' is not installed")

dataset = pytest.importorskip("trivium.store.lance.dataset")
neighbours = pytest.importorskip("trivium.store.lance.neighbours")

units: st.SearchStrategy[Unit] = st.sampled_from(["chunk", "document", "entity"])
QUERY = np.array([1.0, 0.5, 0.25], np.float32)


class TestAgainstTheReference:
    @given(
        history=st.lists(worlds.operations, min_size=1, max_size=5),
        filter=worlds.filters,
        grant=worlds.grants,
        unit=units,
        depth=st.sampled_from([1, 3, 50]),
        reopened=st.booleans(),
    )
    @settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=25)
    def test_after_any_history_the_same_are_nearest(
        self,
        history: list[Operation],
        filter: Filter,
        grant: Grant,
        unit: Unit,
        depth: int,
        reopened: bool,
    ) -> None:
        right = ReferenceStore()
        every = [f"doc{i}@{v}/{n}" for i in range(8) for v in (1, 2, 3) for n in range(3)]
        with tempfile.TemporaryDirectory() as folder:
            mine = SqliteStore(Path(folder), create=True, lance="")
            for step, operation in enumerate(history):
                for store in (right, mine):
                    apply(store, operation, step)
                with mine.view(grant) as view:  # keeps a dataset that the next step makes stale
                    view.nearest(QUERY, Filter(), 1, "chunk")
            if reopened:
                mine.close()
                mine = SqliteStore(Path(folder), lance="")
            with mine.view(grant) as view, right.view(grant) as oracle:
                near = view.nearest(QUERY, filter, depth, unit)
                right_near = oracle.nearest(QUERY, filter, depth, unit)
                assert near == right_near
                same_yardstick(near, right_near, every)
                for row, right_row in zip(view.vectors(every), oracle.vectors(every), strict=True):
                    assert row[row != 0].tolist() == right_row[right_row != 0].tolist()
            mine.close()


MODEL = Model("many", "many/1", 16, True)
COUNT = 3000


@pytest.fixture(scope="module")
def vectors() -> Any:
    drawn = np.random.default_rng(5).normal(size=(COUNT, MODEL.dimension))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, vectors: Any) -> Path:
    """3,000 chunks: every second one is hidden, every hundredth is of category rare."""
    folder = tmp_path_factory.mktemp("lance") / "many.trivium"
    folder.mkdir()
    store = SqliteStore(folder, create=True, lance="")
    store.use_model(MODEL)
    drafts = [
        Draft(
            Document(
                id=f"d{i:04}",
                uri=f"many:d{i:04}",
                title=f"d{i}",
                scope="all" if i % 2 else "secret",
                category="rare" if i % 100 == 1 else "common",
            ),
            (Passage("text"),),
            (f"h{i}",),
        )
        for i in range(COUNT)
    ]
    store.put(drafts, NOW)
    store.save_vectors(MODEL.fingerprint, [f"h{i}" for i in range(COUNT)], vectors)
    store.close()
    return folder


@pytest.fixture
def opened(filled: Path, tmp_path: Path) -> Iterator[SqliteStore]:
    folder = tmp_path / "copy.trivium"
    shutil.copytree(filled, folder)
    store = SqliteStore(folder, lance="")
    yield store
    store.close()


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index, and searches that use it, at a size that a test can build."""
    monkeypatch.setattr(dataset, "INDEXED_FROM", 2000)
    monkeypatch.setattr(neighbours, "FEW", 20)


def ids(found: Any) -> list[str]:
    return [chunk.partition("@")[0] for chunk, _ in found.scored]


@pytest.mark.usefixtures("small_limits")
class TestTheIndex:
    def test_finds_nearly_all_and_never_fewer_than_exist(
        self, opened: SqliteStore, vectors: Any
    ) -> None:
        hits = wanted = 0
        with opened.view(Grant()) as view:
            for query in vectors[:40] + 0.3 * vectors[100:140]:
                for filter in (Filter(), Filter(category=("rare",)), Filter(scope=("all",))):
                    allowed = [
                        i
                        for i in range(COUNT)
                        if (not filter.category or i % 100 == 1) and (not filter.scope or i % 2)
                    ]
                    cosines = vectors[allowed] @ (query / np.linalg.norm(query))
                    exact = [f"d{allowed[i]:04}" for i in np.argsort(-cosines)[:10]]
                    found = ids(view.nearest(query, filter, 10, "document"))
                    assert len(found) == 10
                    hits += len(set(found) & set(exact))
                    wanted += 10
        assert hits / wanted >= 0.98
        assert opened.status()["lance"]["index"].startswith("IVF")
        assert opened.status()["lance"]["recall"] >= 0.98

    def test_a_lower_grant_is_answered_as_if_the_hidden_were_not_there(
        self, opened: SqliteStore, vectors: Any
    ) -> None:
        with opened.view(Grant(frozenset({"all"}))) as view:
            before = [view.nearest(q, Filter(), 10, "chunk").scored for q in vectors[:10]]
        opened.remove([f"d{i:04}" for i in range(0, COUNT, 2)])
        with opened.view(Grant(frozenset({"all"}))) as view:
            assert before == [view.nearest(q, Filter(), 10, "chunk").scored for q in vectors[:10]]

    def test_it_does_not_grow_with_edits(
        self, opened: SqliteStore, vectors: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dataset, "EDITS_UNTIL_COMPACTED", 5)
        monkeypatch.setattr(dataset, "OLD", timedelta(milliseconds=1))
        place = Path(opened.status()["lance"]["place"])
        with opened.view(Grant()) as view:
            view.nearest(vectors[0], Filter(), 10, "chunk")
        before = len(list(place.rglob("*.*")))
        for round in range(20):
            opened.save_vectors(MODEL.fingerprint, ["h7"], vectors[[round]])
            with opened.view(Grant()) as view:
                nearest = ids(view.nearest(vectors[round], Filter(), 2, "chunk"))
                assert set(nearest) == {"d0007", f"d{round:04}"} or round == 7
        assert opened.status()["lance"]["edits"] == 0
        assert len(list(place.rglob("*.*"))) < before + 20


class TestWhatGoesWrong:
    def test_deleted_it_is_made_anew(self, opened: SqliteStore, vectors: Any) -> None:
        with opened.view(Grant()) as view:
            before = view.nearest(vectors[3], Filter(), 10, "chunk")
        folder = Path(opened.status()["lance"]["place"])
        opened.close()
        shutil.rmtree(folder)
        again = SqliteStore(folder.parent.parent, lance="")
        with again.view(Grant()) as view:
            assert view.nearest(vectors[3], Filter(), 10, "chunk") == before
        again.close()

    def test_damaged_it_is_made_anew_and_told(self, opened: SqliteStore, vectors: Any) -> None:
        with opened.view(Grant()) as view:
            before = view.nearest(vectors[3], Filter(), 10, "chunk")
        folder = Path(opened.status()["lance"]["place"])
        opened.close()
        for file in folder.rglob("*.lance"):
            if file.is_file():
                file.write_bytes(b"rubbish")
        again = SqliteStore(folder.parent.parent, lance="")
        with again.view(Grant()) as view:
            assert view.nearest(vectors[3], Filter(), 10, "chunk") == before
            assert any("LanceDB" in warning for warning in view.warnings)
        again.close()

    def test_of_another_copy_it_is_made_anew(self, opened: SqliteStore, vectors: Any) -> None:
        """A restored backup must not be searched by another day's vectors."""
        folder = Path(opened.status()["lance"]["place"]).parent.parent
        opened.flush()
        backup = (folder / "index.db").read_bytes()
        opened.save_vectors(MODEL.fingerprint, ["h7"], vectors[[8]])
        with opened.view(Grant()) as view:
            assert set(ids(view.nearest(vectors[8], Filter(), 2, "chunk"))) == {"d0007", "d0008"}
        opened.close()
        for name in ("index.db-wal", "index.db-shm"):
            (folder / name).unlink(missing_ok=True)
        (folder / "index.db").write_bytes(backup)
        again = SqliteStore(folder, lance="")
        again.save_vectors(MODEL.fingerprint, ["h9"], vectors[[9]])
        with again.view(Grant()) as view:
            assert ids(view.nearest(vectors[7], Filter(), 1, "chunk")) == ["d0007"]
        again.close()
