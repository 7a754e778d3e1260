"""Facts for people and programs: lines of a terminal, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trivium.clock import format_time
from trivium.graph.around import Around, term
from trivium.graph.names import shorten
from trivium.types import Provenance, Quad, Statement


def quad_json(quad: Quad) -> dict[str, str]:
    return {
        "subject": quad.subject,
        "predicate": quad.predicate,
        "object": quad.object,
        "datatype": quad.datatype,
        "language": quad.language,
        "graph": quad.graph,
    }


def source_json(source: Provenance) -> dict[str, Any]:
    return {
        "document": source.document,
        "uri": source.uri,
        "version": source.version,
        "made": format_time(source.made),
    }


def statement_json(statement: Statement) -> dict[str, Any]:
    sources = [source_json(source) for source in statement.sources]
    return {**quad_json(statement.quad), "sources": sources}


def around_json(found: Around) -> dict[str, Any]:
    said = found.about or {}
    return {
        "subject": found.subject,
        "label": found.labels.get(found.subject),
        "documents": list(found.documents),
        "statements": [
            {
                **statement_json(one),
                "about": [statement_json(told) for told in said.get(term(one), ())],
            }
            for one in found.statements
        ],
        "labels": dict(sorted(found.labels.items())),
        "cut": found.cut,
    }


def value_of(quad: Quad, prefixes: Mapping[str, str], labels: Mapping[str, str]) -> str:
    """An object as people read it."""
    if quad.datatype:
        return f'"{quad.object}"' + (f"@{quad.language}" if quad.language else "")
    label = labels.get(quad.object, "")
    return shorten(quad.object, prefixes) + (f" ({label})" if label else "")


def around_lines(found: Around, prefixes: Mapping[str, str]) -> Iterator[str]:
    label = found.labels.get(found.subject, "")
    yield shorten(found.subject, prefixes) + (f" ({label})" if label else "")
    for uri in found.documents:
        yield f"  is what {uri} is about"
    for one in found.statements:
        quad = one.quad
        start = "" if quad.subject == found.subject else f"{shorten(quad.subject, prefixes)} "
        places = ", ".join(f"{source.uri}@{source.version}" for source in one.sources)
        graph = f"  in {shorten(quad.graph, prefixes)}" if quad.graph else ""
        value = value_of(quad, prefixes, found.labels)
        yield f"  {start}{shorten(quad.predicate, prefixes)} {value}{graph}  [{places}]"
        for told in (found.about or {}).get(term(one), ()):
            said = value_of(told.quad, prefixes, found.labels)
            yield f"      {shorten(told.quad.predicate, prefixes)} {said}"
