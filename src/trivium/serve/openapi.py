"""What can be asked, as an OpenAPI document: what FastAPI knows, our errors, and examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from trivium.serve.problems import MEDIA_TYPE

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "code", "detail", "next"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "what went wrong, for programs"},
        "detail": {"type": "string", "description": "what went wrong, for people"},
        "next": {"type": "string", "description": "what to do about it"},
    },
    "example": {
        "type": "about:blank",
        "title": "unknown field",
        "status": 422,
        "code": "unknown_field",
        "detail": "there is no field 'limt'. Did you mean 'limit'?",
        "next": "read GET /openapi.json or docs/http.md for what can be asked",
    },
}
_DOCUMENT: dict[str, Any] = {
    "id": "bb140206ae37862a",
    "number": 49,
    "uri": "examples:march/items/gravewind.md",
    "title": "Gravewind, the Battle Axe of Hollowgate",
    "kind": "note",
    "media_type": "text/markdown",
    "category": "items",
    "scope": "all",
    "type": "weapon",
    "domain": "military",
    "severity": None,
    "tags": ["weapon", "axe"],
    "context": "",
    "metadata": {},
    "valid_from": None,
    "valid_until": None,
    "created": "2024-05-31T00:00:00.000000Z",
    "updated": "2024-05-31T00:00:00.000000Z",
    "version": 1,
}
_TEXT = "A battle axe with a single broad blade."
_HIT: dict[str, Any] = {
    "rank": 1,
    "id": "bb140206ae37862a",
    "chunk": "bb140206ae37862a@1/0",
    "score": 0.3475,
    "kind": "note",
    "title": "Gravewind, the Battle Axe of Hollowgate",
    "heading": "",
    "pages": None,
    "type": "weapon",
    "domain": "military",
    "severity": None,
    "tags": ["weapon", "axe"],
    "tier": None,
    "freshness": "current",
    "verifications": [],
    "snippet": _TEXT,
    "highlights": [{"leg": "keyword", "start": 9, "end": 12}],
    "tokens": 10,
    "document": {
        "id": "bb140206ae37862a",
        "number": 49,
        "uri": "examples:march/items/gravewind.md",
        "category": "items",
        "scope": "all",
        "version": 1,
    },
    "parts": [
        {
            "stage": "fuse",
            "name": "keyword",
            "rank": 1,
            "value": 14.4,
            "weight": 0.39,
            "contribution": 0.3475,
        }
    ],
}
_SEARCH: dict[str, Any] = {
    "query": "axe",
    "profile": "default",
    "score_kind": "blend",
    "took_ms": 3.1,
    "total": 1,
    "matched": 1,
    "legs": [{"name": "keyword", "state": "ok", "candidates": 1, "ms": 0.9}],
    "degraded": [],
    "warnings": [],
    "confidence": 0.8,
    "ambiguous": [],
    "hits": [_HIT],
    "next_cursor": None,
}
_TASK: dict[str, Any] = {
    "id": "3f2a9c0d1e4b5a67",
    "kind": "add",
    "state": "running",
    "made": "2026-06-01T12:00:00.000000Z",
    "stage": "read",
    "done": 3,
    "total": 9,
    "report": None,
    "problem": None,
}
_ACCEPTED = {"task": "3f2a9c0d1e4b5a67", "state": "waiting"}
EXAMPLES: Mapping[str, Any] = {
    "GET /search": _SEARCH,
    "POST /search": _SEARCH,
    "GET /facets": {"documents": 1, "chunks": 2, "facets": {"category": {"items": 1}}},
    "GET /suggest": {
        "query": "batt",
        "suggestions": [
            {"text": _DOCUMENT["title"], "kind": "title", "id": _DOCUMENT["id"]},
            {"text": "battle", "kind": "word", "id": None},
        ],
    },
    "GET /documents": {"total": 1, "documents": [_DOCUMENT], "next_cursor": None},
    "GET /documents/{name}": {
        **_DOCUMENT,
        "tier": None,
        "text": _TEXT,
        "chunks": [
            {
                "id": "bb140206ae37862a@1/0",
                "heading": [],
                "pages": None,
                "start": 0,
                "end": len(_TEXT),
                "text": _TEXT,
            }
        ],
    },
    "POST /documents": _ACCEPTED,
    "POST /documents/{name}/reingest": _ACCEPTED,
    "POST /embed": _ACCEPTED,
    "GET /tasks": {"tasks": [_TASK]},
    "GET /tasks/{id}": _TASK,
    "POST /documents/{name}/rollback": {"document": "bb140206ae37862a", "version": 1},
    "DELETE /documents/{name}": {"removed": 1},
    "POST /feedback": {"verdict": "accepted", "query": "axe", "documents": ["bb140206ae37862a"]},
    "POST /verifications/{id}": {"verification": "v0a1b2c3d4e5f", "status": "rejected"},
    "GET /health": {"status": "ok"},
    "GET /ready": {"status": "ready"},
    "POST /session": {"key": "own_…", "name": "owner", "role": "admin"},
}


def described(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """The document, made when it is first asked for."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    return document


def _document(app: FastAPI) -> dict[str, Any]:
    made: dict[str, Any] = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    components = made.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):  # ours are problems
        schemas.pop(name, None)
    schemas["Problem"] = PROBLEM
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer"},
        "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    }
    made["security"] = [{}, {"key": []}, {"header": []}]
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    for path, operations in made["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            responses.pop("422", None)
            for range in ("4XX", "5XX"):
                responses[range] = {"description": "a problem", "content": {MEDIA_TYPE: problem}}
            example = EXAMPLES.get(f"{method.upper()} {path}")
            content = next(iter(responses.values())).get("content", {})
            if example is not None and "application/json" in content:
                content["application/json"]["example"] = example
    return made
