"""`trivium serve` and `trivium key`: the library for others."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from trivium.cli.options import JsonOption, LibraryOption, Many, locate, many
from trivium.clock import format_time, parse_time
from trivium.errors import InvalidValue, MissingExtra, install, nearest
from trivium.types import PUBLIC_SCOPE

if TYPE_CHECKING:
    from trivium.keys import Key

key = typer.Typer(name="key", help="Let others in, and shut them out.", no_args_is_help=True)


def serve(
    library: LibraryOption = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any that is free.")] = 8765,
    owner: Annotated[
        bool, typer.Option("--owner", help="Print a link that opens the whole library, once.")
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option(help="Requests a second for each key; 0 sets no limit.", show_default=False),
    ] = None,
    most_upload: Annotated[int, typer.Option(help="Megabytes of one upload.")] = 200,
    log_queries: Annotated[
        bool, typer.Option("--log-queries", help="Write down what was searched for.")
    ] = False,
) -> None:
    """Answer over HTTP, until Ctrl-C."""
    from trivium import opening as libraries

    try:
        from trivium.serve.running import serve_forever
        from trivium.serve.service import MEGABYTE, Options
    except ImportError as error:
        raise MissingExtra(
            f"serving needs FastAPI and uvicorn, which are not installed; {install('serve')}"
        ) from error
    if not 0 <= port <= 65535:
        raise InvalidValue(f"{port} is not a port; choose 0 to 65535")
    with libraries.open(locate(library)) as opened:
        options = Options(rate=rate, most_upload=most_upload * MEGABYTE, log_queries=log_queries)
        serve_forever(opened, options, host=host, port=port, owner=owner, told=_told)


def _told(sentence: str) -> None:
    typer.echo(sentence, err=True)


@key.command()
def create(
    name: Annotated[str, typer.Option(help="What the key is called.")],
    grant: Annotated[
        Many, many("--grant", help="A scope it sees besides 'all'; repeatable.")
    ] = None,
    every_scope: Annotated[
        bool, typer.Option("--every-scope", help="It sees everything, as you do.")
    ] = False,
    role: Annotated[
        Literal["reader", "writer", "admin"], typer.Option(help="What it may do.")
    ] = "reader",
    expires: Annotated[
        str | None,
        typer.Option(help="When it ends: a date, or 12h, 30d, 8w from now.", show_default=False),
    ] = None,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Make a key and print it, this one time."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done

    if every_scope and grant:
        raise InvalidValue("--every-scope needs no --grant; give one of the two")
    with libraries.open(locate(library)) as opened:
        made, secret = opened.create_key(
            name,
            scopes=None if every_scope else grant or (),
            role=role,
            expires=_until(expires) if expires else None,
        )
        known = opened.scopes()
    for scope in sorted(set(grant or ()) - known - {PUBLIC_SCOPE}):
        hint = nearest(scope, known) or " The key opens what is added with it."
        typer.echo(f"! no document has the scope '{scope}' yet.{hint}", err=True)
    if not json:
        typer.echo("! keep it well: it is stored nowhere and cannot be shown again", err=True)
    show_done(secret, {**_json(made), "key": secret} if json else None)


@key.command("list")
def list_keys(library: LibraryOption = None, json: JsonOption = False) -> None:
    """List the keys: what each may do and see."""
    from trivium import opening as libraries
    from trivium.present import to_text

    with libraries.open(locate(library)) as opened:
        keys = opened.keys()
    if json:
        typer.echo(to_text([_json(one) for one in keys]))
        return
    for one in keys:
        data = _json(one)
        scopes = ", ".join(data["scopes"]) if data["scopes"] is not None else "every scope"
        until = f"  until {data['expires']}" if data["expires"] else ""
        typer.echo(f"{one.id}  {one.name}  {one.role}  {scopes}  {data['state']}{until}")
    if not keys:
        typer.echo("no keys")


@key.command()
def revoke(
    name: Annotated[str, typer.Argument(help="A key's name or id.")],
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Shut a key out, from now on."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done

    with libraries.open(locate(library)) as opened:
        found = opened.revoke_key(name)
    show_done(f"{found.name} is revoked", {"revoked": found.name} if json else None)


def _json(one: Key) -> dict[str, Any]:
    scopes = one.grant.scopes
    state = "revoked" if one.revoked else "valid"
    if not one.revoked and not one.is_valid(datetime.now(UTC)):
        state = "expired"
    return {
        "id": one.id,
        "name": one.name,
        "role": one.role,
        "scopes": None if scopes is None else sorted(scopes),
        "created": format_time(one.created),
        "expires": format_time(one.expires) if one.expires else None,
        "state": state,
    }


_HENCE = re.compile(r"([0-9]{1,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}


def _until(text: str) -> datetime:
    """A date, or so many hours, days or weeks from now."""
    match = _HENCE.fullmatch(text.strip())
    if match is None:
        return parse_time(text)
    return datetime.now(UTC) + timedelta(hours=int(match[1]) * _HOURS[match[2]])
