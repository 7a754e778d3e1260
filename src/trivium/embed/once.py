"""One model for several libraries: a query that all of them ask is embedded once."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from trivium.protocols import Embedder


class AskedOnce:
    """A model that remembers the vector of the last query, or how it failed, until `forget`."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._lock = Lock()
        self._asked: str | None = None
        self._answer: NDArray[np.float32] | Exception | None = None

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    @property
    def dimension(self) -> int:
        return self._model.dimension

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._model.documents(texts)

    def query(self, text: str) -> NDArray[np.float32]:
        with self._lock:
            if self._asked != text or self._answer is None:
                try:
                    self._answer = self._model.query(text)
                except Exception as error:  # the others need not wait for the same failure
                    self._answer = error
                self._asked = text
            answer = self._answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def forget(self) -> None:
        """A new search may find the model in a better state."""
        with self._lock:
            self._asked, self._answer = None, None
