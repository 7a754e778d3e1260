"""`trivium verify`: conflicts among facts, decisions about them, and the proof of the ledger."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trivium.cli.options import JsonOption, LibraryOption, locate

if TYPE_CHECKING:
    from trivium.library.verifying import Decision

verify = typer.Typer(help="Look at conflicts among facts, and decide.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="A verification's id, or the beginning of it.")]
Why = Annotated[str, typer.Option("--why", help="The reason.")]
By = Annotated[str | None, typer.Option("--by", help="Who decides; you.", show_default=False)]
Chosen = Annotated[
    list[int] | None,
    typer.Option("--statement", help="A statement, as 'show' counts them.", show_default=False),
]


@verify.command("list")
def list_open(
    library: LibraryOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what is decided.")] = False,
    json: JsonOption = False,
) -> None:
    """List conflicts that are still open."""
    from trivium import opening as libraries
    from trivium.present import to_text

    with libraries.open(locate(library)) as opened:
        known = [*opened.verifications(), *(opened.settled() if everything else ())]
        found = [one for one in known if everything or one.status == "open"]
        prefixes = opened.prefixes()
    if json:
        typer.echo(to_text([one.as_json() for one in found]))
        return
    from trivium.graph.names import shorten

    for one in found:
        about = shorten(one.anomaly.about, prefixes)
        anomaly = one.anomaly
        typer.echo(f"{one.id}  {anomaly.severity:<8}  {one.status:<10}  {about}: {anomaly.what}")
    if not found:
        typer.echo("no conflicts")


@verify.command()
def show(id: Id, library: LibraryOption = None, json: JsonOption = False) -> None:
    """Show a conflict: its statements, where they were read, and what was decided."""
    from trivium import opening as libraries
    from trivium.present import to_text

    with libraries.open(locate(library)) as opened:
        one = opened.verification(id)
    if json:
        typer.echo(to_text(one.as_json()))
        return
    from trivium.graph.rdf import line

    typer.echo(f"{one.id}  {one.anomaly.kind}, {one.anomaly.severity}, {one.status}")
    typer.echo(f"{one.anomaly.about}: {one.anomaly.what}")
    for number, statement in enumerate(one.anomaly.statements, start=1):
        places = ", ".join(f"{s.uri}@{s.version}" for s in statement.sources)
        typer.echo(f"  {number}. {line(statement.quad)}  [{places}]")
    for entry in one.history:
        why = f": {entry.entry['why']}" if entry.entry.get("why") else ""
        typer.echo(f"  {entry.at}  {entry.entry['action']} by {entry.entry['by']}{why}")


@verify.command()
def accept(
    id: Id, why: Why, by: By = None, library: LibraryOption = None, json: JsonOption = False
) -> None:
    """Accept a conflict: all its statements stay as they are."""
    _decide(id, "accepted", why, by, (), library, json)


@verify.command()
def reject(
    id: Id,
    why: Why,
    statement: Chosen = None,
    by: By = None,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Reject statements of a conflict: they are struck, now and in later imports."""
    _decide(id, "rejected", why, by, statement or (), library, json)


@verify.command()
def supersede(
    id: Id,
    why: Why,
    statement: Chosen = None,
    by: By = None,
    library: LibraryOption = None,
    json: JsonOption = False,
) -> None:
    """Let one statement of a conflict supersede the others, which are struck."""
    _decide(id, "superseded", why, by, statement or (), library, json)


@verify.command()
def audit(
    library: LibraryOption = None,
    expect: Annotated[
        str | None, typer.Option(help="A hash noted earlier, to find in the chain.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Prove that the ledger is unbroken; exit 1 if it is not."""
    from trivium import opening as libraries
    from trivium.present import to_text

    with libraries.open(locate(library)) as opened:
        found = opened.audit(expect=expect)
    if json:
        data = {"entries": found.entries, "head": found.head, "problems": list(found.problems)}
        typer.echo(to_text(data))
    elif found.problems:
        for problem in found.problems:
            typer.echo(f"! {problem}")
    else:
        typer.echo(f"the ledger is unbroken: {found.entries} entries, head {found.head or 'none'}")
    if found.problems:
        raise typer.Exit(1)


def _decide(
    id: str,
    decision: Decision,
    why: str,
    by: str | None,
    statements: Any,
    library: str | None,
    json: bool,
) -> None:
    from trivium import opening as libraries
    from trivium.cli.reports import show_done

    with libraries.open(locate(library)) as opened:
        one = opened.decide(
            id, decision, by=by or getpass.getuser(), why=why, statements=tuple(statements)
        )
    show_done(
        f"{one.id} is {decision}", {"verification": one.id, "status": decision} if json else None
    )
