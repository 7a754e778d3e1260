"""Embeddings from a server: anything that speaks OpenAI's `/embeddings`, and Azure OpenAI.

OpenAI, OpenRouter, Ollama, vLLM, LM Studio, llama.cpp and text-embeddings-inference differ by the
base URL only. An answer is checked before it becomes a vector: a wrong count, a wrong dimension,
NaN or nothing at all is an error, never a vector.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from trivium.embed import encodable
from trivium.endpoint import Endpoint, shown
from trivium.errors import InvalidValue, ModelMismatch, ModelRefused
from trivium.settings import ModelSettings
from trivium.text import content_hash
from trivium.vectors import unit

QUERY_TRIES = 3
"""A person waits: a quick second and third try. Documents have a queue that waits for longer."""

REMEMBERED_QUERIES = 1000
"""16 MB of vectors at most; pages, facets and a reranker ask for the same query again."""


class HttpEmbedder:
    """A model behind an `/embeddings` endpoint. Safe to share between threads."""

    def __init__(
        self, name: str, settings: ModelSettings, endpoint: Endpoint | None = None
    ) -> None:
        _check(name, settings)
        self.name = name
        self.dimension = settings.dimension
        self._settings = settings
        azure = settings.kind == "azure"
        self._endpoint = endpoint or Endpoint(
            settings.url, settings.key_variable, "api-key" if azure else "Authorization"
        )
        self._path = _azure_path(settings) if azure else "/embeddings"
        self._queries: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    @property
    def fingerprint(self) -> str:
        return fingerprint("api", self._settings)

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given; batches go out side by side."""
        settings = self._settings
        rows = np.zeros((len(texts), self.dimension), np.float32)
        inputs = [settings.document_prefix + encodable(text) for text in texts]

        def embed(batch: range) -> None:
            chosen = [inputs[place] for place in batch]
            rows[batch.start : batch.stop] = self._embed(chosen, settings.time_out, 1)

        batches = list(_batches(inputs, settings.batch, settings.batch_characters))
        if len(batches) == 1:
            embed(batches[0])
        elif batches:
            with ThreadPoolExecutor(min(settings.concurrency, len(batches))) as pool:
                for _ in pool.map(embed, batches):
                    pass
        return rows

    def query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a query; one that was asked before is remembered."""
        text = self._settings.query_prefix + encodable(text)
        with self._lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        vector = self._embed([text], self._settings.query_time_out, QUERY_TRIES).ravel()
        vector.setflags(write=False)
        with self._lock:
            self._queries[text] = vector
            while len(self._queries) > REMEMBERED_QUERIES:
                self._queries.popitem(last=False)
        return vector

    def _embed(self, texts: Sequence[str], time_out: float, tries: int) -> NDArray[np.float32]:
        # an empty text is refused by most; one blank means the same to all
        body: dict[str, Any] = {"input": [text if text.strip() else " " for text in texts]}
        if self._settings.kind != "azure":
            body["model"] = self._settings.model
        if self._settings.shorten:
            body["dimensions"] = self.dimension
        body["encoding_format"] = "float"
        answer = self._endpoint.post(self._path, body, time_out=time_out, tries=tries)
        return self._vectors(answer, len(texts))

    def _vectors(self, answer: Any, count: int) -> NDArray[np.float32]:
        """The vectors of an answer in the order of the texts, checked."""
        try:
            given = {
                int(one.get("index", place)): one["embedding"] for place, one in _items(answer)
            }
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._rubbish("holds no embeddings") from error
        if sorted(given) != list(range(count)):
            raise self._rubbish(f"holds {len(given)} embeddings for {count} texts")
        lengths = {len(row) if isinstance(row, list) else -1 for row in given.values()}
        if lengths != {self.dimension}:
            raise ModelMismatch(
                f"{shown(self._settings.url)} gives vectors of {max(lengths)} numbers, and "
                f"models.{self.name}.dimension says {self.dimension}; correct it, and make the "
                "library anew"
            )
        try:
            rows = np.array([given[place] for place in range(count)], np.float64)
            vectors = unit(rows)
        except (TypeError, ValueError, OverflowError, InvalidValue) as error:
            raise self._rubbish("holds something else than numbers") from error
        if rows.ndim != 2:  # lists of lists, all of one length
            raise self._rubbish("holds something else than numbers")
        if not vectors.any(axis=1).all():
            raise self._rubbish("holds a vector of nothing but zeros")
        return vectors

    def _rubbish(self, what: str) -> ModelRefused:
        return ModelRefused(
            f"the answer of {shown(self._settings.url)} {what}; "
            f"check models.{self.name} in your settings"
        )


def fingerprint(family: str, settings: ModelSettings) -> str:
    """Identity of the vectors: base model, dimension and prefixes. Where the model runs and with
    which key is no part of it, so the same model elsewhere goes on where this one stopped.
    """
    prefixes = content_hash(f"{settings.query_prefix}\0{settings.document_prefix}")[:12]
    plain = not settings.query_prefix and not settings.document_prefix
    return f"{family}:{settings.model}:{settings.dimension}:{'plain' if plain else prefixes}"


def _check(name: str, settings: ModelSettings) -> None:
    needed = {"url": settings.url, "model": settings.model, "dimension": settings.dimension}
    if settings.kind == "azure":
        needed |= {"deployment": settings.deployment, "api_version": settings.api_version}
    missing = [key for key, value in needed.items() if not value]
    if missing:
        raise InvalidValue(
            f"models.{name} needs {' and '.join(missing)}; add it to your trivium.toml "
            "('trivium config path' shows where)"
        )


def _azure_path(settings: ModelSettings) -> str:
    deployment, version = quote(settings.deployment, safe=""), quote(settings.api_version, safe="")
    return f"/openai/deployments/{deployment}/embeddings?api-version={version}"


def _batches(texts: Sequence[str], most: int, characters: int) -> Iterator[range]:
    """Neighbouring texts, as many as one request may hold."""
    start, size = 0, 0
    for place, text in enumerate(texts):
        if place > start and (place - start == most or size + len(text) > characters):
            yield range(start, place)
            start, size = place, 0
        size += len(text)
    if start < len(texts):
        yield range(start, len(texts))


def _items(answer: Any) -> Iterator[tuple[int, Any]]:
    return enumerate(answer["data"])
