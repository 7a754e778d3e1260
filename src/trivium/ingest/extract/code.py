"""Source code: one block for each definition at the top level, by blank lines and indentation."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import PurePath

from trivium.ingest.blocks import Block, Extraction, blank_free
from trivium.ingest.files import decode, normalise_lines

EXTRACTOR = "code/1"

# A definition begins at the margin behind a blank line. What only closes the one before it does
# not: brackets, `end`, `else`, and the like.
_BORDER = re.compile(
    r"\n[^\S\n]*\n(?=[^\s)\]}])(?!(?:end|else|elif|except|finally|catch|fi|done|esac)\b)"
)


def extract(data: bytes, name: str) -> Extraction:
    """The text verbatim but for line ends, under the file's name."""
    text = normalise_lines(decode(data, name))
    return Extraction(
        text,
        _definitions(text),
        title=PurePath(name).name or None,
        media_type="text/x-source",
        extractor=EXTRACTOR,
    )


def _definitions(text: str) -> tuple[Block, ...]:
    borders = [0, *(match.end() for match in _BORDER.finditer(text)), len(text)]
    spans = (blank_free(text, start, end) for start, end in pairwise(borders))
    return tuple(Block("code", start, end) for start, end in spans if start < end)
