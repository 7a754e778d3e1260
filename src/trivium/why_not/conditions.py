"""A filter taken apart: each condition by itself, what it says, and the search without it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from trivium.checks import MEMORY
from trivium.clock import format_time
from trivium.sources import source_matcher
from trivium.types import NO_FILTER, Document, Filter, SearchRequest

_FLAGS = {
    "scope": "--scope",
    "source": "--source",
    "category": "--category",
    "kind": "--kind",
    "type": "--type",
    "domain": "--domain",
    "severity": "--severity",
    "tags": "--tag",
    "subjects": "--subject",
    "predicates": "--predicate",
    "graphs": "--graph",
    "created_from": "--created-from",
    "created_until": "--created-until",
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a filter; `test` has nothing but that."""

    name: str
    remedy: str
    test: Filter

    def source_fits(self, document: Document) -> bool:
        return source_matcher(self.test.source)(document.number, document.uri)

    def why(self, document: Document) -> str:
        """What of the document does not meet it, in a few words."""
        if self.name == "valid":
            return _validity(document, self.test)
        if self.name == "memories":
            return "it is a memory, and those are left out unless they are asked for"
        if self.name == "not":
            return "it is among what is to be left out"
        if self.name in ("source", "created_from", "created_until"):
            given = document.uri if self.name == "source" else document.created
            shown = given if isinstance(given, str) else (given and format_time(given))
            return f"{self.name} is {shown or 'not known'}, which {_flag(self)} does not allow"
        if self.test.metadata:
            [(key, _), *_] = self.test.metadata
            return f"its {key} is {document.metadata.get(key)!r}, which --meta does not allow"
        if self.name in ("scope", "category", "kind", "type", "domain", "severity"):
            value = getattr(document, self.name)
            return f"its {self.name} is {value or 'not set'}, which {_flag(self)} does not allow"
        if self.name == "tags":
            given = ", ".join(document.tags) or "none"
            return f"its tags are {given}, which --tag does not allow"
        return f"no passage of it is what {_flag(self)} asks for"

    def dropped(self, request: SearchRequest) -> SearchRequest:
        """The request without this condition."""
        filter = request.filter
        if self.name == "memories":
            kept = tuple(one for one in filter.exclude if one != MEMORY)
            return replace(request, include_memories=True, filter=replace(filter, exclude=kept))
        if self.name == "valid":
            return replace(request, filter=replace(filter, include_expired=True))
        if self.name == "not":
            kept = tuple(one for one in filter.exclude if one not in self.test.exclude)
            return replace(request, filter=replace(filter, exclude=kept))
        if self.test.metadata:
            kept_pairs = tuple(one for one in filter.metadata if one not in self.test.metadata)
            return replace(request, filter=replace(filter, metadata=kept_pairs))
        plain: dict[str, Any] = {self.name: getattr(NO_FILTER, self.name)}
        return replace(request, filter=replace(filter, **plain))


def conditions(filter: Filter) -> list[Condition]:
    """All conditions of a filter that a search would apply; each must hold."""
    found = [
        Condition(name, f"without {flag}", Filter(**{name: getattr(filter, name)}))
        for name, flag in _FLAGS.items()
        if getattr(filter, name)
    ]
    for key in dict.fromkeys(key for key, _ in filter.metadata):
        pairs = tuple(one for one in filter.metadata if one[0] == key)
        found.append(Condition(f"meta {key}", f"without --meta {key}=…", Filter(metadata=pairs)))
    if filter.rdf_types:
        typed = Filter(rdf_types=filter.rdf_types, subclasses=filter.subclasses)
        found.append(Condition("rdf_types", "without --rdf-type", typed))
    if filter.valid_at and not filter.include_expired:
        valid = Filter(valid_at=filter.valid_at)
        found.append(Condition("valid", "--include-expired", valid))
    for one in filter.exclude:
        if one == MEMORY:
            found.append(Condition("memories", "--include-memories", Filter(exclude=(one,))))
        elif one.narrows():
            found.append(Condition("not", "without --not", Filter(exclude=(one,))))
    return found


def _flag(condition: Condition) -> str:
    return condition.remedy.removeprefix("without ")


def _validity(document: Document, test: Filter) -> str:
    assert test.valid_at is not None
    if document.valid_from and test.valid_at < document.valid_from:
        return f"it is not valid before {format_time(document.valid_from)}"
    until = document.valid_until and format_time(document.valid_until)
    return f"it expired on {until}"
