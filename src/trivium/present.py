"""How hits are shown: snippets with exact highlights, and the JSON of section 5 of the design."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from trivium.clock import format_time
from trivium.kernels.spans import Place, places_of
from trivium.text import token_estimate
from trivium.types import Document, Highlight, Hit, Mode, Part, Reading, Record, Result, Version

SNIPPET_LENGTH = 240  # three lines of a terminal, and enough to judge a hit by
MOST_NAMED = 20
"""Of what a budget left out so many are named; the rest is counted."""


def hit(
    rank: int,
    unit: str,
    score: float,
    parts: tuple[Part, ...],
    record: Record,
    terms: Mapping[str, frozenset[str]],
    style: str = "best",
    length: int = SNIPPET_LENGTH,
) -> Hit:
    """A hit with the window of its text that holds most of what the legs matched on, or with the
    first characters of it where the style is `start`.
    """
    made = beginning_of if style == "start" else snippet_of
    snippet, highlights = made(record.chunk.text, terms, length)
    return Hit(
        rank=rank,
        id=unit,
        score=score,
        document=record.document,
        chunk=record.chunk,
        parts=parts,
        snippet=snippet,
        highlights=highlights,
        tokens=token_estimate(record.chunk.text),
    )


def snippet_of(
    text: str, terms: Mapping[str, frozenset[str]], length: int = SNIPPET_LENGTH
) -> tuple[str, tuple[Highlight, ...]]:
    """A piece of the text in one line, and where each leg's terms stand in it."""
    wanted = _any_of(tuple(terms.values()))
    places = places_of(text, wanted) if len(text) > length else None
    start, end = _window(text, places, length) if places is not None else (0, len(text))
    piece = _on_one_line(text[start:end])
    before = "… " if start > 0 else ""
    after = " …" if end < len(text) else ""
    if places is None or piece != text[start:end] or _cuts(text, start) or _cuts(text, end):
        places, start = places_of(piece, wanted), 0
    last = start + len(piece)
    inside = [place for place in places if start <= place[1] and place[2] <= last]
    return before + piece + after, _highlights(inside, terms, len(before) - start)


@lru_cache(maxsize=64)  # all hits of a page are looked through for the same terms
def _any_of(terms: tuple[frozenset[str], ...]) -> frozenset[str]:
    return frozenset().union(*terms)


def _highlights(
    found: Sequence[Place], terms: Mapping[str, frozenset[str]], shift: int = 0
) -> tuple[Highlight, ...]:
    """Where each leg's terms stand, in reading order, given where any of them do."""
    marks: list[tuple[int, str, int]] = []
    for leg, wanted in terms.items():
        first = len(marks)
        for term, start, end in found:
            if term not in wanted:
                continue
            if len(marks) > first and start < marks[-1][2]:  # they overlap: CJK bigrams
                marks[-1] = (marks[-1][0], leg, max(end, marks[-1][2]))
            else:
                marks.append((start, leg, end))
    return tuple(Highlight(leg, start + shift, end + shift) for start, leg, end in sorted(marks))


def beginning_of(
    text: str, terms: Mapping[str, frozenset[str]], length: int
) -> tuple[str, tuple[Highlight, ...]]:
    """The first characters of the text as they stand, and where each leg's terms are in them."""
    piece = text[:length]
    return piece, _highlights(places_of(piece, _any_of(tuple(terms.values()))), terms)


def _on_one_line(text: str) -> str:
    """The text with line breaks, heading signs and table rules folded into single spaces."""
    if "|" in text:
        text = re.sub(r"\|[\s:|-]+\|", " | ", text)
    if "#" in text:
        text = re.sub(r"^#{1,6}\s+", "", text, flags=re.MULTILINE)
    return " ".join(text.split())


def _window(text: str, places: Sequence[Place], length: int) -> tuple[int, int]:
    """The stretch with the most distinct terms, given where they stand; the first of equal ones."""
    best, best_count, last = 0, 0, 0
    inside: dict[str, int] = {}
    for first, (term, start, _) in enumerate(places):
        while last < len(places) and places[last][2] <= start + length - 40:
            inside[places[last][0]] = inside.get(places[last][0], 0) + 1
            last += 1
        if len(inside) > best_count:
            best, best_count = start, len(inside)
        if first < last:
            _leave(inside, term)
        last = max(last, first + 1)
    start = _word_start(text, max(0, best - 40))
    end = min(len(text), start + length)
    if end < len(text):
        space = text.rfind(" ", start + length // 2, end)
        end = space if space > 0 else end
    return start, end


def _cuts(text: str, place: int) -> bool:
    """Whether a text that begins or ends here has half a word there."""
    return 0 < place < len(text) and text[place - 1 : place + 1].isalnum()


def _leave(inside: dict[str, int], term: str) -> None:
    inside[term] -= 1
    if not inside[term]:
        del inside[term]


_WORD_START = re.compile(r"\s\S")


def _word_start(text: str, place: int) -> int:
    """The next beginning of a word at or after `place`, so that no word is cut in half."""
    if place == 0:
        return 0
    match = _WORD_START.search(text, place - 1, min(len(text), place + 40))
    return match.start() + 1 if match else place


# --- budgets -------------------------------------------------------------------------------------


def afforded(
    hits: Sequence[Hit], mode: Mode, budget: int | None
) -> tuple[tuple[Hit, ...], list[str]]:
    """The hits that a budget pays for, best first, and a sentence about the others.

    What a hit costs is what it says: title and snippet, or in full title, context and text.
    """
    costs = [_tokens(hit.title, *_said(hit, mode)) for hit in hits]
    kept, sentence = _within(costs, [hit.id for hit in hits], budget)
    return tuple(hits[place] for place in kept), sentence


def afforded_readings(
    readings: Sequence[Reading], budget: int | None
) -> tuple[list[Reading], list[str]]:
    """The same for documents that are read whole."""
    costs = [_tokens(one.document.title, one.document.context, one.text) for one in readings]
    kept, sentence = _within(costs, [one.document.id for one in readings], budget)
    return [readings[place] for place in kept], sentence


def _said(hit: Hit, mode: Mode) -> tuple[str, ...]:
    return (hit.document.context, hit.text) if mode == "full" else (hit.snippet,)


def _tokens(*texts: str) -> int:
    return sum(token_estimate(text) for text in texts)


def _within(
    costs: Sequence[int], names: Sequence[str], budget: int | None
) -> tuple[list[int], list[str]]:
    """The places that are paid for in their order; what is too dear makes room for the next."""
    if budget is None:
        return list(range(len(costs))), []
    kept, left_out, spent = [], [], 0
    for place, (cost, name) in enumerate(zip(costs, names, strict=True)):
        if spent + cost <= budget:
            kept.append(place)
            spent += cost
        else:
            left_out.append(f"{name} ({cost})")
    if not left_out:
        return kept, []
    named = ", ".join(left_out[:MOST_NAMED])
    more = f" and {len(left_out) - MOST_NAMED} more" if len(left_out) > MOST_NAMED else ""
    sentence = f"the budget of {budget} tokens leaves out {len(left_out)}: {named}{more}"
    return kept, [f"{sentence}; 'trivium get' shows them"]


FACETS = ("source", "category", "kind", "type", "domain", "severity", "tags", "scope")


def facets(documents: Iterable[Document]) -> dict[str, dict[str, int]]:
    """How many of the documents have each value, most frequent first, then by value."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    for document in documents:
        for name in FACETS:
            counts[name].update(_facet_values(document, name))
    return {
        name: dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
        for name, found in counts.items()
    }


def _facet_values(document: Document, name: str) -> Sequence[str]:
    if name == "source":
        return (document.uri.partition(":")[0],)
    value = getattr(document, name)
    return value if isinstance(value, tuple) else (value,) if value else ()


# --- JSON ----------------------------------------------------------------------------------------


def result_json(result: Result) -> dict[str, Any]:
    """The answer as plain data; the same for every surface."""
    return {
        "query": result.query,
        "profile": result.profile,
        "score_kind": result.score_kind.value,
        "took_ms": round(result.took_ms, 3),
        "total": result.total,
        "matched": result.matched,
        "legs": [
            {
                "name": leg.name,
                "state": leg.state.value,
                "candidates": len(leg.ranking),
                "ms": round(leg.ms, 3),
                **({"note": leg.note} if leg.note else {}),
            }
            for leg in result.legs
        ],
        "degraded": list(result.degraded),
        "warnings": list(result.warnings),
        "confidence": result.confidence,
        "ambiguous": list(result.ambiguous),
        **({"told_apart": [dict(one) for one in result.told_apart]} if result.told_apart else {}),
        "hits": [hit_json(hit, full=result.mode == "full") for hit in result.hits],
        **({"facets": result.facets} if result.facets is not None else {}),
        "next_cursor": result.next_cursor,
    }


def hit_json(hit: Hit, *, full: bool) -> dict[str, Any]:
    document, chunk = hit.document, hit.chunk
    data: dict[str, Any] = {
        "rank": hit.rank,
        "id": hit.id,
        "chunk": chunk.id,
        "score": hit.score,
        "kind": document.kind,
        "title": hit.title,
        "heading": hit.heading,
        "pages": list(chunk.pages) if chunk.pages else None,
        "type": document.type,
        "domain": document.domain,
        "severity": document.severity,
        "tags": list(document.tags),
        "tier": hit.tier,
        "freshness": hit.freshness,
        "verifications": list(hit.verifications),
        "snippet": hit.snippet,
        "highlights": [{"leg": h.leg, "start": h.start, "end": h.end} for h in hit.highlights],
        "tokens": hit.tokens,
        "document": {
            "id": document.id,
            "number": document.number,
            "uri": document.uri,
            "category": document.category,
            "scope": document.scope,
            "version": chunk.version,
        },
        "parts": [
            {
                "stage": part.stage,
                "name": part.name,
                "rank": part.rank,
                "value": part.value,
                "weight": part.weight,
                "contribution": part.contribution,
            }
            for part in hit.parts
        ],
    }
    if full:
        if breakdown := breakdown_of(hit.parts):
            data["breakdown"] = breakdown
        data["text"] = chunk.text
        data["fields"] = document_json(document)
        if chunk.subject:
            data["fact"] = {
                "subject": chunk.subject,
                "predicate": chunk.predicate,
                "graph": chunk.graph,
            }
    return data


_BREAKDOWN = {
    "semantic": "semantic",
    "vector": "vector",
    "severity": "severity",
    "temporal_decay": "temporalDecay",
    "tag_overlap": "tagOverlap",
    "domain_match": "domainMatch",
}
"""The signals under the names that document 004 gives them."""


def breakdown_of(parts: Sequence[Part]) -> dict[str, float]:
    """What each signal gave to the score; nothing where no signals did, or a reranker later."""
    if any(part.stage == "rerank" for part in parts):
        return {}
    given = {part.name: part.contribution for part in parts if part.stage == "score"}
    return {name: given[signal] for signal, name in _BREAKDOWN.items() if signal in given}


def document_json(document: Document) -> dict[str, Any]:
    def time(name: str) -> str | None:
        moment = getattr(document, name)
        return format_time(moment) if moment else None

    return {
        "id": document.id,
        "number": document.number,
        "uri": document.uri,
        "title": document.title,
        "kind": document.kind,
        "media_type": document.media_type,
        "category": document.category,
        "scope": document.scope,
        "type": document.type,
        "domain": document.domain,
        "severity": document.severity,
        "tags": list(document.tags),
        "context": document.context,
        "metadata": dict(document.metadata),
        "valid_from": time("valid_from"),
        "valid_until": time("valid_until"),
        "created": time("created"),
        "updated": time("updated"),
        "version": document.version,
    }


def version_json(version: Version) -> dict[str, Any]:
    return {
        "document": version.document,
        "version": version.version,
        "active": version.active,
        "made": format_time(version.made),
        "pipeline": version.pipeline,
        "source_hash": version.source_hash,
        "chunks": version.chunks,
        "archived": version.archived,
        "blob": version.blob or None,
    }


def reading_json(reading: Reading) -> dict[str, Any]:
    """A document with its chunks, whole."""
    return {
        **document_json(reading.document),
        "tier": reading.tier,
        "text": reading.text,
        "chunks": [
            {
                "id": chunk.id,
                "heading": list(chunk.heading),
                "pages": list(chunk.pages) if chunk.pages else None,
                "start": chunk.start,
                "end": chunk.end,
                "text": chunk.text,
            }
            for chunk in reading.chunks
        ],
    }


def to_text(data: Any) -> str:
    """JSON with stable bytes: the same data always gives the same text."""
    return json.dumps(data, ensure_ascii=False, indent=2, default=str)
