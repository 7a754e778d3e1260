"""How answers look in a terminal."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from trivium.graph.names import local_name
from trivium.types import Document, Hit, Leg, LegState, Part, Reading, Result

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
COLOURS = {"keyword": "yellow", "vector": "cyan", "trigram": "magenta", "memory": "blue"}
BAR_WIDTH = 24


def console() -> Console:
    """Standard output; wide when it is not a terminal, so that nothing is cut off in a pipe."""
    if sys.stdout.isatty():
        return Console(highlight=False)
    return Console(file=_Pipe(), highlight=False, width=120, no_color=True)


class _Pipe(io.StringIO):
    """Standard output without the blanks with which a table fills its lines."""

    def write(self, text: str) -> int:
        return sys.stdout.write(re.sub(r" +$", "", text, flags=re.MULTILINE))

    def flush(self) -> None:
        sys.stdout.flush()


def notices() -> Console:
    """Standard error; a message is one line where no terminal asks for more."""
    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def shown(text: str, style: str = "") -> Text:
    """What a document says: never markup, and no sign that would steer the terminal."""
    return Text(_UNSEEN.sub("\ufffd", text), style)  # one for one, so that highlights still fit


def show_result(result: Result, *, explain: bool) -> None:
    out, err = console(), notices()
    for text in result.degraded:
        err.print(Text(f"! without {text}", style="red"))
    for text in result.warnings:
        err.print(Text(f"! {text}", style="yellow"))
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        _print_hit(out, hit, best, explain, full=result.mode == "full")
    if not result.hits:
        out.print("Nothing found.")
    for one in result.told_apart:
        facts = "; ".join(f"{local_name(p)} {value}" for p, value in one["facts"])
        types = ", ".join(map(local_name, one["types"]))
        out.print(shown(f"  could be {one['label'] or one['id']} ({types}): {facts}", "dim"))
    for name, values in (result.facets or {}).items():
        if values:
            counted = ", ".join(f"{value} {count}" for value, count in list(values.items())[:12])
            out.print(Text.assemble((f"{name:>9}  ", "bold"), counted))
    out.print(_summary(result), style="dim")


def _summary(result: Result) -> str:
    counts = f"{len(result.hits)} of {result.total}"
    if result.query.strip():
        counts += f" · {result.matched} with a word of the query"
    legs = ", ".join(_leg(leg) for leg in result.legs)
    sure = "" if result.confidence is None else f" · confidence {result.confidence:.2f}"
    if result.ambiguous:
        sure += f" ({len(result.ambiguous)} compete)"
    return f"{counts} · {legs}{sure} · {result.took_ms:.0f} ms"


def _leg(leg: Leg) -> str:
    if leg.state is LegState.OK:
        return f"{leg.name} {len(leg.ranking)}"
    return f"{leg.name} {leg.state.value}"


_MARGIN = 4
"""What stands beside a hit: its rank, and a blank."""


def _print_hit(out: Console, hit: Hit, best: float, explain: bool, full: bool) -> None:
    """Line by line: a grid for each hit takes as long to draw as the search took."""
    title = shown(hit.title, "bold")
    if hit.heading and hit.heading != hit.title:
        title.append_text(shown(f"  {hit.heading}", "not bold"))
    if hit.parts:
        title.append(f"  {hit.score:.4f}", style="green not bold")
    texts = [title, shown(_place(hit), "dim"), shown(hit.text) if full else _highlighted(hit)]
    if not explain:
        texts.append(_one_line(hit.parts))
    width = max(out.width - _MARGIN, 1)
    lines = [line for text in texts for line in text.wrap(out, width, overflow="fold")]
    rank = Text(f"{hit.rank:>{_MARGIN - 1}} ", style="dim")
    for margin, line in zip(chain([rank], repeat(Text(" " * _MARGIN))), lines, strict=False):
        line.rstrip()
        out.print(margin + line, soft_wrap=True)
    if explain:
        out.print(Padding(_parts(hit.parts, best), (0, 0, 0, _MARGIN), expand=False))
    out.print()


def _place(hit: Hit) -> str:
    document = hit.document
    pieces = [f"tier {hit.tier}"] if hit.tier else []
    pieces.append(document.uri)
    if hit.chunk.pages:
        first, last = hit.chunk.pages
        pieces.append(f"p. {first}" if first == last else f"pp. {first}–{last}")
    if document.category:
        pieces.append(document.category)
    if document.scope != "all":
        pieces.append(document.scope)
    pieces.append(f"#{document.number}")
    if hit.freshness in ("stale", "missing"):
        pieces.append(f"source is {hit.freshness}")
    if hit.verifications:
        pieces.append(f"in dispute: {', '.join(hit.verifications)}")
    return " · ".join(pieces)


def _highlighted(hit: Hit) -> Text:
    text = shown(hit.snippet)
    for mark in hit.highlights:
        text.stylize(f"bold {COLOURS.get(mark.leg, 'white')}", mark.start, mark.end)
    return text


def _one_line(parts: Iterable[Part]) -> Text:
    line = Text()
    for part in parts:
        if not part.contribution and not part.rank:
            continue  # a signal that gave nothing is shown by --explain
        if line:
            line.append("  ")
        given = f" {part.contribution:.4f}" if part.contribution else ""
        line.append(f"{part.name}{given}", style=COLOURS.get(part.name, "white"))
        if part.rank:
            line.append(f" (#{part.rank})", style="dim")
    return line


def _parts(parts: tuple[Part, ...], best: float) -> RenderableType:
    """A stacked bar, as long as the score is beside the best one, and a row for each part."""
    bar = Text()
    for part in parts:
        length = round(BAR_WIDTH * part.contribution / best) if best > 0 else 0
        bar.append("█" * max(length, 0), style=COLOURS.get(part.name, "white"))
    table = Table.grid(padding=(0, 2))
    for part in parts:
        table.add_row(
            Text(part.name, style=COLOURS.get(part.name, "white")),
            f"#{part.rank}" if part.rank else "",
            f"value {part.value:.4f}" if part.value is not None else "",
            f"weight {part.weight:g}" if part.weight is not None else "",
            f"gives {part.contribution:.4f}",
        )
    return Group(bar, table)


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
        print(_UNSEEN.sub("\ufffd", reading.text) if out.is_terminal else reading.text)
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


def show_timing(result: Result) -> None:
    """Where the time went: the legs, which overlap, and the stages, which follow each other."""
    legs = ", ".join(f"{leg.name} {leg.ms:.1f}" for leg in result.legs)
    stages = ", ".join(f"{name} {ms:.1f}" for name, ms in result.timing.items())
    shown = f"{stages}; legs at once: {legs}" if legs else stages
    print(f"{result.took_ms:.1f} ms: {shown}", file=sys.stderr)
