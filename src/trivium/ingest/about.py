"""Where files meet facts: documents about a subject, and files of facts themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trivium.errors import InvalidValue
from trivium.factual import GraphStore
from trivium.graph.names import expand
from trivium.types import OWNER, Draft

if TYPE_CHECKING:
    from trivium.ingest.facts import FactFiles


def fact_files(*given: Any) -> FactFiles:
    """Loaded when a file of facts is met."""
    from trivium.ingest.facts import FactFiles

    return FactFiles(*given)


def about(draft: Draft, graph: GraphStore) -> tuple[Draft, str]:
    """The draft tied to what its front matter says it is about, and what is wrong with that.

    `about: march:Gravewind` makes the document's chunks chunks of that subject: they are found
    under its filter and stand beside its facts. A text that cannot be an IRI is just a field.
    """
    said = draft.document.metadata.get("about")
    name = said[0] if isinstance(said, list) and said else said
    if not isinstance(name, str) or ":" not in name or any(c.isspace() for c in name):
        return draft, ""
    try:
        subject = expand(name, graph.prefixes(OWNER))
    except InvalidValue as error:
        return draft, f"it is not tied to what it is about: {error}"
    passages = tuple(replace(passage, subject=subject) for passage in draft.passages)
    # Part of the pipeline, so that a prefix which becomes known later is followed by an `add`.
    return replace(draft, passages=passages, pipeline=f"{draft.pipeline} about {subject}"), ""
