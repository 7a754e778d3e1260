"""A JSON file of queries and judgements, about the documents of a library that exists.

    {"queries": {"q1": "who made the axe"}, "judgements": {"q1": {"axe.md": 2, "#7": 1}}}

A document is named by its id, its `#number` or its uri.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trivium.errors import SourceError
from trivium.evaluate.judged import Judged, Source, judged, some
from trivium.library import Library


def read_questions(path: Path, library: Library) -> Judged:
    """The set that a file of questions and a library make together."""
    data = _load(path)
    queries = _queries(data, path)
    names = _names(library)
    unknown: dict[str, None] = {}
    judgements: dict[str, dict[str, int]] = {}
    for query, grades in _table(data, "judgements", path).items():
        if not isinstance(grades, Mapping):
            raise _wrong(path, f"the judgements of '{query}' are not a table of document: grade")
        for name, grade in grades.items():
            if isinstance(grade, bool) or not isinstance(grade, int):
                raise _wrong(path, f"the grade of '{name}' for '{query}' is not a whole number")
            if name in names:
                judgements.setdefault(query, {})[names[name]] = grade
            else:
                unknown[name] = None
    if unknown:
        raise SourceError(
            f"{path}: the judgements name documents that {library.folder} does not hold: "
            f"{some(unknown)}; 'trivium list' shows its ids"
        )
    return judged(path.stem, _documents(library), queries, judgements)


def _load(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is not JSON ({error}); mend it, or give a folder") from error
    if not isinstance(data, dict):
        raise _wrong(path, "it is not an object")
    return data


def _table(data: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict):
        raise _wrong(path, f"it has no table '{key}'")
    return value


def _queries(data: Mapping[str, Any], path: Path) -> dict[str, str]:
    queries = _table(data, "queries", path)
    for id, text in queries.items():
        if not isinstance(text, str):
            raise _wrong(path, f"the query '{id}' is not a text")
    return dict(queries)


def _wrong(path: Path, what: str) -> SourceError:
    form = '{"queries": {"q1": "…"}, "judgements": {"q1": {"document": 1}}}'
    return SourceError(f"{path}: {what}; its form is {form}")


def _names(library: Library) -> dict[str, str]:
    """The id behind every name that a document goes by; its own id comes first."""
    documents = library.documents()
    names: dict[str, str] = {}
    for document in documents:
        names[document.uri] = names[f"#{document.number}"] = document.id
    return names | {document.id: document.id for document in documents}


def _documents(library: Library) -> tuple[Source, ...]:
    readings = library.get(*(document.id for document in library.documents()))
    return tuple(Source(one.document.id, one.document.title, one.text) for one in readings)
