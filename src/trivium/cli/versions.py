"""`trivium versions`, `diff`, `rollback` and `prune`: the past of a library."""

from __future__ import annotations

import re
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.options import JsonOption, LibraryOption, locate
from trivium.clock import parse_time
from trivium.errors import InvalidValue

if TYPE_CHECKING:
    from trivium.library.versioning import Difference
    from trivium.types import Result

NameArgument = Annotated[str, typer.Argument(help="An id, #number or uri.")]


def versions(name: NameArgument, library: LibraryOption = None, json: JsonOption = False) -> None:
    """List the versions of a document."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_versions

    with libraries.open(locate(library)) as opened:
        show_versions(opened.versions(name), as_json=json)


def rollback(
    name: NameArgument,
    version: Annotated[
        int | None,
        typer.Argument(help="The version to make active again; the one before."),
    ] = None,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Make an earlier version of a document the active one."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done

    with libraries.open(locate(library)) as opened:
        before = opened.open_conflicts()
        active = opened.rollback(name, version)
        back = sorted(opened.open_conflicts() - before)
    done = {"document": name, "version": active.version, "conflicts": back}
    text = f"{name} is at version {active.version} again"
    if back:
        text += f"; {len(back)} conflicts among facts are open again: 'trivium verify list'"
    show_done(text, done if json else None)


def diff(
    name: NameArgument,
    old: Annotated[int, typer.Argument(help="A version.")],
    new: Annotated[int, typer.Argument(help="Another version.")],
    query: Annotated[
        str | None, typer.Option(help="Also show what this finds with either active.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Hits for --query.")] = 10,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Compare two versions of a document, and what a query finds with each."""
    from trivium import opening as libraries

    with libraries.open(locate(library)) as opened:
        difference = opened.diff(name, old, new, query=query, limit=limit)
    if json:
        from trivium.present import to_text

        typer.echo(to_text(difference.as_json()))
        return
    _show_difference(difference)


def prune(
    keep: Annotated[
        int | None,
        typer.Option(help="Keep so many of the newest versions of each document.", min=0),
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option(help="Only versions not active since: a date, or 30d, 12w, 1y ago."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Let go of old versions, and of files and vectors that nothing refers to."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done

    before = _ago(older_than) if older_than else None
    with libraries.open(locate(library)) as opened:
        pruned = opened.prune(keep=keep, before=before, dry_run=dry_run)
    went = "would go" if dry_run else "went"
    sentence = (
        f"{len(pruned.versions)} versions, {pruned.vectors} vectors and {pruned.files} archived "
        f"files {went}: {_size(pruned.bytes)}"
    )
    show_done(sentence, {**asdict(pruned), "dry_run": dry_run} if json else None)
    if not json:
        typer.echo("! archived files of the last hour stay: an add may be using them", err=True)


_AGO = re.compile(r"([0-9]{1,4})([dwy])")
_DAYS = {"d": 1, "w": 7, "y": 365}


def _ago(text: str) -> datetime:
    """A date, or so many days, weeks or years ago."""
    match = _AGO.fullmatch(text.strip())
    if match is None:
        return parse_time(text)
    days = int(match[1]) * _DAYS[match[2]]
    try:
        return datetime.now(UTC) - timedelta(days=days)
    except OverflowError as error:
        raise InvalidValue(f"'{text}' is before all calendars; choose less") from error


def _size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def _show_difference(difference: Difference) -> None:
    told = difference.comparison
    for line in told.diff:
        typer.echo(line)
    if not told.diff:
        typer.echo("the text is the same")
    counts = f"{told.kept} kept, {len(told.added)} new, {len(told.removed)} gone"
    typer.echo(f"chunks: {counts}")
    if difference.found:
        for version, result in zip((told.old, told.new), difference.found, strict=True):
            _show_found(told.document, version, result)


def _show_found(document: str, version: int, result: Result) -> None:
    typer.echo(f"\nwith version {version} '{result.query}' finds:")
    for hit in result:
        mark = "*" if hit.document.id == document else " "
        typer.echo(f"{mark} {hit.rank:>3}  {hit.score:.3f}  {hit.title}  {hit.chunk.id}")
    if not result.hits:
        typer.echo("  nothing")
