"""Plain text: paragraphs with blank lines between them, nothing else."""

from __future__ import annotations

import re

from trivium.ingest.blocks import Block, Extraction, blank_free
from trivium.ingest.files import decode, normalise_lines

EXTRACTOR = "plain/1"

_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")


def extract(data: bytes, name: str) -> Extraction:
    """The text with `\\n` line ends; raises `SourceError` when it cannot be decoded."""
    text = normalise_lines(decode(data, name))
    return Extraction(text, paragraphs(text), extractor=EXTRACTOR)


def paragraphs(text: str) -> tuple[Block, ...]:
    """One block for each run of lines that are not blank."""
    blocks = []
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        blocks.append(_paragraph(text, start, gap.start()))
        start = gap.end()
    blocks.append(_paragraph(text, start, len(text)))
    return tuple(block for block in blocks if block.end > block.start)


def _paragraph(text: str, start: int, end: int) -> Block:
    return Block("paragraph", *blank_free(text, start, end))
