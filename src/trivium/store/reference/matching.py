"""What columns, phrases, units and filters mean, said as plainly as possible."""

from __future__ import annotations

import json
from collections.abc import Sequence

from trivium.sources import source_matcher
from trivium.stemmer import stem
from trivium.text import words
from trivium.types import (
    Document,
    Filter,
    Phrase,
    Record,
    Unit,
)

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUBCLASS_OF = "http://www.w3.org/2000/01/rdf-schema#subClassOf"


def text_of(record: Record, column: str) -> str:
    """What a searchable column of a chunk says."""
    document, chunk = record.document, record.chunk
    return {
        "key": document.key,
        "title": document.title,
        "heading": " ".join(chunk.heading),
        "body": chunk.text,
        "context": document.context,
        "tags": " ".join(document.tags),
    }[column]


def terms_of(record: Record, column: str) -> list[str]:
    return [stem(word) for word in words(text_of(record, column))]


def count(phrase: Phrase, terms: Sequence[str]) -> int:
    """How often the phrase stands in a list of terms."""
    size = len(phrase.terms)

    def here(start: int) -> bool:
        window = tuple(terms[start : start + size])
        if phrase.prefix:
            return window[:-1] == phrase.terms[:-1] and window[-1].startswith(phrase.terms[-1])
        return window == phrase.terms

    return sum(here(start) for start in range(len(terms) - size + 1))


def unit_of(record: Record, unit: Unit) -> str:
    if unit == "chunk":
        return record.chunk.id
    if unit == "entity" and record.chunk.subject:
        return record.chunk.subject
    return record.document.id


Types = set[tuple[str, str, str]]
"""The visible statements that say what type a subject has, or which class is below another."""


def has_type(subject: str | None, wanted: str, types: Types, subclasses: bool) -> bool:
    classes = {wanted}
    while subclasses and (below := {s for s, p, o in types if p == SUBCLASS_OF and o in classes}):
        if below <= classes:
            break
        classes |= below
    return any((subject, RDF_TYPE, one) in types for one in classes)


def matches(filter: Filter, record: Record, types: Types) -> bool:
    """What a filter means: OR within a dimension, AND across, and none of the exclusions."""
    document, chunk = record.document, record.chunk
    return (
        all(
            not wanted or value in wanted
            for wanted, value in (
                (filter.scope, document.scope),
                (filter.category, document.category),
                (filter.kind, document.kind),
                (filter.type, document.type),
                (filter.domain, document.domain),
                (filter.severity, document.severity),
                (filter.subjects, chunk.subject),
                (filter.predicates, chunk.predicate),
                (filter.graphs, chunk.graph),
            )
        )
        and (not filter.tags or not set(filter.tags).isdisjoint(document.tags))
        and (not filter.source or source_matcher(filter.source)(document.number, document.uri))
        and (
            not filter.rdf_types
            or any(
                has_type(chunk.subject, wanted, types, filter.subclasses)
                for wanted in filter.rdf_types
            )
        )
        and _metadata_matches(filter, document)
        and _created_matches(filter, document)
        and _valid(filter, document)
        and not any(matches(one, record, types) for one in filter.exclude if one.narrows())
    )


def _metadata_matches(filter: Filter, document: Document) -> bool:
    for key in {key for key, _ in filter.metadata}:
        wanted = [json.dumps(value) for name, value in filter.metadata if name == key]
        if key not in document.metadata or json.dumps(document.metadata[key]) not in wanted:
            return False
    return True


def _created_matches(filter: Filter, document: Document) -> bool:
    if filter.created_from is None and filter.created_until is None:
        return True
    if document.created is None:
        return False
    after = filter.created_from is None or document.created >= filter.created_from
    return after and (filter.created_until is None or document.created < filter.created_until)


def _valid(filter: Filter, document: Document) -> bool:
    if filter.valid_at is None or filter.include_expired:
        return True
    begun = document.valid_from is None or document.valid_from <= filter.valid_at
    return begun and (document.valid_until is None or filter.valid_at < document.valid_until)
