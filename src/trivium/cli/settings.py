"""`trivium config` and `trivium trust`: what is set, where it came from, and whom to believe."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trivium.cli.options import JsonOption, Many, many
from trivium.errors import InvalidValue

if TYPE_CHECKING:
    from trivium.settings import Configuration, Line

config = typer.Typer(name="config", help="Look at your settings.", no_args_is_help=True)


@config.command("list")
def list_settings(
    settings: Annotated[Many, many("--set", help="As if it were set: chat.model=…")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what nobody set.")] = False,
    json: JsonOption = False,
) -> None:
    """List settings and where each came from."""
    from trivium.configuration import configuration
    from trivium.settings import DEFAULT

    found = configuration(_flags(settings or ()))
    show_notices(found)
    if json:
        from trivium.present import to_text

        data = {
            "settings": [_line(line) for line in found.lines()],
            "ignored": [_line(line) for line in found.ignored],
            "notices": list(found.notices),
        }
        typer.echo(to_text(data))
        return
    for line in found.lines():
        if everything or line.origin != DEFAULT or "." not in line.name:
            typer.echo(f"{line.name} = {_value(line)}  ({line.origin})")
    for line in found.ignored:
        typer.echo(f"{line.name} is ignored  ({line.origin})")


@config.command("path")
def show_paths(json: JsonOption = False) -> None:
    """Show the files that settings are read from."""
    from trivium.configuration import places, trusted_files

    files = places(os.environ, Path.cwd())
    trusted = dict(trusted_files()).get(str(files.project), "not trusted")
    if json:
        from trivium.present import to_text

        data = {
            "user": str(files.user),
            "user_exists": files.user.is_file(),
            "project": str(files.project) if files.project else None,
            "project_trust": trusted if files.project else None,
        }
        typer.echo(to_text(data))
        return
    typer.echo(f"user     {files.user}{'' if files.user.is_file() else '  (not there yet)'}")
    if files.project:
        typer.echo(f"project  {files.project}  ({trusted})")


def trust(
    folder: Annotated[str | None, typer.Argument(help="A folder with a trivium.toml.")] = None,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take the trust back.")] = False,
    show: Annotated[bool, typer.Option("--list", help="List what is trusted.")] = False,
    json: JsonOption = False,
) -> None:
    """Let a folder's trivium.toml, as it is now, set URLs, keys, tiers and paths."""
    from trivium import configuration
    from trivium.cli.reports import show_done
    from trivium.present import to_text

    if show:
        known = configuration.trusted_files()
        if json:
            typer.echo(to_text([{"file": file, "state": state} for file, state in known]))
            return
        for name, state in known:
            typer.echo(f"{state:<8} {name}")
        return
    if folder is None:
        raise InvalidValue(
            "name the folder whose trivium.toml you have read, e.g. 'trivium trust .'"
        )
    if revoke:
        file = configuration.distrust(Path(folder))
        show_done(f"{file} is not trusted any more", {"revoked": str(file)} if json else None)
        return
    file, lines = configuration.trust(Path(folder))
    if json:
        typer.echo(to_text({"trusted": str(file), "settings": [_line(line) for line in lines]}))
        return
    typer.echo(f"trusted {file} until it changes; it sets:")
    for line in lines:
        typer.echo(f"  {line.name} = {_value(line)}")


def show_notices(found: Configuration) -> None:
    for notice in found.notices:
        typer.echo(f"! {notice}", err=True)


def _flags(settings: list[str] | tuple[()]) -> dict[str, Any]:
    """`name=value` pairs; the value is read as TOML where it is TOML."""
    import tomllib

    flags: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise InvalidValue(f"write a setting as name=value, not '{setting}'")
        try:
            flags[name.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            flags[name.strip()] = text
    return flags


def _hidden(value: Any) -> Any:
    """A value without the parts of an address that may be secret: a password, what follows "?"."""
    if not isinstance(value, str) or "://" not in value:
        return value
    value = re.sub(r"(://[^/?#@:]*):.*@", r"\1:…@", value, flags=re.DOTALL)
    return re.sub(r"[?#].+", "?…", value, flags=re.DOTALL)


def _line(line: Line) -> dict[str, Any]:
    data = {"name": line.name, "value": _hidden(line.value), "origin": line.origin}
    if line.name.endswith("key_variable") and line.value:
        data["is_set"] = bool(os.environ.get(line.value))
    return data


def _value(line: Line) -> str:
    if line.name.endswith("key_variable") and line.value:  # whether, never what
        return f"{line.value}, which is {'set' if os.environ.get(line.value) else 'not set'}"
    return repr(_hidden(line.value)) if isinstance(line.value, str) else str(line.value)
