"""`trivium mcp`: the library as tools for agents."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.options import LibraryOption, Many, locate, many
from trivium.errors import MissingExtra


def mcp(
    library: LibraryOption = None,
    grant: Annotated[
        Many, many("--grant", help="Show only what is public and this scope; may be repeated.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Show only what is public.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Also let it add, remember and give feedback.")
    ] = False,
) -> None:
    """Serve agents by the Model Context Protocol, over standard input and output."""
    from trivium import opening as libraries
    from trivium.types import Grant

    try:
        import anyio

        from trivium.mcp.server import Caller, over_stdio, server
        from trivium.mcp.tools import ALL, READING
    except ImportError as error:
        raise MissingExtra(
            "agents need the extra 'mcp'; install it with: pip install 'trivium[mcp]'"
        ) from error
    seen = Grant(frozenset(grant or ())) if grant or public else Grant()
    caller = Caller(seen, ALL if write else READING)
    with libraries.open(locate(library)) as opened:
        anyio.run(over_stdio, server(opened, lambda request: caller))
