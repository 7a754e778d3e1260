"""What commands other than `search` report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from trivium.config import Profile
from trivium.ingest.add import AddReport
from trivium.present import to_text, version_json
from trivium.types import Version

MOST_ERRORS = 20


def show_done(sentence: str, data: Mapping[str, object] | None) -> None:
    """One sentence, or the same as JSON."""
    typer.echo(sentence if data is None else to_text(data))


def counted(report: AddReport) -> str:
    """How many of each; "" if nothing happened."""
    skipped = set(report.skipped)
    waiting_for_extra = skipped & {name for name, _ in report.notes}
    counts = {
        "added": len(report.added),
        "updated": len(set(report.updated) - set(report.renamed)),
        "unchanged": len(report.unchanged),
        "renamed": len(report.renamed),
        "removed": len(report.removed),
        "skipped (no text format)": len(skipped - waiting_for_extra),
        "skipped (an extra is missing)": len(waiting_for_extra),
        "failed": len(report.errors),
    }
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def show_add(report: AddReport, *, as_json: bool) -> None:
    if as_json:
        typer.echo(to_text(report.as_json()))
        return
    for name, message in report.notes[:MOST_ERRORS]:
        typer.echo(f"  {name}: {message}", err=True)
    if len(report.notes) > MOST_ERRORS:
        typer.echo(f"  … and {len(report.notes) - MOST_ERRORS} more", err=True)
    for name, message in report.errors[:MOST_ERRORS]:
        shown = message if name in message else f"{name}: {message}"
        typer.echo(f"! {shown}", err=True)
    if len(report.errors) > MOST_ERRORS:
        typer.echo(f"! … and {len(report.errors) - MOST_ERRORS} more", err=True)
    if report.missing:
        many = f"{len(report.missing)} documents" if len(report.missing) > 1 else "1 document"
        typer.echo(f"! the file of {many} is gone; 'trivium add --sync' removes them", err=True)
    if report.model_problem:
        typer.echo(f"! words are searchable, meaning waits: {report.model_problem}", err=True)
    if report.blob_problem:
        typer.echo(f"! kept here, not copied to blob storage: {report.blob_problem}", err=True)
    if report.waiting:
        typer.echo(f"! {report.waiting} texts wait; 'trivium embed' goes on", err=True)
    typer.echo(counted(report) or "found nothing to add")


def show_versions(versions: Sequence[Version], *, as_json: bool) -> None:
    if as_json:
        typer.echo(to_text([version_json(one) for one in versions]))
        return
    for one in versions:
        mark = "*" if one.active else " "
        made = one.made.strftime("%Y-%m-%d %H:%M")
        chunks = f"{one.chunks:>4} chunk{'s' if one.chunks != 1 else ' '}"
        typer.echo(f"{mark} {one.version:>3}  {made}  {chunks}  {one.pipeline}")


def show_profiles(profiles: Sequence[Profile], *, as_json: bool) -> None:
    if as_json:
        data = [
            {"name": one.name, "description": one.description, "legs": list(one.search.legs)}
            for one in profiles
        ]
        typer.echo(to_text(data))
        return
    for one in profiles:
        typer.echo(f"{one.name:<12}{one.description}")


def show_problems(folder: Path | str, problems: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        typer.echo(to_text({"library": str(folder), "ok": not problems, "problems": problems}))
        return
    for problem in problems:
        typer.echo(f"! {problem}")
    if not problems:
        typer.echo(f"{folder} is well")
