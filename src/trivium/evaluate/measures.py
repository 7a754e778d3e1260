"""What a ranking is worth: the measures of the field, equal to trec_eval's to the last bit shown.

A document is relevant when its grade is above 0; what nobody judged counts as not relevant. A
query without a relevant document scores 0, as trec_eval has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import TypeAlias

Grades: TypeAlias = Mapping[str, int]
"""The judged documents of one query, each with its grade."""
Judgements: TypeAlias = Mapping[str, Grades]
Run: TypeAlias = Mapping[str, Sequence[str]]
"""For each query the ids of documents, best first, none twice."""
Measure: TypeAlias = Callable[[Sequence[str], Grades], float]

DEPTH = 100
"""Documents of a ranking that are looked at: what recall@100 needs."""


def ndcg(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """Discounted gain of the first k beside the best possible; the gain is the grade itself."""
    return _ndcg(ranking, grades, k, float)


def ndcg_exponential(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The same with 2^grade − 1 as gain: high grades count for far more than low ones."""
    return _ndcg(ranking, grades, k, lambda grade: 2.0**grade - 1)


def _ndcg(ranking: Sequence[str], grades: Grades, k: int, gain: Callable[[int], float]) -> float:
    found = [gain(max(grades.get(id, 0), 0)) for id in ranking[:k]]
    ideal = sorted((gain(grade) for grade in grades.values() if grade > 0), reverse=True)[:k]
    return _discounted(found) / _discounted(ideal) if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The share of the relevant documents that stand among the first k."""
    wanted = relevant(grades)
    return len(wanted.intersection(ranking[:k])) / len(wanted) if wanted else 0.0


def precision(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The share of relevant documents in the first k places, empty places counted."""
    return len(relevant(grades).intersection(ranking[:k])) / k


def reciprocal_rank(ranking: Sequence[str], grades: Grades) -> float:
    """1 / the rank of the first relevant document."""
    return next((1 / rank for rank, id in enumerate(ranking, 1) if grades.get(id, 0) > 0), 0.0)


def average_precision(ranking: Sequence[str], grades: Grades) -> float:
    """The mean over all relevant documents of the precision at the rank where each stands."""
    wanted = relevant(grades)
    found, total = 0, 0.0
    for rank, id in enumerate(ranking, start=1):
        if id in wanted:
            found += 1
            total += found / rank
    return total / len(wanted) if wanted else 0.0


def relevant(grades: Grades) -> set[str]:
    return {id for id, grade in grades.items() if grade > 0}


MEASURES: Mapping[str, Measure] = {
    "ndcg@10": partial(ndcg, k=10),
    "recall@10": partial(recall, k=10),
    "recall@100": partial(recall, k=100),
    "mrr": reciprocal_rank,
    "map": average_precision,
    "p@1": partial(precision, k=1),
    "p@5": partial(precision, k=5),
    "p@10": partial(precision, k=10),
    "ndcg_exp@10": partial(ndcg_exponential, k=10),
}
"""Every measure that is reported, under the name it is reported by."""

MAIN = "ndcg@10"
"""The measure that rows are compared by."""


def scores(run: Run, judgements: Judgements, queries: Sequence[str]) -> dict[str, list[float]]:
    """Each measure's value for each of the queries; a query that the run lacks scores 0."""
    return {
        name: [measure(run.get(query, ()), judgements[query]) for query in queries]
        for name, measure in MEASURES.items()
    }


def recall_curve(run: Run, judgements: Judgements, queries: Sequence[str]) -> list[float]:
    """Mean recall at each depth from 1 to `DEPTH`."""
    total = [0.0] * DEPTH
    for query in queries:
        wanted = relevant(judgements[query])
        for place, id in enumerate(run.get(query, ())[:DEPTH]):
            if id in wanted:
                total[place] += 1 / len(wanted)
    curve, sofar = [], 0.0
    for step in total:
        sofar += step
        curve.append(sofar / len(queries))
    return curve


def overlap(
    runs: Mapping[str, Run], judgements: Judgements, queries: Sequence[str], k: int
) -> dict[tuple[str, ...], int]:
    """How many relevant documents each set of runs, and no other run, has among its first k.

    Every combination is a key, also the empty one: what none of them found.
    """
    names = list(runs)
    counts = {chosen: 0 for size in range(len(names) + 1) for chosen in combinations(names, size)}
    for query in queries:
        found = {name: set(run.get(query, ())[:k]) for name, run in runs.items()}
        for id in relevant(judgements[query]):
            counts[tuple(name for name in names if id in found[name])] += 1
    return counts
