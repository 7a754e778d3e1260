"""A search that waits for its model stands in nobody's way."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
from numpy.typing import NDArray
from test_stores import apply, fresh_sqlite
from test_why_not import FewDirections, some_draft
from worlds import MODELS, NOW, WORDS, Operation

from trivium.config import load_profile
from trivium.pipeline import Search
from trivium.processors import processors
from trivium.types import OWNER, SearchRequest

AT_ONCE = 2 * processors() + 1  # more than there are turns


class Together(FewDirections):
    """A model that answers when all have asked."""

    def __init__(self) -> None:
        self.asked = threading.Barrier(AT_ONCE, timeout=30)

    def query(self, text: str) -> NDArray[np.float32]:
        self.asked.wait()
        return super().query(text)


def test_searches_that_wait_for_a_model_let_others_search() -> None:
    lot, model, profile = Random(1), Together(), load_profile("default")
    with fresh_sqlite() as reopen, ThreadPoolExecutor(AT_ONCE) as threads:
        store = reopen()
        apply(store, Operation("put", [some_draft(lot, f"doc{i}") for i in range(9)]), 0)
        apply(store, Operation("embed", MODELS[0]), 1)

        def search(number: int) -> list[str]:
            with store.view(OWNER) as view:
                ask = Search(view, profile, model, None, NOW)
                found = ask(SearchRequest(WORDS[0], legs=("keyword", "vector")))
            assert [leg.state for leg in found.legs] == ["ok", "ok"]
            return [hit.id for hit in found]

        first, *others = threads.map(search, range(AT_ONCE))
        assert first
        assert all(other == first for other in others)
