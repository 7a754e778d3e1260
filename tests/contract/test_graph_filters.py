"""Structural filters over random graphs leave exactly what a look at every statement leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from test_stores import SLOW, Fresh, fresh_sqlite
from worlds import NOW, RDF_TYPE, SUBCLASS_OF, some

from trivium.config import IndexSettings
from trivium.graph.reading import Reading
from trivium.types import Document, Filter, Grant, Quad

STRING = "http://www.w3.org/2001/XMLSchema#string"
NUMBER = "http://www.w3.org/2001/XMLSchema#integer"
SUBJECTS, PREDICATES, GRAPHS = ("urn:s1", "urn:s2", "urn:s3"), ("urn:p1", "urn:p2"), ("", "urn:g1")
TYPES = ("urn:t1", "urn:t2", "urn:t3")
SCOPES = ("all", "dm-only")

literals = st.builds(
    Quad,
    st.sampled_from(SUBJECTS),
    st.sampled_from(PREDICATES),
    st.sampled_from(["an axe", "a king", "7"]),
    st.sampled_from([STRING, NUMBER]),
    st.just(""),
    st.sampled_from(GRAPHS),
)
typed = st.builds(Quad, st.sampled_from(SUBJECTS), st.just(RDF_TYPE), st.sampled_from(TYPES))
classes = st.builds(Quad, st.sampled_from(TYPES), st.just(SUBCLASS_OF), st.sampled_from(TYPES))
graphs = st.lists(st.one_of(literals, literals, typed, classes), max_size=12)


def filters(exclude: st.SearchStrategy[tuple[Filter, ...]]) -> st.SearchStrategy[Filter]:
    return st.builds(
        Filter,
        subjects=some(*SUBJECTS),
        predicates=some(*PREDICATES),
        rdf_types=some(*TYPES),
        subclasses=st.booleans(),
        graphs=some("urn:g1"),
        exclude=exclude,
    )


@dataclass
class Source:
    """Statements of a document, as a file would give them."""

    quads: Sequence[Quad]
    prefixes: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Quad]:
        return iter(self.quads)


def left(filter: Filter, quad: Quad, seen: set[Quad]) -> bool:
    """What a filter means for one literal, read off the definitions."""

    def has_type(wanted: str) -> bool:
        below = {wanted}
        for _ in TYPES if filter.subclasses else ():
            below |= {q.subject for q in seen if q.predicate == SUBCLASS_OF and q.object in below}
        return any(Quad(quad.subject, RDF_TYPE, one) in seen for one in below)

    return (
        (not filter.subjects or quad.subject in filter.subjects)
        and (not filter.predicates or quad.predicate in filter.predicates)
        and (not filter.graphs or quad.graph in filter.graphs)
        and (not filter.rdf_types or any(map(has_type, filter.rdf_types)))
        and not any(left(one, quad, seen) for one in filter.exclude if one.narrows())
    )


WORLDS: dict[str, Any] = {
    "public": graphs,
    "hidden": graphs,
    "filter": filters(st.lists(filters(st.just(())), max_size=1).map(tuple)),
    "grant": st.sampled_from([Grant(), Grant(frozenset())]),
}


@given(**WORLDS)
@settings(SLOW, max_examples=60)
def test_filters_leave_what_brute_force_leaves(**world: Any) -> None:
    filters_leave_what_brute_force_leaves(fresh_sqlite, **world)


@given(**WORLDS)
@settings(SLOW, max_examples=15)
def test_so_they_do_in_postgresql(fresh_postgres: Fresh, **world: Any) -> None:
    filters_leave_what_brute_force_leaves(fresh_postgres, **world)


def filters_leave_what_brute_force_leaves(
    fresh: Fresh, public: list[Quad], hidden: list[Quad], filter: Filter, grant: Grant
) -> None:
    with fresh() as reopen:
        store = reopen()
        for scope, quads in zip(SCOPES, (public, hidden), strict=True):
            document = Document(scope, f"facts:{scope}", scope, kind="facts", scope=scope)
            store.graph.put(document, Source(quads), Reading(IndexSettings()), NOW)
        visible = [(s, set(q)) for s, q in zip(SCOPES, (public, hidden), strict=True)]
        visible = [(s, q) for s, q in visible if grant.allows(s)]
        seen = set().union(*(quads for _, quads in visible))
        right = sorted(
            (scope, quad.subject, quad.predicate, quad.object, quad.graph)
            for scope, quads in visible
            for quad in quads
            if quad.datatype == STRING and left(filter, quad, seen)
        )
        with store.view(grant) as view:
            found = view.browse(filter, "chunk", 1000)
            records = view.records([id for id, _ in found.scored]).values()
        mine = sorted(
            (r.document.id, r.chunk.subject, r.chunk.predicate, r.chunk.text, r.chunk.graph or "")
            for r in records
            if r.chunk.predicate
        )
        assert mine == right
