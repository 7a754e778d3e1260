"""What cannot all be true: structural anomalies among the statements that a caller can see.

Every detector gives the same anomalies in the same order for the same statements, over the whole
graph or for some subjects only; an anomaly's id comes from its kind and its statements alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import combinations, groupby
from typing import Protocol

from trivium.graph.names import OWL, RDF, RDF_TYPE, RDFS, REIFIES, local_name, namespace
from trivium.graph.rdf import line
from trivium.graph.rules import Rules
from trivium.text import content_hash
from trivium.types import Pattern, Statement
from trivium.values import dataclass

SAME, DIFFERENT = f"{OWL}sameAs", f"{OWL}differentFrom"
_VOCABULARY = (RDF, RDFS, OWL)


class Graph(Protocol):
    """What detectors ask. Statements come in the order of their parts."""

    def find(self, pattern: Pattern) -> Iterable[Statement]: ...
    def predicates(self) -> Sequence[str]: ...
    def dangling(self, subjects: Collection[str] | None) -> Iterable[Statement]:
        """Statements whose object is an IRI that is no subject anywhere."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """Statements that do not go together, and why."""

    kind: str
    about: str
    what: str
    severity: str
    statements: tuple[Statement, ...]

    @property
    def id(self) -> str:
        lines = sorted(line(statement.quad) for statement in self.statements)
        return f"v{content_hash(chr(31).join((self.kind, *lines)))[:12]}"

    @property
    def touches(self) -> frozenset[str]:
        """The subjects whose hits it marks."""
        return frozenset(statement.quad.subject for statement in self.statements)


Detector = Callable[[Graph, Rules, "Collection[str] | None"], Iterator[Anomaly]]


def anomalies(graph: Graph, rules: Rules, subjects: Collection[str] | None = None) -> list[Anomaly]:
    """All there are, or those that touch one of the subjects; in the order of their ids."""
    found = {one.id: one for detect in DETECTORS for one in detect(graph, rules, subjects)}
    wanted = (one for one in found.values() if subjects is None or one.touches & set(subjects))
    return sorted(wanted, key=lambda one: one.id)


def _stated(
    graph: Graph, predicate: str, subjects: Collection[str] | None
) -> Iterator[tuple[str, list[Statement]]]:
    """The statements of a property, by subject."""
    if subjects is None:
        found = graph.find(Pattern(predicate=predicate))
        for subject, stated in groupby(found, key=lambda one: one.quad.subject):
            yield subject, list(stated)
        return
    for subject in sorted(subjects):
        if said := list(graph.find(Pattern(subject=subject, predicate=predicate))):
            yield subject, said


def _exceed(graph: Graph, stated: Sequence[Statement], most: int) -> bool:
    """Whether these have more distinct values; resources that are said to be the same are one."""
    kept: list[tuple[str, str, str]] = []
    for value in dict.fromkeys(
        (one.quad.object, one.quad.datatype, one.quad.language) for one in stated
    ):
        if not any(_same(graph, value, other) for other in kept):
            kept.append(value)
        if len(kept) > most:
            return True
    return False


def _same(graph: Graph, one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    if one[1] or other[1]:
        return False
    ways = ((one[0], other[0]), (other[0], one[0]))
    return any(_is_stated(graph, a, SAME, b) for a, b in ways)


def _is_stated(graph: Graph, subject: str, predicate: str, object: str) -> bool:
    return any(True for _ in graph.find(Pattern(subject, predicate, object)))


def functional(graph: Graph, rules: Rules, subjects: Collection[str] | None) -> Iterator[Anomaly]:
    """Two values of a property that has one."""
    for predicate in sorted(rules.functional):
        for subject, stated in _stated(graph, predicate, subjects):
            if _exceed(graph, stated, 1):
                what = f"{local_name(predicate)} has {len(stated)} values and may have one"
                yield Anomaly("functional", subject, what, "critical", tuple(stated))


def cardinality(graph: Graph, rules: Rules, subjects: Collection[str] | None) -> Iterator[Anomaly]:
    """More values of a property than the class of the subject allows."""
    for limit in rules.limits:
        for subject, stated in _stated(graph, limit.predicate, subjects):
            if _exceed(graph, stated, limit.most) and _is_a(graph, rules, subject, limit.type):
                what = (
                    f"{local_name(limit.predicate)} has {len(stated)} values; a "
                    f"{local_name(limit.type)} may have {limit.most}"
                )
                yield Anomaly("cardinality", subject, what, "critical", tuple(stated))


def _is_a(graph: Graph, rules: Rules, subject: str, type: str) -> bool:
    types = (one.quad.object for one in graph.find(Pattern(subject, RDF_TYPE)))
    return any(type in rules.above(one) for one in types)


def disjoint(graph: Graph, rules: Rules, subjects: Collection[str] | None) -> Iterator[Anomaly]:
    """One resource with two types that exclude each other, themselves or by what is above them."""
    if not rules.disjoint:
        return
    for subject, stated in _stated(graph, RDF_TYPE, subjects):
        for one, other in combinations(stated, 2):
            pair = rules.excluding(one.quad.object, other.quad.object)
            if pair:
                names = " and ".join(local_name(type) for type in pair)
                what = f"it has types of {names}, which exclude each other"
                yield Anomaly("disjoint", subject, what, "critical", (one, other))


def broken(graph: Graph, rules: Rules, subjects: Collection[str] | None) -> Iterator[Anomaly]:
    """A reference to what is described nowhere, within one namespace.

    A name in another namespace may be described elsewhere in the world.
    """
    for statement in graph.dangling(subjects):
        quad = statement.quad
        own = namespace(quad.subject) == namespace(quad.object)
        if own and quad.predicate != RDF_TYPE and not quad.predicate.startswith(_VOCABULARY):
            what = f"{local_name(quad.predicate)} leads to {quad.object}, described nowhere"
            yield Anomaly("broken", quad.subject, what, "warning", (statement,))


def contradiction(
    graph: Graph, rules: Rules, subjects: Collection[str] | None
) -> Iterator[Anomaly]:
    """Links that exclude each other."""
    for predicate in sorted(rules.irreflexive):
        for subject, stated in _stated(graph, predicate, subjects):
            for one in stated:
                if one.quad.object == subject:
                    what = f"{local_name(predicate)} leads to itself and may not"
                    yield Anomaly("contradiction", subject, what, "critical", (one,))
    pairs = [(p, p, True) for p in sorted(rules.asymmetric)]
    pairs += [(p, q, False) for p, q in sorted(rules.apart)]
    pairs.append((SAME, DIFFERENT, False))
    for predicate, other, back in pairs:
        for _, stated in _stated(graph, predicate, subjects):
            for one in stated:
                quad = one.quad
                ends = (quad.object, quad.subject) if back else (quad.subject, quad.object)
                for against in graph.find(Pattern(ends[0], other, ends[1])):
                    if against.quad != quad:
                        both = sorted((one, against), key=lambda s: line(s.quad))
                        what = f"{local_name(predicate)} and {local_name(other)} exclude each other"
                        yield Anomaly(
                            "contradiction", both[0].quad.subject, what, "critical", tuple(both)
                        )


def overlap(graph: Graph, rules: Rules, subjects: Collection[str] | None) -> Iterator[Anomaly]:
    """Two holders at one time of what has one."""
    for predicate, (begins, ends) in sorted((rules.exclusive or {}).items()):
        held = {one.quad.object for _, some in _stated(graph, predicate, subjects) for one in some}
        for object in sorted(held):
            holders = list(graph.find(Pattern(predicate=predicate, object=object)))
            spans = [(one, _span(graph, one, begins, ends)) for one in holders]
            for (one, a), (other, b) in combinations(spans, 2):
                if a and b and one.quad.subject != other.quad.subject and _meet(a, b):
                    what = f"{local_name(predicate)} {local_name(object)} overlaps in time"
                    yield Anomaly(
                        "overlap", one.quad.subject, what, "warning", (one, other, *a.said, *b.said)
                    )


@dataclass(frozen=True, slots=True)
class _Span:
    """From when until when, the end not included; None is open. `said` says so."""

    start: tuple[int, ...] | None
    end: tuple[int, ...] | None
    said: tuple[Statement, ...]


def _span(graph: Graph, held: Statement, begins: str, ends: str) -> _Span | None:
    """When a statement holds: by what is said about it, else about its subject; None if unsaid."""
    from trivium.graph.around import term

    reifiers = [r.quad.subject for r in graph.find(Pattern(None, REIFIES, term(held)))]
    for place in (*sorted(reifiers), held.quad.subject):
        said = [next(iter(_named(graph, place, name)), None) for name in (begins, ends)]
        if any(said):
            start, end = (_moment(one.quad.object) if one else None for one in said)
            return _Span(start, end, tuple(one for one in said if one))
    return None


def _named(graph: Graph, subject: str, name: str) -> list[Statement]:
    found = graph.find(Pattern(subject=subject))
    return [
        s
        for s in found
        if s.quad.datatype and name in (s.quad.predicate, local_name(s.quad.predicate))
    ]


def _moment(text: str) -> tuple[int, ...] | None:
    """A year or a date as numbers that sort; a leading minus is before year 0."""
    numbers = re.findall(r"\d+", text)
    if not numbers:
        return None
    year = -int(numbers[0]) if text.lstrip().startswith("-") else int(numbers[0])
    return (year, *map(int, numbers[1:]))


def _meet(a: _Span, b: _Span) -> bool:
    early = a.end is None or b.start is None or b.start < a.end
    late = b.end is None or a.start is None or a.start < b.end
    return early and late


def cycle(graph: Graph, rules: Rules, subjects: Collection[str] | None) -> Iterator[Anomaly]:
    """A way that leads back to where it began, along a property that never does."""
    for predicate in sorted(rules.acyclic):
        links: dict[str, list[Statement]] = {}
        if subjects is None:
            links = dict(_stated(graph, predicate, None))
        else:
            waiting = list(subjects)
            while waiting:
                subject = waiting.pop()
                if subject not in links:
                    links[subject] = list(graph.find(Pattern(subject, predicate)))
                    waiting += [one.quad.object for one in links[subject]]
        ways = {s: [one.quad.object for one in some] for s, some in links.items()}
        for ring in rings(ways):
            stated = [
                one for s in sorted(ring) for one in links.get(s, ()) if one.quad.object in ring
            ]
            what = f"{local_name(predicate)} leads back to where it began, over {len(ring)}"
            yield Anomaly("cycle", min(ring), what, "warning", tuple(stated))


def rings(ways: dict[str, list[str]]) -> list[set[str]]:
    """The sets of nodes that can reach each other, and nodes that lead to themselves (Tarjan)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: dict[str, None] = {}  # its names are looked for, also deep down
    found: list[set[str]] = []
    for root in sorted(ways):
        if root in order:
            continue
        work = [(root, iter(ways.get(root, ())))]
        order[root] = low[root] = len(order)
        stack[root] = None
        while work:
            node, following = work[-1]
            for other in following:
                if other not in order:
                    order[other] = low[other] = len(order)
                    stack[other] = None
                    work.append((other, iter(ways.get(other, ()))))
                    break
                if other in stack:
                    low[node] = min(low[node], order[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    ring: set[str] = set()
                    while node not in ring:
                        ring.add(stack.popitem()[0])
                    if len(ring) > 1 or node in ways.get(node, ()):
                        found.append(ring)
    return found


DETECTORS: tuple[Detector, ...] = (
    functional,
    cardinality,
    disjoint,
    broken,
    contradiction,
    overlap,
    cycle,
)
