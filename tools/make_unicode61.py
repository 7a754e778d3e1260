"""Write src/trivium/unicode61.json: how FTS5's unicode61 tokenizer treats every code point.

FTS5 classifies and folds by tables compiled into SQLite, which differ from Python's
unicodedata, so the tables are read from FTS5 itself: each code point is indexed in three
positions and the tokens that come out say what it is.

Usage: python tools/make_unicode61.py [output file]
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "trivium" / "unicode61.json"


class Classes(NamedTuple):
    """What unicode61 does with a set of code points.

    A code point in none of the three is a token character that stays as it is.
    """

    separators: set[int]
    swallowed: set[int]
    folds: dict[int, int]


def scalar_values() -> Iterator[int]:
    """Every code point that UTF-8 can carry."""
    yield from range(0xD800)
    yield from range(0xE000, 0x110000)


def probe(code_points: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """The tokens FTS5 makes of "a?b x? ?y" for each code point in place of the question mark."""
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE probe USING fts5(body, content='', tokenize='unicode61')"
    )
    connection.executemany(
        "INSERT INTO probe(rowid, body) VALUES (?, ?)",
        ((code, "a{0}b x{0} {0}y".format(chr(code))) for code in code_points),
    )
    connection.execute("CREATE VIRTUAL TABLE token USING fts5vocab(probe, instance)")
    tokens: dict[int, dict[int, str]] = {}
    for code, position, term in connection.execute("SELECT doc, offset, term FROM token"):
        tokens.setdefault(code, {})[position] = term
    connection.close()
    return {code: tuple(term for _, term in sorted(at.items())) for code, at in tokens.items()}


def classify(code_points: Iterable[int]) -> Classes:
    """Classify code points by asking FTS5; ValueError for a treatment the file cannot express."""
    classes = Classes(set(), set(), {})
    for code, tokens in probe(code_points).items():
        if tokens == ("a", "b", "x", "y"):
            classes.separators.add(code)
        elif tokens == ("ab", "x", "y"):
            classes.swallowed.add(code)
        elif len(tokens) == 3 and len(tokens[1]) == 2:
            folded = tokens[1][1]
            if tokens != (f"a{folded}b", f"x{folded}", f"{folded}y"):
                raise ValueError(f"U+{code:04X} folds differently by position: {tokens}")
            if folded != chr(code):
                classes.folds[code] = ord(folded)
        else:
            raise ValueError(f"U+{code:04X} gives unexpected tokens: {tokens}")
    return classes


def ranges(code_points: Iterable[int]) -> list[tuple[int, int]]:
    """Code points as sorted inclusive ranges."""
    found: list[tuple[int, int]] = []
    for code in sorted(code_points):
        if found and found[-1][1] == code - 1:
            found[-1] = (found[-1][0], code)
        else:
            found.append((code, code))
    return found


def render(classes: Classes) -> str:
    """The data file's text."""
    sources = sorted(classes.folds)
    data = {
        "sqlite": sqlite3.sqlite_version,
        "separators": ranges(classes.separators),
        "swallowed": ranges(classes.swallowed),
        "folds_from": "".join(map(chr, sources)),
        "folds_to": "".join(chr(classes.folds[code]) for code in sources),
    }
    lines = (
        f"{json.dumps(key)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}"
        for key, value in data.items()
    )
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: list[str]) -> None:
    output = Path(arguments[0]) if arguments else OUTPUT
    output.write_text(render(classify(scalar_values())), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
