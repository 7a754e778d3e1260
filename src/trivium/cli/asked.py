"""The options that say what is asked: which chunks a search may consider, and how it ranks."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.cli.options import Many, many

ScopeOption = Annotated[Many, many("--scope", help="Only this scope.")]
SourceOption = Annotated[Many, many("--source", help="#7, a file name, a path glob.")]
CategoryOption = Annotated[Many, many("--category", help="Only this category.")]
KindOption = Annotated[Many, many("--kind", help="note, entry, memory …")]
TypeOption = Annotated[Many, many("--type", help="Only this type.")]
DomainOption = Annotated[Many, many("--domain", help="Only this domain.")]
SeverityOption = Annotated[Many, many("--severity", help="Only this severity.")]
TagOption = Annotated[Many, many("--tag", help="Only with this tag.")]
MetaOption = Annotated[Many, many("--meta", help="Metadata, key=value.")]
SubjectOption = Annotated[Many, many("--subject", help="Only facts about this IRI.")]
PredicateOption = Annotated[Many, many("--predicate", help="Only facts with this IRI.")]
RdfTypeOption = Annotated[Many, many("--rdf-type", help="Only subjects of this type.")]
SubclassesOption = Annotated[
    bool, typer.Option("--subclasses", help="A --rdf-type stands for its subclasses too.")
]
GraphOption = Annotated[Many, many("--graph", help="Only facts of this graph.")]
ExcludeOption = Annotated[Many, many("--not", help="Leave out, e.g. category=rules.")]
CreatedFromOption = Annotated[str | None, typer.Option(help="Created on or after.")]
CreatedUntilOption = Annotated[str | None, typer.Option(help="Created before.")]
ValidAtOption = Annotated[str | None, typer.Option(help="Valid at this time, not now.")]
AsOfOption = Annotated[str | None, typer.Option(help="As it was then: a date, or DOC@VERSION.")]
IncludeExpiredOption = Annotated[
    bool, typer.Option("--include-expired", help="Also what is no longer valid.")
]
IncludeMemoriesOption = Annotated[bool, typer.Option("--include-memories", help="Also memories.")]
LimitOption = Annotated[int, typer.Option("--limit", "-n", help="Hits, 1 to 1000.")]
ProfileOption = Annotated[
    str | None, typer.Option(help="A profile's name or TOML file.", show_default=False)
]
SetOption = Annotated[Many, many("--set", help="Override: search.fuse.k=30.")]
LegOption = Annotated[Many, many("--leg", help="Only this leg; may be repeated.")]
QueriesOption = Annotated[
    str | None, typer.Option(help="queries_NAME.jsonl of the folder.", show_default=False)
]
QrelsOption = Annotated[
    str | None,
    typer.Option(help="qrels/NAME.tsv of the folder, or a TREC file.", show_default=False),
]
FolderModelOption = Annotated[
    str | None, typer.Option(help="Embed the folder with this model.", show_default=False)
]
