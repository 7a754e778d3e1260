"""Every store answers as the reference store does: after any history, for any filter and grant."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import worlds
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from worlds import NOW, Operation

from trivium.abilities import legs_of
from trivium.errors import ModelMismatch, UnknownDocument
from trivium.protocols import Found
from trivium.stemmer import stem
from trivium.store.reference import ReferenceStore
from trivium.store.sqlite import SqliteStore
from trivium.store.sqlite.connection import Connections
from trivium.store.sqlite.derived import DerivedIndex
from trivium.types import COLUMNS, Document, Draft, Filter, Grant, Judgement, Passage, Unit

Stores = Any
SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def fresh_sqlite(kind: type[SqliteStore] = SqliteStore) -> Iterator[Callable[[], SqliteStore]]:
    """A store and a way to open it again, as another process would."""
    with tempfile.TemporaryDirectory() as folder:
        opened = [kind(Path(folder), create=True)]

        def reopen() -> SqliteStore:
            opened[-1].close()
            opened.append(kind(Path(folder)))
            return opened[-1]

        yield reopen
        opened[-1].close()


class Helped(SqliteStore):
    """Beside it another process writes the index down: after each `put` and `save_vectors`."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        super().__init__(folder, create=create)
        self._others = Connections(folder / "index.db", writable=False)
        self._helper = DerivedIndex(folder / "cache", self.id, writable=True)

    def put(self, *what: Any, **how: Any) -> list[Document]:
        stored = super().put(*what, **how)
        self._help()
        return stored

    def save_vectors(self, *what: Any) -> None:
        super().save_vectors(*what)
        self._help()

    def _help(self) -> None:
        self._helper.keep_up(self._others.reader())
        self._derived.helped = True

    def close(self) -> None:
        self._others.close()
        super().close()


Fresh = Callable[[], AbstractContextManager[Callable[[], Stores]]]
"""A way to have an empty store for a while, and in it a way to open it again."""


def apply(store: Stores, operation: Operation, step: int) -> None:
    """Change a store; what cannot be done to it is left out, in every store alike."""
    now = NOW + timedelta(hours=step)
    argument = operation.argument
    known = store.find([f"doc{i}" for i in range(8)], Grant())
    match operation.name:
        case "put":
            store.put(argument, now)
        case "amend" if argument.id in known:
            chunks = store.chunks(argument.id)
            passages = tuple(Passage(chunk.text) for chunk in chunks)
            draft = worlds.with_hashes(Draft(argument, passages, ("",) * len(passages)))
            store.amend([draft], now)
        case "remove":
            store.remove([argument])
        case "activate" if argument[0] in known:
            if argument[1] in [one.version for one in store.versions(argument[0])]:
                store.activate(*argument, now)
        case "embed":
            store.use_model(argument)
            while records := store.pending(argument.fingerprint, 2):
                hashes = [record.chunk.embedding_hash for record in records]
                vectors = np.stack([worlds.vector_of(hash, argument) for hash in hashes])
                store.save_vectors(argument.fingerprint, hashes, vectors)
        case "save":
            store.flush()


units: st.SearchStrategy[Unit] = st.sampled_from(["chunk", "document", "entity"])


# --- what holds for every store ------------------------------------------------------------------

HISTORIES: dict[str, Any] = {
    "history": st.lists(worlds.operations, min_size=1, max_size=6),
    "filters": st.lists(worlds.filters, min_size=1, max_size=3),
    "grant": worlds.grants,
    "query": worlds.word_queries(),
    "bm25": worlds.bm25s,
    "unit": units,
    "depth": st.sampled_from([1, 3, 50]),
    "reopened": st.booleans(),
}


def every_answer_is_the_same(
    fresh: Fresh,
    history: list[Operation],
    filters: list[Filter],
    grant: Grant,
    query: Any,
    bm25: Any,
    unit: Unit,
    depth: int,
    reopened: bool,
) -> None:
    right = ReferenceStore()
    with fresh() as reopen:
        mine = reopen()
        for step, operation in enumerate(history):
            for store in (right, mine):
                apply(store, operation, step)
            with mine.view(grant):  # keeps a snapshot that the next step makes stale
                pass
        if reopened:
            mine = reopen()
        every = [f"doc{i}@{v}/{n}" for i in range(8) for v in (1, 2, 3) for n in range(3)]
        with mine.view(grant) as view, right.view(grant) as oracle:
            for row, right_row in zip(view.vectors(every), oracle.vectors(every), strict=True):
                assert row[row != 0].tolist() == right_row[right_row != 0].tolist()
            for filter in filters:
                found = view.words(query, bm25, filter, depth, unit)
                right_words = oracle.words(query, bm25, filter, depth, unit)
                same_found(found, right_words)
                vector = np.array([1.0, 0.5, 0.25], np.float32)
                near = view.nearest(vector, filter, depth, unit)
                right_near = oracle.nearest(vector, filter, depth, unit)
                assert near == right_near
                same_yardstick(found, right_words, every)
                same_yardstick(near, right_near, every)
                assert view.browse(filter, unit, depth) == oracle.browse(filter, unit, depth)
            for word in ("shortsword", "kin", "axe", "кот"):
                assert view.similar(word, (1, 20), depth) == oracle.similar(word, (1, 20), depth)
                assert view.starting(word, depth) == oracle.starting(word, depth)
            for name in ("scope", "category", "kind", "severity", "tags"):
                assert view.values(name) == oracle.values(name)
            assert view.frequency(["short", "sword"]) == oracle.frequency(["short", "sword"])
            terms = {stem(word) for word in worlds.WORDS}
            for columns in (("title", "body"), ("key",), COLUMNS):
                assert view.frequencies(terms, columns) == oracle.frequencies(terms, columns)
            ids = [id for id, _ in oracle.browse(Filter(), "chunk", 100).scored]
            assert view.likeness(vector, ids) == oracle.likeness(vector, ids)
            assert view.records(ids) == oracle.records(ids)
            assert view.units(ids, unit) == oracle.units(ids, unit)
        assert mine.check() == []


MOMENTS: dict[str, Any] = {
    "history": st.lists(worlds.operations, min_size=2, max_size=6),
    "step": st.integers(0, 6),
    "filter": worlds.filters,
    "grant": worlds.grants,
    "query": worlds.word_queries(),
    "bm25": worlds.bm25s,
}


def as_of_sees_what_was_active_then(
    fresh: Fresh,
    history: list[Operation],
    step: int,
    filter: Filter,
    grant: Grant,
    query: Any,
    bm25: Any,
) -> None:
    right = ReferenceStore()
    with fresh() as reopen:
        mine = reopen()
        for number, operation in enumerate(history):
            for store in (right, mine):
                apply(store, operation, number)
        then = NOW + timedelta(hours=step, minutes=30)
        with mine.view(grant, then) as view, right.view(grant, then) as oracle:
            for one in (Filter(), filter):
                same_found(
                    view.words(query, bm25, one, 50, "chunk"),
                    oracle.words(query, bm25, one, 50, "chunk"),
                )
                vector = np.array([1.0, 0.5, 0.25], np.float32)
                near = view.nearest(vector, one, 50, "chunk")
                assert near == oracle.nearest(vector, one, 50, "chunk")
                assert view.browse(one, "chunk", 50) == oracle.browse(one, "chunk", 50)
            assert view.values("scope") == oracle.values("scope")
            ids = [id for id, _ in oracle.browse(Filter(), "chunk", 100).scored]
            assert view.records(ids) == oracle.records(ids)
            assert view.documents(ids) == oracle.documents(ids)


_CHANGES = st.one_of(worlds.puts, worlds.amends, worlds.activations)
PASTS: dict[str, Any] = {
    "before": st.lists(_CHANGES, min_size=1, max_size=4),
    "after": st.lists(_CHANGES, min_size=1, max_size=3),
    "grant": worlds.grants,
    "query": worlds.word_queries(),
    "bm25": worlds.bm25s,
    "filter": worlds.filters,
    "unit": units,
}


def as_of_equals_a_library_that_never_saw_the_later_versions(
    fresh: Fresh,
    before: list[Operation],
    after: list[Operation],
    grant: Grant,
    query: Any,
    bm25: Any,
    filter: Filter,
    unit: Unit,
) -> None:
    embed = Operation("embed", worlds.MODELS[0])
    with fresh() as reopen, fresh() as reopen_ignorant:
        mine, ignorant = reopen(), reopen_ignorant()
        for step, operation in enumerate([*before, *after]):
            for store in (mine, ignorant) if step < len(before) else (mine,):
                apply(store, operation, step)
                apply(store, embed, step)
        today = mine.find([f"doc{i}" for i in range(8)], Grant()).values()
        ignorant.remove([one.id for one in today if not grant.allows(one.scope)])
        then = NOW + timedelta(hours=len(before) - 1, minutes=30)
        with mine.view(grant, then) as past, ignorant.view(grant) as present:
            assert _asked(past, query, bm25, filter, unit) == _asked(
                present, query, bm25, filter, unit
            )


ROLLBACKS: dict[str, Any] = {
    "first": st.lists(worlds.drafts(), min_size=1, max_size=3, unique_by=lambda d: d.document.id),
    "second": st.lists(worlds.drafts(), min_size=1, max_size=3),
    "query": worlds.word_queries(),
    "bm25": worlds.bm25s,
}


def rollback_gives_back_everything_and_embeds_nothing(
    fresh: Fresh, first: list[Draft], second: list[Draft], query: Any, bm25: Any
) -> None:
    first = [_named(draft, draft.document.id, "all") for draft in first]
    second = [_named(draft, draft.document.id, "all") for draft in second]
    with fresh() as reopen:
        store = reopen()
        store.put(first, NOW)
        apply(store, Operation("embed", worlds.MODELS[0]), 1)
        ids = [draft.document.id for draft in first]
        with store.view(Grant()) as view:
            asked = _asked(view, query, bm25, Filter(), "chunk")
        known = (store.find(ids, Grant()), [store.chunks(id) for id in ids])
        store.put(second, NOW + timedelta(hours=2))
        apply(store, Operation("embed", worlds.MODELS[0]), 3)
        others = {draft.document.id for draft in second} - set(ids)
        for number, id in enumerate(ids, start=4):
            store.activate(id, 1, NOW + timedelta(hours=number))
        store.remove(sorted(others))
        assert store.pending("first/1", 1) == []
        assert (store.find(ids, Grant()), [store.chunks(id) for id in ids]) == known
        with store.view(Grant()) as view:
            assert _asked(view, query, bm25, Filter(), "chunk") == asked
        assert store.check() == []


def _asked(view: Any, query: Any, bm25: Any, filter: Filter, unit: Unit) -> Any:
    """All that can be asked of a view."""
    ids = [id for id, _ in view.browse(Filter(), "chunk", 100).scored]
    return (
        view.words(query, bm25, filter, 5, unit),
        view.nearest(np.array([1.0, 0.5, 0.25], np.float32), filter, 5, unit),
        view.browse(filter, unit, 5),
        [view.similar(word, (1, 20), 5) for word in worlds.WORDS],
        [view.starting(word[:2], 5) for word in worlds.WORDS],
        view.frequency(["short", "sword"]),
        view.values("scope"),
        view.values("category"),
        view.records(ids),
        view.documents(ids),
        view.units(ids, unit),
        view.stamp,
    )


def same_yardstick(mine: Found, right: Found, chunks: list[str]) -> None:
    """Every chunk is measured alike, also those beyond the depth, filtered out or hidden."""
    assert mine.yardstick is not None
    assert right.yardstick is not None
    measured = mine.yardstick.score_of(chunks)
    assert measured == pytest.approx(right.yardstick.score_of(chunks), abs=1e-9)
    assert mine.yardstick.mean == pytest.approx(right.yardstick.mean, abs=1e-6)
    # Sums are kept in millionths: what that rounds is a difference of squares, not of deviations.
    variance = right.yardstick.deviation**2
    assert mine.yardstick.deviation**2 == pytest.approx(variance, abs=1e-4)
    for id, score in mine.scored:  # one measure for what was found and for what was not
        if id in chunks:
            assert mine.yardstick.score_of([id]) == [score]


def same_found(mine: Found, right: Found) -> None:
    """Equal, but for scores in the last digits and the order of what they tie."""
    assert (mine.complete, mine.matched) == (right.complete, right.matched)
    assert mine.ceiling == pytest.approx(right.ceiling, abs=1e-9)
    assert [s for _, s in mine.scored] == pytest.approx([s for _, s in right.scored], abs=1e-9)
    scores = dict(right.scored)
    lowest = min(scores.values(), default=0.0)
    for id, score in mine.scored:
        assert score == pytest.approx(scores.get(id, lowest), abs=1e-9)


SECRETS: dict[str, Any] = {
    "visible": st.lists(worlds.drafts(), min_size=1, max_size=4),
    "hidden": st.lists(worlds.drafts(), min_size=1, max_size=4),
    "query": worlds.word_queries(),
    "bm25": worlds.bm25s,
    "filter": worlds.filters,
    "unit": units,
}


def hidden_documents_change_no_byte(
    fresh: Fresh,
    visible: list[Draft],
    hidden: list[Draft],
    query: Any,
    bm25: Any,
    filter: Filter,
    unit: Unit,
) -> None:
    open_ones = [_named(d, f"open{i}", "all") for i, d in enumerate(visible)]
    secrets = [_named(d, f"hidden{i}", "dm-only") for i, d in enumerate(hidden)]
    answers = []
    for batches in ([open_ones], [open_ones, secrets]):
        with fresh() as reopen:
            store = reopen()
            for batch in batches:
                store.put(batch, NOW)
            apply(store, Operation("embed", worlds.MODELS[0]), 1)
            answers.append(_everything(reopen(), query, bm25, filter, unit))
    assert answers[0] == answers[1]


def _named(draft: Draft, id: str, scope: str) -> Draft:
    document = replace(draft.document, id=id, uri=f"march:{id}", scope=scope)
    return worlds.with_hashes(replace(draft, document=document))


def _everything(store: Stores, query: Any, bm25: Any, filter: Filter, unit: Unit) -> Any:
    """All that a reader with the public grant can ask of a view."""
    grant = Grant(frozenset())
    with store.view(grant) as view:
        vector = np.array([1.0, 0.5, 0.25], np.float32)
        return (
            view.words(query, bm25, filter, 5, unit),
            view.nearest(vector, filter, 5, unit),
            [row[row != 0].tolist() for row in view.vectors(["hidden0@1/0", "open0@1/0"])],
            [
                (found.yardstick.score_of(["hidden0@1/0", "open0@1/0"]), found.yardstick.mean)
                for found in (view.words(query, bm25, filter, 5, unit),)
                if found.yardstick
            ],
            view.browse(filter, unit, 5),
            [view.similar(word, (1, 20), 5) for word in worlds.WORDS],
            [view.starting(word[:2], 5) for word in worlds.WORDS],
            view.frequency(["short", "sword"]),
            view.frequencies({stem(word) for word in worlds.WORDS}, COLUMNS),
            view.likeness(vector, ["hidden0@1/0", "open0@1/0"]),
            view.values("scope"),
            view.values("category"),
            view.records(["hidden0@1/0", "open0@1/0"]),
            store.find(["hidden0", "open0", "march:hidden0", "hidden0@1/0"], grant).keys(),
            [document.id for document in store.documents(Filter(), grant)],
        )


# --- each store ----------------------------------------------------------------------------------


class TestSqlite:
    @given(**HISTORIES)
    @settings(SLOW, max_examples=120)
    def test_after_any_history_every_answer_is_the_same(self, **asked: Any) -> None:
        every_answer_is_the_same(fresh_sqlite, **asked)

    @given(**HISTORIES)
    @settings(SLOW, max_examples=60)
    def test_what_another_process_writes_down_changes_no_answer(self, **asked: Any) -> None:
        every_answer_is_the_same(lambda: fresh_sqlite(Helped), **asked)

    @given(**MOMENTS)
    @settings(SLOW, max_examples=50)
    def test_as_of_sees_what_was_active_then(self, **asked: Any) -> None:
        as_of_sees_what_was_active_then(fresh_sqlite, **asked)

    @given(**PASTS)
    @settings(SLOW, max_examples=50)
    def test_as_of_equals_a_library_that_never_saw_what_came_later(self, **asked: Any) -> None:
        as_of_equals_a_library_that_never_saw_the_later_versions(fresh_sqlite, **asked)

    @given(**ROLLBACKS)
    @settings(SLOW, max_examples=25)
    def test_rollback_gives_back_everything_and_embeds_nothing(self, **asked: Any) -> None:
        rollback_gives_back_everything_and_embeds_nothing(fresh_sqlite, **asked)

    @given(**SECRETS)
    @settings(SLOW, max_examples=60)
    def test_hidden_documents_change_no_byte_of_a_lower_grants_answer(self, **asked: Any) -> None:
        hidden_documents_change_no_byte(fresh_sqlite, **asked)


class TestPostgres:
    """Exact as well: so few vectors are compared one by one. For many see `test_nearest.py`."""

    @given(**HISTORIES)
    @settings(SLOW, max_examples=20)
    def test_after_any_history_every_answer_is_the_same(
        self, fresh_postgres: Fresh, **asked: Any
    ) -> None:
        every_answer_is_the_same(fresh_postgres, **asked)

    @given(**MOMENTS)
    @settings(SLOW, max_examples=8)
    def test_as_of_sees_what_was_active_then(self, fresh_postgres: Fresh, **asked: Any) -> None:
        as_of_sees_what_was_active_then(fresh_postgres, **asked)

    @given(**PASTS)
    @settings(SLOW, max_examples=6)
    def test_as_of_equals_a_library_that_never_saw_what_came_later(
        self, fresh_postgres: Fresh, **asked: Any
    ) -> None:
        as_of_equals_a_library_that_never_saw_the_later_versions(fresh_postgres, **asked)

    @given(**ROLLBACKS)
    @settings(SLOW, max_examples=8)
    def test_rollback_gives_back_everything_and_embeds_nothing(
        self, fresh_postgres: Fresh, **asked: Any
    ) -> None:
        rollback_gives_back_everything_and_embeds_nothing(fresh_postgres, **asked)

    @given(**SECRETS)
    @settings(SLOW, max_examples=8)
    def test_hidden_documents_change_no_byte_of_a_lower_grants_answer(
        self, fresh_postgres: Fresh, **asked: Any
    ) -> None:
        hidden_documents_change_no_byte(fresh_postgres, **asked)


@pytest.fixture(params=["reference", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> Iterator[Stores]:
    if request.param == "reference":
        yield ReferenceStore()
        return
    fresh: Fresh = fresh_sqlite
    if request.param == "postgres":
        fresh = request.getfixturevalue("fresh_postgres")
    with fresh() as reopen:
        yield reopen()


class TestEachStore:
    def test_serves_all_three_legs(self, store: Stores) -> None:
        with store.view(Grant()) as view:
            assert legs_of(view) == ("keyword", "vector", "trigram")

    def test_refuses_what_does_not_exist_or_fit(self, store: Stores) -> None:
        with pytest.raises(UnknownDocument, match="no document 'nobody'"):
            store.activate("nobody", 1, NOW)
        store.use_model(worlds.MODELS[0])
        with pytest.raises(ModelMismatch, match="2 dimensions, the model 3"):
            store.save_vectors("first/1", ["h"], np.ones((1, 2), np.float32))

    def test_a_query_of_the_wrong_dimension_is_refused(self, store: Stores) -> None:
        draft = worlds.with_hashes(Draft(_document("a"), (Passage("axe"),), ("",)))
        store.put([draft], NOW)
        apply(store, Operation("embed", worlds.MODELS[0]), 1)
        with store.view(Grant()) as view, pytest.raises(ModelMismatch, match="2 dimensions"):
            view.nearest(np.ones(2, np.float32), Filter(), 5, "chunk")

    def test_counts_judgements_of_what_exists_within_the_grant(self, store: Stores) -> None:
        for id, scope in (("a", "all"), ("b", "dm-only"), ("c", "all")):
            document = _document(id, scope=scope)
            store.put([worlds.with_hashes(Draft(document, (Passage(id),), ("",)))], NOW)
        store.feedback.record(
            [Judgement(id, "accepted", "axe") for id in "abc"] + [Judgement("b", "failed")], NOW
        )
        store.remove(["c"])
        none = {"accepted": 0, "dismissed": 0, "modified": 0, "failed": 0}
        assert store.feedback.counts(Grant()) == none | {"accepted": 2, "failed": 1}
        assert store.feedback.counts(Grant(frozenset())) == none | {"accepted": 1}
        said = [
            (one.document, one.verdict, one.query) for one in store.feedback.judgements(Grant())
        ]
        assert said == [("a", "accepted", "axe"), ("b", "accepted", "axe"), ("b", "failed", "")]
        assert [one.document for one in store.feedback.judgements(Grant(frozenset()))] == ["a"]

    def test_rollback_gives_the_earlier_ids_exactly(self, store: Stores) -> None:
        for text in ("battle axe", "short sword"):
            store.put([worlds.with_hashes(Draft(_document("a"), (Passage(text),), ("",)))], NOW)
        assert [v.active for v in store.versions("a")] == [False, True]
        store.activate("a", 1, NOW)
        assert [chunk.id for chunk in store.chunks("a")] == ["a@1/0"]
        assert [v.active for v in store.versions("a")] == [True, False]

    def test_rollback_brings_back_title_and_tags_but_no_secret(self, store: Stores) -> None:
        first = _document("a", tags=("red",), category="rules")
        store.put([worlds.with_hashes(Draft(first, (Passage("axe"),), ("",)))], NOW)
        old = store.chunks("a")
        second = replace(first, title="b", tags=(), category=None, scope="dm-only")
        second = replace(second, given={"scope": "dm-only"})
        store.put([worlds.with_hashes(Draft(second, (Passage("sword"),), ("",)))], NOW)
        store.activate("a", 1, NOW)
        [back] = store.find(["a"], Grant()).values()
        assert (back.title, back.tags, back.category) == ("a", ("red",), "rules")
        assert (back.scope, back.given) == ("dm-only", {"scope": "dm-only"})
        assert store.chunks("a") == old

    def test_a_rollback_from_public_to_secret_is_secret(self, store: Stores) -> None:
        for scope in ("secret", "all"):
            document = _document("a", scope=scope)
            store.put([worlds.with_hashes(Draft(document, (Passage("axe"),), ("",)))], NOW)
        store.activate("a", 1, NOW)
        assert store.find(["a"], Grant())["a"].scope == "secret"
        assert store.find(["a"], Grant(frozenset())) == {}

    def test_a_changed_title_belongs_to_its_time(self, store: Stores) -> None:
        """An amendment makes no version, and still the past is as it was."""
        draft = worlds.with_hashes(Draft(_document("a"), (Passage("axe"),), ("",)))
        store.put([draft], NOW)
        apply(store, Operation("embed", worlds.MODELS[0]), 0)
        later = NOW + timedelta(hours=2)
        renamed = replace(draft.document, title="king", uri="march:king.md")
        store.amend([worlds.with_hashes(replace(draft, document=renamed))], later)
        for moment, title, uri in ((NOW, "a", "march:a.md"), (later, "king", "march:king.md")):
            with store.view(Grant(), moment) as view:
                [record] = view.records(["a@1/0"]).values()
                assert (record.document.title, record.document.uri) == (title, uri)
                assert view.nearest(np.ones(3, np.float32), Filter(), 5, "chunk").missing == (
                    0 if moment == NOW else 1  # the new title was not embedded yet
                )


def _document(id: str, **fields: Any) -> Any:
    return Document(id=id, uri=f"march:{id}.md", title=id, **fields)


def test_the_same_source_and_pipeline_make_no_other_version() -> None:
    document = Document("a", "t:a", "A", source_hash="one")
    draft = worlds.with_hashes(Draft(document, (Passage("an axe"),), ("",), pipeline="p/1"))
    later = replace(draft, pipeline="p/2")
    with fresh_sqlite() as reopen:
        for store in (ReferenceStore(), reopen()):
            assert [d.version for d in store.put([draft], NOW, unless_same=True)] == [1]
            assert store.put([draft], NOW, unless_same=True) == []
            assert [d.version for d in store.put([later], NOW, unless_same=True)] == [2]
            assert [d.version for d in store.put([later], NOW)] == [3]
            assert len(store.versions("a")) == 3
