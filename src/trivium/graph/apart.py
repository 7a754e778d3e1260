"""What tells entities apart that a query cannot: type, graph, and facts that only one has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from trivium.graph.names import RDF_TYPE
from trivium.types import Pattern, Statement
from trivium.values import dataclass

MOST_FACTS = 3
"""Facts that are shown for each: enough to recognise it, few enough to read."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One of several that compete: what it is called, what it is, and what only it has."""

    id: str
    label: str
    types: tuple[str, ...]
    graphs: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]


def namesakes(order: Sequence[str], labels: Mapping[str, str]) -> tuple[str, ...]:
    """The entities that are called as the first one is, it included; empty if there is no other."""
    first = labels.get(order[0], "").casefold() if order else ""
    same = [one for one in order if first and labels.get(one, "").casefold() == first]
    return tuple(same) if len(same) > 1 else ()


def told_apart(
    entities: Sequence[str],
    labels: Mapping[str, str],
    find: Callable[[Pattern], Iterable[Statement]],
) -> tuple[Entity, ...]:
    """The entities with what distinguishes each from all the others."""
    stated = {one: list(find(Pattern(subject=one))) for one in entities}
    said = {one: {(s.quad.predicate, s.quad.object) for s in some} for one, some in stated.items()}
    found = []
    for one in entities:
        others = set().union(*(said[other] for other in entities if other != one))
        shared = {p for p, _ in others}
        own = sorted(
            (pair for pair in said[one] - others if pair[0] != RDF_TYPE),
            key=lambda pair: (pair[0] not in shared, pair),  # what the others say otherwise, first
        )
        types = tuple(s.quad.object for s in stated[one] if s.quad.predicate == RDF_TYPE)
        graphs = tuple(sorted({s.quad.graph for s in stated[one]}))
        found.append(Entity(one, labels.get(one, ""), types, graphs, tuple(own[:MOST_FACTS])))
    return tuple(found)
