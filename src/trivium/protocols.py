"""What can be replaced. Each protocol is as small as its callers need.

A store gives out *views*: one consistent state of the library, seen through one grant. A view's
search abilities are separate protocols, so what a store cannot do is simply not there, and a
profile that needs it is refused when it is opened (`legs_of` in `abilities.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from trivium.types import (
    Bm25,
    Chunk,
    Columns,
    Document,
    Draft,
    Filter,
    Grant,
    Judgement,
    Part,
    Ranking,
    Record,
    TextQuery,
    Unit,
    Verdict,
    Version,
    WordQuery,
    Yardstick,
)
from trivium.values import dataclass


class Embedder(Protocol):
    """Texts to unit vectors. Loading is lazy: constructing one costs nothing."""

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """Identity of the vectors it makes, stored with them; known without loading the model."""

    @property
    def dimension(self) -> int: ...
    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
    def query(self, text: str) -> NDArray[np.float32]: ...


@runtime_checkable
class CountsTokens(Protocol):
    """What an embedder with a tokenizer at hand also has; chunks are measured with it."""

    def count_tokens(self, text: str) -> int:
        """The tokens the model sees in a text; none in blanks, marks at its ends not counted."""


class Reranker(Protocol):
    """A query and texts to scores: one a text, the higher the better. Loading is lazy."""

    @property
    def name(self) -> str: ...
    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a view's search gives back: chunk ids and scores, best first, ties by id.

    It is the shortest beginning of the whole ranking that holds as many units as were asked for,
    so that one document of many chunks does not crowd out the others. `complete` says that it is
    the whole ranking; `matched` counts the matching units;
    `ceiling` is the score that no chunk could exceed; `missing` counts the chunks that could not
    be considered, because their vector is still to be made. A store that can tell the score of a
    chunk beyond the depth gives a `yardstick`, good for as long as the view is open.
    """

    ids: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    complete: bool = True
    matched: int = 0
    ceiling: float = 0.0
    missing: int = 0
    yardstick: Yardstick | None = field(default=None, compare=False, repr=False)

    @property
    def scored(self) -> tuple[tuple[str, float], ...]:
        """The same in pairs."""
        return tuple(zip(self.ids, self.scores, strict=True))

    def ranking(self) -> Ranking:
        nothing = ((),) * len(self.ids)
        columns = Columns(self.ids, self.scores, nothing, _no_parts, frozenset())
        return Ranking(columns, ceiling=self.ceiling)


def _no_parts(id: str) -> tuple[Part, ...]:
    """A leg's own candidates are in no sum yet."""
    return ()


@dataclass(frozen=True, slots=True)
class Similar:
    """A word of the library that looks like another: its trigram similarity and its term."""

    word: str
    term: str
    similarity: float


class View(Protocol):
    """One state of the library within one grant. Nothing outside the grant can be told from it."""

    @property
    def stamp(self) -> int:
        """A number that changes when what can be seen from here changes, and only then."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was repaired on the way here, such as a cache that was rebuilt."""

    def records(self, chunks: Sequence[str]) -> dict[str, Record]:
        """The named chunks that exist and are within the grant."""

    def documents(self, chunks: Sequence[str]) -> list[Document]:
        """The document of each of the named chunks, without reading any text."""

    def units(self, chunks: Sequence[str], unit: Unit) -> list[str]:
        """The unit each chunk belongs to."""

    def browse(self, filter: Filter, unit: Unit, depth: int) -> Found:
        """The first chunks of the first `depth` units, in the order of chunk ids, score 0;
        `matched` counts all units.
        """

    def values(self, name: str) -> frozenset[str]:
        """The values of a field (scope, kind, tags …) that documents in the grant have."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...


@runtime_checkable
class WordSearch(Protocol):
    """The ability behind the keyword leg."""

    def words(
        self, query: WordQuery, bm25: Bm25, filter: Filter, depth: int, unit: Unit
    ) -> Found: ...


@runtime_checkable
class TextSearch(Protocol):
    """The ability to have a database rank words as its own text search does."""

    def text_matches(
        self,
        query: TextQuery,
        weights: Mapping[str, float],
        filter: Filter,
        depth: int,
        unit: Unit,
    ) -> Found:
        """What matches the query as it is written scores 1 to 2, what does so loosely below 1."""


@runtime_checkable
class PassageLikeness(Protocol):
    """The ability to compare a query with whole passages by their trigrams."""

    def resemblance(self, query: str, chunks: Sequence[str]) -> dict[str, float]:
        """How alike the query and some stretch of heading and text of each chunk are, 0 to 1."""


@runtime_checkable
class VectorSearch(Protocol):
    """The ability behind the vector leg: exact cosine unless the store says otherwise."""

    @property
    def model(self) -> str:
        """Fingerprint of the active model, "" when there is none."""

    def nearest(
        self, vector: NDArray[np.float32], filter: Filter, depth: int, unit: Unit
    ) -> Found: ...


@runtime_checkable
class VectorForesight(Protocol):
    """The ability to look for the nearest in threads of its own while others are at work here."""

    def expect(self, vector: NDArray[np.float32], filter: Filter, depth: int) -> None:
        """Begin with what `nearest` will soon be asked for. Whatever stands in the way of it is
        told there.
        """


@runtime_checkable
class VectorLookup(Protocol):
    """The ability to compare chunks with each other."""

    def vectors(self, chunks: Sequence[str]) -> NDArray[np.float32]:
        """A row for each chunk: its unit vector, zeros if it has none or is out of sight."""


@runtime_checkable
class SpellingSearch(Protocol):
    """The ability behind the trigram leg: the vocabulary within the grant."""

    def similar(self, word: str, lengths: tuple[int, int], limit: int) -> list[Similar]:
        """The words of a length in this range (both ends count) that share most trigrams, as far
        as they resemble this one at all (`LEAST_ALIKE`).
        """

    def starting(self, prefix: str, limit: int) -> list[Similar]:
        """Words that start with `prefix`, shortest first."""

    def frequency(self, terms: Sequence[str]) -> int:
        """In how many chunks the stemmed terms stand side by side (one term: in how many)."""


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many chunks there are in the grant, and how many of them hold each term."""

    count: int
    holding: Mapping[str, int]


@runtime_checkable
class TermStatistics(Protocol):
    """The ability behind TF-IDF. Frequencies are counted in the index, never kept beside it."""

    def frequencies(self, terms: Collection[str], columns: Sequence[str]) -> Frequencies:
        """In how many chunks each stemmed term stands in at least one of the columns."""


@runtime_checkable
class Likeness(Protocol):
    """The cosine of chunks that are known by name, wherever they were found."""

    def likeness(self, vector: NDArray[np.float32], chunks: Sequence[str]) -> dict[str, float]:
        """The cosine of each named chunk with the vector; those without a vector are left out."""


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model as the record knows it."""

    name: str
    fingerprint: str
    dimension: int
    active: bool
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was let go, or would be: (document, version), counts, and how many bytes it was."""

    versions: tuple[tuple[str, int], ...] = ()
    vectors: int = 0
    bytes: int = 0
    files: int = 0


class History(Protocol):
    """The part of a store that knows the past: moments, source files, what can be let go."""

    def became_active(self, document: str, version: int) -> datetime | None:
        """When a version was the active one for the first time."""

    def source_hashes(self, but: Sequence[tuple[str, int]] = ()) -> set[str]:
        """Hashes of the sources of all kept versions but these (document, version)."""

    def blobs(self, hashes: Iterable[str]) -> dict[str, str]:
        """Where in blob storage these sources lie, as far as they do."""

    def scope_of(self, document: str, version: int) -> str | None:
        """The scope of the document when this version was last active."""

    def add_blob(self, hash: str, uri: str) -> None: ...

    def prune(self, keep: int | None, before: datetime | None, *, dry_run: bool) -> Pruned:
        """Let go of old versions (see `Library.prune`) and of vectors that no chunk has."""

    def compact(self) -> None:
        """Give freed space back to the disk, if nobody is in the way."""


class Archive(Protocol):
    """Source files by the hash of their content. What is kept is never changed."""

    def put(self, data: bytes) -> str:
        """Keep the content and give back its hash; what is kept already is not written again."""

    def get(self, hash: str) -> bytes | None:
        """The content, or None where it was never kept, was pruned, or no longer fits its hash."""

    def kept(self, hashes: Iterable[str]) -> set[str]:
        """Those of the hashes whose content is kept."""

    def prune(self, referenced: Collection[str], *, dry_run: bool) -> tuple[int, int]:
        """Let go of what no version refers to and is not new: how many, and how many bytes."""

    def remove(self, hash: str) -> None: ...


class Store(Protocol):
    """Where documents, versions, chunks and vectors are kept. Every write is one transaction."""

    def put(
        self, drafts: Sequence[Draft], now: datetime, *, unless_same: bool = False
    ) -> list[Document]:
        """Store new versions, which are given back; the old ones are kept. With `unless_same` a
        draft of the active version's own source and pipeline makes none."""

    def amend(self, drafts: Sequence[Draft], now: datetime) -> None:
        """Change the fields of stored documents (title, tags, scope …) without a new version."""

    def remove(self, documents: Sequence[str]) -> int: ...
    def activate(self, document: str, version: int, now: datetime) -> None: ...

    def find(self, names: Sequence[str], grant: Grant) -> dict[str, Document]:
        """Documents by id, `#number`, uri or chunk id; what is not visible is not found."""

    def documents(
        self, filter: Filter, grant: Grant, limit: int | None = None
    ) -> list[Document]: ...
    def chunks(self, document: str, version: int | None = None) -> list[Chunk]: ...
    def versions(self, document: str) -> list[Version]: ...

    def active_model(self) -> Model | None: ...
    def models(self) -> list[Model]: ...
    def use_model(self, model: Model) -> None:
        """Register a model, and make it the active one if it says so."""

    def pending(self, fingerprint: str, limit: int) -> list[Record]:
        """Active chunks that have no vector of this model yet, one for each distinct input."""

    def save_vectors(
        self, fingerprint: str, hashes: Sequence[str], vectors: NDArray[np.float32]
    ) -> None: ...

    def view(self, grant: Grant, as_of: datetime | None = None) -> View: ...
    def status(self) -> dict[str, Any]: ...
    def check(self) -> list[str]:
        """What is wrong with the record or its derived index; empty when all is well."""

    def close(self) -> None: ...


@runtime_checkable
class Optimizes(Protocol):
    """A store whose index is in pieces that can be merged."""

    def optimize(self) -> int:
        """Merge them into one; how many there were."""


@runtime_checkable
class KeepsTextSearch(Protocol):
    """A store whose database has text-search configurations of its own, and keeps words in one."""

    def use_text_search(self, name: str, made_with: str) -> int:
        """Store all words anew in this one, and how the library is made; how many passages."""


class FeedbackLog(Protocol):
    """What people and agents thought of what they found. A judgement is never changed."""

    def record(self, judgements: Sequence[Judgement], now: datetime) -> None: ...
    def counts(self, grant: Grant) -> dict[Verdict, int]:
        """How often each verdict was given about documents that exist within the grant."""

    def judgements(self, grant: Grant) -> list[Judgement]:
        """Those judgements, the oldest first."""


class Progress(Protocol):
    """Told how far long work has come; `total` may be unknown."""

    def __call__(self, stage: str, done: int, total: int | None) -> None: ...


def silent(stage: str, done: int, total: int | None) -> None:
    """The progress of nobody watching."""
