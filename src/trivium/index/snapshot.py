"""One state of the library as arrays: segments with their living rows, blocks with theirs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from trivium.index import bm25 as words
from trivium.index import entities, lookup, standing
from trivium.index.documents import Mask
from trivium.index.matrix import Block, Neighbours
from trivium.index.placing import ROW_BITS, Places, pieces
from trivium.index.segment import Segment
from trivium.index.selection import KEPT, Selection, SubjectsOfTypes, key_of, moments, select
from trivium.index.standing import Standing, units_of
from trivium.kernels import Floats, Tally, tally
from trivium.protocols import Found, Frequencies
from trivium.types import COLUMNS, Bm25, Filter, Grant, Phrase, Unit, WordQuery
from trivium.vectors import Floats32

MOST_PHRASES = 50_000  # phrases whose count is remembered for a snapshot: a few megabytes
MOST_GIVEN = 8_192  # chunks of ten searches: more would not stay in a processor's cache


@dataclass(frozen=True, slots=True)
class LivingSegment:
    """A segment with the rows that are still current; `file` is its name once it is on disk."""

    segment: Segment
    alive: Mask
    file: str | None = None


@dataclass(frozen=True, slots=True)
class LivingBlock:
    """A block with the vectors that are still current; `file` is its name once it is on disk."""

    block: Block
    alive: Mask
    file: str | None = None


@dataclass(frozen=True)
class Snapshot:
    """All that a search needs, at one generation. Never changes; a write makes the next one.

    `model` is the fingerprint of the model whose vectors the blocks hold.
    """

    generation: int
    model: str = ""
    segments: tuple[LivingSegment, ...] = ()
    blocks: tuple[LivingBlock, ...] = ()
    _seen: dict[Grant, Seen] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def placed(self) -> Places:
        """Where each living chunk stands among the segments, by its number."""
        return Places.of([(living.segment.numbers, living.alive) for living in self.segments])

    @cached_property
    def embedded(self) -> Places:
        """Where its vector stands among the blocks."""
        return Places.of([(living.block.numbers, living.alive) for living in self.blocks])

    @cached_property
    def divided(self) -> standing.Divided:
        """The documents that stand in several segments, until these are merged."""
        return standing.divided([living.segment for living in self.segments])

    def seen_by(self, grant: Grant) -> Seen:
        """The same state through a grant; made once for each grant."""
        if grant not in self._seen:
            self._seen[grant] = Seen.through(self, grant)
        return self._seen[grant]


@dataclass(frozen=True)
class Seen:
    """A snapshot within a grant. What is outside of it leaves no trace in any answer."""

    snapshot: Snapshot
    visible: tuple[Mask, ...]
    all_visible: tuple[bool, ...]
    _statistics: dict[bytes, words.Statistics] = field(default_factory=dict)
    _frequencies: dict[bytes, dict[str, int]] = field(default_factory=dict)
    _phrases: dict[tuple[str, ...], int] = field(default_factory=dict, init=False)
    _selections: dict[object, Selection] = field(default_factory=dict, init=False)
    _values: dict[str, frozenset[str]] = field(default_factory=dict, init=False)
    _given: list[dict[str, int]] = field(default_factory=lambda: [{}, {}], init=False)
    """Where chunks stand that were given out, and those before: they are soon asked for again."""

    @classmethod
    def through(cls, snapshot: Snapshot, grant: Grant) -> Seen:
        visible = []
        for living in snapshot.segments:
            mask = living.alive
            if grant.scopes is not None:
                in_scope = living.segment.documents.with_scopes(grant.scopes)
                mask = mask & in_scope[living.segment.document]
            visible.append(mask)
        return cls(snapshot, tuple(visible), tuple(bool(mask.all()) for mask in visible))

    @cached_property
    def parts(self) -> list[words.Part]:
        """The segments with what is visible of them."""
        return [
            words.Part(living.segment, visible, every)
            for living, visible, every in zip(
                self.snapshot.segments, self.visible, self.all_visible, strict=True
            )
        ]

    def allowed(self, filter: Filter, subjects_of: SubjectsOfTypes) -> Selection:
        """What the filter leaves of the visible rows; kept for when it comes again."""
        key = key_of(filter, self._moments)
        found = self._selections.get(key)
        if found is None:
            found = select(self.snapshot, self.visible, filter, subjects_of)
            while len(self._selections) >= KEPT:
                self._selections.pop(next(iter(self._selections)), None)
            self._selections[key] = found
        return found

    @cached_property
    def _moments(self) -> NDArray[np.int64]:
        return moments(self.snapshot)

    def words(
        self, query: WordQuery, bm25: Bm25, allowed: Selection, depth: int, unit: Unit
    ) -> Found:
        parts = self.parts
        weights = words.column_weights(bm25)
        counted = (weights > 0).tobytes()
        if counted not in self._statistics:
            self._statistics[counted] = words.statistics(parts, weights)
        masks = [
            None if every else mask for mask, every in zip(allowed, allowed.every, strict=True)
        ]
        answer = words.score(parts, query, bm25, weights, self._statistics[counted], masks, depth)
        tallies, total = answer.tallies, sum(one.rows for one in answer.tallies)

        def best(count: int) -> Standing:
            if count <= depth:
                return Standing.of(answer.best, answer.scores)
            more = [tally(scores, None, None, count)[1] for scores in answer.scores]
            return Standing.of(more, answer.scores)

        ids, found = self.first_units(best, total, depth, unit)
        matched = self._count_units(answer.scores, tallies, unit)
        yardstick = lookup.of_words(self, answer.scores, tallies, allowed.total)
        every = len(ids) == total
        return Found(ids, found, every, matched, answer.ceiling, yardstick=yardstick)

    def frequencies(self, terms: Collection[str], columns: Sequence[str]) -> Frequencies:
        """How many visible rows there are, and how many hold each term in these columns.

        A state never changes, so what was counted once is kept for as long as the state is.
        """
        counted = np.array([name in columns for name in COLUMNS])
        known = self._frequencies.setdefault(counted.tobytes(), {})
        known |= words.frequencies(self.parts, [t for t in terms if t not in known], counted)
        return Frequencies(self.count, {term: known[term] for term in terms if term in known})

    def frequency(self, terms: tuple[str, ...]) -> int:
        """How many visible rows hold these terms side by side, in any column."""
        known = self._phrases.get(terms)
        if known is None:
            known = words.frequency(self.parts, Phrase(terms))
            if len(self._phrases) >= MOST_PHRASES:
                self._phrases.clear()
            self._phrases[terms] = known
        return known

    def neighbours(self, vector: Floats32, allowed: Selection, depth: int) -> Neighbours:
        """Who is near to a vector: begins to look for so many."""
        blocks = [living.block for living in self.snapshot.blocks]
        return Neighbours.of(blocks, allowed.vectors, vector, depth)

    def nearest(self, neighbours: Neighbours, allowed: Selection, depth: int, unit: Unit) -> Found:
        total = neighbours.considered
        ids, scores = self.first_units(
            lambda count: self.standing(*neighbours.nearest(count)), total, depth, unit
        )
        yardstick = lookup.of_vectors(self, neighbours)
        every, missing = len(ids) == total, allowed.embedded - total
        return Found(ids, scores, every, total, 1.0, missing, yardstick)

    def places(self, chunks: Sequence[str]) -> NDArray[np.int64]:
        """The place of each visible chunk; -1 for any other."""
        recent, before = self._given
        found = np.fromiter(map(recent.get, chunks, repeat(-1)), np.int64, len(chunks))
        for place in (found < 0).nonzero()[0].tolist():
            known = before.get(chunks[place])
            found[place] = self._looked_up(chunks[place]) if known is None else known
        return found

    def numbers_of(self, chunks: Sequence[str]) -> NDArray[np.int64]:
        """The store's number of each visible chunk; -1, which no chunk has, for any other."""
        numbers = np.full(len(chunks), -1, np.int64)
        for segment, here, rows in pieces(self.places(chunks), len(self.segments)):
            numbers[here] = self.segments[segment].numbers[rows]
        return numbers

    def entities_of(self, chunks: Sequence[str]) -> list[str]:
        """The entity that each visible chunk is about; "" for any other."""
        return standing.entities_at(self.segments, self.places(chunks))

    def _looked_up(self, chunk: str) -> int:
        for index, living in enumerate(self.snapshot.segments):
            row = living.segment.row_of(chunk)
            if row >= 0 and self.visible[index][row]:
                return (index << ROW_BITS) + row
        return -1

    def vectors(self, chunks: Sequence[str]) -> Floats32:
        """The vector of each chunk as a row; zeros where there is none."""
        return lookup.vectors(self, chunks)

    def likeness(self, vector: Floats32, chunks: Sequence[str]) -> dict[str, float]:
        """The cosine of each chunk that has a vector with this one."""
        return lookup.likeness(self, vector, chunks)

    def browse(self, allowed: Sequence[Mask], unit: Unit, depth: int) -> Found:
        """The first chunk of each of the first `depth` units, in the order of ids, score 0."""
        firsts: dict[str, str] = {}
        for living, mask in zip(self.snapshot.segments, allowed, strict=True):
            rows = np.flatnonzero(mask)
            names = units_of(living.segment, rows, unit)
            for name, chunk in zip(names, living.segment.ids(rows), strict=True):
                if name not in firsts or chunk < firsts[name]:
                    firsts[name] = chunk
        ordered = sorted(firsts.values())  # as a ranking breaks ties: by the ids of chunks
        chosen = tuple(ordered[:depth])
        return Found(chosen, (0.0,) * len(chosen), len(ordered) <= depth, len(ordered))

    def standing(self, numbers: NDArray[np.int64], scores: Floats) -> Standing:
        """Chunks that are told by number, those that are alive."""
        places = self.snapshot.placed[numbers]
        known = places >= 0
        return Standing(places, scores) if known.all() else Standing(places[known], scores[known])

    def first_units(
        self, best: Callable[[int], Standing], total: int, units: int, unit: Unit
    ) -> tuple[tuple[str, ...], tuple[float, ...]]:
        """The ids and scores of the first so many units; where they stand is remembered."""
        chosen = standing.first_units(self.segments, best, total, units, unit)
        if unit == "document" and len(self.snapshot.divided.places):  # some may count twice
            wanted = units
            while wanted < total and (missing := units - self.units(chosen.places, unit)):
                wanted += missing
                chosen = standing.first_units(self.segments, best, total, wanted, unit)
        if len(self._given[0]) > MOST_GIVEN:
            self._given[:] = [{}, self._given[0]]
        self._given[0].update(zip(chosen.ids, chosen.places.tolist(), strict=True))
        return chosen.ids, chosen.scores

    def units(self, places: NDArray[np.int64], unit: Unit) -> int:
        """How many units these places belong to."""
        return len(set(standing.units_at(self.segments, places, unit, self.snapshot.divided)))

    @cached_property
    def segments(self) -> list[Segment]:
        return [living.segment for living in self.snapshot.segments]

    @cached_property
    def count(self) -> int:
        """How many chunks are visible."""
        return sum(int(np.count_nonzero(visible)) for visible in self.visible)

    @cached_property
    def stamp(self) -> int:
        """A number that changes when what is visible changes, and only then."""
        hashes = (
            living.segment.arrays["row.hash"][visible].sum(dtype=np.uint64)
            for living, visible in zip(self.snapshot.segments, self.visible, strict=True)
        )
        return sum(int(one) for one in hashes) % (1 << 53)

    def values(self, name: str) -> frozenset[str]:
        """The values of a coded field that visible documents have; worked out once."""
        if name not in self._values:
            self._values[name] = self._values_of(name)
        return self._values[name]

    def _values_of(self, name: str) -> frozenset[str]:
        names: set[str] = set()
        for living, visible in zip(self.snapshot.segments, self.visible, strict=True):
            documents = np.zeros(len(living.segment.documents), bool)
            documents[living.segment.document[visible]] = True
            names |= living.segment.documents.values_of(name, documents)
        return frozenset(names)

    def _count_units(self, scores: Sequence[Floats], tallies: Sequence[Tally], unit: Unit) -> int:
        """How many units have a row that has a score."""
        if unit == "chunk":
            return sum(one.rows for one in tallies)
        if unit == "document" and all(segment.documents_ascend for segment in self.segments):
            again = standing.counted_again(self.segments, scores, self.snapshot.divided)
            return sum(one.runs for one in tallies) - again
        found = [np.flatnonzero(given > 0) for given in scores]
        if unit == "entity":
            return entities.count([segment.entities for segment in self.segments], found)
        pairs = zip(self.segments, found, strict=True)
        return len({name for segment, rows in pairs for name in units_of(segment, rows, unit)})
