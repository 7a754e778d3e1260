"""Commands that look at what is there and after it."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.asked import CategoryOption, KindOption, ScopeOption, SourceOption, TagOption
from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, locate, reach
from trivium.cli.tiers import TiersOption, one_or_all
from trivium.errors import InvalidValue


def get(
    names: Annotated[list[str], typer.Argument(help="Ids, chunk ids, #numbers or uris.")],
    library: LibraryOption = None,
    tiers: TiersOption = False,
    budget: Annotated[
        int | None, typer.Option(help="Tokens that all of it may cost.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show documents or chunks whole."""
    from trivium.present import afforded_readings

    if budget is not None and budget < 1:
        raise InvalidValue(f"{budget} tokens of budget are too few; choose a number from 1 on")
    with one_or_all(library, tiers) as opened:
        readings, left_out = afforded_readings(opened.get(*names), budget)
    for sentence in left_out:
        typer.echo(f"! {sentence}", err=True)
    if json:
        from trivium.present import reading_json, to_text

        typer.echo(to_text([reading_json(reading) for reading in readings]))
        return
    from trivium.cli.render import show_readings

    show_readings(readings)


def list_documents(
    library: LibraryOption = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="At most so many.")] = None,
    scope: ScopeOption = None,
    source: SourceOption = None,
    category: CategoryOption = None,
    kind: KindOption = None,
    tag: TagOption = None,
    json: JsonOption = False,
) -> None:
    """List documents."""
    if limit is not None and limit < 1:
        raise InvalidValue(f"{limit} documents cannot be listed; choose a number from 1 on")
    flags = FilterFlags(scope=scope, source=source, category=category, kind=kind, tag=tag)
    with reach(library) as opened:
        documents = opened.documents(flags.filter(), limit=limit)
    if json:
        from trivium.present import document_json, to_text

        typer.echo(to_text([document_json(document) for document in documents]))
        return
    from trivium.cli.render import show_documents

    show_documents(documents)


def status(library: LibraryOption = None, json: JsonOption = False) -> None:
    """Show what the library holds and what waits."""
    with reach(library) as opened:
        data = opened.status()
    if json:
        from trivium.present import to_text

        typer.echo(to_text(data))
        return
    from trivium.cli.render import show_mapping

    show_mapping(data)


def optimize(
    library: LibraryOption = None,
    text_search: Annotated[
        str | None,
        typer.Option(
            help="Store the words anew in this text-search configuration of PostgreSQL.",
            show_default=False,
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Merge the pieces that edits have left of the index, or store words anew.

    Vectors in LanceDB are written anew, from the record.
    """
    from trivium.opening import open as open_library

    with open_library(locate(library)) as opened:
        if text_search is None:
            done = {"merged": opened.optimize()}
            merged = done["merged"]
            said = f"merged {merged} pieces of the index" if merged else "nothing to merge"
        else:
            done = {"stored": opened.use_text_search(text_search)}
            said = f"stored the words of {done['stored']} passages in '{text_search}'"
    if json:
        from trivium.present import to_text

        typer.echo(to_text(done))
        return
    typer.echo(said, err=True)


def doctor(library: LibraryOption = None, json: JsonOption = False) -> None:
    """Check the library's files and say what is wrong."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_problems

    folder = locate(library)
    problems = libraries.examine(folder)
    show_problems(folder, problems, as_json=json)
    if problems:
        raise typer.Exit(1)
