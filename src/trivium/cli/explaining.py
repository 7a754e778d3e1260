"""`trivium why-not`: the stage that lost a document, and what would show it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.asked import (
    AsOfOption,
    CategoryOption,
    CreatedFromOption,
    CreatedUntilOption,
    DomainOption,
    ExcludeOption,
    GraphOption,
    IncludeExpiredOption,
    IncludeMemoriesOption,
    KindOption,
    LegOption,
    LimitOption,
    MetaOption,
    PredicateOption,
    ProfileOption,
    RdfTypeOption,
    ScopeOption,
    SetOption,
    SeverityOption,
    SourceOption,
    SubclassesOption,
    SubjectOption,
    TagOption,
    TypeOption,
    ValidAtOption,
)
from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, locate

if TYPE_CHECKING:
    from trivium.why_not import OnRoad, Remedy, WhyNot


def why_not(
    name: Annotated[str, typer.Argument(help="The id, #number, uri or chunk that is missed.")],
    query: Annotated[list[str] | None, typer.Argument(help="What was looked for.")] = None,
    library: LibraryOption = None,
    limit: LimitOption = 10,
    profile: ProfileOption = None,
    settings: SetOption = None,
    leg: LegOption = None,
    scope: ScopeOption = None,
    source: SourceOption = None,
    category: CategoryOption = None,
    kind: KindOption = None,
    type: TypeOption = None,
    domain: DomainOption = None,
    severity: SeverityOption = None,
    tag: TagOption = None,
    meta: MetaOption = None,
    subject: SubjectOption = None,
    predicate: PredicateOption = None,
    rdf_type: RdfTypeOption = None,
    subclasses: SubclassesOption = False,
    graph: GraphOption = None,
    exclude: ExcludeOption = None,
    created_from: CreatedFromOption = None,
    created_until: CreatedUntilOption = None,
    valid_at: ValidAtOption = None,
    as_of: AsOfOption = None,
    include_expired: IncludeExpiredOption = False,
    include_memories: IncludeMemoriesOption = False,
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
