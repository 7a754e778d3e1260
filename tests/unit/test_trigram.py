"""The spelling leg: typos, unfinished words and compounds both ways, and its floors on srd51."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from trivium.config import IndexSettings, TrigramSettings, load_profile
from trivium.ingest.draft import whole
from trivium.retrieve.trigram import search
from trivium.store.record.store import RecordStore
from trivium.store.reference import ReferenceStore
from trivium.store.sqlite import SqliteStore
from trivium.types import NO_FILTER, OWNER, Document, Draft, document_of

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FILLER = "The road is long and the weather on the hills is cold. " * 12
TEXTS = {
    "axe": "He lifted the battle axe and went on.",
    "sword": "A shortsword lay on the table.",
    "giant": "The giant slept under the hill.",
    "cloak": "A cloak of invisibility hung there.",
    "long": FILLER + "A battle axe hung on the wall of the inn. " + FILLER,
}


def draft(id: str, title: str, text: str) -> Draft:
    document = Document(id=id, uri=f"t:{id}", title=title)
    return whole(document, text, IndexSettings(model="none"))


def found(store: ReferenceStore, query: str) -> list[str]:
    with store.view(OWNER) as view:
        leg = search(view, query, TrigramSettings(), NO_FILTER, 10, "document")
    return [document_of(candidate.id) for candidate in leg.ranking.candidates]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("battleaxe", "axe"),
        ("short sword", "sword"),
        ("ginat", "giant"),
        ("invis", "cloak"),
        ("invisbility", "cloak"),
        ("batleaxe", "axe"),
        ("shrot sword", "sword"),
    ],
)
def test_finds_what_was_meant(query: str, first: str) -> None:
    store = ReferenceStore()
    store.put([draft(id, id, text) for id, text in TEXTS.items()], NOW)
    assert found(store, query)[0] == first


def test_a_compound_is_found_in_a_long_chunk_too() -> None:
    store = ReferenceStore()
    store.put([draft(id, "", text) for id, text in TEXTS.items()], NOW)
    assert set(found(store, "battleaxe")) >= {"axe", "long"}


def test_a_word_that_resembles_nothing_finds_nothing() -> None:
    store = ReferenceStore()
    store.put([draft(id, id, text) for id, text in TEXTS.items()], NOW)
    assert found(store, "xylophonist") == []


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def srd(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, RecordStore]]:
    folder = Path(__file__).parents[3] / "shared" / "data" / "srd51"
    if not folder.is_dir():
        pytest.skip("the shared test collections are not on this machine")
    with ExitStack() as stack:
        store: RecordStore
        if request.param == "sqlite":
            store = SqliteStore(tmp_path_factory.mktemp("srd"), create=True)
        else:
            fresh = request.getfixturevalue("fresh_postgres")
            store = stack.enter_context(fresh())()
        lines = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
        documents = [json.loads(line) for line in lines]
        store.put([draft(d["_id"], d["title"], d["text"]) for d in documents], NOW)
        store.flush()
        yield folder, store
        store.close()


@pytest.mark.parametrize(("name", "floor"), [("typo", 0.82), ("join", 0.94)])
def test_reaches_its_floor_alone(srd: tuple[Path, RecordStore], name: str, floor: float) -> None:
    folder, store = srd
    lines = (folder / f"queries_{name}.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {q["_id"]: q["text"] for q in map(json.loads, lines)}
    judged: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / f"{name}.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        judged.setdefault(query, {})[document] = int(grade)
    settings = load_profile("default").search.trigram
    with store.view(OWNER) as view:
        gains = []
        for query, relevant in judged.items():
            leg = search(view, queries[query], settings, NO_FILTER, 10, "document")
            ranked = [document_of(candidate.id) for candidate in leg.ranking.candidates]
            gains.append(ndcg(ranked, relevant))
    assert sum(gains) / len(gains) >= floor


def ndcg(ranked: Sequence[str], relevant: dict[str, int]) -> float:
    gain = sum(relevant.get(id, 0) / math.log2(i + 2) for i, id in enumerate(ranked[:10]))
    best = sorted(relevant.values(), reverse=True)[:10]
    return gain / sum(grade / math.log2(i + 2) for i, grade in enumerate(best))
