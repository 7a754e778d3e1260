"""Facts in the terminal: in and out, and what is removed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import JsonOption, LibraryOption, Many, locate
from trivium.errors import InvalidValue


def import_facts(
    paths: list[str],
    library: str | None,
    profile: str | None,
    model: str | None,
    scope: str | None,
    base: str | None,
    reprocess: bool,
    embed: bool,
    json: bool,
) -> None:
    """Take files of facts into a library, and make one with profile worlds if there is none."""
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar
    from trivium.cli.reports import show_add

    folder = locate(library)
    exists = (folder / "index.db").exists()
    if exists and (profile or model):
        raise InvalidValue(
            f"{folder} exists and keeps its profile and model; name a new library with -L"
        )
    if not exists:
        libraries.init(folder, profile=profile or "worlds", model=model).close()
    with libraries.open(folder) as opened, progress_bar() as progress:
        report = opened.import_facts(
            *paths, base=base, scope=scope, reprocess=reprocess, embed=embed, progress=progress
        )
    show_add(report, as_json=json)
    if report.errors:
        raise typer.Exit(1)


def export_facts(
    to: str,
    library: str | None,
    force: bool,
    scope: Many,
    subject: str | None,
    predicate: str | None,
    graph: str | None,
    json: bool,
) -> None:
    """Write facts as RDF; with --scope only what those who have these scopes see."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done
    from trivium.types import Grant, Pattern

    grant = Grant(frozenset(scope)) if scope else Grant()
    with libraries.open(locate(library)) as opened:
        pattern = Pattern(subject, predicate, None, graph)
        report = opened.export_facts(to, pattern, force=force, grant=grant)
    if report.flattened and not json:
        typer.echo(
            f"! {report.flattened} statements lost their graph, which {Path(to).suffix} cannot "
            "say; .nq and .trig can",
            err=True,
        )
    show_done(
        f"wrote {to}: {report.statements} statements",
        {"file": to, "statements": report.statements, "flattened": report.flattened}
        if json
        else None,
    )


def remove(
    names: Annotated[
        list[str] | None, typer.Argument(help="Documents: ids, #numbers or uris.")
    ] = None,
    library: LibraryOption = None,
    subject: Annotated[
        str | None, typer.Option(help="Facts about this IRI.", show_default=False)
    ] = None,
    predicate: Annotated[
        str | None, typer.Option(help="Facts with this IRI.", show_default=False)
    ] = None,
    object: Annotated[
        str | None, typer.Option(help="Facts with this value.", show_default=False)
    ] = None,
    graph: Annotated[
        str | None, typer.Option(help="Facts of this graph.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Remove documents with all their versions, or the facts that match a pattern."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done
    from trivium.types import Pattern

    pattern = Pattern(subject, predicate, object, graph)
    if bool(names) == (pattern != Pattern()):
        raise InvalidValue(
            "name documents, or facts by --subject, --predicate, --object and --graph; not both"
        )
    with libraries.open(locate(library)) as opened:
        if names:
            count = opened.remove(*names)
            sentence = f"removed {count} document{'s' if count != 1 else ''}"
            show_done(sentence, {"removed": count} if json else None)
            return
        facts, documents = opened.remove_facts(pattern)
    show_done(
        f"removed {facts} facts of {len(documents)} documents; 'trivium rollback' undoes it",
        {"facts": facts, "documents": documents} if json else None,
    )
