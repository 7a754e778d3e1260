"""Rows of a table that somebody else designed: columns by synonym, values by what they must be."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from trivium.clock import parse_time
from trivium.errors import InvalidValue, SourceError
from trivium.store.omnidata.manifest import plain_name

RESOURCE: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "resource_id", "memory_id", "uuid"),
    "uri": ("uri", "url", "source_uri", "path"),
    "title": ("title", "name"),
    "kind": ("kind",),
    "type": ("type", "resource_type"),
    "media_type": ("media_type", "mime_type", "content_type"),
    "hash": ("content_hash", "hash", "sha256", "checksum"),
    "text": ("text", "content", "body"),
    "metadata": ("metadata", "meta", "metadata_json"),
    "created": ("created_at", "created"),
    "updated": ("updated_at", "updated", "modified_at"),
    "deleted": ("deleted_at", "deleted", "is_deleted"),
}
CHUNK: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "chunk_id", "uuid"),
    "resource": ("resource_id", "resource", "document_id", "source_id"),
    "index": ("chunk_index", "ordinal", "position", "idx"),
    "text": ("text", "content", "chunk_text", "body"),
    "embedding": ("embedding", "vector"),
    "model": ("embedding_model", "model"),
    "heading": ("heading", "headings", "heading_path", "section"),
    "page_first": ("page_first", "page_start", "page", "page_number"),
    "page_last": ("page_last", "page_end"),
    "start": ("start_offset", "start_char", "start"),
    "end": ("end_offset", "end_char", "end"),
    "subject": ("subject",),
    "predicate": ("predicate",),
    "graph": ("graph",),
    "deleted": ("deleted_at", "deleted", "is_deleted"),
}
MEMORY: Mapping[str, tuple[str, ...]] = {
    **RESOURCE,
    "embedding": CHUNK["embedding"],
    "model": CHUNK["model"],
}
"""A memory that is its own only chunk."""

_UNSEEN = {"number", "rowid", "oid", "_rowid_", "blob"}
"""Columns that say nothing outside their own bundle."""

LONGEST_TEXT = 64 * 1024 * 1024
"""Characters of the longest value; more than any reader could look at."""
LONGEST_LINE = 8_192
"""Characters of an id, a uri, a title or a heading."""
LONGEST_METADATA = 1024 * 1024
DEEPEST_NESTING = 20
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""What a terminal would obey; tabs and line ends are harmless."""
_SECONDS_END = 1e11
"""A larger number of seconds lies beyond the year 5000: it counts milliseconds."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each thing stands in a table's rows, and the columns that nobody asked for."""

    table: str
    places: Mapping[str, int]
    extra: tuple[tuple[str, int], ...]

    @classmethod
    def of(
        cls,
        table: str,
        names: Sequence[str],
        synonyms: Mapping[str, tuple[str, ...]],
        needed: Iterable[str],
    ) -> Columns:
        """Match a table's columns; `SourceError` when one is missing that is needed."""
        folded = [name.casefold() for name in names]
        places = {
            meaning: folded.index(known)
            for meaning, candidates in synonyms.items()
            if (known := next((c for c in candidates if c in folded), None)) is not None
        }
        for meaning in needed:
            if meaning not in places:
                raise SourceError(
                    f"{table} has no column for its {meaning} (such as "
                    f"'{synonyms[meaning][0]}'); this is not a bundle that can be read"
                )
        used = set(places.values())
        extra = tuple(
            (plain_name(name), place)
            for place, name in enumerate(names)
            if place not in used and folded[place] not in _UNSEEN
        )
        return cls(table, places, extra)

    def get(self, row: Sequence[Any], meaning: str) -> Any:
        place = self.places.get(meaning)
        return None if place is None else row[place]

    def extras(self, row: Sequence[Any]) -> dict[str, Any]:
        """What stands in the other columns, as far as JSON can hold it."""
        return {
            name: row[place]
            for name, place in self.extra
            if isinstance(row[place], str | int) or _is_finite(row[place])
        }

    def line(self, row: Sequence[Any], meaning: str) -> str:
        """A short text without control characters; "" where there is none."""
        text = self.text(row, meaning) or ""
        if len(text) > LONGEST_LINE:
            raise SourceError(
                f"a {meaning} in {self.table} has {len(text)} characters; shorten it below "
                f"{LONGEST_LINE} in the bundle"
            )
        return _CONTROL.sub(" ", text)

    def text(self, row: Sequence[Any], meaning: str) -> str | None:
        """A text as it stands; None where there is none."""
        value = self.get(row, meaning)
        return None if value is None else self._text(value, meaning)

    def number(self, row: Sequence[Any], meaning: str) -> int | None:
        """A whole number of a size that the record can hold; None for anything else."""
        value = self.get(row, meaning)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return value if isinstance(value, int) and abs(value) < 1 << 62 else None

    def time(self, row: Sequence[Any], meaning: str) -> datetime | None:
        return moment(self.get(row, meaning))

    def is_deleted(self, row: Sequence[Any]) -> bool:
        """Whether the row is deleted softly: by a time, or by yes."""
        value = self.get(row, "deleted")
        return value not in (None, 0, "", "0", "false", "False")

    def _text(self, value: object, meaning: str) -> str:
        if isinstance(value, bytes) or not isinstance(value, str | int | float):
            raise SourceError(
                f"the {meaning} of a row in {self.table} is {type(value).__name__}, not text; "
                "get the bundle again"
            )
        return str(value).replace("\0", "\ufffd")  # nothing that reads files takes a NUL either


def moment(value: object) -> datetime | None:
    """A time as ISO 8601 or as seconds or milliseconds since 1970; None if it is neither."""
    try:
        if isinstance(value, str) and len(value) > 8 and value.isascii() and value.isdigit():
            value = int(value)  # a column for texts makes texts of numbers
        if isinstance(value, str):
            return parse_time(value)
        if isinstance(value, int | float):
            seconds = value / 1000 if abs(value) > _SECONDS_END else value
            return datetime.fromtimestamp(seconds, UTC)
    except (InvalidValue, ValueError, OverflowError, OSError):
        return None
    return None


def json_object(text: str | None) -> dict[str, Any]:
    """The JSON object that a text is; a text that is none is kept under its own name."""
    if not text or not text.strip():
        return {}
    if len(text) > LONGEST_METADATA:
        raise SourceError(f"metadata of {len(text)} characters is more than any; shorten it")
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {"metadata": text}
    if _too_deep(value):
        return {"metadata": text}
    return value if isinstance(value, dict) else {"metadata": value}


def json_list(text: str | None) -> tuple[str, ...]:
    """A JSON array of texts; any other text is the only one."""
    if not text or not text.strip():
        return ()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return (text[:LONGEST_LINE],)
    if isinstance(value, list):
        return tuple(str(item)[:LONGEST_LINE] for item in value)
    return (text[:LONGEST_LINE],)


def _too_deep(value: object, left: int = DEEPEST_NESTING) -> bool:
    """Whether lists and objects stand in each other deeper than the rest of Trivium writes them."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left < 0 or any(_too_deep(part, left - 1) for part in inside)


def _is_finite(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
