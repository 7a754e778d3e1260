"""What travels between the parts: frozen values, no behaviour beyond their own invariants."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from trivium.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Scalar: TypeAlias = str | int | float | bool
Unit: TypeAlias = Literal["chunk", "document", "entity"]
Mode: TypeAlias = Literal["scan", "full"]

PUBLIC_SCOPE = "all"
COLUMNS = ("key", "title", "heading", "body", "context", "tags")
"""The one schema of searchable columns; field weights name these."""


# --- what is stored ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """A note, an entry, a source of facts or a memory.

    `number` and `version` are given by the store; 0 means "not stored yet".
    """

    id: str
    uri: str
    title: str
    kind: str = "note"
    key: str = ""
    context: str = ""
    media_type: str = "text/plain"
    category: str | None = None
    scope: str = PUBLIC_SCOPE
    type: str | None = None
    domain: str | None = None
    severity: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    """What was said when it was added (scope, category, tags): it outlives the next `add`."""
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    created: datetime | None = None
    updated: datetime | None = None
    source_hash: str = ""
    source_size: int = 0
    source_mtime: int = 0
    number: int = 0
    version: int = 0

    def is_called(self, name: str) -> bool:
        """Whether a name means the document itself, and not one of its chunks."""
        return name in (self.id, self.uri, f"#{self.number}", str(self.number))

    def brought_back(self, today: Document) -> Document:
        """This earlier state of a document as it becomes the present one.

        Its place stays today's: another document may have the old one by now. So does its scope,
        unless that is public: what was made a secret meanwhile does not come out this way, and
        what was one then does not either.
        """
        back = replace(self, number=today.number)
        if today.uri != self.uri:
            back = replace(back, uri=today.uri, key=today.key)
        if today.scope == PUBLIC_SCOPE:
            return back
        given = {name: value for name, value in self.given.items() if name != "scope"}
        if "scope" in today.given:
            given["scope"] = today.given["scope"]
        return replace(back, scope=today.scope, given=given)


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk before it is stored: a piece of the extracted text and where it stands in it."""

    text: str
    heading: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    start: int = 0
    end: int = 0
    subject: str | None = None
    predicate: str | None = None
    graph: str | None = None
    ordinal: int | None = None
    """Its number in the document, where it has one of its own; otherwise they are counted."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored passage of one version of a document; `id` is `document@version/ordinal`."""

    id: str
    document: str
    version: int
    ordinal: int
    text: str
    heading: tuple[str, ...] = ()
    pages: tuple[int, int] | None = None
    start: int = 0
    end: int = 0
    subject: str | None = None
    predicate: str | None = None
    graph: str | None = None
    embedding_hash: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """One reading of a document (the *interpretation* of document 001)."""

    document: str
    version: int
    pipeline: str
    source_hash: str
    made: datetime
    active: bool
    chunks: int
    archived: bool = False
    """Whether the source file is kept in the library's archive."""
    blob: str = ""
    """Where the source file lies in blob storage, if it does."""


@dataclass(frozen=True, slots=True)
class Quad:
    """A statement; `object` is an IRI or blank node when `datatype` is empty, else a literal."""

    subject: str
    predicate: str
    object: str
    datatype: str = ""
    language: str = ""
    graph: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a statement was read: the document, which of its versions, and when that was made."""

    document: str
    uri: str
    version: int
    made: datetime


@dataclass(frozen=True, slots=True)
class Statement:
    """A quad with every visible document that states it."""

    quad: Quad
    sources: tuple[Provenance, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which statements are meant; None leaves a place open, "" as graph is the default graph.

    `object` is compared with IRIs and with the text of literals alike; `source` is a document id.
    """

    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    graph: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything one `put` writes for a document, in one transaction."""

    document: Document
    passages: tuple[Passage, ...]
    embedding_hashes: tuple[str, ...]
    text: str = ""
    pipeline: str = ""
    quads: tuple[Quad, ...] = ()

    def __post_init__(self) -> None:
        if len(self.passages) != len(self.embedding_hashes):
            raise ValueError("a draft needs one embedding hash for each passage")


@dataclass(frozen=True, slots=True)
class Record:
    """A chunk together with the document it belongs to, as it is stored now."""

    document: Document
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Reading:
    """A document as it is read: the chunks that were asked for and their text."""

    document: Document
    chunks: tuple[Chunk, ...]
    text: str
    tier: str | None = None


def chunk_id(document: str, version: int, ordinal: int) -> str:
    return f"{document}@{version}/{ordinal}"


def document_of(chunk: str) -> str:
    """The document part of a chunk id; document ids may contain "@" themselves."""
    return chunk.rpartition("@")[0]


def owner_of(name: str) -> str:
    """The document whose chunk has this name; "" if it is not the name of a chunk."""
    return document_of(name) if _CHUNK_ID.fullmatch(name) else ""


_CHUNK_ID = re.compile(r".+@[0-9]{1,9}/[0-9]{1,9}", re.DOTALL)


Verdict: TypeAlias = Literal["accepted", "dismissed", "modified", "failed"]
VERDICTS: tuple[Verdict, ...] = ("accepted", "dismissed", "modified", "failed")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What somebody thought of a document that a query had found."""

    document: str
    verdict: Verdict
    query: str = ""


# --- who may see what ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grant:
    """The scopes a caller may see. The local owner's grant is every scope there is."""

    scopes: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if self.scopes is not None:
            object.__setattr__(self, "scopes", self.scopes | {PUBLIC_SCOPE})

    def allows(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


OWNER = Grant()
PUBLIC = Grant(frozenset())


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks a search may consider: OR within a dimension, AND across dimensions.

    `source` takes `#7`, a source's name, a file name, a uri or a path glob. Whatever matches any
    of the filters in `exclude` is out. Validity is judged at `valid_at` unless `include_expired`;
    a filter without `valid_at` does not look at validity (the pipeline fills in "now").
    """

    scope: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    severity: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, Scalar], ...] = ()
    created_from: datetime | None = None
    created_until: datetime | None = None
    valid_at: datetime | None = None
    include_expired: bool = False
    subjects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    rdf_types: tuple[str, ...] = ()
    subclasses: bool = False
    """Whether a type stands for its subclasses too (rdfs:subClassOf, any number of steps)."""
    graphs: tuple[str, ...] = ()
    exclude: tuple[Filter, ...] = ()
    as_of: datetime | None = None

    def narrows(self) -> bool:
        """Whether the caller asked for anything (validity at "now" is not a wish)."""
        plain = replace(self, valid_at=None, include_expired=False, subclasses=False)
        return plain != NO_FILTER


NO_FILTER = Filter()


# --- words ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Phrase:
    """Adjacent stemmed terms (usually one); `prefix` lets the last one be the start of a term."""

    terms: tuple[str, ...]
    weight: float = 1.0
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """Phrases that say the same thing: the best of them counts, once, for each chunk.

    `weight` is what the clause is worth in the query, a phrase's weight how sure the phrase is.

    How rare they are is judged by the first of them, which is the surest: a rare look-alike must
    not weigh more than the word it stands for.
    """

    phrases: tuple[Phrase, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class WordQuery:
    """What the word index is asked.

    A chunk matches if it holds every clause of at least one alternative and no excluded phrase;
    its score is the sum over all clauses, as BM25 sums over the phrases of a query.
    """

    clauses: tuple[Clause, ...]
    alternatives: tuple[tuple[int, ...], ...] = ()
    excluded: tuple[Phrase, ...] = ()

    @classmethod
    def any_of(cls, clauses: Sequence[Clause]) -> WordQuery:
        return cls(tuple(clauses), tuple((i,) for i in range(len(clauses))))


@dataclass(frozen=True, slots=True)
class Bm25:
    """How words are scored. A column of weight 0 counts as if it were not in the index at all."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 1.0))
    k1: float = 1.2
    b: float = 0.75


# --- rankings ------------------------------------------------------------------------------------


class LegState(StrEnum):
    OK = "ok"
    EMPTY = "empty"
    SKIPPED = "skipped"
    FAILED = "failed"


class ScoreKind(StrEnum):
    """What a score is; numbers of different kinds are never compared."""

    RRF = "rrf"
    BLEND = "blend"
    SIGNALS = "signals"
    RERANK = "rerank"
    NONE = "none"


MEMORY_STAGE = "memory"
"""The stage of what was put in at a fixed score: no leg found it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one stage gave to a hit's score, under one name."""

    stage: str
    name: str
    contribution: float
    rank: int | None = None
    value: float | None = None
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way through the stages; its score is the sum of its parts' contributions."""

    id: str
    score: float
    parts: tuple[Part, ...] = ()

    @classmethod
    def of(cls, id: str, parts: Iterable[Part]) -> Candidate:
        kept = tuple(parts)
        return cls(id, math.fsum(part.contribution for part in kept), kept)

    def replaced(self, parts: Iterable[Part]) -> Candidate:
        """Scored anew by these parts: what the earlier ones gave is gone, what they saw stays."""
        silent = (replace(part, contribution=0.0) for part in self.parts)
        return Candidate.of(self.id, (*silent, *parts))

    def scaled(self, factor: float, stage: str, name: str) -> Candidate:
        """Every contribution times `factor`, and a part of 0 that names it."""
        given = (replace(part, contribution=part.contribution * factor) for part in self.parts)
        return Candidate.of(self.id, (*given, Part(stage, name, 0.0, value=factor)))


class Columns(Sequence[Candidate]):
    """Candidates as columns: their ids and scores at hand, their parts made when they are read.

    A search looks at hundreds of candidates and shows ten. `gains` are the contributions of each
    candidate's parts, in the order of the parts, and `stages` those that gave any.
    """

    __slots__ = ("gains", "ids", "parts_of", "scores", "stages")

    def __init__(
        self,
        ids: Sequence[str],
        scores: Sequence[float],
        gains: Sequence[tuple[float, ...]],
        parts_of: Callable[[str], tuple[Part, ...]],
        stages: frozenset[str],
    ) -> None:
        self.ids = tuple(ids)
        self.scores = tuple(scores)
        self.gains = gains
        self.parts_of = parts_of
        self.stages = stages

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> Columns:
        """The same candidates as columns."""
        if isinstance(candidates, Columns):
            return candidates
        parts = {one.id: one.parts for one in candidates}
        return cls(
            [one.id for one in candidates],
            [one.score for one in candidates],
            [tuple(part.contribution for part in one.parts) for one in candidates],
            parts.__getitem__,
            frozenset(part.stage for one in candidates for part in one.parts),
        )

    @classmethod
    def ranked(
        cls,
        gains: Mapping[str, Sequence[float]],
        parts_of: Callable[[str], tuple[Part, ...]],
        stages: frozenset[str],
    ) -> Columns:
        """Scored by what each id has gained: best first, ties by id."""
        ranked = sorted((-math.fsum(gained), id, tuple(gained)) for id, gained in gains.items())
        ids, kept = [id for _, id, _ in ranked], [gained for _, _, gained in ranked]
        return cls(ids, [-below for below, _, _ in ranked], kept, parts_of, stages)

    def chosen(self, places: Sequence[int]) -> Columns:
        """Those at these places, in this order."""
        return Columns(
            [self.ids[place] for place in places],
            [self.scores[place] for place in places],
            [self.gains[place] for place in places],
            self.parts_of,
            self.stages,
        )

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, index: int | slice) -> Candidate | tuple[Candidate, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        id = self.ids[index]
        return Candidate(id, self.scores[index], self.parts_of(id))

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates in order: best first, ties by id. The one place where ranks are counted.

    `ceiling` is the score that nothing could exceed for this query, 0 where that is not known.
    `beyond` has a leg's own score of chunks that only other legs ranked: they have no rank here.
    """

    candidates: Sequence[Candidate] = ()
    kind: ScoreKind = ScoreKind.NONE
    ceiling: float = 0.0
    beyond: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def sorted(cls, candidates: Iterable[Candidate], kind: ScoreKind) -> Ranking:
        return cls(tuple(sorted(candidates, key=lambda c: (-c.score, c.id))), kind)

    @property
    def ids(self) -> tuple[str, ...]:
        """The chunks, best first."""
        return Columns.of(self.candidates).ids

    @property
    def scores(self) -> tuple[float, ...]:
        """Their scores, in the same order."""
        return Columns.of(self.candidates).scores

    def ranked(self) -> Iterator[tuple[int, Candidate]]:
        """(1, best), (2, next) …"""
        return enumerate(self.candidates, start=1)

    def cut(self, limit: int) -> Ranking:
        return replace(self, candidates=self.candidates[:limit])

    def __len__(self) -> int:
        return len(self.candidates)


@dataclass(frozen=True, slots=True)
class Yardstick:
    """How a leg measures any chunk that it was allowed to find, whether it found it or not.

    `score_of` gives the leg's own score of named chunks, 0 for what it may not find; `mean` and
    `deviation` are those of the score over all allowed chunks, of which there are `count`.
    """

    score_of: Callable[[Sequence[str]], list[float]]
    mean: float
    deviation: float
    count: int
    exact: Callable[[], Yardstick] | None = None
    """Where mean and deviation are only about right (within .001): the same, worked out exactly."""


@dataclass(frozen=True, slots=True)
class Leg:
    """What one road found: chunk ids with the leg's own score, and how it went.

    `terms` are the stemmed terms that made it find them (for highlights), `matched` the number of
    units that hold a query word, counted by the keyword leg, and `complete` says that nothing was
    cut off at the depth asked for. `vector` is what the vector leg made of the query.
    """

    name: str
    state: LegState
    ranking: Ranking = Ranking()
    ms: float = 0.0
    note: str = ""
    terms: frozenset[str] = frozenset()
    complete: bool = True
    matched: int | None = None
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    yardstick: Yardstick | None = field(default=None, compare=False, repr=False)
    guessed: bool = False
    """Whether it read words of the query as others than were typed."""
    trust: float = 1.0
    """What its weight is multiplied by: below 1 for a leg with little to say to this query."""


# --- asking and answering ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question, as every surface puts it."""

    query: str
    limit: int = 10
    filter: Filter = NO_FILTER
    mode: Mode = "scan"
    legs: tuple[str, ...] = ()
    """Only these legs of the profile; empty means all of them."""
    include_memories: bool = False
    facets: bool = False
    cursor: str | None = None
    prefer_tags: tuple[str, ...] = ()
    """Wishes, not filters: a profile with signals ranks what has them higher."""
    prefer_domain: str | None = None
    most_memories: int | None = None
    """How many memories may come in; None leaves it to the profile."""
    budget: int | None = None
    """Tokens that the hits may cost together; what does not fit is left out, and named."""


@dataclass(frozen=True, slots=True)
class Highlight:
    """Code-point offsets into the snippet, and the leg that matched there."""

    leg: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One unit of the answer. `id` is the unit's id, `chunk` its best chunk's."""

    rank: int
    id: str
    score: float
    document: Document
    chunk: Chunk
    parts: tuple[Part, ...]
    snippet: str
    highlights: tuple[Highlight, ...]
    tokens: int
    freshness: str = "unverified"
    verifications: tuple[str, ...] = ()
    """Open conflicts among the facts about its subject."""
    tier: str | None = None

    @property
    def title(self) -> str:
        """The document's; of a fact what its subject is called."""
        if self.chunk.predicate and self.chunk.heading:
            return self.chunk.heading[0]
        return self.document.title

    @property
    def heading(self) -> str:
        start = 1 if self.chunk.predicate else 0
        return " › ".join(self.chunk.heading[start:])

    @property
    def text(self) -> str:
        return self.chunk.text


@dataclass(frozen=True, slots=True)
class Result:
    """The answer: hits in order, and how it came about."""

    query: str
    profile: str
    score_kind: ScoreKind
    hits: tuple[Hit, ...]
    legs: tuple[Leg, ...]
    total: int
    matched: int
    took_ms: float
    mode: Mode = "scan"
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
    ambiguous: tuple[str, ...] = ()
    told_apart: tuple[Mapping[str, Any], ...] = ()
    """Of competing entities: what each is called and is, and facts that only it has."""
    facets: Mapping[str, Mapping[str, int]] | None = None
    """For each dimension how many units of `total` have each value; None unless asked for."""
    next_cursor: str | None = None
    timing: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)
    """Milliseconds for each stage of the search, in order."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
