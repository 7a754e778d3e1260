"""An evaluation as one page: no requests, everything inside, light and dark."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from pathlib import Path
from string import Template

from trivium.errors import SourceError
from trivium.evaluate.measures import DEPTH, MAIN, MEASURES, recall_curve
from trivium.evaluate.running import Evaluation, Row, evaluation_json

DEPTHS = (10, DEPTH)
"""Where the overlap of the legs is shown: what a person looks at, and all of it."""


def write_page(evaluation: Evaluation, path: Path) -> None:
    """Write the page; `SourceError` where that is not possible."""
    check_place(path)
    try:
        path.write_text(html_page(evaluation), encoding="utf-8")
    except OSError as error:
        raise SourceError(
            f"{path} cannot be written ({error.strerror}); choose another path"
        ) from error


def check_place(path: Path) -> None:
    """`SourceError` where no page can be put: known before anything is measured."""
    if not path.parent.is_dir():
        raise SourceError(f"there is no folder {path.parent} for {path.name}; make it first")
    if path.is_dir():
        raise SourceError(f"{path} is a folder; name the page to write in it")


def html_page(evaluation: Evaluation) -> str:
    """The page as text; what came from outside is data in it, never markup."""
    data = json.dumps(page_data(evaluation), ensure_ascii=False, separators=(",", ":"))
    return Template(_part("report.html")).substitute(
        title=escape(f"{evaluation.set} · trivium eval"),
        css=_part("report.css"),
        js=_part("report.js"),
        data=data.replace("<", "\\u003c"),  # so that no text can end the script it stands in
    )


def page_data(evaluation: Evaluation) -> dict[str, object]:
    """What the plots are drawn from."""
    remarks = [f"{one.name} was left out: {one.reason}" for one in evaluation.skipped]
    return evaluation_json(evaluation) | {
        "queries": [{"id": id, "text": text} for id, text in evaluation.queries.items()],
        "rows": [_row(row, evaluation) for row in evaluation.rows],
        "overlap": {
            str(depth): [
                {"legs": list(legs), "count": count}
                for legs, count in evaluation.leg_overlap(depth).items()
            ]
            for depth in DEPTHS
        },
        "remarks": [*evaluation.notes, *remarks],
    }


def _row(row: Row, evaluation: Evaluation) -> dict[str, object]:
    queries = list(evaluation.queries)
    curve = recall_curve(row.run, evaluation.judgements, queries)
    difference = row.difference
    return {
        "name": row.name,
        "kind": row.kind,
        "means": {name: _short(row.mean(name)) for name in MEASURES},
        "interval": _bounds(row.interval.mean, row.interval.low, row.interval.high),
        "difference": difference and _bounds(difference.mean, difference.low, difference.high),
        "ndcg": [_short(value) for value in row.scores[MAIN]],
        "first": [round(1 / value) if value else 0 for value in row.scores["mrr"]],
        "curve": [_short(value) for value in curve],
        "ms": [round(value, 2) for value in row.ms],
        "p50": row.p50_ms,
        "p95": row.p95_ms,
    }


def _bounds(mean: float, low: float, high: float) -> dict[str, float]:
    return {"mean": _short(mean), "low": _short(low), "high": _short(high)}


def _short(value: float) -> float:
    return round(value, 5)


def _part(name: str) -> str:
    return resources.files("trivium.evaluate").joinpath("report", name).read_text(encoding="utf-8")
