"""The tools that write: add, remember, feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trivium.errors import InvalidValue, RequestError
from trivium.ingest.report import AddReport
from trivium.library import Library
from trivium.mcp.replies import Reply
from trivium.mcp.words import added_words
from trivium.text import content_hash
from trivium.types import OWNER, PUBLIC_SCOPE, Grant

Given = Mapping[str, Any]


def add(library: Library, grant: Grant, given: Given) -> Reply:
    """Take in a text; the same id again makes a new version of it."""
    _check(grant, given)
    report = library.add_text(
        given["text"],
        title=given["title"],
        id=given["id"] or _own_id(given["title"], grant),
        scope=given["scope"],
        category=given["category"],
        tags=given["tags"],
        force=given["force"],
        grant=grant,
    )
    return _reported(report, grant)


def remember(library: Library, grant: Grant, given: Given) -> Reply:
    """Keep a memory; the same text again is the same memory."""
    _check(grant, given)
    report = library.remember(
        given["text"],
        type=given["type"],
        title=given["title"],
        id=given["id"],
        scope=given["scope"],
        tags=given["tags"],
        grant=grant,
    )
    return _reported(report, grant)


def feedback(library: Library, grant: Grant, given: Given) -> Reply:
    """Say what documents that a search found were worth."""
    verdict, names, query = given["verdict"], given["ids"], given["query"]
    ids = [one.document for one in library.feedback(verdict, *names, query=query, grant=grant)]
    data = {"verdict": verdict, "query": query, "documents": ids}
    return Reply(f"{verdict}: {len(ids)} document{'s' if len(ids) != 1 else ''}", data)


def _check(grant: Grant, given: Given) -> None:
    """An error for what is empty, or not the caller's to write."""
    if not given["text"].strip():
        raise InvalidValue("the text is empty; pass what is to be kept")
    if grant.scopes is not None and not grant.allows(given["scope"] or PUBLIC_SCOPE):
        raise InvalidValue(
            f"scope '{given['scope']}' is not yours; pass one of {', '.join(sorted(grant.scopes))}"
        )


def _own_id(title: str, grant: Grant) -> str | None:
    """The id of a text that was given none: its title. Of those who do not see everything, one that
    no document has which they do not see; otherwise it would tell them of it.
    """
    if grant.scopes is None:
        return None
    return f"text-{content_hash(repr((title, sorted(grant.scopes))))[:12]}"


def _reported(report: AddReport, grant: Grant) -> Reply:
    """What happened; what waits or fails for all is the owner's to know."""
    if report.errors:  # one text, so all of it failed
        _, message = report.errors[0]
        raise RequestError(message.replace("add it with --force", "pass force true"))
    if grant != OWNER:
        report = replace(report, waiting=0, model_problem="", blob_problem="")
    data = report.as_json()
    return Reply(added_words(data), data)
