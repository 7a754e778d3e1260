"""The search command."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import typer

from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, Many, many
from trivium.cli.tiers import TierOption, TiersOption, one_or_all
from trivium.errors import InvalidValue


def search(
    query: Annotated[list[str] | None, typer.Argument(help="What to look for.")] = None,
    library: LibraryOption = None,
    tiers: TiersOption = False,
    tier: TierOption = None,
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
    subclasses: Annotated[
        bool, typer.Option("--subclasses", help="A --rdf-type stands for its subclasses too.")
    ] = False,
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
                f"a search can only --set what begins with 'search.', not '{setting}'"
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
        from trivium.cli.render import show_timing

        show_timing(result)
    if json:
        from trivium.present import result_json, to_text

        typer.echo(to_text(result_json(result)))
        return
    from trivium.cli.render import show_result

    show_result(result, explain=explain)
