"""Two readings of a document side by side."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff

from trivium.types import Chunk
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from one version to another: the text as a diff, and the chunks."""

    document: str
    old: int
    new: int
    diff: tuple[str, ...]
    kept: int
    added: tuple[str, ...]
    removed: tuple[str, ...]


def compare(
    document: str,
    old: int,
    new: int,
    texts: tuple[str, str],
    chunks: tuple[Sequence[Chunk], Sequence[Chunk]],
) -> Comparison:
    """The difference of two versions; a chunk is kept if its text is the same."""
    before, after = ({chunk.text for chunk in version} for version in chunks)
    lines = unified_diff(
        texts[0].splitlines(),
        texts[1].splitlines(),
        f"version {old}",
        f"version {new}",
        lineterm="",
    )
    return Comparison(
        document,
        old,
        new,
        tuple(lines),
        len(before & after),
        tuple(chunk.id for chunk in chunks[1] if chunk.text not in before),
        tuple(chunk.id for chunk in chunks[0] if chunk.text not in after),
    )
