"""The tools that read: search, get, context, facts, status."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trivium.config import Profile, load_profile
from trivium.context import LEAST_BUDGET, context_json
from trivium.errors import InvalidValue
from trivium.graph.around import Around
from trivium.graph.shown import around_json, around_lines
from trivium.library import Library
from trivium.library.facts import MOST_FACTS
from trivium.mcp.replies import Reply, cursor_at, fitted, place_in
from trivium.mcp.words import documents_words, facts_words, search_words, status_words
from trivium.present import document_json, result_json
from trivium.types import Filter, Grant, Reading, Result, SearchRequest

Given = Mapping[str, Any]

FILTERS = ("scope", "source", "category", "kind", "type", "domain", "severity", "tags")
PASSAGES_SHARE = 3
"""The passages of a context come three times: quoted, in the JSON, and by citation."""
MOST_VALUES = 200
"""Values of each field that `status` shows at a time."""


def search(library: Library, grant: Grant, given: Given) -> Reply:
    """Hits as `trivium search --json` gives them; as many as the budget pays for."""
    profile = load_profile(given["profile"] or library.profile_name)

    def ask(limit: int, profile: Profile) -> Result:
        request = SearchRequest(
            given["query"],
            limit,
            filter_of(library, grant, given),
            include_memories=given["include_memories"],
            cursor=given["cursor"],
            prefer_tags=given["prefer_tags"],
            prefer_domain=given["prefer_domain"],
        )
        return library.answer(request, profile=profile, grant=grant)

    result = _first(ask, given, profile)
    reply = _found(result)
    if reply.tokens <= given["budget"]:
        return reply
    fewer = min(given["limit"], len(result.hits))
    pages = _in_pages(profile)
    return fitted(max(1, fewer), lambda limit: _found(ask(limit, pages)), given["budget"])


def _first(ask: Callable[[int, Profile], Result], given: Given, profile: Profile) -> Result:
    """The page as it was asked for; a cursor may come from one that was made to fit."""
    try:
        return ask(given["limit"], profile)
    except InvalidValue:
        if given["cursor"] is None or profile == _in_pages(profile):
            raise
        return ask(given["limit"], _in_pages(profile))


def _in_pages(profile: Profile) -> Profile:
    """The profile without the rule that shows a small corpus whole: that has no pages."""
    return replace(profile, search=replace(profile.search, small_corpus=0))


def _found(result: Result) -> Reply:
    return Reply(search_words(result), result_json(result))


def filter_of(library: Library, grant: Grant, given: Given) -> Filter:
    """The filter that the arguments stand for."""
    as_of = given.get("as_of")
    return Filter(
        **{name: given[name] for name in FILTERS if name in given},
        include_expired=given.get("include_expired", False),
        as_of=library.moment(as_of, grant=grant) if as_of else None,
    )


# --- get -----------------------------------------------------------------------------------------


def get(library: Library, grant: Grant, given: Given) -> Reply:
    """Documents or chunks whole; what has no room comes with the cursor, to the character."""
    if not given["ids"]:
        raise InvalidValue("no document was named; pass ids with the id or chunk of a hit")
    readings = library.get(*given["ids"], grant=grant)
    asked = ("get", given["ids"], [(one.document.id, one.document.version) for one in readings])
    place, offset = place_in(given["cursor"], asked, 2)
    rest = sum(len(one.text) for one in readings[place:]) - offset
    size = max(1, min(rest, given["budget"] * 4))
    return fitted(size, lambda most: _texts(readings, place, offset, most, asked), given["budget"])


def _texts(readings: Sequence[Reading], place: int, offset: int, most: int, asked: object) -> Reply:
    """At most so many characters from a place on, and the cursor for what is left."""
    documents, left = [], most
    while place < len(readings) and left > 0:
        one = readings[place]
        end = min(len(one.text), offset + left)
        documents.append(_piece(one, offset, end))
        left -= end - offset
        place, offset = (place, end) if end < len(one.text) else (place + 1, 0)
    cursor = cursor_at(asked, place, offset) if place < len(readings) else None
    data = {"documents": documents, "next_cursor": cursor}
    return Reply(documents_words(data), data)


def _piece(reading: Reading, start: int, end: int) -> dict[str, Any]:
    return {
        **document_json(reading.document),
        "tier": reading.tier,
        "text": reading.text[start:end],
        "start": start,
        "end": end,
        "characters": len(reading.text),
    }


# --- the others ----------------------------------------------------------------------------------


def context(library: Library, grant: Grant, given: Given) -> Reply:
    """Numbered passages, as `trivium context --json` gives them."""

    def packed(budget: int) -> Reply:
        found = library.context(
            given["prompt"],
            budget=budget,
            filter=filter_of(library, grant, given),
            profile=given["profile"],
            include_memories=given["include_memories"],
            grant=grant,
        )
        return Reply(found.text or "Nothing found.", context_json(found))

    return fitted(given["budget"] // PASSAGES_SHARE, packed, given["budget"], LEAST_BUDGET)


def facts(library: Library, grant: Grant, given: Given) -> Reply:
    """What is stated around a subject, as `trivium facts --json` gives it, and a cursor."""
    subject, depth = given["subject"], given["depth"]
    asked = ("facts", subject, depth, library.stamp(grant=grant))
    (shown,) = place_in(given["cursor"], asked, 1)
    prefixes = library.prefixes(grant=grant)

    def page(count: int) -> Reply:
        limit = min(MOST_FACTS, shown + count)
        found = library.facts(subject, depth=depth, limit=limit, grant=grant)
        found = _after(found, shown)
        more = found.cut and limit < MOST_FACTS
        cursor = cursor_at(asked, shown + len(found.statements)) if more else None
        data = {**around_json(found), "next_cursor": cursor}
        return Reply(facts_words(around_lines(found, prefixes), cursor), data)

    return fitted(given["limit"], page, given["budget"])


def _after(found: Around, shown: int) -> Around:
    """The statements after the first so many, and the labels that they need."""
    statements = found.statements[shown:]
    quads = [one.quad for one in statements]
    named = {found.subject, *(n for q in quads for n in (q.subject, q.predicate, q.object))}
    labels = {name: label for name, label in found.labels.items() if name in named}
    return replace(found, statements=statements, labels=labels)


def status(library: Library, grant: Grant, given: Given) -> Reply:
    """What the caller can see of the library: counts, and values to pass to search."""
    seen = library.overview(grant=grant)
    facets: dict[str, dict[str, int]] = seen["facets"]
    asked = ("status", library.stamp(grant=grant))
    (shown,) = place_in(given["cursor"], asked, 1)
    longest = max(map(len, facets.values()))

    def page(count: int) -> Reply:
        here = {
            name: dict(list(counts.items())[shown : shown + count])
            for name, counts in facets.items()
        }
        data = {
            "profile": library.profile_name,
            "model": library.model_name,
            "documents": seen["documents"],
            "chunks": seen["chunks"],
            "facets": here,
            "next_cursor": cursor_at(asked, shown + count) if longest > shown + count else None,
        }
        return Reply(status_words(data), data)

    return fitted(max(1, min(MOST_VALUES, longest)), page, given["budget"])
