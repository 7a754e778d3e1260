"""An evaluation: every row measured on one set, and compared with a baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from statistics import median

import numpy as np

from trivium.config import Profile
from trivium.configuration import configuration
from trivium.errors import SourceError, UnknownName, nearest
from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import Bench, bench, built, model_of
from trivium.evaluate.intervals import Bootstrap, Interval
from trivium.evaluate.judged import Judged
from trivium.evaluate.measures import DEPTH, MAIN, MEASURES, Judgements, Run, overlap, scores
from trivium.evaluate.questions import read_questions
from trivium.evaluate.systems import (
    TIMED,
    Answers,
    Kind,
    Skipped,
    Systems,
    every_profile,
    expected_rows,
    of_documents,
)
from trivium.evaluate.trec import read_run
from trivium.library import NO_MODEL, Library
from trivium.protocols import Progress, silent

BASELINE = "keyword"


@dataclass(frozen=True, slots=True)
class Row:
    """One way to answer: its rankings, and what they are worth.

    `scores` has for each measure one value a query, in the order of the evaluation's queries;
    `difference` is that of the main measure to the baseline's, None for the baseline itself.
    """

    name: str
    kind: Kind
    run: Run
    scores: Mapping[str, Sequence[float]]
    interval: Interval
    difference: Interval | None
    ms: tuple[float, ...]

    def mean(self, measure: str) -> float:
        values = self.scores[measure]
        return sum(values) / len(values)

    @property
    def p50_ms(self) -> float | None:
        """The median time of an answer; None where only a file was read."""
        return median(self.ms) if self.ms else None

    @property
    def p95_ms(self) -> float | None:
        return float(np.quantile(self.ms, 0.95)) if self.ms else None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All rows of one set. The same library and set give the same values, but for the times."""

    set: str
    documents: int
    queries: Mapping[str, str]
    judgements: Judgements
    model: str
    baseline: str
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    def row(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    def leg_overlap(self, k: int = DEPTH) -> dict[tuple[str, ...], int]:
        """How many relevant documents were found by which legs among their first k."""
        legs = {row.name: row.run for row in self.rows if row.kind == "leg"}
        return overlap(legs, self.judgements, list(self.queries), k)


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure besides the rows that always are: profiles by name or file, TREC runs."""

    profiles: tuple[str, ...] = ()
    runs: tuple[Path, ...] = ()
    baseline: str = BASELINE
    timed: int = TIMED


NO_OPTIONS = Options()


def evaluate_folder(
    folder: str | Path,
    *,
    queries: str | None = None,
    qrels: str | None = None,
    model: str | None = None,
    options: Options = NO_OPTIONS,
    progress: Progress = silent,
) -> Evaluation:
    """Measure on a BEIR folder; the library it needs is made and kept in the cache folder."""
    judged = read_folder(Path(folder), queries, qrels)
    plan = _plan(judged, options)
    _check_baseline(plan, model_of(model))
    with built(judged.documents, model, progress) as made:
        return _evaluate(made, judged, plan, progress)


def evaluate_file(
    file: str | Path,
    library: Library,
    *,
    options: Options = NO_OPTIONS,
    progress: Progress = silent,
) -> Evaluation:
    """Measure a library by a JSON file of queries and judgements about its documents."""
    judged = read_questions(Path(file), library)
    plan = _plan(judged, options)
    with bench(library) as made:
        return _evaluate(made, judged, plan, progress)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The options, read and checked before any long work."""

    profiles: tuple[Profile, ...]
    runs: tuple[Answers, ...]
    baseline: str
    timed: int


def _plan(judged: Judged, options: Options) -> _Plan:
    profiles = every_profile(options.profiles)
    runs = tuple(_read_run(path, judged) for path in options.runs)
    return _Plan(profiles, runs, options.baseline, options.timed)


def _check_baseline(plan: _Plan, model: str) -> None:
    """Refuse a row that no library of this model can give, before one is made.

    Which legs it serves in truth is known when it is there: `_evaluate` looks again.
    """
    settings = configuration()

    def reranks(profile: Profile) -> bool:
        name = profile.search.rerank.reranker
        return bool(name) and settings.chose("rerankers", name)

    def rows_with(legs: Sequence[str]) -> list[str]:
        fit = [
            one for one in plan.profiles if set(one.search.legs) <= {*legs, *one.search.optional}
        ]
        return _with_runs(expected_rows(legs, fit, reranks), plan)

    every = of_documents("default").search.legs
    legs = [leg for leg in every if leg != "vector" or model != NO_MODEL]
    fewer = (some for count in range(len(legs)) for some in combinations(legs, count + 1))
    if not any(plan.baseline in rows_with(some) for some in fewer):
        raise _no_row(plan.baseline, rows_with(legs))


def _with_runs(names: Sequence[str], plan: _Plan) -> list[str]:
    return numbered([*names, *(run.name for run in plan.runs)])


def _no_row(baseline: str, names: Sequence[str]) -> UnknownName:
    """A run has a dozen rows, so they are all named."""
    hint = nearest(baseline, names)
    return UnknownName(
        f"there is no row '{baseline}' to compare with.{hint} There are: {', '.join(names)}."
    )


def _evaluate(made: Bench, judged: Judged, plan: _Plan, progress: Progress) -> Evaluation:
    made.prepare(list(judged.queries.values()))
    memory = made.memory and made.memory.about(judged.queries)
    systems = Systems(made.library, judged, plan.profiles, plan.timed, progress, memory=memory)
    names = _with_runs(systems.names(), plan)
    if plan.baseline not in names:
        raise _no_row(plan.baseline, names)
    found = [*systems.answers(), *plan.runs]
    answers = distinct([one for one in found if isinstance(one, Answers)])
    return Evaluation(
        set=judged.name,
        documents=len(judged.documents),
        queries=judged.queries,
        judgements=judged.judgements,
        model=made.library.model_name,
        baseline=plan.baseline,
        rows=rows(answers, judged.judgements, list(judged.queries), plan.baseline),
        skipped=tuple(one for one in found if isinstance(one, Skipped)),
        notes=(*judged.notes, *systems.notes),
    )


def distinct(answers: Sequence[Answers]) -> list[Answers]:
    """The same with names that differ."""
    names = numbered([one.name for one in answers])
    return [replace(one, name=name) for one, name in zip(answers, names, strict=True)]


def numbered(names: Sequence[str]) -> list[str]:
    """Names that differ: a run or a profile of a name that is taken gets a number."""
    taken: dict[str, None] = {}
    for given in names:
        name, number = given, 1
        while name in taken:
            number += 1
            name = f"{given} ({number})"
        taken[name] = None
    return list(taken)


def rows(
    answers: Sequence[Answers], judgements: Judgements, queries: Sequence[str], baseline: str
) -> tuple[Row, ...]:
    """Answers, measured and set beside the baseline's."""
    names = [one.name for one in answers]
    if baseline not in names:
        raise _no_row(baseline, names)
    measured = {one.name: scores(one.run, judgements, queries) for one in answers}
    bootstrap = Bootstrap(len(queries))
    standard = measured[baseline][MAIN]
    return tuple(
        Row(
            name=one.name,
            kind=one.kind,
            run=one.run,
            scores=measured[one.name],
            interval=bootstrap.interval(measured[one.name][MAIN]),
            difference=None
            if one.name == baseline
            else bootstrap.difference(measured[one.name][MAIN], standard),
            ms=one.ms,
        )
        for one in answers
    )


def _read_run(path: Path, judged: Judged) -> Answers:
    tag, rankings = read_run(path)
    if not rankings.keys() & judged.queries.keys():
        raise SourceError(
            f"{path} answers none of the queries of {judged.name}; take the run of this set"
        )
    return Answers(tag, "run", {query: ids[:DEPTH] for query, ids in rankings.items()})


def evaluation_json(evaluation: Evaluation) -> dict[str, object]:
    """An evaluation as plain data: means, intervals and times; no rankings."""
    return {
        "set": evaluation.set,
        "documents": evaluation.documents,
        "queries": len(evaluation.queries),
        "judgements": sum(map(len, evaluation.judgements.values())),
        "model": evaluation.model,
        "depth": DEPTH,
        "baseline": evaluation.baseline,
        "rows": [_row_json(row) for row in evaluation.rows],
        "skipped": [{"name": one.name, "reason": one.reason} for one in evaluation.skipped],
        "notes": list(evaluation.notes),
    }


def _row_json(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "kind": row.kind,
        **{name: round(row.mean(name), 6) for name in MEASURES},
        "p50_ms": _rounded(row.p50_ms),
        "p95_ms": _rounded(row.p95_ms),
        "interval": _interval_json(row.interval),
        "difference": _interval_json(row.difference) if row.difference else None,
    }


def _interval_json(interval: Interval) -> dict[str, float]:
    return {
        "mean": round(interval.mean, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
    }


def _rounded(ms: float | None) -> float | None:
    return None if ms is None else round(ms, 3)
