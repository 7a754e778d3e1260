"""`trivium eval` as it is typed: a folder or a file in, a table, JSON, a page and runs out."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from rich.console import Console

from trivium.cli.evaluate import fitting
from trivium.config import profile_names
from trivium.evaluate import Evaluation, Row
from trivium.evaluate.intervals import Interval
from trivium.evaluate.measures import MEASURES

Run = Callable[..., CompletedProcess[str]]

PLACES = {
    "emberfold": ("Emberfold", "The city of smiths lies under the mountain."),
    "quillhaven": ("Quillhaven", "A town of libraries by the sea."),
    "hollowgate": ("Hollowgate", "A gate of two towers guards the bridge of chains."),
}
QUESTIONS = {
    "q1": ("city under the mountain", "emberfold"),
    "q2": ("town by the sea", "quillhaven"),
    "q3": ("hollwgate", "hollowgate"),
}


@pytest.fixture(autouse=True)
def cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return home / "cache"


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """A BEIR folder of three places and three questions, one with a typo."""
    folder = tmp_path / "places"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": id, "title": title, "text": text} for id, (title, text) in PLACES.items()]
    queries = [{"_id": id, "text": text} for id, (text, _) in QUESTIONS.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    rows = "".join(f"{id}\t{wanted}\t1\n" for id, (_, wanted) in QUESTIONS.items())
    (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)
    return folder


def test_a_folder_as_json(run: Run, places: Path) -> None:
    done = run("eval", places, "--model", "hashing", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["set"] == "places"
    assert (data["documents"], data["queries"], data["judgements"]) == (3, 3, 3)
    rows = {row["name"]: row for row in data["rows"]}
    assert {"grep", "keyword", "vector", "trigram", *profile_names()} <= set(rows)
    assert rows["keyword"]["mrr"] == pytest.approx(2 / 3, abs=1e-6)
    assert rows["trigram"]["mrr"] == 1.0
    assert rows["default"]["p50_ms"] > 0
    assert rows["keyword"]["difference"] is None
    assert rows["trigram"]["difference"]["mean"] == pytest.approx(1 / 3, abs=1e-6)


def test_a_folder_as_a_table(run: Run, places: Path) -> None:
    done = run("eval", places, "--model", "hashing", "--baseline", "fts5")
    assert done.returncode == 0, done.stderr
    head, titles, *rows = done.stdout.splitlines()
    assert head == "places: 3 queries, 3 documents, model hashing"
    assert titles.split()[:3] == ["row", "nDCG@10", "R@10"]
    assert "beside fts5" in titles
    assert [row.split()[0] for row in rows][:4] == ["grep", "fts5", "keyword", "vector"]


def made_up(names: Sequence[str]) -> Evaluation:
    values = {name: [0.123456] for name in MEASURES}
    gap = Interval(-0.0167, -0.0315, -0.0043)
    rows = tuple(Row(name, "leg", {}, values, gap, gap, (1234.5,)) for name in names)
    return Evaluation("set", 1, {"q": "axe"}, {"q": {}}, "hashing", "keyword", rows)


def drawn(evaluation: Evaluation, width: int) -> tuple[list[str], list[str]]:
    out = Console(
        file=io.StringIO(), width=width, highlight=False, color_system=None, force_terminal=True
    )
    table, left_out = fitting(evaluation, out)
    out.print(table)
    assert isinstance(out.file, io.StringIO)
    return [line.rstrip() for line in out.file.getvalue().splitlines()], left_out


def test_a_narrow_terminal_loses_columns_but_no_digit() -> None:
    lines, left_out = drawn(made_up(["jicklejime + pefm"]), 80)
    assert lines == [
        "row                nDCG@10  R@100    MRR  p50 ms      nDCG@10 beside keyword",
        "jicklejime + pefm    0.123  0.123  0.123  1234.5  -0.017  (-0.032 to -0.004)",
    ]
    assert left_out == ["R@10", "MAP", "P@1", "P@10"]


@pytest.mark.parametrize("width", [1, 20, 40, 60, 80, 100, 120, 200])
def test_whatever_the_width_names_and_numbers_are_whole(width: int) -> None:
    lines, left_out = drawn(made_up(["default", "a profile with a name of many words"]), width)
    assert "…" not in "".join(lines)
    for line in lines[1:]:
        assert line.split("  ")[0] in ("default", "a profile with a name of many words")
        assert line.count("0.123") == 7 - len([one for one in left_out if one != "p50 ms"])
        assert line.endswith("-0.017  (-0.032 to -0.004)")
    assert (left_out == []) == (width >= 200)


def test_a_page_is_put_into_a_folder_that_exists(run: Run, places: Path, tmp_path: Path) -> None:
    page = tmp_path / "none" / "report.html"
    done = run("eval", places, "--model", "none", "--html", page)
    assert done.returncode == 1
    assert f"there is no folder {page.parent}" in done.stderr
    assert not page.parent.exists()


def test_a_page_and_runs_are_written(run: Run, places: Path, tmp_path: Path) -> None:
    page, runs = tmp_path / "report.html", tmp_path / "runs"
    done = run("eval", places, "--model", "none", "--html", page, "--save", runs, "--json")
    assert done.returncode == 0, done.stderr
    assert f"wrote {page}" in done.stderr
    assert json.loads(done.stdout)["skipped"][0]["name"] == "vector"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (runs / "qrels.trec").read_text().splitlines()[0] == "q1 0 emberfold 1"
    first = (runs / "trigram.trec").read_text().splitlines()[0]
    assert first.split()[:4] == ["q1", "Q0", "emberfold", "1"]
    again = run("eval", places, "--model", "none", "--run", runs / "trigram.trec", "--json")
    rows = {row["name"]: row for row in json.loads(again.stdout)["rows"]}
    assert rows["trigram (2)"]["ndcg@10"] == rows["trigram"]["ndcg@10"]


def test_a_library_is_measured_by_a_file(run: Run, world: Path, tmp_path: Path) -> None:
    questions = {
        "queries": {"a": "poisoned axe", "b": "keeper of the books", "c": "ties"},
        "judgements": {"a": {"#4": 1}, "b": {"notes:places/quillhaven.md": 1}, "c": {"tie-02": 1}},
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(questions))
    done = run("eval", path, "-L", world, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["set"], data["documents"], data["model"]) == ("mine", 6, "hashing")
    rows = {row["name"]: row for row in data["rows"]}
    assert rows["keyword"]["recall@10"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        (["."], "is not a BEIR folder"),
        (["places", "--qrels", "dev"], "has no dev.tsv"),
        (["places", "--model", "gpt"], "There is no model 'gpt'"),
        (["places", "-L", "x.trivium"], "leave out --library"),
        (["places", "--model", "none", "--baseline", "best"], "there is no row 'best'"),
        (["places", "--profile", "none.toml"], "cannot read the profile"),
        (["places", "--run", "none.trec"], "cannot be read"),
        (["mine.json", "--queries", "typo"], "--queries is for a BEIR folder"),
        (["mine.json", "-L", "world.trivium"], "does not hold: 'ghost'"),
        (["mine.json", "-L", "none.trivium"], "holds no library"),
    ],
)
def test_what_cannot_be_measured(
    run: Run, places: Path, world: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "mine.json").write_text(
        '{"queries": {"a": "axe"}, "judgements": {"a": {"ghost": 1}}}'
    )
    done = run("eval", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stdout == ""
