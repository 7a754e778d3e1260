"""What why-not claims is what brute force finds: every stage, every rank and every remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any

import numpy as np
import pytest
import worlds
from numpy.typing import NDArray
from test_stores import apply, fresh_sqlite
from worlds import MODELS, NOW, Operation

from trivium.config import Profile, load_profile
from trivium.pipeline import EVERYTHING, Search
from trivium.store.reference import ReferenceStore
from trivium.text import content_hash
from trivium.types import Document, Draft, Filter, Grant, Passage, SearchRequest, document_of
from trivium.why_not import Remedy, WhyNot, why_not
from trivium.why_not.conditions import conditions

PAIRS = 100  # in each of five worlds: 500 pairs of a document and a query
DOCUMENTS = 30
PROFILES = [
    load_profile(
        "default",
        [*(f"search.{leg}.depth={depth}" for leg in ("keyword", "vector", "trigram")), guard],
    )
    for depth in (1, 2, 100)
    for guard in ("search.fuse.guard=true", "search.fuse.guard=false")
] + [load_profile("vault"), load_profile("jicklejime")]


class FewDirections:
    """A model of three dimensions: what the text's hash says, so that ties happen."""

    name, fingerprint, dimension = "first", "first/1", worlds.DIMENSION

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.query(text) for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        return worlds.vector_of(content_hash(text), MODELS[0])


@dataclass(frozen=True)
class Pair:
    """A document and a query, with all that may come between them."""

    document: str
    request: SearchRequest
    profile: Profile
    grant: Grant


def some_words(lot: Random, most: int) -> str:
    return " ".join(lot.choices(worlds.WORDS, k=lot.randint(0, most)))


def some_draft(lot: Random, id: str) -> Draft:
    """A document that is mostly there to be found: few have expired, are memories, or are empty."""
    document = Document(
        id,
        f"{lot.choice(['march', 'rules'])}:folder/{id}.md",
        some_words(lot, 3),
        kind=lot.choice(["note", "note", "note", "entry", "memory"]),
        category=lot.choice([None, "rules", "sessions"]),
        scope=lot.choice(["all", "all", "all", "dm-only"]),
        severity=lot.choice([None, "critical"]),
        tags=tuple(lot.sample(["red", "green", "blue"], lot.randint(0, 2))),
        metadata={"a": lot.choice([1, "1"])},
        created=lot.choice([None, NOW - timedelta(days=lot.randint(1, 9))]),
        valid_until=lot.choice([*(None,) * 7, NOW - timedelta(days=1)]),
        valid_from=lot.choice([*(None,) * 7, NOW + timedelta(days=1)]),
        source_hash="hash",
    )
    passages = tuple(
        Passage(some_words(lot, 6), subject=lot.choice([None, "urn:s1"]))
        for _ in range(lot.choice([0, 1, 1, 1, 1, 2, 2, 3, 3]))
    )
    return worlds.with_hashes(Draft(document, passages, ("",) * len(passages), "text", "p/1"))


def some_filter(lot: Random) -> Filter:
    wanted: list[dict[str, Any]] = [
        {"category": ("rules",)},
        {"kind": ("note", "memory")},
        {"severity": ("critical",)},
        {"tags": ("red", "blue")},
        {"metadata": (("a", 1),)},
        {"source": ("march",)},
        {"source": ("*doc1*", "#3")},
        {"created_from": NOW - timedelta(days=5)},
        {"created_until": NOW - timedelta(days=5)},
        {"subjects": ("urn:s1",)},
        {"include_expired": True},
    ]
    condition = Filter(**lot.choice(wanted))
    if lot.random() < 0.2:
        return Filter(exclude=(replace(condition, include_expired=False),))
    if lot.random() < 0.3:
        return replace(condition, tags=("green",), domain=lot.choice([(), ("security",)]))
    return lot.choice([condition, Filter(), Filter(), Filter(include_expired=True)])


def some_pair(lot: Random) -> Pair:
    request = SearchRequest(
        " ".join(lot.choices(worlds.WORDS, k=lot.randint(1, 3))),
        limit=lot.choice([1, 1, 2, 10]),
        filter=some_filter(lot),
        legs=lot.choice([(), (), (), ("keyword",), ("vector",)]),
        include_memories=lot.random() < 0.3,
    )
    grant = lot.choice([Grant(), Grant(frozenset())])
    return Pair(f"doc{lot.randrange(DOCUMENTS)}", request, lot.choice(PROFILES), grant)


@pytest.mark.parametrize("seed", range(5))
def test_every_claim_holds_when_it_is_tried(seed: int) -> None:
    lot, right, tried = Random(seed), ReferenceStore(), Counter[str]()
    drafts = [some_draft(lot, f"doc{i}") for i in range(DOCUMENTS)]
    steps = [
        Operation("put", drafts[3:]),
        Operation("embed", MODELS[0]),
        Operation("put", drafts[:3]),  # these wait for their vectors
    ]
    with fresh_sqlite() as reopen, ThreadPoolExecutor(2) as pool:
        mine = reopen()
        for step, operation in enumerate(steps):
            for store in (right, mine):
                apply(store, operation, step)
        while tried.total() < PAIRS:
            pair = some_pair(lot)
            known = mine.find([pair.document], pair.grant)
            if pair.document not in known or _has_no_leg(pair):
                continue
            with mine.view(pair.grant) as view, right.view(pair.grant) as oracle:
                search = Search(view, pair.profile, FewDirections(), lambda: pool, NOW, pair.grant)
                found = why_not(search, pair.request, known[pair.document], pair.document)
                Claims(found, search, oracle, pair).check()
            tried[found.stage] += 1
    assert {"shown", "text", "filter", "rank", "pool"} <= tried.keys()


def _has_no_leg(pair: Pair) -> bool:
    return any(leg not in pair.profile.search.legs for leg in pair.request.legs)


@dataclass(frozen=True)
class Claims:
    """One answer, and the means to try what it says."""

    found: WhyNot
    search: Search
    oracle: Any
    pair: Pair

    def check(self) -> None:
        mine = self.chunks(Filter())
        allowed = self.chunks(self.search.filter_of(self.pair.request))
        shown = self.shown(self.pair.profile, self.pair.request)
        assert (self.found.stage == "shown") == bool(shown)
        assert (self.found.stage == "text") == (not mine)
        assert (self.found.stage == "filter") == (bool(mine) and not allowed)
        if self.found.stage == "filter":
            self.check_filters()
        if self.found.stage == "rank":
            self.check_rank()
        if self.found.stage == "pool":
            self.check_pool()
        for remedy in self.found.remedies:
            self.check_remedy(remedy)

    def check_filters(self) -> None:
        """Those that are named would have to go, all of them; no smaller number would do."""
        wanted = conditions(self.search.filter_of(self.pair.request))
        fewest = min(
            sum(chunk not in self.chunks(one.test) for one in wanted)
            for chunk in self.chunks(Filter())
        )
        assert len(self.found.filters) == fewest

    def check_rank(self) -> None:
        """Its place among all that the search ranks, and the score that it would have needed."""
        result = self.search(self.pair.request)
        needed = result.hits[self.pair.request.limit - 1].score
        assert self.found.needed == needed
        assert self.found.score is not None
        assert self.found.score <= needed
        if len(result) > self.pair.request.limit:
            return  # all that hold a word were shown, and such an answer has no next page
        rest = replace(self.pair.request, cursor=result.next_cursor, limit=1000)
        pages = [*result, *self.search(rest)]
        place = [hit.document.id for hit in pages].index(self.pair.document)
        assert (place + 1, pages[place].score) == (self.found.rank, self.found.score)

    def check_pool(self) -> None:
        """By each leg alone, asked for everything: where it stands, and that it is too deep."""
        for leg in self.found.legs:
            request = replace(self.pair.request, limit=1000, legs=(leg.leg,))
            alone = self.search.retrieved(leg.leg, request, EVERYTHING).ranking.candidates
            order = list(dict.fromkeys(document_of(one.id) for one in alone))
            if self.search.profile.search.unit == "chunk":
                chunks = [one.id for one in alone]
                mine = [c for c in chunks if document_of(c) == self.pair.document]
                assert leg.rank == (chunks.index(mine[0]) + 1 if mine else None)
            else:
                there = self.pair.document in order
                assert leg.rank == (order.index(self.pair.document) + 1 if there else None)
            if leg.rank is not None and leg.leg in (self.pair.request.legs or [leg.leg]):
                assert leg.rank > leg.depth

    def check_remedy(self, remedy: Remedy) -> None:
        profile, request = self.pair.profile, self.pair.request
        if remedy.change.startswith("-n "):
            request = replace(request, limit=int(remedy.change[3:]))
        elif remedy.change.startswith("--set search."):
            path, _, value = remedy.change.removeprefix("--set search.").partition("=")
            section, _, name = path.partition(".")
            given = int(value) if value.isdigit() else {"true": True, "false": False}[value]
            inner = replace(getattr(profile.search, section), **{name: given})
            profile = replace(profile, search=replace(profile.search, **{section: inner}))
        elif remedy.change == "without --leg":
            request = replace(request, legs=())
        elif remedy.change == "--most-memories 1000":
            request = replace(request, most_memories=1000)
        else:
            for one in conditions(self.search.filter_of(request)):
                if one.name in self.found.filters:
                    request = one.dropped(request)
            assert self.chunks(replace(self.search, profile=profile).filter_of(request))
        assert bool(self.shown(profile, request)) == remedy.shown

    def chunks(self, filter: Filter) -> set[str]:
        every = self.oracle.browse(filter, "chunk", EVERYTHING).scored
        return {id for id, _ in every if document_of(id) == self.pair.document}

    def shown(self, profile: Profile, request: SearchRequest) -> list[str]:
        hits = replace(self.search, profile=profile)(request)
        return [hit.chunk.id for hit in hits if hit.document.id == self.pair.document]
