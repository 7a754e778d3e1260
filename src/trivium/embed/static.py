"""The fast model: one fixed vector for each token, added up.

No network runs, so thousands of texts take a second, and word order plays no part. The weights
and the tokenizer are read straight from the installed `wordllama` package.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.embed import content_digest, encodable, loading, packaged_file
from trivium.embed.hashing import unit_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_REQUIREMENT = "wordllama>=0.4,<0.5"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_RECIPE = "sum-l2-1"


class Static:
    """Token vectors of a large language model, distilled to 256 numbers.

    A text is read in full, however long. Safe to share between threads.
    """

    name = "static"
    dimension = 256

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: tuple[Tokenizer, NDArray[np.float32]] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Identity of the vectors: changes with the weights, the tokenizer or the pooling."""
        digest = content_digest(_file(_WEIGHTS), _file(_TOKENIZER))
        return f"{self.name}:{digest}:{self.dimension}:{_RECIPE}"

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given, whatever else is in the call."""
        tokenizer, table = self._load()
        sums = np.zeros((len(texts), self.dimension), np.float32)
        encodings = tokenizer.encode_batch(list(map(encodable, texts)), add_special_tokens=False)
        for row, encoding in zip(sums, encodings, strict=True):
            # Scaling to unit length makes the mean and the sum the same vector.
            row += table[encoding.ids].sum(axis=0)
        return unit_rows(sums)

    def count_tokens(self, text: str) -> int:
        """How many tokens the model sees in the words of a text, one blank between them."""
        words = " ".join(text.split())
        return len(self._load()[0].encode(encodable(words), add_special_tokens=False))

    def query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of one text, the same that `documents` gives."""
        return self.documents([text]).ravel()

    def _load(self) -> tuple[Tokenizer, NDArray[np.float32]]:
        with self._loading, loading(self.name, _REQUIREMENT):
            if self._loaded is None:
                self._loaded = _read()
            return self._loaded


def _file(path: str) -> Path:
    return packaged_file("wordllama", path, _REQUIREMENT)


def _read() -> tuple[Tokenizer, NDArray[np.float32]]:
    from safetensors import safe_open
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_file(_TOKENIZER)))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with safe_open(_file(_WEIGHTS), framework="np") as weights:
        # Stored in half precision, which the processor has to widen for every single addition.
        return tokenizer, weights.get_tensor(_TENSOR).astype(np.float32)
