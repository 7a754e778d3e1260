"""`trivium why-not`: the stage that lost a document, and what would show it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, Many, locate, many

if TYPE_CHECKING:
    from trivium.why_not import OnRoad, Remedy, WhyNot


def why_not(
    name: Annotated[str, typer.Argument(help="The id, #number, uri or chunk that is missed.")],
    query: Annotated[list[str] | None, typer.Argument(help="What was looked for.")] = None,
    library: LibraryOption = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Hits, 1 to 1000.")] = 10,
    profile: Annotated[
        str | None, typer.Option(help="A profile's name or TOML file.", show_default=False)
    ] = None,
    settings: Annotated[Many, many("--set", help="Override: search.fuse.k=30.")] = None,
    leg: Annotated[Many, many("--leg", help="Only this leg; may be repeated.")] = None,
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
    subclasses: Annotated[
        bool, typer.Option("--subclasses", help="A --rdf-type stands for its subclasses too.")
    ] = False,
    graph: Annotated[Many, many("--graph", help="Only facts of this graph.")] = None,
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
    json: JsonOption = False,
) -> None:
    """Say why a search does not show a document, and what would show it."""
    from trivium import opening as libraries
    from trivium.config import load_profile

    flags = FilterFlags(
        scope, source, category, kind, type, domain, severity, tag, meta, subject, predicate,
        rdf_type, graph, exclude, created_from, created_until, valid_at, include_expired,
        subclasses,
    )  # fmt: skip
    with libraries.open(locate(library)) as opened:
        then = opened.moment(as_of) if as_of else None
        found = opened.why_not(
            name,
            " ".join(query or []),
            limit=limit,
            filter=replace(flags.filter(), as_of=then),
            profile=load_profile(profile or opened.profile_name, settings or ()),
            legs=leg or (),
            include_memories=include_memories,
        )
    if json:
        from trivium.present import to_text
        from trivium.why_not import why_not_json

        typer.echo(to_text(why_not_json(found)))
        return
    _show(found)


def _show(found: WhyNot) -> None:
    from trivium.cli.render import console, shown

    out = console()
    out.print(shown(f"{found.document}: {found.stage}", "bold"))
    out.print(shown(found.why))
    for leg in found.legs:
        out.print(shown(f"  {_leg(leg)}"))
    for remedy in found.remedies:
        out.print(shown(f"  {_remedy(remedy)}"))
    if not found.remedies and found.stage != "shown":
        out.print("  no larger or deeper search would show it")


def _leg(leg: OnRoad) -> str:
    if leg.rank is None:
        return f"{leg.leg}: {leg.why}"
    return f"{leg.leg}: number {leg.rank}, score {leg.score:.4f}; it stops at {leg.depth}"


def _remedy(remedy: Remedy) -> str:
    if remedy.rank is None:
        return f"{remedy.change}: still not found"
    return f"{remedy.change}: number {remedy.rank}{'' if remedy.shown else ', not yet shown'}"
