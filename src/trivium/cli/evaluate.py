"""`trivium eval`: measure how well searching works, and show it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.asked import FolderModelOption, QrelsOption, QueriesOption
from trivium.cli.options import JsonOption, LibraryOption, Many, locate, many
from trivium.errors import InvalidValue, SourceError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from trivium.evaluate import Evaluation, Row
    from trivium.evaluate.intervals import Interval

COLUMNS = {
    "ndcg@10": "nDCG@10",
    "recall@10": "R@10",
    "recall@100": "R@100",
    "mrr": "MRR",
    "map": "MAP",
    "p@1": "P@1",
    "p@10": "P@10",
}
TIME = "p50 ms"
MAIN_COLUMN = COLUMNS["ndcg@10"]
DISPENSABLE = ("P@10", "P@1", "MAP", "R@10", "MRR", "R@100", TIME)
"""What a narrow terminal goes without, first what says least beside nDCG@10."""
EVERY_COLUMN = 1000  # wider than any table: how much room it would like to have


def evaluate(
    path: Annotated[
        str,
        typer.Argument(
            help="A BEIR folder (corpus.jsonl, queries.jsonl, qrels/test.tsv), or a .json file "
            "of queries and judgements about the documents of a library."
        ),
    ],
    library: LibraryOption = None,
    queries: QueriesOption = None,
    qrels: QrelsOption = None,
    model: FolderModelOption = None,
    baseline: Annotated[str, typer.Option(help="The row to compare with.")] = "keyword",
    profile: Annotated[Many, many("--profile", help="Also this profile, a TOML file.")] = None,
    run: Annotated[Many, many("--run", help="Also this TREC run; may be repeated.")] = None,
    save: Annotated[
        str | None,
        typer.Option(help="Write all runs and the qrels here, as TREC files.", show_default=False),
    ] = None,
    html: Annotated[
        str | None, typer.Option(help="Write a page with plots here.", show_default=False)
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure how well every leg, fusion and profile answers judged queries."""
    from trivium.cli.progress import progress_bar
    from trivium.evaluate import Options, evaluate_file, evaluate_folder

    if html:
        from trivium.evaluate.page import check_place

        check_place(Path(html))
    options = Options(tuple(profile or ()), tuple(map(Path, run or ())), baseline)
    place = Path(path)
    with progress_bar() as progress:
        if place.is_dir():
            if library:
                raise InvalidValue("a folder makes a library of its own; leave out --library")
            evaluation = evaluate_folder(
                place, queries=queries, qrels=qrels, model=model, options=options, progress=progress
            )
        elif place.is_file():
            given = {"--queries": queries, "--qrels": qrels, "--model": model}
            for name in (name for name, value in given.items() if value):
                raise InvalidValue(f"{name} is for a BEIR folder; leave it out for a file")
            from trivium import opening as libraries

            with libraries.open(locate(library)) as opened:
                evaluation = evaluate_file(place, opened, options=options, progress=progress)
        else:
            raise SourceError(f"there is no file or folder {path}; check the path")
    _write(evaluation, save, html)
    _show(evaluation, as_json=json)


def _write(evaluation: Evaluation, save: str | None, html: str | None) -> None:
    if save:
        from trivium.evaluate.trec import write_qrels, write_run

        write_qrels(evaluation.judgements, Path(save) / "qrels.trec")
        for row in evaluation.rows:
            name = re.sub(r"[^\w.-]+", "-", row.name)
            write_run(row.run, row.name, Path(save) / f"{name}.trec")
        typer.echo(f"wrote {len(evaluation.rows)} runs and the qrels to {save}", err=True)
    if html:
        from trivium.evaluate.page import write_page

        write_page(evaluation, Path(html))
        typer.echo(f"wrote {html}", err=True)


def _show(evaluation: Evaluation, *, as_json: bool) -> None:
    if as_json:
        from trivium.evaluate import evaluation_json
        from trivium.present import to_text

        typer.echo(to_text(evaluation_json(evaluation)))
        return
    from rich.text import Text

    from trivium.cli.render import console

    for note in evaluation.notes:
        typer.echo(f"! {note}", err=True)
    for one in evaluation.skipped:
        typer.echo(f"! without {one.name}: {one.reason}", err=True)
    counts = f"{len(evaluation.queries)} queries, {evaluation.documents} documents"
    out = console()
    out.print(f"{evaluation.set}: {counts}, model {evaluation.model}")
    table, left_out = fitting(evaluation, out)
    out.print(table)
    if left_out:
        names = ", ".join(left_out)
        out.print(Text(f"no room for {names}: widen the terminal, or see --json", "dim"))


def fitting(evaluation: Evaluation, out: Console) -> tuple[Table, list[str]]:
    """The table with as many columns as there is room for, and those that are left out of it.

    The name, the main measure and the difference to the baseline stay, and nothing is ever cut:
    lines that are still too long for the terminal are broken by it.
    """
    from rich.measure import Measurement

    kept = [*COLUMNS.values(), TIME]
    left_out: list[str] = []
    room = out.width if out.is_terminal else EVERY_COLUMN
    while True:
        table = _table(evaluation, kept)
        needed = Measurement.get(out, out.options.update(width=EVERY_COLUMN), table).maximum
        if needed <= room or kept == [MAIN_COLUMN]:
            out.width = max(room, needed)
            return table, [name for name in (*COLUMNS.values(), TIME) if name in left_out]
        left_out.append(next(name for name in DISPENSABLE if name in kept))
        kept.remove(left_out[-1])


def _table(evaluation: Evaluation, kept: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("row", no_wrap=True)
    for name in (*kept, f"nDCG@10 beside {evaluation.baseline}"):
        table.add_column(name, justify="right", no_wrap=True)
    kind = ""
    for row in evaluation.rows:
        if row.kind != kind:
            table.add_section()
            kind = row.kind
        name, values, difference = _cells(row, evaluation)
        table.add_row(name, *(values[column] for column in kept), difference)
    return table


def _cells(row: Row, evaluation: Evaluation) -> tuple[str, dict[str, str], str]:
    """The row's name, what stands in which column, and the difference to the baseline."""
    values = {}
    for name, column in COLUMNS.items():
        best = max(one.mean(name) for one in evaluation.rows)
        text = f"{row.mean(name):.3f}"
        values[column] = f"[bold]{text}[/bold]" if row.mean(name) == best else text
    values[TIME] = "–" if row.p50_ms is None else f"{row.p50_ms:.1f}"
    return row.name.replace("[", r"\["), values, _difference(row.difference)


def _difference(interval: Interval | None) -> str:
    """The difference and its interval; dim where it may be chance."""
    if interval is None:
        return "–"
    text = f"{interval.mean:+.3f}  ({interval.low:+.3f} to {interval.high:+.3f})"
    if not interval.certain:
        return f"[dim]{text}[/dim]"
    return f"[green]{text}[/green]" if interval.mean > 0 else f"[red]{text}[/red]"
