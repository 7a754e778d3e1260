"""A document ↔ the columns and the metadata of a resource; what goes out comes back the same.

What a resource has no column for stands in its metadata under "trivium". Other programs' metadata
may name scope, category, tags, domain and severity plainly: they are honoured too, so that what
was not for everybody's eyes stays so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from datetime import datetime
from typing import Any

from trivium.clock import format_time
from trivium.store.omnidata.columns import Columns, json_object, moment
from trivium.text import content_hash
from trivium.types import Document

OWN = "trivium"
PLAIN = ("scope", "category", "domain", "severity", "tags")
"""Fields that are honoured under their own names, too."""

_ELSEWHERE = {  # in columns of their own, or given by the library that takes the document in
    *("id", "uri", "title", "kind", "type", "media_type", "source_hash", "metadata"),
    *("created", "updated", "number", "version"),
}
_REST: Sequence[Field[Any]] = [one for one in fields(Document) if one.name not in _ELSEWHERE]


def resource_values(document: Document, pipeline: str, text: str, blob: str) -> dict[str, Any]:
    """What `insert_resource` binds."""
    own = {field.name: _written(getattr(document, field.name)) for field in _REST}
    own["pipeline"] = pipeline
    metadata = dict(document.metadata)
    if OWN in metadata:
        own[OWN] = metadata[OWN]
    return {
        "id": document.id,
        "uri": document.uri,
        "title": document.title,
        "kind": document.kind,
        "type": document.type,
        "media_type": document.media_type,
        "content_hash": document.source_hash,
        "blob": blob or None,
        "text": text,
        "metadata": json.dumps(metadata | {OWN: own}, ensure_ascii=False),
        "created_at": _written(document.created),
        "updated_at": _written(document.updated),
    }


def document_of(
    columns: Columns, row: Sequence[Any], id: str, kind: str, uri: str
) -> tuple[Document, str]:
    """The document that a resource stands for, and the pipeline that read it ("" if unknown).

    `kind` and `uri` are what it has if the row does not say.
    """
    metadata = json_object(columns.text(row, "metadata"))
    own = metadata.pop(OWN, None)
    known = own if isinstance(own, dict) else {}
    if OWN in known:
        metadata[OWN] = known[OWN]
    elif own is not None and not known:
        metadata[OWN] = own
    metadata |= columns.extras(row)
    plain = {name: _plain(metadata, name) for name in PLAIN if name not in known}
    metadata = {name: value for name, value in metadata.items() if plain.get(name) is None}
    given = columns.line(row, "uri")
    known = {"key": _path(given), **plain, **known}
    document = Document(
        id=id,
        uri=given or uri,
        title=columns.line(row, "title") or _last_part(given) or id,
        kind=columns.line(row, "kind") or kind,
        type=columns.line(row, "type") or None,
        media_type=columns.line(row, "media_type") or "text/plain",
        metadata=metadata,
        created=columns.time(row, "created"),
        updated=columns.time(row, "updated"),
        source_hash=columns.line(row, "hash"),
        **{field.name: _read(field, known[field.name]) for field in _REST if field.name in known},
    )
    pipeline = known.get("pipeline")
    return document, pipeline if isinstance(pipeline, str) else ""


def source_hash(texts: Sequence[str]) -> str:
    """The hash of a source that is known by its chunks alone."""
    return content_hash("\x1e".join(texts))


def _plain(metadata: Mapping[str, Any], name: str) -> object:
    """A field that another program's metadata names as we do, if it has the right form."""
    value = metadata.get(name)
    if name == "tags":
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return value if fits else None
    if name == "scope" and value:  # whatever it means, it does not mean everybody
        return (value if isinstance(value, str) else json.dumps(value)).strip().lower()
    return value if isinstance(value, str) and value.strip() else None


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _read(field: Field[Any], value: object) -> Any:
    """The value that a field of this type can have; its default for any other."""
    default = field.default
    if field.name == "given":
        return _given(value)
    if "datetime" in str(field.type):
        return moment(value)
    if isinstance(default, tuple):
        return tuple(map(str, value)) if isinstance(value, list) else default
    if isinstance(default, int):
        fits = type(value) is type(default) and abs(value) < 1 << 62
        return value if fits else default
    if not isinstance(value, str):
        return default
    return value or default  # no field without a text is kept as an empty one


def _given(value: object) -> dict[str, Any]:
    """What was said when a document was added, as far as it has the right form."""
    said = value if isinstance(value, dict) else {}
    kept: dict[str, Any] = {
        name: said[name] for name in ("scope", "category") if isinstance(said.get(name), str)
    }
    tags = said.get("tags")
    if isinstance(tags, list) and tags:
        kept["tags"] = [str(tag) for tag in tags]
    return kept


def _path(uri: str) -> str:
    """What of a uri is worth finding by words: its path without the ending."""
    path = uri.partition(":")[2] or uri
    stem, dot, ending = path.rpartition(".")
    return stem if dot and "/" not in ending else path


def _last_part(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2]
