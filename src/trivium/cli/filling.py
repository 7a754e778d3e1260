"""Commands that put something into a library: init, add, embed."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from trivium.cli.options import (
    JsonOption,
    LibraryOption,
    Many,
    locate,
    many,
    reach,
    served,
)


def init(
    path: Annotated[
        str | None, typer.Argument(help="NAME.trivium, or postgresql://host/database.")
    ] = None,
    library: LibraryOption = None,
    profile: Annotated[
        str | None, typer.Option(help="The profile to make it with.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="minilm, static, hashing, none or one of your own.", show_default=False),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(help="Where vectors are searched: matrix or lance.", show_default=False),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make an empty library."""
    from trivium import opening as libraries
    from trivium.cli.options import default_library
    from trivium.cli.reports import show_done
    from trivium.cli.settings import show_notices
    from trivium.configuration import configuration

    folder = path or library or default_library()
    configured = configuration()
    show_notices(configured)
    with libraries.init(
        folder, profile=profile, model=model, vectors=vectors, configuration=configured
    ) as made:
        profile, model = made.profile_name, made.settings.model
    show_done(
        f"made {folder} (profile {profile}, model {model})",
        {"library": str(folder), "profile": profile, "model": model} if json else None,
    )


def add(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, or .json files of entries.")],
    library: LibraryOption = None,
    scope: Annotated[str | None, typer.Option(help="Who may see it: all, dm-only …")] = None,
    category: Annotated[str | None, typer.Option(help="rules, sessions …")] = None,
    tag: Annotated[Many, many("--tag", help="A tag; may be repeated.")] = None,
    reprocess: Annotated[
        bool, typer.Option("--reprocess", help="Make a new version even if nothing changed.")
    ] = False,
    extractor: Annotated[
        Literal["local", "azure"], typer.Option(help="Who reads PDF and Office files.")
    ] = "local",
    source: Annotated[
        str | None,
        typer.Option("--as", help="What the paths are: folder, obsidian, git.", show_default=False),
    ] = None,
    sync: Annotated[
        bool, typer.Option("--sync", help="Remove documents below the folders whose file is gone.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Take in also what is nearly the same as another.")
    ] = False,
    embed: Annotated[
        bool, typer.Option("--embed/--no-embed", help="Embed at once, or later.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Take in files and folders; makes your own library if there is none yet."""
    from trivium.cli.options import default_library
    from trivium.cli.progress import progress_bar

    own = not served(library) and locate(library) == default_library()
    with reach(library, create=own) as opened, progress_bar() as progress:
        report = opened.add(
            *paths,
            scope=scope,
            category=category,
            tags=tag or (),
            reprocess=reprocess,
            extractor=extractor,
            source=source,
            sync=sync,
            force=force,
            embed=embed,
            progress=progress,
        )
    from trivium.cli.reports import show_add

    show_add(report, as_json=json)
    if report.errors:
        raise typer.Exit(1)
