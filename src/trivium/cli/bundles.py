"""`trivium import` and `trivium export`: `.omnidata` bundles and files of facts, in and out."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.asked import CategoryOption, KindOption, ScopeOption, SourceOption, TagOption
from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, locate
from trivium.errors import InvalidValue

FACTS = (".ttl", ".nt", ".nq", ".trig", ".jsonld", ".rdf", ".owl")

if TYPE_CHECKING:
    from trivium.store.omnidata import ExportReport, ImportReport


def import_any(
    paths: Annotated[
        list[str], typer.Argument(help="A bundle, NAME.omnidata, or files of facts: NAME.ttl …")
    ],
    library: LibraryOption = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="The profile of a new library; omnidata, or worlds for facts.", show_default=False
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The model of a new library; the bundle's.", show_default=False),
    ] = None,
    scope: Annotated[str | None, typer.Option(help="Who may see the facts: all, dm-only …")] = None,
    base: Annotated[
        str | None, typer.Option(help="What relative IRIs begin with.", show_default=False)
    ] = None,
    reprocess: Annotated[
        bool, typer.Option("--reprocess", help="Read facts again even if nothing changed.")
    ] = False,
    embed: Annotated[
        bool, typer.Option("--embed/--no-embed", help="Embed facts at once, or later.")
    ] = True,
    json: JsonOption = False,
) -> None:
    """Take a bundle or files of facts (RDF) into a library; makes it if there is none yet."""
    if any(Path(path).suffix.lower() in FACTS for path in paths):
        from trivium.cli.facts import import_facts

        import_facts(paths, library, profile, model, scope, base, reprocess, embed, json)
    elif len(paths) > 1:
        raise InvalidValue("bundles are taken in one at a time; name one of them")
    elif scope or base or reprocess:
        raise InvalidValue("--scope, --base and --reprocess are for files of facts")
    elif Path(paths[0]).is_file():
        raise InvalidValue(
            f"{paths[0]} is neither a bundle, which is a folder NAME.omnidata, nor facts "
            f"({', '.join(FACTS)}); 'trivium add' takes in documents"
        )
    else:
        import_bundle(paths[0], library, profile, model, json)


def import_bundle(
    bundle: str, library: str | None, profile: str | None, model: str | None, json: bool
) -> None:
    """Take an .omnidata bundle into a library; makes the library if there is none yet."""
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar

    folder = locate(library)
    exists = libraries.exists(folder)
    if exists and (profile or model):
        raise InvalidValue(
            f"{folder} exists and keeps its profile and model; name a new library with -L"
        )
    with progress_bar() as progress:
        if exists:
            with libraries.open(folder) as opened:
                report = opened.import_bundle(bundle, progress=progress)
        else:
            report = libraries.from_bundle(
                bundle, folder, profile=profile or "omnidata", model=model, progress=progress
            )
    if json:
        from trivium.present import to_text

        typer.echo(to_text({"library": str(folder), **asdict(report)}))
        return
    _show_import(report, folder)


def export_any(
    to: Annotated[
        str, typer.Option("--to", help="NAME.omnidata, or NAME.ttl, .nq, .trig … for facts alone.")
    ],
    library: LibraryOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace what is there already.")] = False,
    scope: ScopeOption = None,
    source: SourceOption = None,
    category: CategoryOption = None,
    kind: KindOption = None,
    tag: TagOption = None,
    subject: Annotated[str | None, typer.Option(help="Only facts about this IRI.")] = None,
    predicate: Annotated[str | None, typer.Option(help="Only facts with this IRI.")] = None,
    graph: Annotated[str | None, typer.Option(help="Only facts of this graph.")] = None,
    json: JsonOption = False,
) -> None:
    """Write a bundle with the active version of every document, or the facts as RDF."""
    flags = FilterFlags(scope=scope, source=source, category=category, kind=kind, tag=tag)
    if Path(to).suffix.lower() in FACTS:
        if source or category or kind or tag:
            raise InvalidValue(
                "facts are exported by --scope, --subject, --predicate and --graph; the other "
                "filters are for bundles"
            )
        from trivium.cli.facts import export_facts

        export_facts(to, library, force, scope, subject, predicate, graph, json)
    elif subject or predicate or graph:
        raise InvalidValue("--subject, --predicate and --graph are for facts; --to NAME.ttl")
    elif (ending := Path(to).suffix.lower()) and ending != ".omnidata":
        raise InvalidValue(
            f"nothing is written as '{ending}': --to NAME.omnidata is a bundle, and "
            f"{', '.join(FACTS)} are facts"
        )
    else:
        export_bundle(to, library, force, flags, json)


def export_bundle(
    to: str, library: str | None, force: bool, flags: FilterFlags, json: bool
) -> None:
    """Write an .omnidata bundle: the active version of every document, with its vectors."""
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar

    with libraries.open(locate(library)) as opened, progress_bar() as progress:
        report = opened.export_bundle(to, filter=flags.filter(), force=force, progress=progress)
    if json:
        from trivium.present import to_text

        typer.echo(to_text({"bundle": to, **asdict(report)}))
        return
    _show_export(report, to)


def prepare(bundle: Path) -> None:
    """Bring the cached import of a bundle up to date, with progress where somebody watches."""
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar

    with progress_bar() as progress:
        libraries.open(bundle, progress=progress).close()


def _show_import(report: ImportReport, folder: Path | str) -> None:
    left_out = {
        "deleted resources": report.deleted,
        "deleted chunks": report.deleted_chunks,
        "chunks of no resource": report.orphans,
        "resources or chunks without text": report.empty,
    }
    named = ", ".join(f"{count} {name}" for name, count in left_out.items() if count)
    if named:
        typer.echo(f"! left out: {named}", err=True)
    if report.gone:
        shown = ", ".join(report.gone[:5]) + (" …" if len(report.gone) > 5 else "")
        typer.echo(
            f"! deleted in the bundle, kept in the library: {shown}; 'trivium remove' removes them",
            err=True,
        )
    if report.waiting:
        typer.echo(f"! {report.waiting} texts wait; 'trivium embed' makes their vectors", err=True)
    for model in report.models:
        if not model.active:
            typer.echo(
                f"! vectors of {model.name} are kept, but this library does not search with them",
                err=True,
            )
        elif model.fingerprint.startswith("omnidata:"):
            typer.echo(
                f"! the vectors are of {model.name}, which is not at hand: only words are searched;"
                " import into a new library with --model to embed again",
                err=True,
            )
    counts = {
        "added": len(report.added),
        "updated": len(report.updated),
        "unchanged": len(report.unchanged),
    }
    done = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing"
    typer.echo(f"{folder}: {done}")


def _show_export(report: ExportReport, to: str) -> None:
    if report.hidden:
        typer.echo(
            f"! {report.hidden} documents are not for everybody, and whoever has the bundle can "
            "read them; --scope all leaves them out",
            err=True,
        )
    vectors = f", {report.embedded} vectors of {report.model}" if report.model else ""
    memories = f", {report.memories} memories" if report.memories else ""
    typer.echo(
        f"wrote {to}: {report.resources} resources{memories}, {report.chunks} chunks{vectors}, "
        f"{report.blobs} blobs"
    )
