"""How documents and other things look in a terminal; `results.py` shows what was found."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from trivium.cli.styled import PIPE_WIDTH, harmless
from trivium.types import Document, Reading


def console() -> Console:
    """Standard output; wide when it is not a terminal, so that nothing is cut off in a pipe."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(file=_Pipe(), highlight=False, width=PIPE_WIDTH, no_color=True)


class _Pipe(io.StringIO):
    """Standard output without the blanks with which a table fills its lines."""

    def write(self, text: str) -> int:
        return sys.stdout.write(re.sub(r" +$", "", text, flags=re.MULTILINE))

    def flush(self) -> None:
        sys.stdout.flush()


def shown(text: str, style: str = "") -> Text:
    """What a document says: never markup, and no sign that would steer the terminal."""
    return Text(harmless(text), style)


def show_documents(documents: Iterable[Document]) -> None:
    """A line for each document; in a pipe it is never broken, so that `grep` finds it whole."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    out = console()
    names = ["number", "title", "kind", "scope", "category", "uri"]
    if not out.is_terminal:  # there is room enough, and a program may want the id
        out.width = 10_000
        names.insert(1, "id")
    for name in names:
        table.add_column({"number": "#", "uri": "source"}.get(name, name), overflow="fold")
    for one in documents:
        table.add_row(*(shown(str(getattr(one, name) or "")) for name in names))
    out.print(table)


def show_readings(readings: Iterable[Reading]) -> None:
    out = console()
    for reading in readings:
        document = reading.document
        out.print(shown(document.title, "bold"))
        details = [f"tier {reading.tier}"] if reading.tier else []
        details += [document.uri, f"#{document.number}", f"version {document.version}"]
        details += [value for value in (document.category, document.type, document.domain) if value]
        if document.tags:
            details.append(", ".join(document.tags))
        out.print(shown(" · ".join(details), "dim"))
        # Not by way of rich, which breaks lines and expands tabs: in a pipe the text is as it is.
        print(harmless(reading.text) if out.is_terminal else reading.text)
        out.print()


def show_mapping(data: dict[str, Any], indent: int = 0) -> None:
    """Names and values, one a line; nested ones below each other."""
    out = console()
    for name, value in data.items():
        blank = " " * indent
        if isinstance(value, dict):
            out.print(Text(f"{blank}{name}:" + ("" if value else " none")))
            show_mapping(value, indent + 2)
        elif isinstance(value, list):
            out.print(Text(f"{blank}{name}:" + ("" if value else " none")))
            for one in value:
                shown = (
                    ", ".join(f"{k} {v}" for k, v in one.items()) if isinstance(one, dict) else one
                )
                out.print(Text(f"{blank}  {shown}"))
        else:
            out.print(Text(f"{blank}{name}: {value}"))
