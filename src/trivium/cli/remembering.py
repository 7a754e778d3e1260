"""`trivium remember`."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from trivium.cli.options import JsonOption, LibraryOption, Many, default_library, locate, many


def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - reads standard input.")],
    type: Annotated[
        Literal["session", "lesson", "preference"],
        typer.Option(help="What happened, was learned or is liked."),
    ] = "session",
    title: Annotated[
        str | None, typer.Option(help="Otherwise its first line.", show_default=False)
    ] = None,
    id: Annotated[
        str | None, typer.Option(help="To replace it later by the same.", show_default=False)
    ] = None,
    scope: Annotated[str | None, typer.Option(help="Who may see it: all, dm-only …")] = None,
    tag: Annotated[Many, many("--tag", help="A tag; may be repeated.")] = None,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Keep a memory; 'trivium search --include-memories' finds it."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_add, show_done

    folder = locate(library)
    said = sys.stdin.read() if text == "-" else text
    with libraries.open(folder, create=folder == default_library()) as opened:
        report = opened.remember(said, type=type, title=title, id=id, scope=scope, tags=tag or ())
    if json or report.errors or report.model_problem or report.waiting:
        show_add(report, as_json=json)
        raise typer.Exit(1 if report.errors else 0)
    (name,) = (*report.added, *report.updated, *report.unchanged)
    show_done(f"{'known already' if report.unchanged else 'remembered'}: {name}", None)
