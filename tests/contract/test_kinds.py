"""One library for all kinds: a note, an entry, a fact, a memory, two versions, two models."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from worlds import NOW, RDF_TYPE, with_hashes

from trivium.protocols import Model
from trivium.store.reference import ReferenceStore
from trivium.store.sqlite import SqliteStore
from trivium.types import (
    Bm25,
    Clause,
    Document,
    Draft,
    Filter,
    Grant,
    Passage,
    Phrase,
    Quad,
    WordQuery,
)

AXE = WordQuery.any_of([Clause((Phrase(("ax",)),))])
MARCH = "https://example.org/march/"


@pytest.fixture(params=["reference", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "postgres":
        with request.getfixturevalue("fresh_postgres")() as reopen:
            filled = reopen()
            fill(filled)
            yield filled
        return
    filled = (
        ReferenceStore() if request.param == "reference" else SqliteStore(tmp_path, create=True)
    )
    fill(filled)
    yield filled
    filled.close()


def draft(document: Document, *passages: Passage, quads: tuple[Quad, ...] = ()) -> Draft:
    return with_hashes(Draft(document, passages, ("",) * len(passages), quads=quads))


def fill(store: Any) -> None:
    note = Document("note", "march:axe.md", "The axe", category="items", tags=("iron",))
    entry = Document("auth-1", "entry:auth-1", "JWT", kind="entry", severity="critical")
    facts = Document("facts", "march:facts.ttl", "Facts", kind="facts")
    memory = Document("m1", "memory:m1", "Last time", kind="memory", scope="dm-only")
    axe = Passage(
        "an axe", subject=MARCH + "axe", predicate=MARCH + "description", graph=MARCH + "g"
    )
    typed = Quad(MARCH + "axe", RDF_TYPE, MARCH + "Item")
    store.put([draft(note, Passage("an old axe"))], NOW)
    store.put(
        [
            draft(note, Passage("a new axe"), Passage("and its haft")),
            draft(entry, Passage("an axe to grind")),
            draft(facts, axe, quads=(typed,)),
            draft(memory, Passage("we sold the axe")),
        ],
        NOW + timedelta(days=1),
    )
    for name, fixed in (("first", (1, 0)), ("second", (0, 1))):
        store.use_model(Model(name, name, 2, True))
        while records := store.pending(name, 10):
            hashes = [record.chunk.embedding_hash for record in records]
            store.save_vectors(name, hashes, np.array([fixed] * len(hashes), np.float32))


def found(store: Any, filter: Filter, grant: Grant = Grant()) -> list[str]:  # noqa: B008
    with store.view(grant) as view:
        return sorted(id for id, _ in view.words(AXE, Bm25(), filter, 10, "chunk").scored)


@pytest.mark.parametrize(
    ("filter", "chunks"),
    [
        (Filter(kind=("note",)), ["note@2/0", "note@2/1"]),
        (Filter(kind=("entry",)), ["auth-1@1/0"]),
        (Filter(severity=("critical",)), ["auth-1@1/0"]),
        (Filter(subjects=(MARCH + "axe",)), ["facts@1/0"]),
        (Filter(predicates=(MARCH + "description",)), ["facts@1/0"]),
        (Filter(graphs=(MARCH + "g",)), ["facts@1/0"]),
        (Filter(rdf_types=(MARCH + "Item",)), ["facts@1/0"]),
        (Filter(rdf_types=(MARCH + "Person",)), []),
        (Filter(kind=("memory",)), ["m1@1/0"]),
        (Filter(scope=("dm-only",)), ["m1@1/0"]),
        (Filter(tags=("iron",)), ["note@2/0", "note@2/1"]),
        (Filter(source=("axe.md",)), ["note@2/0", "note@2/1"]),
        (Filter(source=("#2",)), ["auth-1@1/0"]),
        (
            Filter(exclude=(Filter(kind=("note",)), Filter(kind=("memory",)))),
            ["auth-1@1/0", "facts@1/0"],
        ),
    ],
)
def test_each_kind_is_found_under_its_filter(store: Any, filter: Filter, chunks: list[str]) -> None:
    assert found(store, filter) == chunks


def test_only_the_active_version_is_searched_and_the_old_one_is_kept(store: Any) -> None:
    assert [(v.version, v.active, v.chunks) for v in store.versions("note")] == [
        (1, False, 1),
        (2, True, 2),
    ]
    with store.view(Grant(), NOW + timedelta(hours=1)) as then:
        scored = then.words(AXE, Bm25(), Filter(), 10, "chunk").scored
    assert [id for id, _ in scored] == ["note@1/0"]


def test_vectors_of_two_models_never_meet(store: Any) -> None:
    assert [(m.name, m.active, m.vectors) for m in store.models()] == [
        ("first", False, 5),
        ("second", True, 5),
    ]
    with store.view(Grant()) as view:
        query = np.array([0, 1], np.float32)
        assert {score for _, score in view.nearest(query, Filter(), 10, "chunk").scored} == {1.0}


def test_the_memory_is_outside_a_public_grant(store: Any) -> None:
    assert "m1@1/0" not in found(store, Filter(), Grant(frozenset()))
