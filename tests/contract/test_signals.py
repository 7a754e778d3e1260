"""Signals: a whole search under `vault` gives on every store what the reference store gives."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stores import SLOW, Fresh, apply, fresh_sqlite
from worlds import NOW, Operation

from trivium.config import load_profile
from trivium.pipeline import Search
from trivium.store.reference import ReferenceStore
from trivium.types import Filter, Grant, Result, SearchRequest

VAULT = load_profile("vault")


SEARCHES: dict[str, Any] = {
    "history": st.lists(worlds.operations, min_size=1, max_size=6),
    "grant": worlds.grants,
    "filter": worlds.filters,
    "words": st.lists(worlds.words, min_size=1, max_size=3),
    "preferred": st.lists(st.sampled_from(["red", "green"]), max_size=2, unique=True),
    "memories": st.booleans(),
}


@given(**SEARCHES)
@settings(SLOW, max_examples=60)
def test_every_store_gives_the_same_scores(**search: Any) -> None:
    it_gives_the_same_scores(fresh_sqlite, **search)


@given(**SEARCHES)
@settings(SLOW, max_examples=10)
def test_postgresql_gives_the_same_scores(fresh_postgres: Fresh, **search: Any) -> None:
    it_gives_the_same_scores(fresh_postgres, **search)


def it_gives_the_same_scores(
    fresh: Fresh,
    history: list[Operation],
    grant: Grant,
    filter: Filter,
    words: list[str],
    preferred: list[str],
    memories: bool,
) -> None:
    right = ReferenceStore()
    with fresh() as reopen, ThreadPoolExecutor(2) as pool:
        mine = reopen()
        for step, operation in enumerate(history):
            for store in (right, mine):
                apply(store, operation, step)
        request = SearchRequest(
            " ".join(words),
            limit=50,
            filter=replace(filter, scope=()),  # one that nobody has is an error for the owner
            prefer_tags=tuple(preferred),
            prefer_domain="security",
            include_memories=memories,
        )
        answers = [_answer(store, grant, request, pool) for store in (right, mine)]
    scores = [{hit.chunk.id: hit.score for hit in answer} for answer in answers]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)
    for hit in answers[1]:
        assert hit.score == pytest.approx(sum(part.contribution for part in hit.parts), abs=1e-9)
        assert all(0 <= (p.value or 0) <= 1 for p in hit.parts if p.stage == "score")
        assert grant.allows(hit.document.scope)


def _answer(store: Any, grant: Grant, request: SearchRequest, pool: ThreadPoolExecutor) -> Result:
    with store.view(grant) as view:
        return Search(view, VAULT, None, lambda: pool, NOW, grant)(request)
