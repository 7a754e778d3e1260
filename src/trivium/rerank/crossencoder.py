"""Cross-encoders on this machine: query and text are read together.

From a folder with `tokenizer.json` and `model.onnx`, as most of them are published, or by way of
the `sentence-transformers` extra. This is the PEFM of document 002.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trivium.errors import InvalidValue, ModelRefused, ModelUnavailable, install
from trivium.settings import RerankerSettings

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

BATCH_TOKENS = 2048
"""Tokens of one run, padding included: enough to keep a core busy, little memory."""

_NEXT = "check rerankers.{name}.path in your settings"


class CrossEncoder:
    """An ONNX cross-encoder. The first query loads it. Safe to share between threads.

    A model with one output gives a logit, read through the logistic function; one with several
    gives classes, of which the last means "relevant". Scores are therefore from 0 to 1.
    """

    def __init__(self, name: str, settings: RerankerSettings) -> None:
        if not settings.path:
            raise InvalidValue(
                f"rerankers.{name} needs path, a folder with tokenizer.json and model.onnx; add it "
                "to your trivium.toml ('trivium config path' shows where)"
            )
        self.name = name
        self._settings = settings
        self._loading = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text; query and text are cut so that both fit into the model."""
        with self._loading:
            tokenizer, session = self._loaded
        query = _cut(tokenizer, _clean(query), self._settings.tokens // 2)
        pairs = [(query, _clean(text)) for text in texts]
        encodings = tokenizer.encode_batch(pairs)
        scores = np.zeros(len(texts))
        for batch in _batches([len(one.ids) for one in encodings]):
            scores[batch] = _run(session, [encodings[place] for place in batch])
        return [float(score) for score in scores]

    @cached_property
    def _loaded(self) -> tuple[Tokenizer, Any]:
        folder = Path(self._settings.path).expanduser()
        model = next(
            (f for f in (folder / "model.onnx", folder / "onnx" / "model.onnx") if f.is_file()),
            None,
        )
        vocabulary = folder / "tokenizer.json"
        if model is None or not vocabulary.is_file():
            raise ModelUnavailable(
                f"{folder} does not hold tokenizer.json and model.onnx; "
                + _NEXT.format(name=self.name)
            )
        try:
            return _tokenizer(vocabulary, self._settings.tokens), _session(model)
        except Exception as error:  # damaged files make these libraries raise whatever they like
            raise ModelUnavailable(
                f"the cross-encoder in {folder} cannot be loaded: {error}; "
                + _NEXT.format(name=self.name)
            ) from error


class SentenceTransformersReranker:
    """Any cross-encoder of the `sentence-transformers` package, by name or folder."""

    def __init__(self, name: str, settings: RerankerSettings) -> None:
        if not (settings.path or settings.model):
            raise InvalidValue(
                f"rerankers.{name} needs model, a cross-encoder's name; add it to your trivium.toml"
            )
        self.name = name
        self._settings = settings
        self._loading = Lock()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One score a text, as the package gives it."""
        with self._loading:
            model = self._model
        most = self._settings.characters
        given = model.predict([(query[:most], text[:most]) for text in texts])
        return [float(score) for score in given]

    @cached_property
    def _model(self) -> Any:
        try:
            package: Any = import_module("sentence_transformers")
        except ImportError as error:
            raise ModelUnavailable(
                f"the reranker '{self.name}' needs another package; "
                + install("sentence-transformers")
            ) from error
        settings = self._settings
        return package.CrossEncoder(settings.path or settings.model, max_length=settings.tokens)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _cut(tokenizer: Tokenizer, text: str, tokens: int) -> str:
    """The beginning of the text that has so many tokens, so that room is left for what it is
    compared with.
    """
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    return text if len(offsets) <= tokens else text[: offsets[tokens - 1][1]]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions in groups of like length, each within the bound."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _run(session: Any, encodings: Sequence[Encoding]) -> NDArray[np.float64]:
    width = max(len(one.ids) for one in encodings)
    inputs = {
        "input_ids": np.zeros((len(encodings), width), np.int64),
        "attention_mask": np.zeros((len(encodings), width), np.int64),
        "token_type_ids": np.zeros((len(encodings), width), np.int64),
    }
    for row, one in enumerate(encodings):
        inputs["input_ids"][row, : len(one.ids)] = one.ids
        inputs["attention_mask"][row, : len(one.ids)] = one.attention_mask
        inputs["token_type_ids"][row, : len(one.ids)] = one.type_ids
    wanted = {one.name for one in session.get_inputs()}
    if not wanted <= set(inputs):
        raise ModelRefused(f"the cross-encoder wants {', '.join(sorted(wanted - set(inputs)))}")
    given = session.run(None, {name: inputs[name] for name in wanted})[0]
    logits = np.asarray(given, np.float64).reshape(len(encodings), -1)
    if logits.shape[1] == 1:
        return np.asarray(0.5 * (1 + np.tanh(logits[:, 0] / 2)))  # the logistic function
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(powers[:, -1] / powers.sum(axis=1))


def _tokenizer(file: Path, tokens: int) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(tokens, strategy="only_second")
    return tokenizer


def _session(file: Path) -> Any:
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    runtime: Any = import_module("onnxruntime")
    return runtime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
