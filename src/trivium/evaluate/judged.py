"""Queries with judgements, and the documents they are about: what every evaluation starts from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from trivium.errors import SourceError
from trivium.evaluate.measures import Judgements

SHOWN = 5
"""Unknown ids that a message names; more help nobody to find the mistake."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document as it was given: what it is called, its title and its whole text."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A set to measure on. Every query has judgements, and every judged id is a document."""

    name: str
    documents: tuple[Source, ...]
    queries: Mapping[str, str]
    judgements: Judgements
    notes: tuple[str, ...] = ()


def judged(
    name: str,
    documents: tuple[Source, ...],
    queries: Mapping[str, str],
    judgements: Judgements,
    *,
    strict: bool = True,
) -> Judged:
    """A checked set. Queries without judgements are left out and noted.

    Judgements of unknown documents are an error; those of unknown queries too, unless `strict`
    is off, which is for a variant of the queries that is judged by the whole set's judgements.
    """
    if not documents:
        raise SourceError(f"{name} has no documents; an evaluation needs at least one")
    if not queries:
        raise SourceError(f"{name} has no queries; an evaluation needs at least one")
    blank = [id for id, text in queries.items() if not text.strip()]
    if blank:
        raise SourceError(f"{name}: query {some(blank)} has no text; write one, or remove it")
    known = {document.id for document in documents}
    strangers = (id for grades in judgements.values() for id in grades if id not in known)
    _refuse(name, "documents", list(dict.fromkeys(strangers)))
    missing = [id for id in judgements if id not in queries]
    if strict:
        _refuse(name, "queries", missing)
    kept = {id: text for id, text in queries.items() if judgements.get(id)}
    if not any(grade > 0 for id in kept for grade in judgements[id].values()):
        raise SourceError(
            f"{name}: no query has a document judged above 0; "
            "check that the judgements belong to these queries"
        )
    notes = []
    if missing:
        notes.append(f"{len(missing)} judged queries are not among the queries")
    if len(kept) < len(queries):
        notes.append(f"{len(queries) - len(kept)} queries have no judgements and are left out")
    return Judged(name, documents, kept, {id: judgements[id] for id in kept}, tuple(notes))


def some(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in listed[:SHOWN]) + more


def _refuse(name: str, what: str, unknown: list[str]) -> None:
    if unknown:
        raise SourceError(
            f"{name}: the judgements name {what} that do not exist: {some(unknown)}; "
            "remove those judgements, or take the files that belong together"
        )
