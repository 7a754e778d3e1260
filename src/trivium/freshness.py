"""Whether a document still says what its source says: current, stale, missing or unverified."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Literal

from trivium.types import Document

Freshness = Literal["current", "stale", "missing", "unverified"]

SMALL_ENOUGH = 1 << 20
"""Files up to this size are read again when their time changed but not their size: under 1 ms."""


def source_path(document: Document, sources: Mapping[str, str]) -> Path | None:
    """The file that a document came from; None if it did not come from a known folder."""
    source, _, relative = document.uri.partition(":")
    root = sources.get(source)
    return Path(root, relative) if root and relative else None


def freshness(document: Document, sources: Mapping[str, str]) -> Freshness:
    """How the document stands to its file: by size and time, and by content if it must."""
    path = source_path(document, sources)
    if path is None:
        return "unverified"
    try:
        state = path.stat()
    except OSError:
        return "missing"
    if state.st_size != document.source_size:
        return "stale"
    if state.st_mtime_ns == document.source_mtime:
        return "current"
    if state.st_size > SMALL_ENOUGH:
        return "stale"
    try:
        same = sha256(path.read_bytes()).hexdigest() == document.source_hash
    except OSError:
        return "missing"
    return "current" if same else "stale"
