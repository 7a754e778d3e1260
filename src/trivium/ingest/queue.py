"""The embed queue: texts that are searchable by words already get their vectors, batch by batch.

What waits is in the record, so whatever stops the queue (a crash, Ctrl-C, a server that is down)
costs nothing but the batch at hand, and the next run goes on. A batch that fails is tried again,
and then split until the text at fault stands alone: it stays waiting, with the reason, and all
others get their vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.errors import ModelError, ModelMismatch, ModelRefused, ModelUnavailable
from trivium.protocols import Embedder, Progress, silent
from trivium.types import Record

BATCH = 100
"""Texts per model call: what document 004 says, and small enough to lose little on Ctrl-C."""

TRIES = 5
"""Waits of about 1, 2, 4 and 8 seconds: a server that restarts is back by then."""

TRIES_OF_A_PART = 2
"""The batch has been tried often enough; its parts are to find out which text it is."""

FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
PATIENCE = 120.0
"""A server that asks to wait for longer is left alone; the next run goes on."""

PROBE = "hello"
"""A text that no model refuses: tells a server that is down from a text that it cannot take."""


class QueueStore(Protocol):
    """What the queue needs of a store."""

    def pending(self, fingerprint: str, limit: int) -> list[Record]: ...
    def count_pending(self, fingerprint: str) -> int: ...
    def save_vectors(
        self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None: ...


class Problems(Protocol):
    """Why texts were refused, kept with what waits."""

    def forgive(self, fingerprint: str) -> None:
        """Let everything that failed be tried again."""

    def note(self, fingerprint: str, hash: str, problem: str) -> None: ...


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What a run did; `failed` are chunks with the reason why they still wait."""

    model: str
    embedded: int = 0
    waiting: int = 0
    failed: tuple[tuple[str, str], ...] = ()


class _Down(Exception):
    """The model answers nothing at all: there is no use in going on."""

    def __init__(self, error: ModelError) -> None:
        self.error = error


@dataclass
class EmbedQueue:
    """One run over what waits for one model. Time and chance are parameters."""

    store: QueueStore
    problems: Problems
    model: Embedder
    text_of: Callable[[Record], str]
    progress: Progress = silent
    sleep: Callable[[float], None] = time.sleep
    chance: Random = field(default_factory=Random)
    _done: int = 0
    _failed: list[tuple[str, str]] = field(default_factory=list)

    def run(self) -> EmbedReport:
        """Embed until nothing is left but what was refused; if the model is down, its error."""
        name = self.model.fingerprint
        self.problems.forgive(name)
        total = self.store.count_pending(name)
        try:
            while batch := self.store.pending(name, BATCH):
                self.progress("embed", self._done + len(self._failed), total)
                self._embed(batch, TRIES)
        except _Down as down:
            raise down.error from down
        if total:
            self.progress("embed", self._done + len(self._failed), total)
        waiting = self.store.count_pending(name)
        return EmbedReport(self.model.name, self._done, waiting, tuple(self._failed))

    def _embed(self, records: Sequence[Record], tries: int) -> None:
        texts = [self.text_of(record) for record in records]
        try:
            vectors = self._tried(texts, tries)
        except ModelError as error:
            self._probe(error)
            if len(records) == 1:
                self._set_aside(records[0], str(error))
                return
            half = len(records) // 2
            for part in (records[:half], records[half:]):
                self._embed(part, TRIES_OF_A_PART)
            return
        hashes = [record.chunk.embedding_hash for record in records]
        self.store.save_vectors(self.model.fingerprint, hashes, vectors)
        self._done += len(records)

    def _tried(self, texts: Sequence[str], tries: int) -> NDArray[np.float32]:
        """The vectors; what may succeed a moment later is tried again, with growing waits."""
        for attempt in range(tries):
            try:
                return self._asked(texts)
            except ModelUnavailable as error:
                if not error.retryable:
                    raise _Down(error) from error
                if attempt + 1 == tries:
                    raise
                self.sleep(self._wait(error, attempt))
        raise AssertionError("tries is above 0")

    def _wait(self, error: ModelUnavailable, attempt: int) -> float:
        """What the server asks for, else twice as long each time; jitter parts the clients."""
        if error.retry_after is not None:
            if error.retry_after > PATIENCE:
                raise _Down(error)
            return max(0.0, error.retry_after) * (1 + self.chance.random() / 10)
        return min(LONGEST_WAIT, FIRST_WAIT * 2.0**attempt) * (0.5 + self.chance.random() / 2)

    def _asked(self, texts: Sequence[str]) -> NDArray[np.float32]:
        try:
            vectors = np.asarray(self.model.documents(texts))
        except ModelError:
            raise
        # A model is somebody else's code: whatever it raises is about these texts.
        except Exception as error:
            raise ModelRefused(f"{self.model.name}: {type(error).__name__}: {error}") from error
        return checked(vectors, len(texts), self.model)

    def _probe(self, error: ModelError) -> None:
        """Return if the model is well and the texts are at fault; `_Down` if it is not."""
        try:
            self._asked([PROBE])
        except ModelError:
            raise _Down(error) from error

    def _set_aside(self, record: Record, problem: str) -> None:
        self.problems.note(self.model.fingerprint, record.chunk.embedding_hash, problem)
        self._failed.append((record.chunk.id, problem))


def checked(vectors: NDArray[np.generic], count: int, model: Embedder) -> NDArray[np.float32]:
    """The vectors, if they are what was asked for; nothing else is ever stored."""
    again = "check the model's settings and run 'trivium embed' again"
    if vectors.dtype.kind not in "fiu" or vectors.ndim != 2:
        raise ModelRefused(f"{model.name} gave something else than vectors; {again}")
    if len(vectors) != count:
        raise ModelRefused(f"{model.name} gave {len(vectors)} vectors for {count} texts; {again}")
    if vectors.shape[1] != model.dimension:
        raise ModelMismatch(
            f"{model.name} gave vectors of {vectors.shape[1]} numbers instead of "
            f"{model.dimension}; {again}"
        )
    numbers = vectors.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise ModelRefused(f"{model.name} gave a vector with NaN or infinity; {again}")
    return numbers
