"""Facts in the terminal: in and out, and what is removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, Many, locate, reach
from trivium.errors import InvalidValue, UnknownName, nearest


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
    exists = libraries.exists(folder)
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
    if names:
        with reach(library) as reached:
            count = reached.remove(*names)
        sentence = f"removed {count} document{'s' if count != 1 else ''}"
        show_done(sentence, {"removed": count} if json else None)
        return
    with libraries.open(locate(library)) as opened:
        facts, documents = opened.remove_facts(pattern)
        known = [] if facts or not predicate else opened.predicates()
    if not facts:
        raise UnknownName(
            f"no fact matches, so none was removed.{nearest(predicate or '', known)} "
            "'trivium facts' and 'trivium sparql' show what is stated"
        )
    show_done(
        f"removed {facts} facts of {len(documents)} documents; 'trivium rollback' undoes it",
        {"facts": facts, "documents": documents} if json else None,
    )


def facts(
    subject: Annotated[str, typer.Argument(help="An IRI or a prefixed name, such as march:Heron.")],
    library: LibraryOption = None,
    depth: Annotated[int, typer.Option(help="Steps to follow, 1 to 5.")] = 1,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Statements at most.")] = 100,
    json: JsonOption = False,
) -> None:
    """Show what is stated around a subject, and where it was read."""
    from trivium import opening as libraries

    with libraries.open(locate(library)) as opened:
        found = opened.facts(subject, depth=depth, limit=limit)
        prefixes = opened.prefixes()
    if json:
        from trivium.graph.shown import around_json
        from trivium.present import to_text

        typer.echo(to_text(around_json(found)))
        return
    from trivium.graph.shown import around_lines

    for line in around_lines(found, prefixes):
        typer.echo(line)
    if found.cut:
        typer.echo(f"! there is more than {limit} statements; --limit shows it", err=True)


def sparql(
    query: Annotated[str, typer.Argument(help="A SPARQL 1.1 query, or - for standard input.")],
    library: LibraryOption = None,
    timeout: Annotated[float, typer.Option(help="Seconds before it is stopped.")] = 10.0,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Rows at most.")] = 1000,
    json: JsonOption = False,
) -> None:
    """Ask the facts in SPARQL, for reading only; prefixes of imported files are known."""
    import sys

    from trivium import opening as libraries

    text = sys.stdin.read() if query == "-" else query
    with libraries.open(locate(library)) as opened:
        answer = opened.sparql(text, seconds=timeout, rows=limit)
    if json:
        from dataclasses import asdict

        from trivium.present import to_text

        typer.echo(to_text(asdict(answer)))
    elif answer.truth is not None:
        typer.echo("yes" if answer.truth else "no")
    else:
        typer.echo("\t".join(answer.columns))
        for row in answer.rows:
            typer.echo("\t".join(value or "" for value in row))
    if answer.cut and not json:
        typer.echo(f"! there are more than {limit} rows; --limit shows them", err=True)


def show_statement(
    query: Sequence[str],
    library: str | None,
    limit: int,
    flags: FilterFlags,
    profile: str | None,
    settings: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """The search as one statement, and what is bound to it."""
    from trivium import opening as libraries
    from trivium.config import load_profile
    from trivium.present import to_text

    with libraries.open(locate(library)) as opened:
        chosen = load_profile(profile or opened.profile_name, settings)
        made = opened.statement(" ".join(query), limit=limit, filter=flags.filter(), profile=chosen)
    if as_json:
        typer.echo(to_text({"sql": made.sql, "parameters": dict(made.parameters)}))
        return
    typer.echo(made.sql)
    typer.echo("")
    for name, value in made.parameters.items():
        typer.echo(f"-- :{name} = {value!r}")
