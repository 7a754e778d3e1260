"""The command that moves house."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.options import JsonOption


def copy(
    source: Annotated[str, typer.Argument(help="A library: a folder, a bundle, postgresql://…")],
    target: Annotated[str, typer.Argument(help="Where there is none yet: a folder or an address.")],
    json: JsonOption = False,
) -> None:
    """Copy a library to another place or store, with versions, vectors, facts and decisions.

    No model is called. A copy that was cut off goes on when it is run again. Keys stay behind.
    """
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar
    from trivium.cli.reports import show_done

    with progress_bar() as progress:
        done = libraries.copy(source, target, progress=progress)
    rows = done["rows"]
    show_done(
        f"copied {rows['documents']} documents, {rows['versions']} versions, "
        f"{rows['vectors']} vectors, {rows['quads']} facts and {done['files']} files to {target}"
        f"{', going on where it was cut off' if done['resumed'] else ''}; compared and equal",
        {"source": source, "target": target, **done} if json else None,
    )
