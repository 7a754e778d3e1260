"""`trivium tune`: settings chosen by judgements, written only if they certainly help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trivium.cli.asked import FolderModelOption, QrelsOption, QueriesOption, SetOption
from trivium.cli.options import JsonOption, LibraryOption, Many, locate
from trivium.errors import InvalidValue, SourceError

if TYPE_CHECKING:
    from trivium.config import Profile
    from trivium.protocols import Progress
    from trivium.tune import Tuning


def tune(
    path: Annotated[
        str | None,
        typer.Argument(
            help="A BEIR folder, or a .json file of queries and judgements about the documents of "
            "a library, as for 'trivium eval'."
        ),
    ] = None,
    feedback: Annotated[
        bool, typer.Option("--feedback", help="Judge by what was accepted and dismissed.")
    ] = False,
    library: LibraryOption = None,
    profile: Annotated[
        str | None, typer.Option(help="The profile to begin with.", show_default=False)
    ] = None,
    settings: SetOption = None,
    queries: QueriesOption = None,
    qrels: QrelsOption = None,
    model: FolderModelOption = None,
    output: Annotated[str, typer.Option(help="The profile to write.")] = "tuned.toml",
    json: JsonOption = False,
) -> None:
    """Choose fusion, weights, depth and fields by judgements; write them only if they help."""
    from trivium.cli.progress import progress_bar

    place = Path(output)
    if place.suffix != ".toml":
        raise InvalidValue(f"a profile is a TOML file; name it {place.stem}.toml, not {output}")
    if place.exists():
        raise InvalidValue(f"{output} exists; choose another with --output")
    if feedback == bool(path):
        raise InvalidValue("give a folder or a file of judgements, or --feedback, and one of them")
    with progress_bar() as progress:
        if path and Path(path).is_dir():
            if library:
                raise InvalidValue("a folder makes a library of its own; leave out --library")
            found = _of_folder(path, profile, settings, queries, qrels, model, progress)
        else:
            given = {"--queries": queries, "--qrels": qrels, "--model": model}
            for name in (name for name, value in given.items() if value):
                raise InvalidValue(f"{name} is for a BEIR folder; leave it out")
            found = _of_library(path, library, profile, settings, progress)
    if found.profile:
        from trivium.tune import write_profile

        heading = f"Made by 'trivium tune' from {found.queries} judged queries: {found.why}."
        write_profile(found.profile, place, heading)
    _show(found, output, as_json=json)


def _of_folder(
    path: str,
    profile: str | None,
    settings: Many,
    queries: str | None,
    qrels: str | None,
    model: str | None,
    progress: Progress,
) -> Tuning:
    from trivium.tune import tune_folder

    return tune_folder(
        path,
        profile=_profile(profile or "default", settings),
        queries=queries,
        qrels=qrels,
        model=model,
        progress=progress,
    )


def _of_library(
    path: str | None, library: str | None, profile: str | None, settings: Many, progress: Progress
) -> Tuning:
    from trivium import opening as libraries
    from trivium.tune import tune_feedback, tune_file

    if path and not Path(path).is_file():
        raise SourceError(f"there is no file or folder {path}; check the path")
    with libraries.open(locate(library)) as opened:
        chosen = _profile(profile or opened.profile_name, settings)
        if path:
            return tune_file(path, opened, profile=chosen, progress=progress)
        return tune_feedback(opened, profile=chosen, progress=progress)


def _profile(name: str, settings: Many) -> Profile:
    from trivium.config import load_profile

    return load_profile(name, settings or ())


def _show(found: Tuning, output: str, *, as_json: bool) -> None:
    if as_json:
        from trivium.present import to_text

        typer.echo(to_text(_json(found, output)))
        return
    typer.echo(f"{found.queries} queries, {found.tried} settings tried, nDCG@10 {found.before:.4f}")
    typer.echo(f"{'keep' if found.keep else 'change'}: {found.why}")
    for change in found.changes:
        typer.echo(f"  {'would change' if found.keep else 'changed'}: {change}")
    if not found.keep:
        typer.echo(f"wrote {output}; use it with --profile {output}")


def _json(found: Tuning, output: str) -> dict[str, Any]:
    return {
        "verdict": "keep" if found.keep else "change",
        "why": found.why,
        "queries": found.queries,
        "tried": found.tried,
        "ndcg@10": round(found.before, 6),
        "held_out": round(found.after, 6),
        "gain": {
            "mean": round(found.gain.mean, 6),
            "low": round(found.gain.low, 6),
            "high": round(found.gain.high, 6),
        },
        "changes": list(found.changes),
        "profile": None if found.keep else output,
    }
