"""Random small libraries: documents, operations, filters and queries for the contract suite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from hypothesis import strategies as st

from trivium.protocols import Model
from trivium.stemmer import stem
from trivium.text import content_hash
from trivium.types import (
    COLUMNS,
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

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DIMENSION = 3
MODELS = (Model("first", "first/1", DIMENSION, True), Model("second", "second/1", DIMENSION, True))
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUBCLASS_OF = "http://www.w3.org/2000/01/rdf-schema#subClassOf"

WORDS = ("axe", "axes", "battle", "sword", "short", "shortsword", "king", "kings", "café", "東京都",
         "меч", "the", "node-js", "running")  # fmt: skip
SCOPES = ("all", "dm-only", "secret")
words = st.sampled_from(WORDS)
texts = st.lists(words, max_size=6).map(" ".join)
times = st.integers(-5, 5).map(lambda days: NOW + timedelta(days=days))
maybe_times = st.none() | times


def choice(*values: str) -> st.SearchStrategy[str | None]:
    return st.none() | st.sampled_from(values)


documents = st.builds(
    Document,
    id=st.sampled_from([f"doc{i}" for i in range(8)]),
    uri=st.just(""),
    title=texts,
    kind=st.sampled_from(["note", "entry", "memory"]),
    key=texts,
    context=texts,
    category=choice("rules", "sessions"),
    scope=st.sampled_from(SCOPES),
    type=choice("pattern", "rule"),
    domain=choice("security", "testing"),
    severity=choice("critical", "warning"),
    tags=st.lists(st.sampled_from(["red", "green", "blue"]), unique=True, max_size=2).map(tuple),
    metadata=st.dictionaries(
        st.sampled_from(["a", "b"]), st.sampled_from([1, "1", True]), max_size=2
    ),
    valid_from=maybe_times,
    valid_until=maybe_times,
    created=maybe_times,
    source_hash=st.just("hash"),
).map(lambda d: replace(d, uri=f"{'march' if d.id < 'doc4' else 'rules'}:folder/{d.id}.md"))

passages = st.builds(
    Passage,
    text=texts,
    heading=st.lists(words, max_size=2).map(tuple),
    subject=choice("urn:s1", "urn:s2"),
    predicate=choice("urn:p1", "urn:p2"),
    graph=choice("urn:g1"),
)
quads = st.one_of(
    st.builds(
        Quad,
        subject=st.sampled_from(["urn:s1", "urn:s2"]),
        predicate=st.just(RDF_TYPE),
        object=st.sampled_from(["urn:t1", "urn:t2", "urn:t3"]),
    ),
    st.builds(  # chains and circles of classes
        Quad,
        subject=st.sampled_from(["urn:t1", "urn:t2", "urn:t3"]),
        predicate=st.just(SUBCLASS_OF),
        object=st.sampled_from(["urn:t1", "urn:t2", "urn:t3"]),
    ),
)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    document = draw(documents)
    pieces = tuple(draw(st.lists(passages, max_size=3)))
    statements = tuple(draw(st.lists(quads, max_size=3)))
    return with_hashes(Draft(document, pieces, ("",) * len(pieces), "text", "p/1", statements))


def with_hashes(draft: Draft) -> Draft:
    inputs = [draft.document.title + passage.text for passage in draft.passages]
    return replace(draft, embedding_hashes=tuple(content_hash(i) if i else "" for i in inputs))


def vector_of(hash: str, model: Model) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A vector that the text and the model decide, from few directions so that ties happen."""
    seed = int(hash[:4], 16) + len(model.name)
    return np.array([seed % 3, seed % 2, 1], np.float32)


@dataclass(frozen=True)
class Operation:
    """One change of a library."""

    name: str
    argument: Any


ids = st.sampled_from([f"doc{i}" for i in range(8)])
puts = st.builds(Operation, st.just("put"), st.lists(drafts(), min_size=1, max_size=3))
amends = st.builds(Operation, st.just("amend"), documents)
activations = st.builds(Operation, st.just("activate"), st.tuples(ids, st.integers(1, 3)))
operations = st.one_of(
    puts,
    puts,
    amends,
    st.builds(Operation, st.just("remove"), ids),
    activations,
    st.builds(Operation, st.just("embed"), st.sampled_from(MODELS)),
    st.builds(Operation, st.just("save"), st.none()),
)


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


def _filters(exclude: st.SearchStrategy[tuple[Filter, ...]]) -> st.SearchStrategy[Filter]:
    return st.builds(
        Filter,
        scope=some(*SCOPES, "nowhere"),
        source=some("#1", "#2", "march", "doc1.md", "march:folder/doc[01].md", "*doc5*"),
        category=some("rules", "sessions"),
        kind=some("note", "entry"),
        type=some("pattern", "other"),
        domain=some("security"),
        severity=some("critical", "warning"),
        tags=some("red", "blue"),
        metadata=st.lists(
            st.tuples(st.sampled_from(["a", "b"]), st.sampled_from([1, "1"])), max_size=2
        ).map(tuple),
        created_from=maybe_times,
        created_until=maybe_times,
        valid_at=maybe_times,
        include_expired=st.booleans(),
        subjects=some("urn:s1"),
        predicates=some("urn:p1"),
        rdf_types=some("urn:t1", "urn:t2"),
        subclasses=st.booleans(),
        graphs=some("urn:g1"),
        exclude=exclude,
    )


# Mostly few conditions at once: with many of them hardly anything is ever left to find.
_one_condition = _filters(st.just(())).flatmap(
    lambda full: st.sampled_from(
        [name for name in Filter.__dataclass_fields__ if name not in ("exclude", "as_of")]
    ).map(lambda name: Filter(**{name: getattr(full, name), "subclasses": full.subclasses}))
)
filters = st.one_of(
    st.just(Filter()),
    _one_condition,
    _one_condition.map(lambda f: Filter(exclude=(f,))),
    _filters(st.lists(_one_condition, max_size=1).map(tuple)),
)
grants = st.one_of(
    st.just(Grant()), st.sets(st.sampled_from(SCOPES)).map(lambda s: Grant(frozenset(s)))
)

phrases = st.builds(
    Phrase,
    terms=st.lists(words.map(lambda w: stem(w.split("-")[0])), min_size=1, max_size=2).map(tuple),
    weight=st.sampled_from([1.0, 0.5]),
    prefix=st.booleans(),
)


@st.composite
def word_queries(draw: st.DrawFn) -> WordQuery:
    clauses = draw(
        st.lists(
            st.lists(phrases, min_size=1, max_size=2).map(lambda p: Clause(tuple(p), len(p) / 2)),
            min_size=1,
            max_size=3,
        )
    )
    excluded = tuple(draw(st.lists(phrases, max_size=1)))
    every = tuple(range(len(clauses)))
    ways = [tuple((i,) for i in every), (every,), ((0,), every)]
    return WordQuery(tuple(clauses), draw(st.sampled_from(ways)), excluded)


bm25s = st.builds(
    Bm25,
    weights=st.fixed_dictionaries({name: st.sampled_from([0.0, 1.0, 2.5]) for name in COLUMNS}),
    k1=st.sampled_from([1.2, 0.9]),
    b=st.sampled_from([0.75, 0.0]),
)
