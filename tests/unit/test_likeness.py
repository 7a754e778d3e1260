"""Which texts are nearly the same."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.config import IndexSettings
from trivium.ingest.draft import whole
from trivium.ingest.likeness import Likeness, bands, shingles, similarity, sketch_of
from trivium.store.sqlite import SqliteStore
from trivium.types import OWNER, Document

WORDS = [f"word{number}" for number in range(60)]


def test_similarity_is_the_share_of_common_runs() -> None:
    one = shingles("the dwarf king lost his axe in the cold river")  # 8 runs of 10 words
    other = shingles("The dwarf king lost his axe in the COLD, deep river!")
    assert len(one) == 8
    assert len(other) == 9
    assert similarity(one, other) == 7 / 10  # but for 'the cold river', 'the cold deep' …
    assert similarity(one, one) == 1
    assert similarity(one, frozenset()) == 0


def test_texts_that_are_too_short_are_like_nothing() -> None:
    assert shingles("only seven words are in this text") == frozenset()
    assert bands(frozenset()) == []


def test_sketches_are_the_same_everywhere() -> None:
    """Worked out once and stored in libraries: another value would lose all earlier sketches."""
    assert bands(shingles("the dwarf king lost his axe in the cold river"))[:2] == [
        5787238816206760835,
        6230924922571379001,
    ]
    assert len(set(bands(frozenset({"a b c"})))) == 16


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(tmp_path, create=True)
    yield made
    made.close()


def stored(store: SqliteStore, texts: Mapping[str, str]) -> Likeness:
    def find(names: Sequence[str]) -> list[tuple[Document, str]]:
        return [(one, store.text(one.id, one.version)) for one in store.find(names, OWNER).values()]

    likeness = Likeness(store.catalogue, find)
    drafts = [
        whole(Document(id, f"text:{id}", id), text, IndexSettings()) for id, text in texts.items()
    ]
    store.put(drafts, datetime(2026, 1, 1, tzinfo=UTC))
    for draft in drafts:
        likeness.keep(draft.document, sketch_of(draft.document, draft.text))
    likeness.save()
    return likeness


def test_the_nearest_is_found_among_many_and_exactly(store: SqliteStore) -> None:
    """The sketches propose; compared with every text, by hand, the same one is nearest."""
    draw = random.Random(7)
    texts = {f"t{n:03}": " ".join(draw.choices(WORDS, k=80)) for n in range(300)}
    likeness = stored(store, texts)
    for id in draw.sample(sorted(texts), 40):
        words = texts[id].split()
        words[3] = "changed"
        new = Document("new", "text:new", "new")
        runs = shingles(" ".join(words))
        best = max(texts, key=lambda other: similarity(runs, shingles(texts[other])))
        found = likeness.nearest(new, sketch_of(new, " ".join(words)))
        assert found is not None
        assert (found.document.id, best) == (id, id)
        assert found.similarity == similarity(runs, shingles(texts[id]))


def test_a_document_is_not_like_itself_nor_like_a_removed_one(store: SqliteStore) -> None:
    text = " ".join(WORDS)
    likeness = stored(store, {"one": text})
    itself = Document("one", "text:one", "one")
    assert likeness.nearest(itself, sketch_of(itself, text)) is None
    other = Document("two", "text:two", "two")
    assert likeness.nearest(other, sketch_of(other, text)) is not None
    store.remove(["one"])
    assert likeness.nearest(other, sketch_of(other, text)) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 3))
def test_what_is_at_least_four_fifths_the_same_shares_a_band(seed: int, edits: int) -> None:
    draw = random.Random(seed)
    words = draw.choices(WORDS, k=120)
    edited = list(words)
    for place in draw.sample(range(len(words)), edits):
        edited[place] = "another"
    one, other = shingles(" ".join(words)), shingles(" ".join(edited))
    assert similarity(one, other) >= 0.8
    assert set(bands(one)) & set(bands(other))
