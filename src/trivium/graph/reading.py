"""How a library reads its facts; here and not in `ingest`, because a search names labels too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trivium.config import IndexSettings
from trivium.graph.names import best_label
from trivium.graph.passages import passage_of
from trivium.template import hash_of
from trivium.text import content_hash
from trivium.types import Document, Passage, Quad
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """How a library reads facts: what its settings call a label, and what they embed."""

    settings: IndexSettings

    @property
    def labels(self) -> Sequence[str]:
        return self.settings.labels

    @property
    def pipeline(self) -> str:
        return f"facts/1 {content_hash(repr(self.settings.labels))[:8]}"

    def label(self, found: Sequence[Quad]) -> str:
        return best_label(found, self.settings.labels)

    def passage(self, quad: Quad, labels: Mapping[str, str]) -> Passage:
        return passage_of(quad, labels)

    def hash(self, document: Document, passage: Passage) -> str:
        return hash_of(document, passage, self.settings)
