"""`trivium watch`: a library that follows folders."""

from __future__ import annotations

import json as form
import signal
from contextlib import suppress
from datetime import datetime
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.options import JsonOption, LibraryOption, locate

if TYPE_CHECKING:
    from trivium.ingest.add import AddReport


def watch(
    folders: Annotated[list[str], typer.Argument(help="The folders to follow.")],
    library: LibraryOption = None,
    embed: Annotated[
        bool, typer.Option("--embed/--no-embed", help="Embed at once, or later.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Follow folders: what is created, edited, renamed or deleted there. Ctrl-C stops."""
    from trivium import opening as libraries
    from trivium.cli.options import default_library

    folder = locate(library)
    stop = Event()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # scripts start jobs that ignore it
    caught_up = False

    def told(report: AddReport) -> None:
        nonlocal caught_up
        _show(report, json)
        if not caught_up:
            caught_up = True
            typer.echo(f"watching {', '.join(folders)}; Ctrl-C stops", err=True)

    create = folder == default_library()
    # Ctrl-C is how it is meant to end; what was stored is kept.
    with suppress(KeyboardInterrupt), libraries.open(folder, create=create) as opened:
        opened.watch(*folders, told=told, stop=stop, embed=embed)
    typer.echo("stopped", err=True)


def _show(report: AddReport, as_json: bool) -> None:
    """One line for what happened, nothing for nothing; problems on their own lines."""
    from trivium.cli.reports import counted

    if as_json:
        typer.echo(form.dumps(report.as_json(), ensure_ascii=False))
        return
    for name, message in (*report.notes, *report.errors):
        typer.echo(f"! {message if name in message else f'{name}: {message}'}", err=True)
    if report.model_problem:
        typer.echo(f"! words are searchable, meaning waits: {report.model_problem}", err=True)
    if happened := counted(report):
        typer.echo(f"{datetime.now():%H:%M:%S}  {happened}")
