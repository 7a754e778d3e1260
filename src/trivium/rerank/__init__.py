"""Rerankers: a query and some texts to one score a text, the higher the better.

Importing this package loads no model. A reranker may fail in any way it likes: `stage.asked` turns
that into a sentence, and the fused order stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from trivium.errors import UnknownModel, nearest

if TYPE_CHECKING:
    from trivium.protocols import Reranker
    from trivium.settings import RerankerSettings

KINDS: Mapping[str, tuple[str, str]] = {
    "openrouter": ("trivium.rerank.http", "HttpReranker"),
    "cohere": ("trivium.rerank.http", "HttpReranker"),
    "jina": ("trivium.rerank.http", "HttpReranker"),
    "voyage": ("trivium.rerank.http", "HttpReranker"),
    "tei": ("trivium.rerank.http", "HttpReranker"),
    "chat": ("trivium.rerank.listwise", "Listwise"),
    "onnx": ("trivium.rerank.crossencoder", "CrossEncoder"),
    "sentence-transformers": ("trivium.rerank.crossencoder", "SentenceTransformersReranker"),
}
"""Where the kinds of `[rerankers.NAME]` live; the class takes the name and its settings."""


def reranker(name: str, rerankers: Mapping[str, RerankerSettings]) -> Reranker:
    """The reranker of this name, not loaded yet."""
    if name not in rerankers:
        hint = nearest(name, rerankers) or f" There are: {', '.join(rerankers)}."
        raise UnknownModel(
            f"there is no reranker '{name}'.{hint} Describe it under [rerankers.{name}] in your "
            "trivium.toml ('trivium config path' shows where)."
        )
    module, class_name = KINDS[rerankers[name].kind]
    made: Reranker = getattr(import_module(module), class_name)(name, rerankers[name])
    return made
