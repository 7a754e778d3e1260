"""The search command."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

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
from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, Many, many
from trivium.cli.tiers import TierOption, TiersOption, one_or_all
from trivium.errors import InvalidValue


def search(
    query: Annotated[list[str] | None, typer.Argument(help="What to look for.")] = None,
    library: LibraryOption = None,
    tiers: TiersOption = False,
    tier: TierOption = None,
    limit: LimitOption = 10,
    profile: ProfileOption = None,
    settings: SetOption = None,
    mode: Annotated[Literal["scan", "full"], typer.Option(help="Snippets, or all.")] = "scan",
    leg: LegOption = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show every score's parts.")] = False,
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
    prefer_tag: Annotated[Many, many("--prefer-tag", help="Rank this tag higher.")] = None,
    prefer_domain: Annotated[str | None, typer.Option(help="Rank this domain higher.")] = None,
    exclude: ExcludeOption = None,
    created_from: CreatedFromOption = None,
    created_until: CreatedUntilOption = None,
    valid_at: ValidAtOption = None,
    as_of: AsOfOption = None,
    include_expired: IncludeExpiredOption = False,
    include_memories: IncludeMemoriesOption = False,
    most_memories: Annotated[
        int | None, typer.Option(help="At most so many memories.", show_default=False)
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="Tokens that all hits may cost.", show_default=False)
    ] = None,
    facets: Annotated[
        bool, typer.Option("--facets", help="Count sources, categories, tags … of all found.")
    ] = False,
    reranker: Annotated[
        str | None,
        typer.Option(help="Let this reranker of your settings read the first hits again."),
    ] = None,
    no_rerank: Annotated[bool, typer.Option("--no-rerank", help="Ask no reranker.")] = False,
    cursor: Annotated[
        str | None, typer.Option(help="Go on after a page: the next_cursor of its JSON.")
    ] = None,
    timing: Annotated[
        bool, typer.Option("--timing", help="Say on stderr what each stage took.")
    ] = False,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the search as one SQL statement instead.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Search by meaning, words and spelling."""
    from trivium.config import load_profile

    for setting in settings or ():
        if not setting.strip().startswith("search."):
            raise InvalidValue(
                f"a search can only --set what begins with 'search.', not '{setting}'; "
                "docs/reference.md lists what there is"
            )
    flags = FilterFlags(
        scope, source, category, kind, type, domain, severity, tag, meta, subject, predicate,
        rdf_type, graph, exclude, created_from, created_until, valid_at, include_expired,
        subclasses,
    )  # fmt: skip
    if most_memories is not None and not include_memories and "memory" not in (kind or ()):
        raise InvalidValue("--most-memories counts what --include-memories shows; add that")
    if sql:
        from trivium.cli.facts import show_statement

        show_statement(query or [], library, limit, flags, profile, settings or (), as_json=json)
        return
    with one_or_all(library, tiers, tier) as opened:
        then = opened.moment(as_of) if as_of else None
        result = opened.search(
            " ".join(query or []),
            limit=limit,
            filter=replace(flags.filter(), as_of=then),
            profile=load_profile(profile or opened.profile_name, settings or ())
            if profile or settings
            else None,
            mode=mode,
            legs=leg or (),
            include_memories=include_memories,
            facets=facets,
            cursor=cursor,
            prefer_tags=prefer_tag or (),
            prefer_domain=prefer_domain,
            most_memories=most_memories,
            budget=budget,
            reranker="" if no_rerank else reranker,
        )
    if timing:
        from trivium.cli.results import show_timing

        show_timing(result)
    if json:
        from trivium.present import result_json, to_text

        typer.echo(to_text(result_json(result)))
        return
    from trivium.cli.results import show_result

    show_result(result, explain=explain)
