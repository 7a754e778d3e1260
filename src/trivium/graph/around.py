"""The graph around a resource: what is stated of it and of what it leads to, up to a size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trivium.graph.names import REIFIES
from trivium.types import Pattern, Statement

Find = Callable[[Pattern], Iterable[Statement]]


@dataclass(frozen=True, slots=True)
class Around:
    """Statements around a subject in the order they were reached; `cut` says there were more.

    `labels` says what the resources are called, `about` what is stated about the statements (by
    the term that a reifier names), `documents` which documents are about the subject.
    """

    subject: str
    statements: tuple[Statement, ...]
    labels: Mapping[str, str]
    cut: bool = False
    about: Mapping[str, tuple[Statement, ...]] | None = None
    documents: tuple[str, ...] = ()
    verifications: tuple[str, ...] = ()


def around(subject: str, find: Find, depth: int, limit: int) -> tuple[tuple[Statement, ...], bool]:
    """Outward and inward statements of the subject, then of its neighbours, level by level.

    Always in the same order: levels, then outward before inward, then by the parts of a statement.
    """
    found: dict[Statement, None] = {}
    seen, level = {subject}, [subject]
    for _ in range(depth):
        reached: list[str] = []
        for resource in level:
            for statement in (*find(Pattern(subject=resource)), *_inward(find, resource)):
                if statement in found:
                    continue
                if len(found) == limit:
                    return tuple(found), True
                found[statement] = None
                reached += _ends(statement)
        level = [one for one in dict.fromkeys(reached) if one not in seen]
        seen |= set(level)
    return tuple(found), False


def _inward(find: Find, resource: str) -> list[Statement]:
    pointing = find(Pattern(object=resource))
    return [one for one in pointing if not one.quad.datatype]


def _ends(statement: Statement) -> list[str]:
    quad = statement.quad
    ends = [quad.subject]
    if not quad.datatype and not quad.object.startswith("<<("):
        ends.append(quad.object)
    return ends


def term(statement: Statement) -> str:
    """A statement as the triple term that a reifier names."""
    from trivium.graph.rdf import line

    quad = statement.quad
    written = line(quad)
    without_graph = written if not quad.graph else written[: written.rindex(" ", 0, -2)] + " ."
    return f"<<( {without_graph[:-2]} )>>"


def about(statements: Sequence[Statement], find: Find) -> dict[str, tuple[Statement, ...]]:
    """What is stated about statements: by term, the statements of their reifiers."""
    said: dict[str, tuple[Statement, ...]] = {}
    for statement in statements:
        name = term(statement)
        reifiers = find(Pattern(predicate=REIFIES, object=name))
        told = [
            one
            for reifier in reifiers
            for one in find(Pattern(subject=reifier.quad.subject))
            if one.quad.predicate != REIFIES
        ]
        if told:
            said[name] = tuple(told)
    return said
