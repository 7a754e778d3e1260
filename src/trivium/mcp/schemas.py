"""The JSON Schemas of what the tools answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
ANY: Schema = {}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, "type": [schema["type"], "null"]}


def several(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def record(always: Mapping[str, Schema], sometimes: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these keys; those of `sometimes` may be missing."""
    return {
        "type": "object",
        "properties": {**always, **(sometimes or {})},
        "required": list(always),
    }


CURSOR: Schema = {
    **maybe(TEXT),
    "description": "Pass it as cursor, with the same arguments, for the rest; null: this is all.",
}
TEXTS = several(TEXT)
PAGES = maybe(several(COUNT))
OBJECT: Schema = {"type": "object"}

_PART = record(
    {
        "stage": TEXT,
        "name": TEXT,
        "rank": maybe(COUNT),
        "value": maybe(NUMBER),
        "weight": maybe(NUMBER),
        "contribution": NUMBER,
    }
)
_HIT = record(
    {
        "rank": COUNT,
        "id": {**TEXT, "description": "Pass it to get for the whole text."},
        "chunk": {**TEXT, "description": "Pass it to get for this passage alone."},
        "score": NUMBER,
        "kind": TEXT,
        "title": TEXT,
        "heading": TEXT,
        "pages": PAGES,
        "type": maybe(TEXT),
        "domain": maybe(TEXT),
        "severity": maybe(TEXT),
        "tags": TEXTS,
        "tier": maybe(TEXT),
        "freshness": TEXT,
        "snippet": TEXT,
        "highlights": several(record({"leg": TEXT, "start": COUNT, "end": COUNT})),
        "tokens": {**COUNT, "description": "About what the passage costs in full."},
        "document": record(
            {
                "id": TEXT,
                "number": COUNT,
                "uri": TEXT,
                "category": maybe(TEXT),
                "scope": TEXT,
                "version": COUNT,
            }
        ),
        "parts": several(_PART),
    }
)
SEARCH = record(
    {
        "query": TEXT,
        "profile": TEXT,
        "score_kind": TEXT,
        "took_ms": NUMBER,
        "total": COUNT,
        "matched": COUNT,
        "legs": several(
            record({"name": TEXT, "state": TEXT, "candidates": COUNT, "ms": NUMBER}, {"note": TEXT})
        ),
        "degraded": TEXTS,
        "warnings": TEXTS,
        "confidence": maybe(NUMBER),
        "ambiguous": TEXTS,
        "hits": several(_HIT),
        "next_cursor": CURSOR,
    },
    {"told_apart": several(OBJECT)},
)
_FIELDS: Mapping[str, Schema] = {
    "id": TEXT,
    "number": COUNT,
    "uri": TEXT,
    "title": TEXT,
    "kind": TEXT,
    "media_type": TEXT,
    "category": maybe(TEXT),
    "scope": TEXT,
    "type": maybe(TEXT),
    "domain": maybe(TEXT),
    "severity": maybe(TEXT),
    "tags": TEXTS,
    "context": TEXT,
    "metadata": OBJECT,
    "valid_from": maybe(TEXT),
    "valid_until": maybe(TEXT),
    "created": maybe(TEXT),
    "updated": maybe(TEXT),
    "version": COUNT,
    "tier": maybe(TEXT),
}
GET = record(
    {
        "documents": several(
            record(
                {
                    **_FIELDS,
                    "text": TEXT,
                    "start": {**COUNT, "description": "Where the text begins in the whole."},
                    "end": COUNT,
                    "characters": {**COUNT, "description": "Length of the whole."},
                }
            )
        ),
        "next_cursor": CURSOR,
    }
)
CONTEXT = record(
    {
        "prompt": TEXT,
        "profile": TEXT,
        "budget": COUNT,
        "tokens": COUNT,
        "counter": TEXT,
        "text": TEXT,
        "citations": several(
            record(
                {
                    "number": COUNT,
                    "id": TEXT,
                    "chunk": TEXT,
                    "title": TEXT,
                    "uri": TEXT,
                    "heading": TEXT,
                    "pages": PAGES,
                    "version": COUNT,
                    "score": NUMBER,
                    "tokens": COUNT,
                    "cut": FLAG,
                    "text": TEXT,
                }
            )
        ),
        "left_out": several(record({"id": TEXT, "chunk": TEXT, "title": TEXT, "reason": TEXT})),
        "confidence": maybe(NUMBER),
        "degraded": TEXTS,
        "warnings": TEXTS,
    }
)
_SOURCE = record({"document": TEXT, "uri": TEXT, "version": COUNT, "made": TEXT})
_STATEMENT: Mapping[str, Schema] = {
    "subject": TEXT,
    "predicate": TEXT,
    "object": TEXT,
    "datatype": TEXT,
    "language": TEXT,
    "graph": TEXT,
    "sources": several(_SOURCE),
}
FACTS = record(
    {
        "subject": TEXT,
        "label": maybe(TEXT),
        "documents": TEXTS,
        "statements": several(record({**_STATEMENT, "about": several(record(_STATEMENT))})),
        "labels": OBJECT,
        "cut": FLAG,
        "next_cursor": CURSOR,
    }
)
STATUS = record(
    {
        "profile": TEXT,
        "model": TEXT,
        "documents": COUNT,
        "chunks": COUNT,
        "facets": {
            **OBJECT,
            "additionalProperties": {**OBJECT, "additionalProperties": COUNT},
            "description": "How many documents have each value; pass values to search.",
        },
        "next_cursor": CURSOR,
    }
)
_MESSAGE = record({"name": TEXT, "message": TEXT})
ADDED = record(
    {
        "added": TEXTS,
        "updated": TEXTS,
        "unchanged": TEXTS,
        "renamed": TEXTS,
        "missing": TEXTS,
        "removed": TEXTS,
        "skipped": TEXTS,
        "errors": several(_MESSAGE),
        "notes": several(_MESSAGE),
        "waiting": COUNT,
        "model_problem": TEXT,
        "blob_problem": TEXT,
    }
)
JUDGED = record({"verdict": TEXT, "query": TEXT, "documents": TEXTS})
