"""`trivium versions` and `trivium rollback`: the past of a document."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.options import JsonOption, LibraryOption, locate

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
        active = opened.rollback(name, version)
    done = {"document": name, "version": active.version}
    show_done(f"{name} is at version {active.version} again", done if json else None)
