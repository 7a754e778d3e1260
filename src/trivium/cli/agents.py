"""`trivium mcp`: the library as tools for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.options import LibraryOption, Many, locate, many
from trivium.errors import InvalidValue, MissingExtra, install

if TYPE_CHECKING:
    from trivium.library import Library
    from trivium.mcp.server import Caller


def mcp(
    library: LibraryOption = None,
    grant: Annotated[
        Many, many("--grant", help="Show only what is public and this scope; may be repeated.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="Show only what is public.")] = False,
    write: Annotated[
        bool, typer.Option("--write", help="Also let it add, remember and give feedback.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Answer over HTTP at /mcp; keys say who may do what.")
    ] = False,
    host: Annotated[str, typer.Option(help="With --http, the address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="With --http, the port; 0 takes any that is free.")
    ] = 8765,
) -> None:
    """Serve agents by the Model Context Protocol, over standard input and output or HTTP."""
    from trivium import opening as libraries
    from trivium.types import Grant

    try:
        from trivium.mcp.server import Caller
        from trivium.mcp.tools import ALL, READING
    except ImportError as error:
        raise MissingExtra(
            f"agents need the MCP SDK, which is not installed; {install('mcp')}"
        ) from error
    if http and (grant or public or write):
        raise InvalidValue(
            "over HTTP a key says what is seen and done, not a flag; make one with "
            "'trivium key create'"
        )
    seen = Grant(frozenset(grant or ())) if grant or public else Grant()
    with libraries.open(locate(library)) as opened:
        if http:
            _over_http(opened, host, port)
        else:
            _over_stdio(opened, Caller(seen, ALL if write else READING))


def _over_stdio(opened: Library, caller: Caller) -> None:
    import anyio

    from trivium.mcp.server import over_stdio, server

    anyio.run(over_stdio, server(opened, lambda request: caller))


def _over_http(opened: Library, host: str, port: int) -> None:
    try:
        from trivium.serve.running import serve_forever
        from trivium.serve.service import Options
    except ImportError as error:
        raise MissingExtra(
            f"agents over HTTP need FastAPI and uvicorn, too; {install('mcp,serve')}"
        ) from error

    def told(sentence: str) -> None:
        typer.echo(sentence, err=True)

    serve_forever(opened, Options(only_agents=True), host=host, port=port, owner=False, told=told)
