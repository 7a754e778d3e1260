"""Searching one library, or the tiers of the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.options import Many, many, reach
from trivium.errors import InvalidValue

if TYPE_CHECKING:
    from trivium.federation import Federation
    from trivium.library import Library
    from trivium.remote import RemoteLibrary

TiersOption = Annotated[bool, typer.Option("--tiers", help="Ask all tiers of your settings.")]
TierOption = Annotated[Many, many("--tier", help="Ask this tier; may be repeated.")]


def one_or_all(
    library: str | None, tiers: bool, names: Many = None
) -> Library | RemoteLibrary | Federation:
    """The library that is meant, opened; or the tiers, where they are asked for."""
    if not tiers and not names:
        return reach(library)
    if library:
        raise InvalidValue("-L means one library and tiers several; give one of the two")
    from trivium.cli.settings import show_notices
    from trivium.configuration import configuration
    from trivium.federation import Federation, configured

    found = configuration()
    show_notices(found)
    return Federation(configured(found, names or ()))
