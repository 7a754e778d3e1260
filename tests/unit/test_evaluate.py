"""An evaluation from end to end: every row, on an invented set and on the shared ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from providers import running

import trivium
from trivium.config import Profile, profile_names
from trivium.embed.hashing import Hashing
from trivium.errors import UnknownName
from trivium.evaluate import (
    Evaluation,
    Options,
    evaluate_file,
    evaluate_folder,
    evaluation_json,
)
from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import built
from trivium.evaluate.judged import Judged, Source
from trivium.evaluate.measures import MEASURES, scores
from trivium.evaluate.page import html_page, page_data
from trivium.evaluate.plain import Fts5, Grep
from trivium.evaluate.remember import Remembered, RememberingEmbedder, cache_folder
from trivium.evaluate.running import rows
from trivium.evaluate.systems import Answers, Systems, every_profile
from trivium.evaluate.trec import write_run
from trivium.types import Result

WEAPONS = {
    "axe": ("Gravewind", "A battle axe of the dwarf king, drawn from the first forge."),
    "bow": ("Moonstring", "An elven bow, strung with moonlight."),
    "hammer": ("Stonebreaker", "A war hammer. Dwarf smiths carried the hammer into the deep."),
    "spear": ("Tidepoint", "A spear of the sea people, its point a narwhal tusk."),
    "sword": ("Dawnedge", "A sword that shines at dawn; the king of the dwarfs feared it."),
}
QUESTIONS = {
    "1": ("dwarf king", {"axe": 2, "sword": 1}),
    "2": ("bow", {"bow": 1}),
    "3": ("stonebraker", {"hammer": 1}),
    "4": ("narwhal", {"spear": 1}),
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_set(
    root: Path, documents: Sequence[Source], questions: dict[str, tuple[str, dict[str, int]]]
) -> Path:
    (root / "qrels").mkdir(parents=True)
    corpus = [{"_id": d.id, "title": d.title, "text": d.text} for d in documents]
    queries = [{"_id": id, "text": text} for id, (text, _) in questions.items()]
    qrels = [f"{q}\t{d}\t{g}" for q, (_, grades) in questions.items() for d, g in grades.items()]
    (root / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    (root / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (root / "qrels/test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *qrels]))
    return root


@pytest.fixture
def weapons(tmp_path: Path) -> Path:
    documents = [Source(id, title, text) for id, (title, text) in WEAPONS.items()]
    return write_set(tmp_path / "weapons", documents, QUESTIONS)


# --- rows ----------------------------------------------------------------------------------------


def test_every_way_to_answer_is_a_row(weapons: Path) -> None:
    found = evaluate_folder(weapons, model="hashing")
    assert [row.name for row in found.rows] == [
        *("grep", "fts5", "keyword", "vector", "trigram", "rrf60 plain"),
        *("rrf", "rrf3", "relative3", "dbsf3", "blend3"),
        *profile_names(),
    ]
    assert found.skipped == ()
    assert found.row("keyword").scores["mrr"] == [1.0, 1.0, 0.0, 1.0]
    assert found.row("trigram").scores["mrr"] == [1.0, 1.0, 1.0, 1.0]
    assert found.row("keyword").difference is None
    gap = found.row("trigram").difference
    assert gap is not None
    assert gap.mean == pytest.approx(0.25, abs=0.05)
    assert all(len(row.ms) == 4 and row.p50_ms for row in found.rows if row.name != "grep")


def test_the_json_has_the_keys_that_were_promised(weapons: Path) -> None:
    data = evaluation_json(evaluate_folder(weapons, model="hashing"))
    assert data["set"] == "weapons"
    lines = data["rows"]
    assert isinstance(lines, list)
    by_name = {line["name"]: line for line in lines}
    assert {"keyword", "vector", "trigram", *profile_names()} <= set(by_name)
    for line in lines:
        assert {"name", "ndcg@10", "recall@100", "mrr", "p50_ms"} <= set(line)
        assert set(MEASURES) <= set(line)


def test_the_same_set_gives_the_same_numbers(weapons: Path) -> None:
    def numbers(evaluation: Evaluation) -> list[object]:
        return [(row.name, row.run, row.scores, row.interval) for row in evaluation.rows]

    first = numbers(evaluate_folder(weapons, model="hashing"))
    assert numbers(evaluate_folder(weapons, model="hashing")) == first


def test_without_a_model_rows_that_need_one_are_named(weapons: Path) -> None:
    found = evaluate_folder(weapons, model="none")
    assert "vector" not in {row.name for row in found.rows}
    reasons = {one.name: one.reason for one in found.skipped}
    assert "vector" in reasons
    assert "needs the vector leg" in reasons["allcodex"]
    assert "rrf2" in {row.name for row in found.rows}


def test_ids_are_not_words(tmp_path: Path) -> None:
    documents = [Source("dwarf", "", "A bow."), Source("2", "", "A dwarf.")]
    folder = write_set(tmp_path / "ids", documents, {"1": ("dwarf", {"2": 1})})
    found = evaluate_folder(folder, model="none")
    assert found.row("keyword").run == {"1": ("2",)}
    assert found.row("default").run == {"1": ("2",)}


def test_a_run_of_another_engine_is_a_row(weapons: Path, tmp_path: Path) -> None:
    write_run({"1": ["axe", "sword"], "2": ["bow"]}, "keyword", tmp_path / "theirs.trec")
    options = Options(runs=(tmp_path / "theirs.trec",), baseline="keyword (2)")
    found = evaluate_folder(weapons, model="none", options=options)
    assert found.rows[-1].scores["recall@10"] == [1.0, 1.0, 0.0, 0.0]
    assert found.rows[-1].p50_ms is None
    assert found.row("keyword").difference is not None


def test_a_profile_of_ones_own_is_a_row(weapons: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text('[search]\nlegs = ["keyword"]\nunit = "chunk"\n')
    found = evaluate_folder(weapons, model="none", options=Options(profiles=(str(mine),)))
    assert found.row("mine").scores == found.row("keyword").scores


def test_another_recipe_of_the_model_has_a_library_of_its_own(
    weapons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = read_folder(weapons).documents
    with built(documents, "hashing") as before:
        monkeypatch.setattr("trivium.embed.hashing._RECIPE", "words-2")
        with built(documents, "hashing") as after:
            assert before.library.folder != after.library.folder


def test_the_model_of_the_settings_is_evaluated_under_its_own_name(
    weapons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = tmp_path / "config" / "trivium" / "trivium.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('model = "hashing"\nprofile = "vault"\n')
    with built(read_folder(weapons).documents) as made:
        assert Path(made.library.folder).name.startswith("hashing-")
        assert made.library.profile_name == "default"


def test_paging_finds_what_fusion_gives(weapons: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Profiles with a stage after fusion are paged through; the pages make the same ranking."""
    found = evaluate_folder(weapons, model="hashing")
    monkeypatch.setattr("trivium.evaluate.systems.PAGE", 2)
    whole = read_folder(weapons)
    with built(whole.documents, "hashing") as made:
        made.prepare(list(whole.queries.values()))
        systems = Systems(made.library, whole)
        for profile in every_profile():
            paged = {id: systems._paged(text, profile) for id, text in whole.queries.items()}
            assert paged == found.row(profile.name).run


def test_a_reranker_of_the_settings_gives_a_row_with_and_one_without_it(
    weapons: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = tmp_path / "config" / "trivium" / "trivium.toml"
    settings.parent.mkdir(parents=True)
    with running() as provider:
        settings.write_text(f'[rerankers.pefm]\nkind = "tei"\nurl = "{provider.url}/tei"\n')
        beside = Options(baseline="omnidata + pefm")
        evaluation = evaluate_folder(weapons, model="hashing", options=beside)
    names = [row.name for row in evaluation.rows]
    assert names.count("omnidata") == names.count("omnidata + pefm") == 1
    assert "allcodex + rerank-4-pro" not in names  # only built in: nobody asked for it
    assert {seen.path for seen in provider.seen} == {"/tei/rerank"}


def test_rankings_are_kept_until_something_that_made_them_changes(
    weapons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[tuple[str, str]] = []
    search = Systems._search

    def counting(self: Systems, text: str, profile: Profile, *more: object) -> Result:
        searched.append((text, profile.name))
        return search(self, text, profile, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(Systems, "_search", counting)
    once = Options(timed=1)
    first = evaluate_folder(weapons, model="hashing", options=once)
    asked_at_first = set(searched)
    searched.clear()
    second = evaluate_folder(weapons, model="hashing", options=once)
    assert [row.run for row in second.rows] == [row.run for row in first.rows]
    assert len({text for text, _ in asked_at_first}) == len(QUESTIONS)
    assert {text for text, _ in searched} == {"dwarf king"}, "only the sample whose time is taken"

    searched.clear()
    monkeypatch.setattr("trivium.evaluate.remember.engine", lambda: "another engine")
    evaluate_folder(weapons, model="hashing", options=once)
    assert set(searched) == asked_at_first


def test_a_library_is_left_as_it_was(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        library.add_entries([{"id": "axe", "title": "Gravewind", "description": "A battle axe."}])
        questions = {"queries": {"1": "axe"}, "judgements": {"1": {"axe": 1}}}
        (tmp_path / "mine.json").write_text(json.dumps(questions))
        assert evaluate_file(tmp_path / "mine.json", library).row("default").mean("mrr") == 1
        library.add_text("An elven bow.", title="Moonstring")
        assert library.waiting() == 0
        assert library.search("bow").hits[0].title == "Moonstring"


@pytest.mark.parametrize("baseline", ["nix", "rrf1", "union3", "omnidata + pefm", "vector (2)"])
def test_a_baseline_that_this_run_will_not_have_is_refused_before_it(
    weapons: Path, monkeypatch: pytest.MonkeyPatch, baseline: str
) -> None:
    there = [row.name for row in evaluate_folder(weapons, model="hashing").rows]
    monkeypatch.setattr(Systems, "answers", lambda _: pytest.fail("it was measured"))
    with pytest.raises(UnknownName) as refused:
        evaluate_folder(weapons, model="hashing", options=Options(baseline=baseline))
    assert str(refused.value).endswith(f" There are: {', '.join(there)}.")


def test_a_baseline_that_a_library_without_vectors_lacks_is_refused_before_one_is_made(
    weapons: Path, cache: Path
) -> None:
    with pytest.raises(UnknownName) as refused:
        evaluate_folder(weapons, model="none", options=Options(baseline="rrf60 plain"))
    assert not cache.exists()
    there = [row.name for row in evaluate_folder(weapons, model="none").rows]
    assert str(refused.value).endswith(f" There are: {', '.join(there)}.")


def test_a_baseline_that_is_no_row() -> None:
    answers = [Answers("keyword", "leg", {"q": ["a"]})]
    with pytest.raises(UnknownName, match="Did you mean 'keyword'"):
        rows(answers, {"q": {"a": 1}}, ["q"], "keywords")


# --- what is kept --------------------------------------------------------------------------------


class Counting(Hashing):
    """A model that counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().documents(texts)

    def query(self, text: str) -> NDArray[np.float32]:
        return self.documents([text]).ravel()


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    model = Counting()
    with Remembered(tmp_path / "vectors.db") as vectors:
        remembering = RememberingEmbedder(model, vectors)
        first = remembering.documents(["axe", "bow", "axe"])
        assert model.asked == ["axe", "bow"]
    with Remembered(tmp_path / "vectors.db") as vectors:
        remembering = RememberingEmbedder(model, vectors)
        second = remembering.documents(["axe", "bow", "axe"])
        remembering.documents(["bow", "spear"])
        remembering.prepare(["axe"])
        assert model.asked == ["axe", "bow", "spear", "axe"]  # as a question it is another text
        assert (remembering.query("axe") == first[0]).all()
        assert model.asked[4:] == []
    assert (first == second).all()
    assert (first == Hashing().documents(["axe", "bow", "axe"])).all()


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "vectors.db").write_text("this is no database, and long enough to be seen as none")
    with Remembered(tmp_path / "vectors.db") as vectors:
        assert RememberingEmbedder(Hashing(), vectors).documents(["axe"]).shape == (1, 64)


def test_the_library_is_made_once_for_the_same_documents(weapons: Path, cache: Path) -> None:
    evaluate_folder(weapons, model="hashing")
    assert cache_folder() == cache / "trivium" / "evaluate"
    [made] = (cache_folder() / "libraries").glob("*/*.trivium")
    before = (made / "index.db").stat().st_mtime_ns
    (weapons / "queries.jsonl").write_text('{"_id": "1", "text": "king"}')
    (weapons / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\taxe\t1\n")
    evaluate_folder(weapons, model="hashing")
    assert (made / "index.db").stat().st_mtime_ns == before
    with (weapons / "corpus.jsonl").open("a") as file:
        file.write('\n{"_id": "net", "title": "", "text": "A net."}')
    assert evaluate_folder(weapons, model="hashing").documents == 6
    assert len(list((cache_folder() / "libraries").glob("*/*.trivium"))) == 2


# --- plain parts ---------------------------------------------------------------------------------


def test_grep_counts_words_found_then_how_often() -> None:
    documents = [
        Source("a", "", "axe axe axe"),
        Source("b", "Axe", "and a bow"),
        Source("c", "", "axes"),
        Source("d", "", "nothing"),
    ]
    found = Grep(documents)("the Axe bow")
    assert [candidate.id for candidate in found.candidates] == ["b", "a", "c"]


def test_fts5_takes_any_text() -> None:
    fts5 = Fts5([Source("a", "Axe", 'C++ and "quotes"'), Source("b", "Bow", "Ethan's manager")])
    for query in ("C++", '"quotes', "Ethan's manager", "foo:bar *", "", "AND OR NOT", "_"):
        fts5(query)
    assert {one.id for one in fts5("quotes AND manager").candidates} == {"a", "b"}
    fts5.close()


# --- the page ------------------------------------------------------------------------------------


def test_the_page_needs_nothing_from_outside(weapons: Path) -> None:
    found = evaluate_folder(weapons, model="hashing")
    page = html_page(found)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    assert page.count("<script") == 2
    assert "$" + "data" not in page
    data = page_data(found)
    json.dumps(data)
    assert len(str(data["overlap"])) > 0


def test_a_query_cannot_break_out_of_the_page(weapons: Path) -> None:
    (weapons / "queries.jsonl").write_text(
        json.dumps({"_id": "1", "text": "axe </script><script>alert(1)</script>"})
    )
    (weapons / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n1\taxe\t1\n")
    page = html_page(evaluate_folder(weapons, model="none"))
    assert "alert(1)" in page
    assert "<script>alert" not in page


# --- the shared collections ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ndcg", "recall"),
    [("scifact", 0.690, 0.923), ("cranfield", 0.549, 0.754)],
)
def test_fts5_gives_the_published_baseline(
    data: Path, name: str, ndcg: float, recall: float
) -> None:
    """The table of the collections' README; it counts 2^grade − 1 as gain."""
    found = read_folder(data / name)
    fts5 = Fts5(found.documents)
    run = {
        query: [candidate.id for candidate in fts5(text).candidates]
        for query, text in found.queries.items()
    }
    fts5.close()
    values = scores(run, found.judgements, list(found.queries))
    assert np.mean(values["ndcg_exp@10"]) == pytest.approx(ndcg, abs=0.005)
    assert np.mean(values["recall@100"]) == pytest.approx(recall, abs=0.005)


def part_of(whole: Judged, every: int, root: Path) -> Path:
    """Every so-many-th query of a set, with all documents judged for it and some others."""
    questions = {
        query: (text, dict(whole.judgements[query]))
        for query, text in list(whole.queries.items())[::every]
    }
    wanted = {id for _, grades in questions.values() for id in grades}
    documents = [
        one for place, one in enumerate(whole.documents) if one.id in wanted or place % every == 0
    ]
    return write_set(root, documents, questions)


@pytest.mark.parametrize(
    ("queries", "every", "measured"),
    [
        ("queries", 2, {"keyword": 0.631, "trigram": 0.623, "default": 0.664}),
        ("typo", 4, {"keyword": 0.621, "trigram": 0.991, "default": 0.973}),
        ("join", 4, {"trigram": 0.999, "default": 0.999}),
    ],
)
def test_quality_does_not_fall(
    data: Path, tmp_path: Path, queries: str, every: int, measured: dict[str, float]
) -> None:
    """What was measured before lies within the interval of now, or below it."""
    whole = read_folder(data / "srd51", queries=queries)
    folder = part_of(whole, every, tmp_path / "part")
    found = evaluate_folder(folder, model="static", options=Options(timed=3))
    for name, before in measured.items():
        assert found.row(name).interval.high >= before, name
    gap = found.row("default").difference
    assert gap is not None
    assert gap.high > 0, "all roads together must not lose to words alone"
