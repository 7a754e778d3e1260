"""Meaning where a graph of neighbours leads the search: nearly exact, and never too little.

The stores of the contract suite are of two classes. *Exact* ones give what the reference gives.
*Approximate* ones find at least 98 of 100 of the ten nearest, give as many hits as there are, and
are exact wherever a caller does not see everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from worlds import NOW

from trivium.protocols import Model
from trivium.store.postgres.address import Address
from trivium.store.postgres.nearest import SQL, Graph
from trivium.store.postgres.nearest import Model as Indexed
from trivium.store.postgres.seeing import Allowed
from trivium.store.postgres.store import PostgresStore
from trivium.text import content_hash
from trivium.types import Document, Draft, Filter, Grant, Passage
from trivium.vectors import cosines, unit

COUNT, PASSAGES, DIMENSION = 1_500, 5, 16
PUBLIC = Grant(frozenset())
MODEL = Model("random", "random/1", DIMENSION, active=True)

Floats = NDArray[np.float32]


def vectors(seed: int, count: int) -> Floats:
    """Clusters, as texts make them; even noise would be harder than anything that is written."""
    centres = np.random.default_rng(0).normal(size=(40, DIMENSION))
    noise = np.random.default_rng(seed)
    chosen = centres[noise.integers(0, 40, count)]
    return unit(chosen + 0.6 * noise.normal(size=(count, DIMENSION)))


def document(number: int) -> Draft:
    """Of five chunks; one in a hundred is a rule, every other one is even, one in five secret."""
    texts = [f"entry {number}, passage {ordinal}" for ordinal in range(PASSAGES)]
    made = Document(
        id=f"entry{number:04}",
        uri=f"march:{number}",
        title="",
        category="rules" if number % 100 == 0 else "lore",
        type="even" if number % 2 == 0 else "odd",
        scope="dm-only" if number % 5 == 4 else "all",
    )
    return Draft(made, tuple(map(Passage, texts)), tuple(map(content_hash, texts)))


@pytest.fixture(scope="module")
def store(fresh_address: str) -> Iterator[PostgresStore]:
    made = PostgresStore(Address.parse(fresh_address), create=True, exact_below=100)
    drafts = [document(number) for number in range(COUNT // PASSAGES)]
    made.put(drafts, NOW)
    made.use_model(MODEL)
    hashes = [hash for draft in drafts for hash in draft.embedding_hashes]
    made.save_vectors(MODEL.fingerprint, hashes, vectors(1, COUNT))
    made.flush()
    yield made
    made.close()


@pytest.fixture(scope="module")
def fresh_address(postgres_server: str) -> Iterator[str]:
    from postgres import fresh_schema

    with fresh_schema(postgres_server) as address:
        yield address


def name(chunk: int) -> str:
    return f"entry{chunk // PASSAGES:04}@1/{chunk % PASSAGES}"


def brute_force(
    query: Floats, depth: int, allowed: Callable[[int], bool]
) -> list[tuple[str, float]]:
    every = cosines(vectors(1, COUNT), query).tolist()
    found = [(name(n), one) for n, one in enumerate(every) if allowed(n // PASSAGES)]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:depth]


def found(
    store: PostgresStore, query: Floats, filter: Filter, grant: Grant, depth: int = 10
) -> Any:
    with store.view(grant) as view:
        return view.nearest(query, filter, depth, "chunk")


FILTERS: dict[str, tuple[Filter, Callable[[int], bool]]] = {
    "everything": (Filter(), lambda number: True),
    "half": (Filter(type=("even",)), lambda number: number % 2 == 0),
    "a fifth": (Filter(scope=("dm-only",)), lambda number: number % 5 == 4),
}


@pytest.mark.parametrize("name", FILTERS)
def test_ten_nearest_are_found_nearly_always(store: PostgresStore, name: str) -> None:
    filter, allowed = FILTERS[name]
    hits = 0
    for query in vectors(2, 20):
        answer = found(store, query, filter, Grant())
        right = brute_force(query, 10, allowed)
        assert len(answer.scored) == 10
        assert answer.matched == PASSAGES * sum(map(allowed, range(COUNT // PASSAGES)))
        known = dict(brute_force(query, COUNT, allowed))
        assert all(known[id] == cosine for id, cosine in answer.scored)
        hits += len(dict(answer.scored).keys() & dict(right).keys())
    assert hits / 200 >= 0.98


def test_a_selective_filter_does_not_starve(store: PostgresStore) -> None:
    """One chunk in a hundred: compared one by one, so exact, and as many as there are."""
    for query in vectors(3, 5):
        answer = found(store, query, Filter(category=("rules",)), Grant(), depth=20)
        assert list(answer.scored) == brute_force(query, 20, lambda n: n % 100 == 0)
        assert answer.complete
        assert len(answer.scored) == COUNT // 100


def test_who_asks_for_all_gets_all(store: PostgresStore) -> None:
    [query] = vectors(4, 1)
    answer = found(store, query, Filter(), Grant(), depth=COUNT)
    assert list(answer.scored) == brute_force(query, COUNT, lambda n: True)


def test_a_lower_grant_is_not_led_by_what_it_may_not_see(store: PostgresStore) -> None:
    for query in vectors(5, 5):
        answer = found(store, query, Filter(), PUBLIC)
        assert list(answer.scored) == brute_force(query, 10, lambda n: n % 5 != 4)


def test_the_yardstick_is_near_that_of_all(store: PostgresStore) -> None:
    """Mean and deviation come from a sample; the score of a named chunk is its own."""
    [query] = vectors(6, 1)
    everything = cosines(vectors(1, COUNT), query)
    measure = found(store, query, Filter(), Grant()).yardstick
    assert measure.count == COUNT
    assert measure.mean == pytest.approx(everything.mean(), abs=0.05)
    assert measure.deviation == pytest.approx(everything.std(), abs=0.05)


def test_the_graph_is_what_the_server_uses(store: PostgresStore) -> None:
    [query] = vectors(7, 1)
    with store.view(Grant()) as view:
        connection = view._connection
        model = Indexed.read(connection)
        assert model is not None
        graph = Graph(connection, model, query, Allowed.of(np.ones(COUNT, bool)), COUNT)
        connection.execute(SQL["search_the_graph"], {"width": "200"})
        explained = b"EXPLAIN " + graph.statement(10).as_bytes(connection)
        plan = "\n".join(row[0] for row in connection.execute(explained, [str(query.tolist())]))
    assert f"Index Scan using {model.index}" in plan
