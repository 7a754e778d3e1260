"""What a ranking is worth: values worked out by hand, and ir-measures as the oracle."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys

import pytest

from trivium.evaluate.intervals import Bootstrap
from trivium.evaluate.measures import MEASURES, overlap, recall_curve, scores

ORACLE = {
    "ndcg@10": "nDCG@10",
    "recall@10": "R@10",
    "recall@100": "R@100",
    "mrr": "RR",
    "map": "AP",
    "p@1": "P@1",
    "p@5": "P@5",
    "p@10": "P@10",
    "ndcg_exp@10": "nDCG(gains={1:1,2:3,3:7,4:15})@10",
}
"""What ir-measures calls our measures."""

QUERIES = ["q1", "q2", "q3"]
DOCUMENTS = [f"d{number}" for number in range(130)]


def test_every_measure_has_an_oracle() -> None:
    assert list(ORACLE) == list(MEASURES)


def test_one_ranking_by_hand() -> None:
    grades = {"a": 2, "b": 1, "c": 0, "d": 1}
    ranking = ["c", "a", "x", "b"]
    found = {name: measure(ranking, grades) for name, measure in MEASURES.items()}
    gain = 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert found["ndcg@10"] == pytest.approx(gain / ideal)
    assert found["ndcg_exp@10"] == pytest.approx((gain + 1 / math.log2(3)) / (ideal + 1))
    assert found["recall@10"] == pytest.approx(2 / 3)
    assert found["mrr"] == 1 / 2
    assert found["map"] == pytest.approx((1 / 2 + 2 / 4) / 3)
    assert found["p@1"] == 0
    assert found["p@5"] == 2 / 5
    assert found["p@10"] == 2 / 10


def test_nothing_found_and_nothing_to_find_are_worth_nothing() -> None:
    for measure in MEASURES.values():
        assert measure([], {"a": 1}) == 0
        assert measure(["a"], {"a": 0}) == 0
        assert measure(["a"], {}) == 0


def random_case(chance: random.Random) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """A run and its judgements, with empty rankings and queries without a relevant document."""
    run = {q: chance.sample(DOCUMENTS, chance.choice([0, 1, 5, 110])) for q in QUERIES}
    judged = {q: chance.sample(DOCUMENTS, chance.choice([1, 3, 30])) for q in QUERIES}
    highest = chance.choice([0, 1, 4])
    judgements = {q: {id: chance.randint(0, highest) for id in ids} for q, ids in judged.items()}
    return run, judgements


# One measure at a time, with judgements of its own: the oracle maps gains in place, and in some
# orders of its sets other measures are given mapped ones. In a process of its own: under a test
# runner with other native libraries loaded, its native part has been seen to give zeros.
ORACLE_PROGRAM = """
import json, sys
import ir_measures
cases, measures = json.load(sys.stdin)
answers = []
for run, judgements in cases:
    ranked = [(q, id, -float(r)) for q, ids in run.items() for r, id in enumerate(ids)]
    judged = [(q, id, g) for q, given in judgements.items() for id, g in given.items()]
    answer = {}
    for name, text in measures.items():
        scored = [ir_measures.ScoredDoc(*one) for one in ranked]
        qrels = [ir_measures.Qrel(*one) for one in judged]
        values = ir_measures.iter_calc([ir_measures.parse_measure(text)], qrels, scored)
        answer[name] = {one.query_id: one.value for one in values}
    answers.append(answer)
print(json.dumps(answers))
"""


def test_equal_to_ir_measures() -> None:
    chance = random.Random(11)
    cases = [random_case(chance) for _ in range(60)]
    asked = json.dumps([cases, ORACLE])
    answered = subprocess.run(
        [sys.executable, "-c", ORACLE_PROGRAM],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    for (run, judgements), expected in zip(cases, json.loads(answered.stdout), strict=True):
        found = scores(run, judgements, QUERIES)
        for name in MEASURES:
            for query, value in zip(QUERIES, found[name], strict=True):
                assert value == pytest.approx(expected[name].get(query, 0.0), abs=1e-9), name


def test_a_query_without_an_answer_counts_as_zero() -> None:
    found = scores({"q1": ["a"]}, {"q1": {"a": 1}, "q2": {"b": 1}}, ["q1", "q2"])
    assert found["ndcg@10"] == [1.0, 0.0]


def test_the_recall_curve_rises_to_what_was_found() -> None:
    judgements = {"q1": {"a": 1, "b": 1}, "q2": {"c": 2}}
    run = {"q1": ["a", "x", "b"], "q2": ["y", "c"]}
    curve = recall_curve(run, judgements, ["q1", "q2"])
    assert curve[:4] == pytest.approx([0.25, 0.75, 1.0, 1.0])
    assert len(curve) == 100


def test_overlap_counts_every_relevant_document_once() -> None:
    judgements = {"q": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 0}}
    runs = {"keyword": {"q": ["a", "b", "e"]}, "vector": {"q": ["b", "c"]}}
    assert overlap(runs, judgements, ["q"], 10) == {
        (): 1,
        ("keyword",): 1,
        ("vector",): 1,
        ("keyword", "vector"): 1,
    }
    assert overlap(runs, judgements, ["q"], 1)[("keyword", "vector")] == 0


# --- intervals -----------------------------------------------------------------------------------


def test_the_same_scores_give_the_same_interval() -> None:
    values = [0.0, 0.5, 1.0, 0.25] * 10
    first, second = Bootstrap(40).interval(values), Bootstrap(40).interval(values)
    assert first == second
    assert first.mean == pytest.approx(0.4375)
    assert first.low < 0.4375 < first.high


def test_the_interval_is_as_wide_as_theory_says() -> None:
    values = [0.0, 1.0] * 200
    found = Bootstrap(400).interval(values)
    expected = 1.96 * 0.5 / math.sqrt(400)
    assert found.high - found.mean == pytest.approx(expected, rel=0.1)


def test_a_small_difference_on_every_query_is_certain() -> None:
    baseline = [0.0, 0.5, 1.0, 0.25] * 10
    better = [value + 0.01 for value in baseline]
    found = Bootstrap(40).difference(better, baseline)
    assert found.certain
    assert found.mean == pytest.approx(0.01)
    assert found.low == pytest.approx(0.01)
    assert not Bootstrap(40).difference(baseline, baseline).certain
