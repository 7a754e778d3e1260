"""How the answer to a search looks in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain, pairwise, repeat

from trivium.cli.styled import Screen, Styled, columns, harmless, wrapped
from trivium.graph.names import local_name
from trivium.types import Hit, Leg, LegState, Part, Result

COLOURS = {"keyword": "yellow", "vector": "cyan", "trigram": "magenta", "memory": "blue"}
BAR_WIDTH = 24
MARGIN = 4
"""What stands beside a hit: its rank, and a blank."""
MOST_VALUES = 12
"""Values of a facet that are shown; JSON has all."""


def show_result(result: Result, *, explain: bool) -> None:
    """Hits on standard output, what is missing or strange about them on standard error."""
    out, err = Screen.of(), Screen.of(err=True)
    for text in result.degraded:
        _notice(err, f"! without {text}", "red")
    for text in result.warnings:
        _notice(err, f"! {text}", "yellow")
    best = max((hit.score for hit in result.hits), default=0.0)
    for hit in result.hits:
        _show_hit(out, hit, best, explain, full=result.mode == "full")
    for line in _after(result):
        for one in wrapped(line, out.width):
            out.write(one)


def _notice(err: Screen, text: str, style: str) -> None:
    """A message is one line where no terminal asks for more."""
    said = [(harmless(text), style)]
    for line in wrapped(said, err.width) if sys.stderr.isatty() else [said]:
        err.write(line)


def _after(result: Result) -> Iterable[Styled]:
    """What stands below the hits."""
    if not result.hits:
        yield [("Nothing found.", "")]
    for one in result.told_apart:
        facts = "; ".join(f"{local_name(p)} {value}" for p, value in one["facts"])
        types = ", ".join(map(local_name, one["types"]))
        yield [(harmless(f"  could be {one['label'] or one['id']} ({types}): {facts}"), "dim")]
    for name, values in (result.facets or {}).items():
        if values:
            most = list(values.items())[:MOST_VALUES]
            counted = ", ".join(f"{value} {count}" for value, count in most)
            yield [(f"{name:>9}  ", "bold"), (harmless(counted), "")]
    yield [(_summary(result), "dim")]


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


def _show_hit(out: Screen, hit: Hit, best: float, explain: bool, full: bool) -> None:
    title = [(harmless(hit.title), "bold")]
    if hit.heading and hit.heading != hit.title:
        title.append((harmless(f"  {hit.heading}"), ""))
    if hit.parts:
        title.append((f"  {hit.score:.4f}", "green"))
    text = [(harmless(hit.text).expandtabs(), "")] if full else _highlighted(hit)
    texts: list[Styled] = [title, [(harmless(_place(hit)), "dim")], text]
    texts += _explained(hit.parts, best) if explain else [_one_line(hit.parts)]
    lines = (line for text in texts for line in wrapped(text, out.width - MARGIN))
    margins = chain([(f"{hit.rank:>{MARGIN - 1}} ", "dim")], repeat((" " * MARGIN, "")))
    for margin, line in zip(margins, lines, strict=False):
        out.write([margin, *line])
    out.write()


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


def _highlighted(hit: Hit) -> Styled:
    """The snippet in pieces; where two legs matched, the later one gives the colour."""
    text = harmless(hit.snippet).replace("\t", " ")
    ends = {end for mark in hit.highlights for end in (mark.start, mark.end)}
    edges = sorted({0, len(text), *(min(end, len(text)) for end in ends)})
    pieces = []
    for start, end in pairwise(edges):
        legs = [mark.leg for mark in hit.highlights if mark.start <= start < mark.end]
        style = f"bold {COLOURS.get(legs[-1], 'white')}" if legs else ""
        pieces.append((text[start:end], style))
    return pieces


def _one_line(parts: Iterable[Part]) -> Styled:
    line: list[tuple[str, str]] = []
    for part in parts:
        if not part.contribution and not part.rank:
            continue  # a signal that gave nothing is shown by --explain
        if line:
            line.append(("  ", ""))
        given = f" {part.contribution:.4f}" if part.contribution else ""
        line.append((f"{part.name}{given}", COLOURS.get(part.name, "white")))
        if part.rank:
            line.append((f" (#{part.rank})", "dim"))
    return line


def _explained(parts: tuple[Part, ...], best: float) -> list[Styled]:
    """A stacked bar, as long as the score is beside the best one, and a row for each part."""
    bar = []
    for part in parts:
        length = round(BAR_WIDTH * part.contribution / best) if best > 0 else 0
        bar.append(("█" * max(length, 0), COLOURS.get(part.name, "white")))
    rows = [
        (
            part.name,
            f"#{part.rank}" if part.rank else "",
            f"value {part.value:.4f}" if part.value is not None else "",
            f"weight {part.weight:g}" if part.weight is not None else "",
            f"gives {part.contribution:.4f}",
        )
        for part in parts
    ]
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    table: list[Styled] = [
        [
            (_padded(cell, width), COLOURS.get(row[0], "white") if place == 0 else "")
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    return [bar, *table]


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - columns(cell) + 2)


def show_timing(result: Result) -> None:
    """Where the time went: the legs, which overlap, and the stages, which follow each other."""
    legs = ", ".join(f"{leg.name} {leg.ms:.1f}" for leg in result.legs)
    stages = ", ".join(f"{name} {ms:.1f}" for name, ms in result.timing.items())
    shown = f"{stages}; legs at once: {legs}" if legs else stages
    print(f"{result.took_ms:.1f} ms: {shown}", file=sys.stderr)
