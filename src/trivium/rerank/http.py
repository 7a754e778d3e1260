"""Rerankers behind an HTTP `/rerank`: OpenRouter, Cohere, Jina, Voyage, and TEI.

They agree on the idea and differ in names: what the texts are called, where the scores stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trivium.endpoint import Endpoint, shown
from trivium.errors import InvalidValue, ModelRefused
from trivium.settings import RerankerSettings

QUERY_TRIES = 2
"""Somebody waits for the answer, and the fused order is a good one."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """What one provider calls things; `results` is "" where the answer is the list itself."""

    texts: str
    results: str
    score: str
    count: str
    more: Mapping[str, Any]


_SHAPES: Mapping[str, _Shape] = {
    "openrouter": _Shape("documents", "results", "relevance_score", "top_n", {}),
    "cohere": _Shape("documents", "results", "relevance_score", "top_n", {}),
    "jina": _Shape("documents", "results", "relevance_score", "top_n", {"return_documents": False}),
    "voyage": _Shape("documents", "data", "relevance_score", "top_k", {"truncation": True}),
    "tei": _Shape("texts", "", "score", "", {"truncate": True, "raw_scores": False}),
}


class HttpReranker:
    """A reranker at `URL/rerank`. Safe to share between threads."""

    def __init__(
        self, name: str, settings: RerankerSettings, endpoint: Endpoint | None = None
    ) -> None:
        needed = ["url"] if settings.kind == "tei" else ["url", "model"]
        missing = [key for key in needed if not getattr(settings, key)]
        if missing:
            raise InvalidValue(
                f"rerankers.{name} needs {' and '.join(missing)}; add it to your trivium.toml "
                "('trivium config path' shows where)"
            )
        self.name = name
        self._settings = settings
        self._shape = _SHAPES[settings.kind]
        self._endpoint = endpoint or Endpoint(settings.url, settings.key_variable)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in the order of the texts; each text is cut to the model's limit."""
        shape, most = self._shape, self._settings.characters
        body: dict[str, Any] = {
            "query": query[:most],
            shape.texts: [text[:most] or " " for text in texts],
            **shape.more,
        }
        if self._settings.model:
            body["model"] = self._settings.model
        if shape.count:  # all of them: what is left out would have no score
            body[shape.count] = len(texts)
        answer = self._endpoint.post(
            "/rerank", body, time_out=self._settings.time_out, tries=QUERY_TRIES
        )
        return self._scores(answer, len(texts))

    def _scores(self, answer: Any, count: int) -> list[float]:
        shape = self._shape
        try:
            results = answer[shape.results] if shape.results else answer
            pairs = [(one["index"], float(one[shape.score])) for one in results]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelRefused(
                f"the answer of {shown(self._settings.url)} holds no scores"
            ) from error
        scores = dict(pairs)
        if len(pairs) != count or set(scores) != set(range(count)):
            raise ModelRefused(
                f"the answer of {shown(self._settings.url)} does not score "
                f"each of the {count} texts once"
            )
        return [scores[place] for place in range(count)]
