"""What is embedded of a passage: the library's template, filled in, and the key of its vector."""

from __future__ import annotations

from trivium.config import IndexSettings
from trivium.text import content_hash
from trivium.types import Chunk, Document, Passage

FEWEST_WORDS = 4
"""Shorter literals ("2d6", "BOTH ENDS") say nothing that their words do not say; labels are names,
and names are looked for by meaning too.
"""


def hash_of(document: Document, passage: Passage, settings: IndexSettings) -> str:
    """The key of a passage's vector; "" where there is nothing worth one."""
    if not passage.text.strip():
        return ""  # a title alone has no meaning worth a vector
    short = len(passage.text.split()) < FEWEST_WORDS
    if passage.predicate and short and passage.predicate not in settings.labels:
        return ""
    return embedding_hash(embedding_input(settings.template, document, passage))


def embedding_input(template: str, document: Document, passage: Passage | Chunk) -> str:
    """The exact text that is embedded: the library's template without its empty lines.

    The title of a fact is what its subject is called.
    """
    title, heading = document.title, passage.heading
    if passage.predicate and heading:
        title, heading = heading[0], heading[1:]
    filled = template.format(
        title=title,
        heading=" › ".join(heading),
        text=passage.text,
        context=document.context,
        tags=", ".join(document.tags),
    )
    return "\n".join(line for line in filled.split("\n") if line.strip())


def embedding_hash(text: str) -> str:
    """The key of a vector; "" says that there is nothing to embed."""
    return content_hash(text) if text.strip() else ""
