"""The commands of `trivium profile`."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.asked import SetOption
from trivium.cli.options import JsonOption, LibraryOption

profiles = typer.Typer(name="profile", help="Look at profiles.", no_args_is_help=True)


@profiles.command("list")
def list_profiles(json: JsonOption = False) -> None:
    """List the profiles that ship with Trivium."""
    from trivium.cli.reports import show_profiles
    from trivium.config import load_profile, profile_names

    show_profiles([load_profile(name) for name in profile_names()], as_json=json)


@profiles.command("show")
def show_profile(name: Annotated[str, typer.Argument(help="A name or a TOML file.")]) -> None:
    """Print a profile's TOML, with the reason for every number."""
    from trivium.config import profile_text

    typer.echo(profile_text(name).rstrip())


@profiles.command("check")
def check_profile(
    name: Annotated[str, typer.Argument(help="A name or a TOML file.")],
    settings: SetOption = None,
    library: LibraryOption = None,
) -> None:
    """Check that a profile is right and, with -L, that the library can serve it."""
    from trivium import opening as libraries
    from trivium.config import load_profile

    profile = load_profile(name, settings or ())
    if library:
        with libraries.open(library) as opened:
            opened.check_profile(profile)
    typer.echo(f"profile '{profile.name}' is right")
