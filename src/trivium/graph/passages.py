"""A statement as a passage: a string literal under the names of its subject and predicate."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from trivium.graph.names import called
from trivium.types import Passage, Quad

MEDIA_TYPES: Mapping[str, str] = {
    ".ttl": "text/turtle",
    ".nt": "application/n-triples",
    ".nq": "application/n-quads",
    ".trig": "application/trig",
    ".jsonld": "application/ld+json",
    ".rdf": "application/rdf+xml",
    ".owl": "application/rdf+xml",
}


def passage_of(quad: Quad, labels: Mapping[str, str]) -> Passage:
    """The literal as text; what its subject and predicate are called as its headings."""
    names = (called(name, labels.get(name, "")) for name in (quad.subject, quad.predicate))
    return Passage(
        quad.object,
        tuple(name for name in names if name),
        end=len(quad.object),
        subject=quad.subject,
        predicate=quad.predicate,
        graph=quad.graph or None,
    )


def hash_of_file(path: Path) -> str:
    """SHA-256 of a file of any size."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def modified(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
