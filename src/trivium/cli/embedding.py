"""`trivium embed`: vectors for what waits, and the change from one model to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trivium.cli.options import JsonOption, LibraryOption, locate
from trivium.errors import InvalidValue

if TYPE_CHECKING:
    from trivium.ingest.queue import EmbedReport
    from trivium.library import Library


def embed(
    library: LibraryOption = None,
    model: Annotated[
        str | None,
        typer.Option(help="Build a new model beside the active one.", show_default=False),
    ] = None,
    use: Annotated[
        bool, typer.Option("--use", help="Make --model the library's when all is embedded.")
    ] = False,
    judgements: Annotated[
        str | None,
        typer.Option(help="With --model: a JSON file of judged queries.", show_default=False),
    ] = None,
    switch: Annotated[
        str | None,
        typer.Option(help="Make a complete model the active one.", show_default=False),
    ] = None,
    drop: Annotated[
        str | None, typer.Option(help="Remove an old model's vectors.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Embed what still waits, or change the model without a pause."""
    from trivium import opening as libraries
    from trivium.cli.progress import progress_bar
    from trivium.cli.reports import show_done

    if sum(value is not None for value in (model, switch, drop)) > 1:
        raise InvalidValue("choose one of --model, --switch and --drop; they are three steps")
    if (judgements or use) and model is None:
        raise InvalidValue("--use and --judgements need --model; name the new model with it")
    with libraries.open(locate(library)) as opened:
        if switch is not None:
            opened.switch_model(switch)
            show_done(f"{switch} is the active model", {"active": switch} if json else None)
            return
        if drop is not None:
            count = opened.drop_model(drop)
            data = {"dropped": drop, "vectors": count} if json else None
            show_done(f"{count} vectors of {drop} are gone", data)
            return
        with progress_bar() as progress:
            report = opened.embed(model=model, progress=progress)
        compared = _compared(opened, model, judgements) if model else {}
        if use and model:
            opened.switch_model(model)
    _show(report, compared, "" if use else model, as_json=json)
    if report.failed:
        raise typer.Exit(1)


def _compared(opened: Library, model: str, judgements: str | None) -> dict[str, Any]:
    """Overlap with the active model and, with judgements, nDCG@10 of both."""
    if opened.model_name == model:
        return {}
    likeness = opened.compare_models(model)
    data: dict[str, Any] = {
        "active": likeness.old,
        "overlap": round(likeness.overlap, 4),
        "queries": likeness.queries,
    }
    if judgements:
        from trivium.evaluate.measures import ndcg
        from trivium.evaluate.questions import read_questions

        judged = read_questions(Path(judgements), opened)
        means = []
        for name in (None, model):
            ranked = opened.rankings(judged.queries, model=name)
            scores = [ndcg(ranked[id], judged.judgements[id], 10) for id in judged.queries]
            means.append(sum(scores) / len(scores))
        data["ndcg"] = [round(mean, 4) for mean in means]
    return data


def _show(
    report: EmbedReport, compared: dict[str, Any], model: str | None, *, as_json: bool
) -> None:
    from trivium.present import to_text

    if as_json:
        failed = [{"chunk": chunk, "problem": why} for chunk, why in report.failed]
        data = {"model": report.model, "embedded": report.embedded, "waiting": report.waiting}
        typer.echo(to_text({**data, "failed": failed, **compared}))
        return
    for chunk, why in report.failed[:20]:
        typer.echo(f"! {chunk}: {why}", err=True)
    if report.waiting:
        typer.echo(f"! {report.waiting} texts wait; 'trivium embed' tries again", err=True)
    typer.echo(f"embedded {report.embedded} texts")
    if compared:
        share, count = compared["overlap"], compared["queries"]
        typer.echo(f"overlap@10 with {compared['active']}: {share:.0%} over {count} queries")
    if "ndcg" in compared:
        old, new = compared["ndcg"]
        typer.echo(f"nDCG@10: {old:.3f} with {compared['active']}, {new:.3f} with {report.model}")
    if compared and model and not report.waiting:
        typer.echo(f"'trivium embed --switch {model}' makes it the active model")
