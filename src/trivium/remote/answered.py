"""What a server answered, as the values it stands for; what does not fit is a `ValueError`.

The server is another party: every value is looked at before it is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from trivium.clock import parse_time
from trivium.types import (
    Candidate,
    Chunk,
    Document,
    Highlight,
    Hit,
    Leg,
    LegState,
    Part,
    Ranking,
    Reading,
    Result,
    ScoreKind,
    SearchRequest,
)

Value = TypeVar("Value")
Json = Mapping[str, Any]

LARGEST = 1 << 63
MOST_CANDIDATES = 1_000_000
"""No honest leg says that it gave more."""


def result_of(data: Any, request: SearchRequest) -> Result:
    """The answer to a search."""
    told = record(data)
    return Result(
        query=text(told["query"]),
        profile=text(told["profile"]),
        score_kind=ScoreKind(told["score_kind"]),
        hits=tuple(several(told["hits"], hit_of)),
        legs=tuple(several(told["legs"], _leg)),
        total=count(told["total"]),
        matched=count(told["matched"]),
        took_ms=number(told["took_ms"]),
        mode=request.mode,
        degraded=texts(told["degraded"]),
        warnings=texts(told["warnings"]),
        confidence=maybe(told["confidence"], number),
        ambiguous=texts(told["ambiguous"]),
        told_apart=tuple(several(told.get("told_apart", []), record)),
        facets=maybe(told.get("facets"), facets_of),
        next_cursor=maybe(told["next_cursor"], text),
    )


def hit_of(data: Any) -> Hit:
    """A hit. What a scan does not say (the whole text, some fields) is empty."""
    told = record(data)
    place, fields = record(told["document"]), told.get("fields")
    document = document_of(fields) if fields is not None else _brief(told, place)
    fact = record(told.get("fact") or {})
    heading = text(told["heading"])
    title = text(told["title"])
    path = (heading,) if heading else ()
    chunk = Chunk(
        id=text(told["chunk"]),
        document=document.id,
        version=count(place["version"]),
        ordinal=0,
        text=text(told.get("text", "")),
        heading=(title, *path) if fact else path,
        pages=_pages(told["pages"]),
        subject=maybe(fact.get("subject"), text),
        predicate=maybe(fact.get("predicate"), text),
        graph=maybe(fact.get("graph"), text),
    )
    return Hit(
        rank=count(told["rank"]),
        id=text(told["id"]),
        score=number(told["score"]),
        document=document,
        chunk=chunk,
        parts=tuple(several(told["parts"], _part)),
        snippet=text(told["snippet"]),
        highlights=tuple(several(told["highlights"], _highlight)),
        tokens=count(told["tokens"]),
        freshness=text(told["freshness"]),
        verifications=texts(told["verifications"]),
        tier=maybe(told["tier"], text),
    )


def _brief(told: Json, place: Json) -> Document:
    return Document(
        id=text(place["id"]),
        uri=text(place["uri"]),
        title=text(told["title"]),
        kind=text(told["kind"]),
        category=maybe(place["category"], text),
        scope=text(place["scope"]),
        type=maybe(told["type"], text),
        domain=maybe(told["domain"], text),
        severity=maybe(told["severity"], text),
        tags=texts(told["tags"]),
        number=count(place["number"]),
        version=count(place["version"]),
    )


def document_of(data: Any) -> Document:
    """A document's fields."""
    told = record(data)
    return Document(
        id=text(told["id"]),
        uri=text(told["uri"]),
        title=text(told["title"]),
        kind=text(told["kind"]),
        context=text(told["context"]),
        media_type=text(told["media_type"]),
        category=maybe(told["category"], text),
        scope=text(told["scope"]),
        type=maybe(told["type"], text),
        domain=maybe(told["domain"], text),
        severity=maybe(told["severity"], text),
        tags=texts(told["tags"]),
        metadata=record(told["metadata"]),
        number=count(told["number"]),
        version=count(told["version"]),
        valid_from=maybe(told["valid_from"], _moment),
        valid_until=maybe(told["valid_until"], _moment),
        created=maybe(told["created"], _moment),
        updated=maybe(told["updated"], _moment),
    )


def reading_of(data: Any) -> Reading:
    """A document with its chunks, whole."""
    told = record(data)
    document = document_of(told)
    chunks = several(told["chunks"], lambda one: _chunk(record(one), document))
    return Reading(document, tuple(chunks), text(told["text"]), maybe(told["tier"], text))


def _chunk(told: Json, document: Document) -> Chunk:
    return Chunk(
        id=text(told["id"]),
        document=document.id,
        version=document.version,
        ordinal=0,
        text=text(told["text"]),
        heading=texts(told["heading"]),
        pages=_pages(told["pages"]),
        start=count(told["start"]),
        end=count(told["end"]),
    )


def facets_of(data: Any) -> dict[str, dict[str, int]]:
    return {
        text(name): {text(value): count(many) for value, many in record(counts).items()}
        for name, counts in record(data).items()
    }


def _moment(value: Any) -> datetime:
    return parse_time(text(value))


def _leg(data: Any) -> Leg:
    told = record(data)
    candidates = count(told["candidates"])
    if candidates > MOST_CANDIDATES:
        raise ValueError("too many candidates")
    return Leg(
        text(told["name"]),
        LegState(told["state"]),
        Ranking((Candidate("", 0.0),) * candidates),  # who they were is not told, only how many
        number(told["ms"]),
        text(told.get("note", "")),
    )


def _part(data: Any) -> Part:
    told = record(data)
    return Part(
        text(told["stage"]),
        text(told["name"]),
        number(told["contribution"]),
        maybe(told["rank"], count),
        maybe(told["value"], number),
        maybe(told["weight"], number),
    )


def _highlight(data: Any) -> Highlight:
    told = record(data)
    return Highlight(text(told["leg"]), count(told["start"]), count(told["end"]))


def _pages(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    first, last = several(value, count)
    return first, last


# --- one value -----------------------------------------------------------------------------------


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is missing")
    return value


def number(value: Any) -> float:
    whole = type(value) is int and abs(value) < LARGEST
    if not whole and not (isinstance(value, float) and math.isfinite(value)):
        raise ValueError("a number is missing")
    given: float = value
    return given


def count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < LARGEST:
        raise ValueError("a count is missing")
    return value


def record(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object is missing")
    return value


def several(value: Any, read: Callable[[Any], Value]) -> list[Value]:
    if not isinstance(value, list):
        raise ValueError("a list is missing")
    return [read(one) for one in value]


def texts(value: Any) -> tuple[str, ...]:
    return tuple(several(value, text))


def maybe(value: Any, read: Callable[[Any], Value]) -> Value | None:
    return None if value is None else read(value)
