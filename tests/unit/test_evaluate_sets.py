"""What an evaluation starts from: BEIR folders, files of questions, TREC's files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import nDCG

import trivium
from trivium.errors import SourceError
from trivium.evaluate.beir import read_folder
from trivium.evaluate.measures import MEASURES
from trivium.evaluate.questions import read_questions
from trivium.evaluate.trec import read_qrels, read_run, write_qrels, write_run

CORPUS = [
    {"_id": "axe", "title": "Gravewind", "text": "A battle axe of the dwarf king."},
    {"_id": "bow", "title": "", "text": "An elven bow, strung with moonlight."},
]
QUERIES = {"1": "dwarf weapon", "2": "moon bow", "3": "nobody judged this"}
QRELS = {"1": {"axe": 2, "bow": 0}, "2": {"bow": 1}}


def lines(rows: object) -> str:
    assert isinstance(rows, list)
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A BEIR folder of two documents, three queries and a variant with a typo."""
    root = tmp_path / "weapons"
    (root / "qrels").mkdir(parents=True)
    (root / "corpus.jsonl").write_text(lines(CORPUS))
    (root / "queries.jsonl").write_text(
        lines([{"_id": id, "text": text} for id, text in QUERIES.items()])
    )
    (root / "queries_typo.jsonl").write_text(lines([{"_id": "1", "text": "dwarf weapn"}]))
    rows = [f"{q}\t{d}\t{g}\n" for q, grades in QRELS.items() for d, g in grades.items()]
    (root / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    return root


def test_a_folder_is_read_and_queries_without_judgements_are_left_out(folder: Path) -> None:
    found = read_folder(folder)
    assert found.name == "weapons"
    assert [(one.id, one.title) for one in found.documents] == [("axe", "Gravewind"), ("bow", "")]
    assert found.queries == {"1": "dwarf weapon", "2": "moon bow"}
    assert found.judgements == QRELS
    assert found.notes == ("1 queries have no judgements and are left out",)


def test_a_variant_may_hold_fewer_queries_than_the_judgements(folder: Path) -> None:
    found = read_folder(folder, queries="typo")
    assert found.name == "weapons/typo"
    assert found.queries == {"1": "dwarf weapn"}
    assert found.notes == ("1 judged queries are not among the queries",)


def test_what_is_named_alike_belongs_together(folder: Path) -> None:
    (folder / "qrels" / "typo.tsv").write_text("query-id\tcorpus-id\tscore\n1\tbow\t1\n")
    assert read_folder(folder, queries="typo").judgements == {"1": {"bow": 1}}
    assert read_folder(folder, qrels="typo").queries == {"1": "dwarf weapn"}
    assert read_folder(folder, queries="queries_typo.jsonl").queries == {"1": "dwarf weapn"}


def test_judgements_may_be_a_trec_file(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.qrels"
    path.write_text("2 0 axe 1\n2 0 bow 0\n")
    assert read_folder(folder, qrels=str(path)).judgements == {"2": {"axe": 1, "bow": 0}}


def refused(folder: Path, **names: str) -> str:
    with pytest.raises(SourceError) as error:
        read_folder(folder, **names)
    return str(error.value)


def test_a_folder_that_is_not_beir(tmp_path: Path) -> None:
    message = refused(tmp_path)
    assert "is not a BEIR folder" in message
    assert "corpus.jsonl" in message


def test_names_that_are_not_there(folder: Path) -> None:
    message = refused(folder, queries="tpyo")
    assert "has no tpyo.jsonl; choose one of queries.jsonl, queries_typo.jsonl" in message
    assert "qrels has no dev.tsv; choose one of test.tsv" in refused(folder, qrels="dev")
    (folder / "qrels" / "test.tsv").unlink()
    assert "qrels has no test.tsv; put the file there" in refused(folder)


def test_judgements_that_name_unknown_documents(folder: Path) -> None:
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.writelines(f"1\tghost-{number}\t1\n" for number in range(7))
    message = refused(folder)
    assert "documents that do not exist: 'ghost-0', 'ghost-1'" in message
    assert "and 2 more" in message


def test_judgements_that_name_unknown_queries(folder: Path) -> None:
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("77\taxe\t1\n")
    assert "queries that do not exist: '77'" in refused(folder)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", "", "has no documents"),
        ("queries.jsonl", "", "has no queries"),
        ("queries.jsonl", '{"_id": "1", "text": " "}\n', "query '1' has no text"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "no query has a document judged"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\taxe\t0\n", "no query has a document"),
        ("corpus.jsonl", lines([CORPUS[0]]) + "{", "corpus.jsonl, line 2 is not JSON (Expecting"),
        ("queries.jsonl", '\n{"_id": }\n', "line 2 is not JSON (Expecting value, column 9)"),
        ("corpus.jsonl", "[1]\n", "line 1 is not a JSON object"),
        ("corpus.jsonl", '{"_id": "a"}\n', "line 1 has no 'text'"),
        ("corpus.jsonl", lines([CORPUS[0], CORPUS[0]]), "the id 'axe' was given before"),
        ("qrels/test.tsv", "1\taxe\n", "line 1 is not a judgement"),
        ("qrels/test.tsv", "1\taxe\tgood\n", "'good' is not a score"),
        ("qrels/test.tsv", "1\taxe\t0.5\n", "the grade 0.5 is not whole"),
        ("qrels/test.tsv", "1\taxe\tnan\n", "the grade nan is not whole"),
        ("qrels/test.tsv", "1\taxe\t1\n1\taxe\t2\n", "'axe' was judged otherwise before"),
    ],
)
def test_broken_files_say_what_is_wrong(
    folder: Path, file: str, content: str, message: str
) -> None:
    (folder / file).write_text(content)
    assert message in refused(folder)


# --- TREC ----------------------------------------------------------------------------------------


def test_trec_files_come_back_as_they_were(tmp_path: Path) -> None:
    run = {"q1": ["b", "a", "c"], "q2": ["c"]}
    write_run(run, "my run", tmp_path / "one.trec")
    write_qrels(QRELS, tmp_path / "qrels.trec")
    assert read_run(tmp_path / "one.trec") == ("my-run", run)
    assert read_qrels(tmp_path / "qrels.trec") == QRELS


def test_other_tools_read_our_files_in_our_order(tmp_path: Path) -> None:
    judgements = {"q1": {"a": 1, "b": 3, "d": 1}}
    run = {"q1": ["d", "a", "c", "b"]}
    write_run(run, "ours", tmp_path / "one.trec")
    write_qrels(judgements, tmp_path / "qrels.trec")
    qrels: Any = ir_measures.read_trec_qrels  # neither has types
    scored: Any = ir_measures.read_trec_run
    found = ir_measures.calc_aggregate(
        [nDCG @ 10], qrels(str(tmp_path / "qrels.trec")), scored(str(tmp_path / "one.trec"))
    )
    assert found[nDCG @ 10] == pytest.approx(MEASURES["ndcg@10"](run["q1"], judgements["q1"]))


def test_runs_are_ordered_by_score_whatever_their_ranks_say(tmp_path: Path) -> None:
    path = tmp_path / "theirs.trec"
    path.write_text("q1 Q0 a 1 0.5 bm25\nq1 Q0 b 2 2.5 bm25\nq1 Q0 c 3 0.5 bm25\n")
    assert read_run(path) == ("bm25", {"q1": ["b", "c", "a"]})  # of equals the higher id


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no run"),
        ("q1 Q0 a 1\n", "line 1 is not a line of a run"),
        ("q1 Q0 a 1 high t\n", "'high' is not a score"),
        ("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n", "has a document twice"),
    ],
)
def test_broken_runs_say_what_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "broken.trec"
    path.write_text(content)
    with pytest.raises(SourceError, match=message):
        read_run(path)


def test_an_id_with_a_blank_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="holds a blank"):
        write_run({"q1": ["two words"]}, "t", tmp_path / "x.trec")


# --- questions about a library -------------------------------------------------------------------


@pytest.fixture
def library(tmp_path: Path) -> trivium.Library:
    library = trivium.init(tmp_path / "w.trivium", model="none")
    library.add_entries(
        [
            {"id": "axe", "title": "Gravewind", "description": "A battle axe."},
            {"id": "bow", "title": "Moonstring", "description": "An elven bow."},
        ]
    )
    return library


def test_documents_are_named_by_id_number_or_uri(library: trivium.Library, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    judgements = {"1": {"#1": 2}, "2": {"entry:bow": 1, "axe": 0}}
    path.write_text(json.dumps({"queries": QUERIES, "judgements": judgements}))
    with library:
        found = read_questions(path, library)
    assert found.name == "mine"
    assert found.judgements == {"1": {"axe": 2}, "2": {"bow": 1, "axe": 0}}
    assert {(one.id, one.text) for one in found.documents} >= {("axe", "A battle axe.")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "it is not an object"),
        ('{"queries": {}}', "it has no table 'judgements'"),
        ('{"judgements": {}}', "it has no table 'queries'"),
        ('{"queries": {}, "judgements": {}}', "has no queries"),
        ('{"queries": {"1": 2}, "judgements": {}}', "the query '1' is not a text"),
        ('{"queries": {"1": "a"}, "judgements": {"1": ["axe"]}}', "are not a table"),
        ('{"queries": {"1": "a"}, "judgements": {"1": {"axe": true}}}', "is not a whole number"),
        ('{"queries": {"1": "a"}, "judgements": {"1": {"sword": 1}}}', "does not hold: 'sword'"),
        ('{"queries": {"1": "a"}, "judgements": {"2": {"axe": 1}}}', "queries that do not exist"),
    ],
)
def test_broken_questions_say_what_is_wrong(
    library: trivium.Library, tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content)
    with library, pytest.raises(SourceError, match=message):
        read_questions(path, library)
