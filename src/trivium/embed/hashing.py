"""Feature hashing: vectors without a model, the same in every process and on every machine.

Texts that share words or parts of words come out close; meaning plays no part. For tests, and
for trying things out where no weights are installed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from trivium.errors import InvalidValue
from trivium.vectors import unit

_WORD = re.compile(r"\w+")
_RECIPE = "words+trigrams-blake2b-1"


class Hashing:
    """Counts of words and their character trigrams, hashed into signed buckets."""

    name = "hashing"

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise InvalidValue(f"A vector cannot have {dimension} numbers; use 1 or more.")
        self.dimension = dimension

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors: changes with the dimension and with the hashing itself."""
        return f"{self.name}:{_RECIPE}:{self.dimension}"

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector for each text, in the order given."""
        counts = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(counts, texts, strict=True):
            for feature in _features(text):
                bucket, sign = _place(feature, self.dimension)
                row[bucket] += sign
        return unit_rows(counts)

    def query(self, text: str) -> NDArray[np.float32]:
        """The unit vector of one text, the same that `documents` gives."""
        return self.documents([text]).ravel()


def unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows scaled to length one; a row of zeros becomes the first axis.

    A text without a single known token still needs a vector: one fixed direction keeps it
    valid everywhere that unit length is taken for granted.
    """
    scaled = unit(rows)
    scaled[~scaled.any(axis=1), 0] = 1.0
    return scaled


def _features(text: str) -> Iterator[str]:
    for word in _WORD.findall(text.lower()):
        yield word
        # The marks set "cat" at a word's start apart from "cat" inside it, and from the word.
        marked = f"<{word}>"
        for start in range(len(marked) - 2):
            yield f"#{marked[start : start + 3]}"


@lru_cache(maxsize=65536)
def _place(feature: str, dimension: int) -> tuple[int, int]:
    """The bucket of a feature, and its sign, which makes collisions cancel on average."""
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return (number >> 1) % dimension, 1 if number & 1 else -1
