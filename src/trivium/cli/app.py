"""The commands."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated, Literal

import typer

from trivium.cli.bundles import export_bundle, import_bundle
from trivium.cli.evaluate import evaluate
from trivium.cli.judging import feedback
from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, Many, locate, many
from trivium.cli.profiles import profiles
from trivium.cli.remembering import remember
from trivium.cli.settings import config, trust
from trivium.cli.versions import rollback, versions
from trivium.errors import InvalidValue

app = typer.Typer(
    name="trivium",
    help="Search what you know: meaning, words and spelling in one ranking that explains itself.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from trivium.version import __version__

        typer.echo(f"trivium {__version__}")
        raise typer.Exit


@app.command()
def init(
    path: Annotated[str | None, typer.Argument(help="The folder to make, NAME.trivium.")] = None,
    library: LibraryOption = None,
    profile: Annotated[
        str | None, typer.Option(help="The profile to make it with.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="minilm, static, hashing, none or one of your own.", show_default=False),
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
    with libraries.init(folder, profile=profile, model=model, configuration=configured) as made:
        profile, model = made.profile_name, made.settings.model
    show_done(
        f"made {folder} (profile {profile}, model {model})",
        {"library": str(folder), "profile": profile, "model": model} if json else None,
    )


@app.command()
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
    embed: Annotated[
        bool, typer.Option("--embed/--no-embed", help="Embed at once, or later.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Take in files and folders; makes your own library if there is none yet."""
    from trivium import opening as libraries
    from trivium.cli.options import default_library
    from trivium.cli.progress import progress_bar

    folder = locate(library)
    create = folder == default_library()
    with libraries.open(folder, create=create) as opened, progress_bar() as progress:
        report = opened.add(
            *paths,
            scope=scope,
            category=category,
            tags=tag or (),
            reprocess=reprocess,
            extractor=extractor,
            embed=embed,
            progress=progress,
        )
    from trivium.cli.reports import show_add

    show_add(report, as_json=json)
    if report.errors:
        raise typer.Exit(1)


@app.command()
def embed(library: LibraryOption = None, json: JsonOption = False) -> None:
    """Embed what still waits for its vector."""
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar
    from trivium.cli.reports import show_done

    with libraries.open(locate(library)) as opened, progress_bar() as progress:
        done = opened.embed(progress=progress)
    show_done(f"embedded {done} texts", {"embedded": done} if json else None)


@app.command()
def search(
    query: Annotated[list[str] | None, typer.Argument(help="What to look for.")] = None,
    library: LibraryOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Hits, 1 to 1000.")] = 10,
    profile: Annotated[
        str | None, typer.Option(help="A profile's name or TOML file.", show_default=False)
    ] = None,
    settings: Annotated[Many, many("--set", help="Override: search.fuse.k=30.")] = None,
    mode: Annotated[Literal["scan", "full"], typer.Option(help="Snippets, or all.")] = "scan",
    leg: Annotated[Many, many("--leg", help="Only this leg; may be repeated.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every score's parts.")] = False,
    scope: Annotated[Many, many("--scope", help="Only this scope.")] = None,
    source: Annotated[Many, many("--source", help="#7, a file name, a path glob.")] = None,
    category: Annotated[Many, many("--category", help="Only this category.")] = None,
    kind: Annotated[Many, many("--kind", help="note, entry, memory …")] = None,
    type: Annotated[Many, many("--type", help="Only this type.")] = None,
    domain: Annotated[Many, many("--domain", help="Only this domain.")] = None,
    severity: Annotated[Many, many("--severity", help="Only this severity.")] = None,
    tag: Annotated[Many, many("--tag", help="Only with this tag.")] = None,
    meta: Annotated[Many, many("--meta", help="Metadata, key=value.")] = None,
    subject: Annotated[Many, many("--subject", help="Only facts about this IRI.")] = None,
    predicate: Annotated[Many, many("--predicate", help="Only facts with this IRI.")] = None,
    rdf_type: Annotated[Many, many("--rdf-type", help="Only subjects of this type.")] = None,
    graph: Annotated[Many, many("--graph", help="Only facts of this graph.")] = None,
    prefer_tag: Annotated[Many, many("--prefer-tag", help="Rank this tag higher.")] = None,
    prefer_domain: Annotated[str | None, typer.Option(help="Rank this domain higher.")] = None,
    exclude: Annotated[Many, many("--not", help="Leave out, e.g. category=rules.")] = None,
    created_from: Annotated[str | None, typer.Option(help="Created on or after.")] = None,
    created_until: Annotated[str | None, typer.Option(help="Created before.")] = None,
    valid_at: Annotated[str | None, typer.Option(help="Valid at this time, not now.")] = None,
    as_of: Annotated[
        str | None, typer.Option(help="As it was then: a date, or DOC@VERSION.")
    ] = None,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Also what is no longer valid.")
    ] = False,
    include_memories: Annotated[
        bool, typer.Option("--include-memories", help="Also memories.")
    ] = False,
    most_memories: Annotated[
        int | None, typer.Option(help="At most so many memories.", show_default=False)
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Tokens that all hits may cost.", show_default=False)
    ] = None,
    facets: Annotated[
        bool, typer.Option("--facets", help="Count sources, categories, tags … of all found.")
    ] = False,
    cursor: Annotated[
        str | None, typer.Option(help="Go on after a page: the next_cursor of its JSON.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Search by meaning, words and spelling."""
    from trivium import opening as libraries
    from trivium.config import load_profile

    for setting in settings or ():
        if not setting.strip().startswith("search."):
            raise InvalidValue(
                f"a search can only --set what begins with 'search.', not '{setting}'"
            )
    flags = FilterFlags(
        scope, source, category, kind, type, domain, severity, tag, meta, subject, predicate,
        rdf_type, graph, exclude, created_from, created_until, valid_at, include_expired,
    )  # fmt: skip
    with libraries.open(locate(library)) as opened:
        then = opened.moment(as_of) if as_of else None
        result = opened.search(
            " ".join(query or []),
            limit=limit,
            filter=replace(flags.filter(), as_of=then),
            profile=load_profile(profile or opened.profile_name, settings or ()),
            mode=mode,
            legs=leg or (),
            include_memories=include_memories,
            facets=facets,
            cursor=cursor,
            prefer_tags=prefer_tag or (),
            prefer_domain=prefer_domain,
            most_memories=most_memories,
            budget=budget,
        )
    if json:
        from trivium.present import result_json, to_text

        typer.echo(to_text(result_json(result)))
        return
    from trivium.cli.render import show_result

    show_result(result, explain=explain)


@app.command()
def get(
    names: Annotated[list[str], typer.Argument(help="Ids, chunk ids, #numbers or uris.")],
    library: LibraryOption = None,
    budget: Annotated[
        int | None, typer.Option(help="Tokens that all of it may cost.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show documents or chunks whole."""
    from trivium import opening as libraries
    from trivium.present import afforded_readings

    if budget is not None and budget < 1:
        raise InvalidValue(f"{budget} tokens of budget are too few; choose a number from 1 on")
    with libraries.open(locate(library)) as opened:
        readings, left_out = afforded_readings(opened.get(*names), budget)
    for sentence in left_out:
        typer.echo(f"! {sentence}", err=True)
    if json:
        from trivium.present import reading_json, to_text

        typer.echo(to_text([reading_json(reading) for reading in readings]))
        return
    from trivium.cli.render import show_readings

    show_readings(readings)


@app.command("list")
def list_documents(
    library: LibraryOption = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", help="At most so many.")] = None,
    scope: Annotated[Many, many("--scope", help="Only this scope.")] = None,
    source: Annotated[Many, many("--source", help="#7, a file name, a path glob.")] = None,
    category: Annotated[Many, many("--category", help="Only this category.")] = None,
    kind: Annotated[Many, many("--kind", help="note, entry, memory …")] = None,
    tag: Annotated[Many, many("--tag", help="Only with this tag.")] = None,
    json: JsonOption = False,
) -> None:
    """List documents."""
    from trivium import opening as libraries

    if limit is not None and limit < 1:
        raise InvalidValue(f"{limit} documents cannot be listed; choose a number from 1 on")
    flags = FilterFlags(scope=scope, source=source, category=category, kind=kind, tag=tag)
    with libraries.open(locate(library)) as opened:
        documents = opened.documents(flags.filter(), limit=limit)
    if json:
        from trivium.present import document_json, to_text

        typer.echo(to_text([document_json(document) for document in documents]))
        return
    from trivium.cli.render import show_documents

    show_documents(documents)


@app.command()
def remove(
    names: Annotated[list[str], typer.Argument(help="Ids, #numbers or uris.")],
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Remove documents with all their versions."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_done

    with libraries.open(locate(library)) as opened:
        count = opened.remove(*names)
    show_done(
        f"removed {count} document{'s' if count != 1 else ''}",
        {"removed": count} if json else None,
    )


@app.command()
def status(library: LibraryOption = None, json: JsonOption = False) -> None:
    """Show what the library holds and what waits."""
    from trivium import opening as libraries

    with libraries.open(locate(library)) as opened:
        data = opened.status()
    if json:
        from trivium.present import to_text

        typer.echo(to_text(data))
        return
    from trivium.cli.render import show_mapping

    show_mapping(data)


@app.command()
def doctor(library: LibraryOption = None, json: JsonOption = False) -> None:
    """Check the library's files and say what is wrong."""
    from trivium import opening as libraries
    from trivium.cli.reports import show_problems

    folder = locate(library)
    problems = libraries.examine(folder)
    show_problems(folder, problems, as_json=json)
    if problems:
        raise typer.Exit(1)


app.add_typer(profiles)
app.add_typer(feedback)
app.add_typer(config)
app.command()(trust)
app.command()(remember)
app.command()(versions)
app.command()(rollback)
app.command("eval")(evaluate)
app.command("import")(import_bundle)
app.command("export")(export_bundle)


if __name__ == "__main__":
    sys.exit(app())
