"""What the graph's own axioms and the profile declare: the rules that anomalies break."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from trivium.factual import VerifySettings
from trivium.graph.names import OWL, RDF, RDF_TYPE, RDFS, local_name
from trivium.types import Pattern, Statement
from trivium.values import dataclass

SUBCLASS = f"{RDFS}subClassOf"
Find = Callable[[Pattern], Iterable[Statement]]


@dataclass(frozen=True, slots=True)
class Limit:
    """An instance of the type has at most so many values of the property."""

    type: str
    predicate: str
    most: int


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything detectors go by."""

    functional: frozenset[str] = frozenset()
    limits: tuple[Limit, ...] = ()
    disjoint: frozenset[frozenset[str]] = frozenset()
    classes: Mapping[str, frozenset[str]] | None = None
    """For each class the ones right above it."""
    irreflexive: frozenset[str] = frozenset()
    asymmetric: frozenset[str] = frozenset()
    apart: frozenset[tuple[str, str]] = frozenset()
    acyclic: frozenset[str] = frozenset()
    exclusive: Mapping[str, tuple[str, str]] | None = None

    def above(self, type: str) -> set[str]:
        """A class with all that are above it."""
        reached, waiting = set[str](), [type]
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += (self.classes or {}).get(one, ())
        return reached

    def excluding(self, one: str, other: str) -> tuple[str, str] | None:
        """Two classes above these that exclude each other."""
        pairs = [
            (a, b)
            for a in sorted(self.above(one))
            for b in sorted(self.above(other))
            if a != b and frozenset((a, b)) in self.disjoint
        ]
        return pairs[0] if pairs else None


def read_rules(find: Find, predicates: Sequence[str], settings: VerifySettings) -> Rules:
    """The axioms that the statements hold, and what the profile adds."""

    def typed(name: str) -> frozenset[str]:
        found = find(Pattern(predicate=RDF_TYPE, object=OWL + name))
        return frozenset(statement.quad.subject for statement in found)

    def pairs(predicate: str) -> list[tuple[str, str]]:
        return [(s.quad.subject, s.quad.object) for s in find(Pattern(predicate=predicate))]

    def named(names: Iterable[str]) -> frozenset[str]:
        wanted = set(names)
        return frozenset(p for p in predicates if p in wanted or local_name(p) in wanted)

    classes: dict[str, frozenset[str]] = {}
    for below, above in pairs(SUBCLASS):
        classes[below] = classes.get(below, frozenset()) | {above}
    # Transitive and irreflexive (or asymmetric): a way back would make it lead to itself.
    strict = typed("TransitiveProperty") & (
        typed("IrreflexiveProperty") | typed("AsymmetricProperty")
    )
    exclusive = {
        predicate: (bounds[0], bounds[1])
        for name, bounds in settings.exclusive.items()
        for predicate in named([name])
    }
    return Rules(
        typed("FunctionalProperty") | named(settings.functional),
        _limits(find),
        frozenset(frozenset(pair) for pair in (*pairs(f"{OWL}disjointWith"), *_all_disjoint(find))),
        classes,
        typed("IrreflexiveProperty"),
        typed("AsymmetricProperty"),
        frozenset(pairs(f"{OWL}propertyDisjointWith")),
        strict | named(settings.acyclic),
        exclusive,
    )


def _limits(find: Find) -> tuple[Limit, ...]:
    found = []
    for name in ("maxCardinality", "cardinality"):
        for statement in find(Pattern(predicate=OWL + name)):
            restriction, number = statement.quad.subject, statement.quad.object
            on = [s.quad.object for s in find(Pattern(restriction, f"{OWL}onProperty"))]
            below = [s.quad.subject for s in find(Pattern(None, SUBCLASS, restriction))]
            if number.isdecimal():
                found += [Limit(type, p, int(number)) for type in below for p in on]
    return tuple(sorted(found, key=lambda one: (one.type, one.predicate, one.most)))


def _all_disjoint(find: Find) -> list[tuple[str, str]]:
    """The pairs of owl:AllDisjointClasses."""
    pairs = []
    for statement in find(Pattern(None, RDF_TYPE, f"{OWL}AllDisjointClasses")):
        for members in find(Pattern(statement.quad.subject, f"{OWL}members")):
            classes = _list(find, members.quad.object)
            pairs += [(a, b) for i, a in enumerate(classes) for b in classes[i + 1 :]]
    return pairs


def _list(find: Find, node: str) -> list[str]:
    items: list[str] = []
    seen = set[str]()
    while node != f"{RDF}nil" and node not in seen:
        seen.add(node)
        items += [s.quad.object for s in find(Pattern(node, f"{RDF}first"))][:1]
        node = next((s.quad.object for s in find(Pattern(node, f"{RDF}rest"))), f"{RDF}nil")
    return items
