"""Knowledge entries in JSON: an array, an object with "entries", or one object a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from trivium.errors import SourceError
from trivium.ingest.fields import Fields, document_fields, text_field
from trivium.ingest.files import NotASource, decode

EXTRACTOR = "entries/1"

_SHAPES = 'Write [{"id": …, "title": …}, …], {"entries": […]} or one object a line.'


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: a document of one passage, its description. `fields.title` is never None."""

    id: str
    description: str
    fields: Fields


def read_entries(data: bytes, name: str) -> list[Entry]:
    """The entries in file order. Raises `SourceError` that names the entry which is at fault.

    It is `NotASource` when nothing in the file looks like an entry.
    """
    items = _items(decode(data, name), name)
    try:
        return _entries(items, name)
    except SourceError as error:
        if any(isinstance(item, dict) and {"id", "title"} <= item.keys() for item in items):
            raise
        raise NotASource(str(error)) from error


def _entries(items: list[object], name: str) -> list[Entry]:
    entries: list[Entry] = []
    places: dict[str, int] = {}
    for place, item in enumerate(items, start=1):
        entry = _entry(item, f"{name}, entry {place}")
        if entry.id in places:
            raise SourceError(
                f"{name}, entry {place}: the id '{entry.id}' is taken by entry "
                f"{places[entry.id]}. Give each entry an id of its own."
            )
        places[entry.id] = place
        entries.append(entry)
    return entries


def _entry(item: object, where: str) -> Entry:
    if not isinstance(item, dict):
        raise SourceError(f'{where} is not an object. Write {{"id": …, "title": …}}.')
    entry_id = text_field(item, "id", where)
    if entry_id is None:
        raise SourceError(f'{where} has no id. Give it an "id" that no other entry has.')
    where = f"{where} ('{entry_id}')"
    fields = document_fields(_without(item, "id", "description"), where)
    if fields.title is None:
        raise SourceError(f'{where} has no title. Give it a "title".')
    return Entry(entry_id, text_field(item, "description", where) or "", fields)


def _without(item: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in keys}


def _items(text: str, name: str) -> list[object]:
    if _is_json_lines(text):
        lines = enumerate(text.split("\n"), start=1)
        return [_parse(line, name, number) for number, line in lines if line.strip()]
    whole = _parse(text, name, 1)
    if isinstance(whole, dict) and isinstance(whole.get("entries"), list):
        whole = whole["entries"]
    elif isinstance(whole, dict) and "id" in whole:
        whole = [whole]
    if not isinstance(whole, list):
        raise NotASource(f"{name} holds no list of entries. {_SHAPES}")
    return whole


def _is_json_lines(text: str) -> bool:
    """Whether the first line is a whole object by itself, and not the one with all entries."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return not first
    try:
        parsed = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return not isinstance(parsed.get("entries"), list)


def _parse(source: str, name: str, line: int) -> object:
    try:
        return json.loads(source, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        place = f"{name}, line {line + error.lineno - 1}, column {error.colno}"
        raise NotASource(f"{place}: not valid JSON ({error.msg}). {_SHAPES}") from error
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise NotASource(f"{name}, line {line}: not usable JSON ({problem}). {_SHAPES}") from error


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")
