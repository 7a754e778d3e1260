"""Models that other packages run: `fastembed` and `sentence-transformers`, both extras.

They bring their own weights, which they may download when they are first used; nothing here does.
`model` is a name that the package knows, or the path of a folder with the weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.embed import content_digest, encodable, loading
from trivium.embed.hashing import unit_rows
from trivium.embed.http import fingerprint
from trivium.errors import InvalidValue, ModelMismatch, ModelRefused, ModelUnavailable
from trivium.settings import ModelSettings


class _Extra(ABC):
    """What both have in common: settings, prefixes, and a check of what comes out."""

    package = ""

    def __init__(self, name: str, settings: ModelSettings) -> None:
        missing = [key for key in ("model", "dimension") if not getattr(settings, key)]
        if missing:
            raise InvalidValue(
                f"models.{name} needs {' and '.join(missing)}; add it to your trivium.toml "
                "('trivium config path' shows where)"
            )
        self.name = name
        self.dimension = settings.dimension
        self._settings = settings
        self._loading = Lock()

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the vectors; of a folder it is what its files hold, not where it lies."""
        folder = Path(self._settings.model)
        if not folder.is_dir():
            return fingerprint(self.package, self._settings)
        files = sorted(one for one in folder.rglob("*") if one.is_file())
        try:
            digest = content_digest(*files)
        except OSError as error:
            raise ModelUnavailable(
                f"the model '{self.name}' cannot be read: {error}; check models.{self.name}.model"
            ) from error
        return fingerprint(self.package, replace(self._settings, model=digest))

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return self._checked(texts, self._settings.document_prefix)

    def query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a query, with the query's prefix."""
        return self._checked([text], self._settings.query_prefix).ravel()

    def _checked(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        with self._loading, loading(self.name, self.package):
            model = self._model
        rows = np.asarray(self._run(model, [prefix + encodable(text) for text in texts]))
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise ModelRefused(f"the model '{self.name}' does not give one vector for each text")
        if rows.shape[1] != self.dimension:
            raise ModelMismatch(
                f"the model '{self.name}' gives vectors of {rows.shape[1]} numbers, and "
                f"models.{self.name}.dimension says {self.dimension}; correct it"
            )
        return unit_rows(rows.astype(np.float32))

    @cached_property
    def _model(self) -> Any:
        return self._load(import_module(self.package.replace("-", "_")))

    @abstractmethod
    def _load(self, package: Any) -> Any: ...
    @abstractmethod
    def _run(self, model: Any, texts: list[str]) -> Iterable[Any]: ...


class FastEmbed(_Extra):
    """ONNX models by name, as `fastembed` lists them; a folder needs model.onnx and its tokenizer.

    A folder holds a model that `fastembed` does not list: it is read with mean pooling.
    """

    package = "fastembed"

    def _load(self, package: Any) -> Any:
        folder = Path(self._settings.model)
        if not folder.is_dir():
            return package.TextEmbedding(self._settings.model)
        described: Any = import_module("fastembed.common.model_description")
        if self._settings.model not in {
            one["model"] for one in package.TextEmbedding.list_supported_models()
        }:
            package.TextEmbedding.add_custom_model(
                model=self._settings.model,
                pooling=described.PoolingType.MEAN,
                normalization=True,
                sources=described.ModelSource(url="file://" + str(folder)),
                dim=self.dimension,
                model_file="model.onnx",
            )
        return package.TextEmbedding(self._settings.model, specific_model_path=str(folder))

    def _run(self, model: Any, texts: list[str]) -> Iterable[Any]:
        return np.stack(list(model.embed(texts)))


class SentenceTransformers(_Extra):
    """Any model of the `sentence-transformers` package, by name or folder."""

    package = "sentence-transformers"

    def _load(self, package: Any) -> Any:
        return package.SentenceTransformer(self._settings.model)

    def _run(self, model: Any, texts: list[str]) -> Iterable[Any]:
        vectors: Iterable[Any] = model.encode(
            texts, batch_size=self._settings.batch, normalize_embeddings=True
        )
        return vectors
