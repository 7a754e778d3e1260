"""The commands of `trivium feedback`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from trivium.cli.asked import ProfileOption
from trivium.cli.options import JsonOption, LibraryOption, reach
from trivium.types import Verdict

feedback = typer.Typer(
    name="feedback", help="Say whether what was found was of use.", no_args_is_help=True
)
Names = Annotated[list[str], typer.Argument(help="Ids, #numbers or uris of what was found.")]
QueryOption = Annotated[str, typer.Option(help="The query that found it.", show_default=False)]


@feedback.command()
def accept(
    names: Names, query: QueryOption = "", library: LibraryOption = None, json: JsonOption = False
) -> None:
    """Say that it was what was looked for."""
    _record("accepted", names, query, library, json)


@feedback.command()
def dismiss(
    names: Names, query: QueryOption = "", library: LibraryOption = None, json: JsonOption = False
) -> None:
    """Say that it was not what was looked for."""
    _record("dismissed", names, query, library, json)


@feedback.command()
def modified(
    names: Names, query: QueryOption = "", library: LibraryOption = None, json: JsonOption = False
) -> None:
    """Say that it was of use after a change; counts as half accepted."""
    _record("modified", names, query, library, json)


@feedback.command()
def failed(
    names: Names, query: QueryOption = "", library: LibraryOption = None, json: JsonOption = False
) -> None:
    """Say that it was followed and did not work; kept, but no part of the rate."""
    _record("failed", names, query, library, json)


@feedback.command()
def stats(
    library: LibraryOption = None,
    profile: ProfileOption = None,
    json: JsonOption = False,
) -> None:
    """Show the verdicts so far, and the weights before and after them."""
    from trivium.present import to_text

    with reach(library) as opened:
        data = opened.feedback_stats(profile=profile)
    typer.echo(to_text(data) if json else "\n".join(_lines(data)))


def _record(
    verdict: Verdict, names: list[str], query: str, library: str | None, as_json: bool
) -> None:
    from trivium.cli.reports import show_done

    with reach(library) as opened:
        ids = [one.document for one in opened.feedback(verdict, *names, query=query)]
    data = {"verdict": verdict, "query": query, "documents": ids}
    show_done(f"{verdict}: {', '.join(ids)}", data if as_json else None)


def _lines(data: dict[str, Any]) -> list[str]:
    counts = ", ".join(f"{data[v]} {v}" for v in ("accepted", "dismissed", "modified", "failed"))
    lines = [counts]
    if data.get("unused_by"):
        lines.append(
            f"profile '{data['unused_by']}' has no signals, so judgements change nothing there; "
            f"these are the weights of '{data['profile']}'"
        )
    if data["counted"] < data["needed"]:
        lines.append(f"{data['counted']} of {data['needed']} judgements; weights stay as they are")
    else:
        lines.append(f"rate {data['rate']:.2f}, semantic weight {data['shift']:+.3f}")
    for kind, weights in data["weights"].items():
        lines.append(f"{kind:<16}{'before':>8}{'after':>8}")
        for name, before in weights["before"].items():
            lines.append(f"  {name:<14}{before:>8.3f}{weights['after'][name]:>8.3f}")
    return lines
