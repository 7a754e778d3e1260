"""Blocks → passages, along the structure of the text.

Every heading opens a section, and a section is one passage where it fits. Two rules bend this:
small sections are put together with their siblings or their parent, because three lines by
themselves say too little to be found by meaning; and a section that is too long is cut, between
blocks if possible, then inside them. Nothing is put together across a heading of the top level:
the highest level that occurs more than once (a single heading above it is the document's title).
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import ClassVar, NamedTuple, TypeAlias

from trivium.errors import InvalidValue
from trivium.ingest.blocks import (
    CUTS,
    Block,
    BlockKind,
    Extraction,
    Spans,
    covering,
    heading_title,
)
from trivium.types import Passage

CountTokens: TypeAlias = Callable[[str], int]

# Within 13 % of MiniLM's tokenizer on English prose, rules, abstracts and technical notes: words
# up to seven letters are mostly one token, other alphabets one for two letters, and Chinese,
# Japanese, Korean and punctuation one a character.
_TOKEN = re.compile(
    r"[A-Za-z\u00c0-\u024f]{1,7}|[0-9]{1,3}"
    r"|[^\W0-9A-Za-z\u00c0-\u024f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]{1,2}|\S"
)


def estimate_tokens(text: str) -> int:
    """About as many tokens as an embedding model would see; never more than the parts' sum."""
    return len(_TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Ruler:
    """What passages are measured with; `name` is part of the pipeline fingerprint."""

    name: str
    count: CountTokens


ESTIMATE = Ruler("estimate", estimate_tokens)


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long passages may be and how much of one the next repeats, in tokens.

    200, because the default model reads 256 and the title and the headings are read before the
    text; 24 is a sentence of usual length. `version` is part of the pipeline fingerprint: it
    changes whenever the same text would be cut differently.
    """

    version: ClassVar[str] = "structure/2"
    size: int = 200
    overlap: int = 24

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InvalidValue(f"A chunk size of {self.size} holds nothing. Write 1 or more.")
        if not 0 <= self.overlap < self.size:
            raise InvalidValue(
                f"An overlap of {self.overlap} does not suit a chunk size of {self.size}. "
                f"Write a number from 0 to {self.size - 1}."
            )


DEFAULT_CHUNKING = Chunking()


def chunk(
    extraction: Extraction,
    chunking: Chunking = DEFAULT_CHUNKING,
    count: CountTokens = estimate_tokens,
) -> tuple[Passage, ...]:
    """The passages in order; each is exactly `text[start:end]`, together they hold all the text.

    No passage has more than `size` tokens unless one character has. `count` must find none in
    whitespace and no more in a text than in its parts together (models' tokenizers keep that
    between words; a word that is cut may have a token more). It sees each part of the text a
    few times at most, so the time grows with the length of the text and no faster.
    """
    text = extraction.text
    cutter = _Cutter(text, chunking, count)
    passages = []
    for path, units in _groups(_sections(extraction, count), chunking.size):
        for piece in cutter.pieces(units):
            start, end = piece[0].start, piece[-1].end
            passages.append(Passage(text[start:end], path, _pages(piece), start, end))
    return tuple(passages)


class _Unit(NamedTuple):
    """A span that is not cut unless it must be; `step` is the next way to cut it."""

    start: int
    end: int
    tokens: int
    kind: BlockKind
    page: int | None
    step: int = 0


def _pages(units: list[_Unit]) -> tuple[int, int] | None:
    pages = [unit.page for unit in units if unit.page is not None]
    return (min(pages), max(pages)) if pages else None


# --- sections ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Section:
    """A heading with what stands below it, and the headings directly above it without a text."""

    path: tuple[str, ...]
    division: int
    level: int = 0
    tokens: int = 0
    units: list[_Unit] = field(default_factory=list)

    @property
    def is_bare(self) -> bool:
        return self.units[-1].kind == "heading"


def _sections(extraction: Extraction, count: CountTokens) -> list[_Section]:
    blocks = list(covering(extraction))
    top = _top_level(blocks)
    above: list[tuple[int, str]] = []
    division = 0
    sections = [_Section((), division)]
    for block in blocks:
        piece = extraction.text[block.start : block.end]
        if block.kind == "heading":
            while above and above[-1][0] >= block.level:
                above.pop()
            above.append((block.level, heading_title(piece)))
            division += block.level <= top
            latest = sections[-1]
            if latest.units and not (latest.is_bare and latest.level < block.level):
                sections.append(latest := _Section((), division))
            latest.path = tuple(title for _, title in above if title)
            latest.level, latest.division = block.level, division
        unit = _Unit(block.start, block.end, count(piece), block.kind, block.page)
        sections[-1].units.append(unit)
        sections[-1].tokens += unit.tokens
    return sections if blocks else []


def _top_level(blocks: list[Block]) -> int:
    levels = Counter(block.level for block in blocks if block.kind == "heading")
    repeated = [level for level, number in levels.items() if number > 1]
    return min(repeated or levels, default=0)


def _groups(sections: list[_Section], size: int) -> Iterator[tuple[tuple[str, ...], list[_Unit]]]:
    """Sections that become passages together, with the path they have in common."""
    small = size // 4
    group: list[_Section] = []
    path: tuple[str, ...] = ()
    tokens = 0
    for section in sections:
        shared = _common(path, section.path)
        if (
            group
            and group[-1].division == section.division
            and max(group[-1].tokens, section.tokens) < small
            and tokens + section.tokens <= size
            and len(shared) >= max(len(path), len(section.path)) - 1  # siblings, parent and child
        ):
            path = shared
        else:
            if group:
                yield path, [unit for member in group for unit in member.units]
            group, path, tokens = [], section.path, 0
        group.append(section)
        tokens += section.tokens
    if group:
        yield path, [unit for member in group for unit in member.units]


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return one[:length]


# --- cutting -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Cuts the units of a section into pieces that fit."""

    text: str
    chunking: Chunking
    count: CountTokens

    def pieces(self, units: list[_Unit]) -> Iterator[list[_Unit]]:
        """The units in runs of at most `size` tokens, each later run with the overlap before it.

        Pieces are filled evenly: 260 tokens make two of 130, not one of 256 and a rest of 4.
        """
        size, total = self.chunking.size, sum(unit.tokens for unit in units)
        if total <= size:
            yield units
            return
        goal = self._goal(total)
        waiting = deque(units)
        repeated: list[_Unit] = []
        piece: list[_Unit] = []
        room, fresh = size, 0
        while waiting:
            unit = waiting.popleft()
            if unit.tokens <= room and fresh < goal:
                piece.append(unit)
                room, fresh = room - unit.tokens, fresh + unit.tokens
            elif parts := self._parts(unit) if self._must_cut(unit, piece) else []:
                waiting.extendleft(reversed(parts))
            elif piece:
                yield repeated + piece
                repeated = self._overlap(piece, size - unit.tokens)
                room, fresh = size - sum(one.tokens for one in repeated), 0
                piece = []
                waiting.appendleft(unit)
            else:  # a single character of more than `size` tokens
                yield [unit]
        if piece:
            yield repeated + piece

    def _goal(self, tokens: int) -> int:
        size, overlap = self.chunking.size, self.chunking.overlap
        return ceil(tokens / ceil((tokens - overlap) / (size - overlap)))

    def _must_cut(self, unit: _Unit, piece: list[_Unit]) -> bool:
        """Whether the unit never fits, or would leave its heading behind alone.

        Tables, lists and code are worth more whole than together with their heading, which every
        passage names anyway.
        """
        if unit.tokens > self.chunking.size:
            return True
        alone = bool(piece) and all(before.kind == "heading" for before in piece)
        short = sum(before.tokens for before in piece) <= self.chunking.size // 2
        return alone and short and unit.kind == "paragraph"

    def _parts(self, unit: _Unit) -> list[_Unit]:
        """The unit cut in the gentlest way that cuts it at all; nothing for one character."""
        parts = self._cut(unit, len(CUTS[unit.kind]))
        if parts or unit.end - unit.start == 1:
            return parts
        first = unit.end - len(self.text[unit.start : unit.end].lstrip())
        # A character is rarely more than a token, so `size` of them mostly fit.
        stride = min(self.chunking.size, ceil((unit.end - first) / 2))
        starts = range(first, unit.end, stride)
        return self._units(unit, [(at, min(at + stride, unit.end)) for at in starts], unit.step)

    def _cut(self, unit: _Unit, steps: int) -> list[_Unit]:
        for step in range(unit.step, steps):
            spans = CUTS[unit.kind][step](self.text, unit.start, unit.end)
            if len(spans) > 1:
                return self._units(unit, spans, step + 1)
        return []

    def _units(self, whole: _Unit, spans: Spans, step: int) -> list[_Unit]:
        return [
            _Unit(start, end, self.count(self.text[start:end]), whole.kind, whole.page, step)
            for start, end in spans
        ]

    def _overlap(self, piece: list[_Unit], room: int) -> list[_Unit]:
        """Whole units or sentences from the piece's end, never all of it and no heading."""
        room = min(self.chunking.overlap, room)
        taken: list[_Unit] = []
        for position in range(len(piece) - 1, -1, -1):
            unit = piece[position]
            if unit.kind == "heading":
                break
            whole = position > 0 and unit.tokens <= room
            parts = [unit] if whole else self._cut(unit, len(CUTS[unit.kind]) - 1)[1:]
            for part in reversed(parts):
                if part.tokens > room:
                    return taken[::-1]
                taken.append(part)
                room -= part.tokens
            if not whole:
                break
        return taken[::-1]
