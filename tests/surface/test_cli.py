"""The command line: each command does what it says, on the right stream, with the right exit code.

The command runs in this process; only what needs a fresh one (the installed script, a real model,
a broken pipe) starts one.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import trivium

Run = Callable[..., CompletedProcess[str]]


def titles(answer: CompletedProcess[str]) -> list[str]:
    """The titles of a `--json` answer, in order."""
    assert answer.returncode == 0, answer.stderr
    data = json.loads(answer.stdout)
    return [one["title"] for one in (data["hits"] if isinstance(data, dict) else data)]


def hits(answer: CompletedProcess[str]) -> list[dict[str, Any]]:
    assert answer.returncode == 0, answer.stderr
    found: list[dict[str, Any]] = json.loads(answer.stdout)["hits"]
    return found


class TestFilling:
    def test_init_makes_an_empty_library(self, run: Run, tmp_path: Path) -> None:
        made = run("init", "new.trivium", "--model", "none")
        assert (made.returncode, made.stderr) == (0, "")
        assert made.stdout == "made new.trivium (profile default, model none)\n"
        assert json.loads(run("list", "-L", "new.trivium", "--json").stdout) == []
        assert (tmp_path / "new.trivium" / "library.toml").is_file()

    def test_a_folder_goes_in_with_everything_below_it(self, run: Run, notes: Path) -> None:
        run("init", "w.trivium", "--model", "none")
        added = run("add", notes, "-L", "w.trivium")
        assert (added.returncode, added.stdout, added.stderr) == (0, "6 added\n", "")
        listed = json.loads(run("list", "-L", "w.trivium", "--json").stdout)
        assert sorted(one["uri"] for one in listed) == [
            "entry:clock-01",
            "entry:tie-02",
            "notes:places/emberfold.md",
            "notes:places/hidden/vole.md",
            "notes:places/quillhaven.md",
            "notes:rules/combat.md",
        ]

    def test_one_file_goes_in(self, run: Run, notes: Path) -> None:
        run("init", "w.trivium", "--model", "none")
        assert run("add", notes / "rules" / "combat.md").stdout == "1 added\n"
        assert titles(run("list", "--json")) == ["Combat"]

    def test_a_file_of_entries_goes_in_with_all_its_fields(self, run: Run, notes: Path) -> None:
        run("init", "w.trivium", "--model", "none")
        assert run("add", notes / "entries.json").stdout == "2 added\n"
        [clock] = json.loads(run("get", "clock-01", "--json").stdout)
        assert clock["text"] == "Code that asks for the time cannot be tested; pass it the time."
        assert (clock["kind"], clock["type"], clock["domain"], clock["severity"]) == (
            "entry",
            "rule",
            "testing",
            "warning",
        )

    def test_what_is_there_already_stays_as_it_is(self, run: Run, world: Path, notes: Path) -> None:
        assert run("add", notes).stdout == "6 unchanged\n"
        (notes / "rules" / "combat.md").write_text("An axe does nine points now.")
        assert run("add", notes).stdout == "1 updated, 5 unchanged\n"

    def test_reprocess_makes_a_version_of_the_same_text(
        self, run: Run, world: Path, notes: Path
    ) -> None:
        combat = notes / "rules" / "combat.md"
        assert run("add", combat, "--reprocess").stdout == "1 updated\n"
        versions = json.loads(run("versions", "#6", "--json").stdout)
        assert [(one["version"], one["active"]) for one in versions] == [(1, False), (2, True)]

    def test_the_report_is_there_as_json(self, run: Run, world: Path, notes: Path) -> None:
        report = json.loads(run("add", notes / "entries.json", "--json").stdout)
        assert report == {
            "added": [],
            "updated": [],
            "unchanged": ["clock-01", "tie-02"],
            "renamed": [],
            "missing": [],
            "removed": [],
            "skipped": [],
            "errors": [],
            "notes": [],
            "waiting": 0,
            "model_problem": "",
            "blob_problem": "",
        }

    def test_flags_win_over_what_the_source_says(self, run: Run, notes: Path) -> None:
        run("init", "w.trivium", "--model", "none")
        vole = notes / "places" / "hidden" / "vole.md"
        run("add", vole, "--scope", "players", "--category", "people", "--tag", "villain")
        [one] = json.loads(run("list", "--json").stdout)
        assert (one["scope"], one["category"], one["tags"]) == (
            "players",
            "people",
            ["poison", "villain"],
        )

    def test_a_file_and_then_its_folder_is_stored_once(self, run: Run, notes: Path) -> None:
        run("init", "w.trivium", "--model", "none")
        run("add", notes / "places")
        assert run("add", notes).stdout == "3 added, 3 unchanged\n"
        assert len(json.loads(run("list", "--json").stdout)) == 6

    def test_words_are_there_before_meaning_and_embed_catches_up(
        self, run: Run, notes: Path
    ) -> None:
        run("init", "w.trivium", "--model", "hashing")
        assert run("add", notes, "--no-embed").stdout == "6 added\n"
        before = run("search", "gravewind", "--json")
        assert titles(before) == ["Emberfold"]
        assert json.loads(before.stdout)["warnings"] == [
            "vector: 8 chunks wait for their vector; 'trivium embed' makes it"
        ]
        assert run("embed").stdout == "embedded 8 texts\n"
        assert run("embed").stdout == "embedded 0 texts\n"
        assert json.loads(run("search", "gravewind", "--json").stdout)["warnings"] == []


class TestSearch:
    def test_the_table_shows_what_a_reader_needs(self, run: Run, world: Path) -> None:
        shown = run("search", "battle axe", "-n", "1", "--leg", "keyword")
        first, place, snippet, parts = (line.strip() for line in shown.stdout.splitlines()[:4])
        rank, title_and_heading, score = first[0], first[2:-8], first[-6:]
        assert (rank, title_and_heading) == ("1", "Emberfold  The nine forges")
        assert float(score) > 0
        assert place == "notes:places/emberfold.md · places · #3"
        assert snippet == (
            "The nine forges Hedda drew the battle axe Gravewind from the first forge "
            "in the year of the long frost."
        )
        assert parts == f"keyword {score} (#1)"

    def test_the_last_line_counts_hits_legs_and_time(self, run: Run, world: Path) -> None:
        last = run("search", "axe", "-n", "1", "--leg", "keyword").stdout.splitlines()[-1]
        assert last.startswith("1 of 3 · 3 with a word of the query · keyword 3 · ")
        assert last.endswith(" ms")

    def test_json_has_the_keys_of_the_design_and_no_others(self, run: Run, world: Path) -> None:
        answer = json.loads(run("search", "battle axe", "--json").stdout)
        assert list(answer) == [
            *("query", "profile", "score_kind", "took_ms", "total", "matched"),
            *("legs", "degraded", "warnings", "confidence", "ambiguous", "hits", "next_cursor"),
        ]
        assert list(answer["legs"][0]) == ["name", "state", "candidates", "ms"]
        hit = answer["hits"][0]
        assert list(hit) == [
            *("rank", "id", "chunk", "score", "kind", "title", "heading", "pages"),
            *("type", "domain", "severity", "tags", "tier", "freshness", "verifications"),
            *("snippet", "highlights", "tokens", "document", "parts"),
        ]
        assert list(hit["highlights"][0]) == ["leg", "start", "end"]
        assert list(hit["document"]) == ["id", "number", "uri", "category", "scope", "version"]
        assert list(hit["parts"][0]) == [
            *("stage", "name", "rank", "value", "weight", "contribution")
        ]

    def test_json_says_where_a_hit_comes_from(self, run: Run, world: Path) -> None:
        hit = hits(run("search", "battle axe", "--json"))[0]
        assert hit["document"] == {
            "id": hit["id"],
            "number": 3,
            "uri": "notes:places/emberfold.md",
            "category": "places",
            "scope": "all",
            "version": 1,
        }
        assert hit["chunk"] == f"{hit['id']}@1/1"
        assert hit["heading"] == "The nine forges"
        assert hit["tags"] == ["forge", "dwarves"]

    def test_highlights_cut_the_words_out_of_the_snippet(self, run: Run, world: Path) -> None:
        hit = hits(run("search", "battle forges", "--json"))[0]
        marked = [
            hit["snippet"][mark["start"] : mark["end"]]
            for mark in hit["highlights"]
            if mark["leg"] == "keyword"
        ]
        assert marked == ["forges", "battle", "forge"]

    def test_highlights_count_characters_not_bytes(self, run: Run, world: Path) -> None:
        with trivium.open(world) as library:
            library.add_text("🐉 naïve Тролль ест пирог", title="Zoo")
        hit = hits(run("search", "пирог", "--json", "--leg", "keyword"))[0]
        [mark] = hit["highlights"]
        assert hit["snippet"][mark["start"] : mark["end"]] == "пирог"

    def test_a_long_text_is_shown_around_the_words(self, run: Run, world: Path) -> None:
        with trivium.open(world) as library:
            library.add_text("Dull words. " * 30 + "A heron waits. " + "More. " * 40, title="Long")
        hit = hits(run("search", "heron", "--json", "--leg", "keyword"))[0]
        [mark] = hit["highlights"]
        assert hit["snippet"][mark["start"] : mark["end"]] == "heron"
        assert hit["snippet"].startswith("… ")
        assert hit["snippet"].endswith(" …")
        assert len(hit["snippet"]) <= 244

    def test_explain_shows_rank_value_weight_and_share_of_every_part(
        self, run: Run, world: Path
    ) -> None:
        shown = run("search", "battle axe", "-n", "1", "--explain").stdout
        hit = hits(run("search", "battle axe", "-n", "1", "--json"))[0]
        names = [part["name"] for part in hit["parts"]]
        assert names == ["keyword", "vector", "trigram", "likeness"]
        for part in hit["parts"]:
            row = next(line for line in shown.splitlines() if line.split()[:1] == [part["name"]])
            rank = [f"#{part['rank']}"] if part["rank"] else []  # likeness ranks nothing
            assert row.split() == [
                *(part["name"], *rank, "value", f"{part['value']:.4f}"),
                *("weight", f"{part['weight']:g}", "gives", f"{part['contribution']:.4f}"),
            ]

    @pytest.mark.parametrize("method", ["rrf", "union", "relative", "dbsf", "blend"])
    @pytest.mark.parametrize("query", ["battle axe", "sea", "axe doctor library", "graveind"])
    def test_the_parts_of_every_hit_sum_to_its_score(
        self, run: Run, world: Path, query: str, method: str
    ) -> None:
        found = hits(run("search", query, "--json", "--set", f"search.fuse.method={method}"))
        assert found
        for hit in found:
            assert hit["score"] == math.fsum(part["contribution"] for part in hit["parts"])

    def test_full_mode_carries_the_whole_text(self, run: Run, world: Path) -> None:
        with trivium.open(world) as library:
            library.add_text("First line.\n" + "Filler words. " * 50 + "Last line.", title="Long")
        scan = hits(run("search", "long filler", "-n", "1", "--json"))[0]
        full = hits(run("search", "long filler", "-n", "1", "--json", "--mode", "full"))[0]
        assert "text" not in scan
        assert full["text"] == "First line.\n" + "Filler words. " * 50 + "Last line."
        assert full["fields"]["title"] == "Long"
        assert {name: full[name] for name in scan} == scan
        assert "Last line." in run("search", "filler", "-n", "1", "--mode", "full").stdout

    def test_fifty_asked_for_gives_fifty(self, run: Run, tmp_path: Path) -> None:
        with trivium.init(tmp_path / "many.trivium", model="none") as library:
            library.add_entries(
                {"id": f"e{n:02}", "title": f"Goblin {n}", "description": "A goblin in a hall."}
                for n in range(60)
            )
        assert len(hits(run("search", "goblin", "-n", "50", "--json"))) == 50
        assert len(hits(run("search", "goblin", "-n", "1000", "--json"))) == 60
        assert len(hits(run("search", "goblin", "--json"))) == 10

    def test_several_words_need_no_quotes(self, run: Run, world: Path) -> None:
        bare = json.loads(run("search", "battle", "axe", "--json").stdout)
        quoted = json.loads(run("search", "battle axe", "--json").stdout)
        assert bare["query"] == "battle axe"
        assert bare["hits"] == quoted["hits"]

    def test_what_begins_with_a_dash_goes_behind_two(self, run: Run, world: Path) -> None:
        assert json.loads(run("search", "--json", "--", "-n", "axe").stdout)["query"] == "-n axe"

    def test_only_the_legs_asked_for_run(self, run: Run, world: Path) -> None:
        answer = json.loads(run("search", "axe", "--leg", "trigram", "--json").stdout)
        assert [(leg["name"], leg["state"]) for leg in answer["legs"]] == [("trigram", "ok")]

    def test_nothing_found_is_an_answer(self, run: Run, world: Path) -> None:
        answer = run("search", "xylophone", "--leg", "keyword")
        assert answer.returncode == 0
        assert answer.stdout.startswith("Nothing found.\n")

    def test_a_filter_without_a_query_browses_in_the_order_of_ids(
        self, run: Run, world: Path
    ) -> None:
        found = hits(run("search", "--kind", "entry", "--json"))
        assert [(hit["id"], hit["score"]) for hit in found] == [("clock-01", 0.0), ("tie-02", 0.0)]

    def test_the_same_question_gives_the_same_bytes(self, run: Run, world: Path) -> None:
        def answer() -> dict[str, Any]:
            data: dict[str, Any] = json.loads(run("search", "axe", "--json").stdout)
            data["took_ms"] = 0
            for leg in data["legs"]:
                leg["ms"] = 0
            return data

        assert answer() == answer()


class TestFilters:
    """All of the world holds four notes; three of them speak of an axe."""

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ("", ["Combat", "Emberfold", "Vole's cellar"]),
            ("--scope dm-only", ["Vole's cellar"]),
            ("--scope all", ["Combat", "Emberfold"]),
            ("--scope all --scope dm-only", ["Combat", "Emberfold", "Vole's cellar"]),
            ("--source #3", ["Emberfold"]),
            ("--source combat.md", ["Combat"]),
            ("--source combat.md --source vole.md", ["Combat", "Vole's cellar"]),
            ("--source places/*", ["Emberfold", "Vole's cellar"]),
            ("--source *.md", ["Combat", "Emberfold", "Vole's cellar"]),
            ("--source notes", ["Combat", "Emberfold", "Vole's cellar"]),
            ("--source notes:rules/combat.md", ["Combat"]),
            ("--source nowhere.md", []),
            ("--category rules", ["Combat"]),
            ("--category places --category rules", ["Combat", "Emberfold", "Vole's cellar"]),
            ("--category places --scope all", ["Emberfold"]),
            ("--tag forge", ["Emberfold"]),
            ("--tag forge --tag poison", ["Emberfold", "Vole's cellar"]),
            ("--kind entry", []),
            ("--not category=rules", ["Emberfold", "Vole's cellar"]),
            ("--not category=rules --not tag=forge", ["Vole's cellar"]),
            ("--not scope=dm-only", ["Combat", "Emberfold"]),
            ("--not source=#3", ["Combat", "Vole's cellar"]),
            ("--meta region=north", ["Emberfold"]),
            ("--meta floors=9", ["Emberfold"]),
            ("--meta region=north --meta floors=2", []),
            ("--created-from 2024-11-11", ["Vole's cellar"]),
            ("--created-until 2024-05-31", ["Combat"]),
            ("--created-from 2024-05-31 --created-until 2024-11-11", ["Emberfold"]),
        ],
    )
    def test_each_flag_leaves_what_it_says(
        self, run: Run, world: Path, flags: str, expected: list[str]
    ) -> None:
        answer = run("search", "axe", "--leg", "keyword", "--json", *flags.split())
        assert sorted(titles(answer)) == expected
        assert json.loads(answer.stdout)["total"] == len(expected)

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ("--type rule", ["Hand the clock in"]),
            ("--domain ranking", ["Break ties by id"]),
            ("--severity warning", ["Hand the clock in"]),
            ("--severity warning --domain ranking", []),
            ("--kind entry --not type=rule", ["Break ties by id"]),
        ],
    )
    def test_entries_have_dimensions_of_their_own(
        self, run: Run, world: Path, flags: str, expected: list[str]
    ) -> None:
        assert titles(run("search", "id time", "--json", *flags.split())) == expected

    def test_a_filter_holds_for_every_leg(self, run: Run, world: Path) -> None:
        for leg in ("keyword", "vector", "trigram"):
            found = titles(run("search", "axe", "--leg", leg, "--category", "rules", "--json"))
            assert found == ["Combat"]

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ("--category rules", ["Combat"]),
            ("--scope dm-only", ["Vole's cellar"]),
            ("--kind entry", ["Hand the clock in", "Break ties by id"]),
            ("--source places/*.md --scope all", ["Emberfold", "Quillhaven"]),
            ("--tag books", ["Quillhaven"]),
            ("-n 2", ["Combat", "Vole's cellar"]),
        ],
    )
    def test_list_takes_filters_too(
        self, run: Run, world: Path, flags: str, expected: list[str]
    ) -> None:
        assert titles(run("list", "--json", *flags.split())) == expected


class TestReading:
    def test_a_document_is_named_by_id_number_or_uri(self, run: Run, world: Path) -> None:
        [by_number] = json.loads(run("get", "#6", "--json").stdout)
        for name in (by_number["id"], "notes:rules/combat.md"):
            assert json.loads(run("get", name, "--json").stdout) == [by_number]
        assert by_number["text"].strip() == (
            "An axe does eight points of damage. A short sword does six."
        )

    def test_a_chunk_is_named_by_its_id(self, run: Run, world: Path) -> None:
        hit = hits(run("search", "gravewind", "--leg", "keyword", "--json"))[0]
        [chunk] = json.loads(run("get", hit["chunk"], "--json").stdout)
        assert [one["id"] for one in chunk["chunks"]] == [hit["chunk"]]
        assert chunk["text"] == (
            "## The nine forges\n\nHedda drew the battle axe Gravewind from the first forge "
            "in the year of the long frost."
        )

    def test_several_come_in_the_order_asked_for(self, run: Run, world: Path) -> None:
        assert titles(run("get", "tie-02", "#3", "clock-01", "--json")) == [
            "Break ties by id",
            "Emberfold",
            "Hand the clock in",
        ]

    def test_the_text_arrives_as_it_was_written(self, run: Run, tmp_path: Path) -> None:
        text = "one\ttab, [bold]no markup[/bold], and a line of " + "many words " * 30
        with trivium.init(tmp_path / "w.trivium", model="none") as library:
            library.add_text(text, title="Raw")
        assert run("get", "Raw").stdout.splitlines()[2] == text

    def test_what_a_document_says_is_neither_markup_nor_a_command_to_the_terminal(
        self, run: Run, tmp_path: Path
    ) -> None:
        with trivium.init(tmp_path / "w.trivium", model="none") as library:
            library.add_text("An \x1b[31m axe\x07 [[link]].", title="[/red] \x1b[2J", id="[x]")
        assert run("list").stdout.splitlines()[1].split()[:4] == ["1", "[x]", "[/red]", "\ufffd[2J"]
        found = run("search", "axe")
        assert found.stdout.startswith("  1 [/red] \ufffd[2J  0.")
        assert "An \ufffd[31m axe\ufffd [[link]]." in found.stdout
        assert run("get", "[x]").stdout.splitlines()[2] == "An \x1b[31m axe\x07 [[link]]."

    def test_a_long_name_is_not_broken_in_a_pipe(self, run: Run, tmp_path: Path) -> None:
        with trivium.init(tmp_path / "w.trivium", model="none") as library:
            library.add_text("words", title="A title of many words " * 8, id="x" * 90)
        [_, line] = run("list").stdout.splitlines()
        assert "x" * 90 in line
        assert line.split()[0] == "1"


class TestLookingAfter:
    def test_remove_takes_documents_out_with_all_versions(self, run: Run, world: Path) -> None:
        assert run("remove", "#6", "tie-02").stdout == "removed 2 documents\n"
        assert titles(run("search", "damage", "--leg", "keyword", "--json")) == []
        assert run("get", "#6").returncode == 1
        assert run("doctor").returncode == 0

    def test_versions_and_rollback(self, run: Run, world: Path, notes: Path) -> None:
        combat = notes / "rules" / "combat.md"
        combat.write_text("---\ntitle: Combat\n---\nA halberd does ten points of damage.")
        run("add", combat)
        first, second = run("versions", "#6").stdout.splitlines()
        assert first.startswith("    1  ")
        assert second.startswith("*   2  ")
        assert titles(run("search", "halberd", "--leg", "keyword", "--json")) == ["Combat"]

        assert run("rollback", "#6", "1").stdout == "#6 is at version 1 again\n"
        assert titles(run("search", "halberd", "--leg", "keyword", "--json")) == []
        assert titles(run("search", "eight", "--leg", "keyword", "--json")) == ["Combat"]

    def test_rollback_without_a_number_goes_one_back(
        self, run: Run, world: Path, notes: Path
    ) -> None:
        combat = notes / "rules" / "combat.md"
        for text in ("A halberd.", "A spear."):
            combat.write_text(text)
            run("add", combat)
        assert run("rollback", "#6").stdout == "#6 is at version 2 again\n"
        assert run("rollback", "#6").stdout == "#6 is at version 1 again\n"
        refused = run("rollback", "#6")
        assert refused.returncode == 1
        assert "at version 1, and none before it is kept" in refused.stderr

    def test_as_of_takes_a_date_or_a_version(self, run: Run, world: Path, notes: Path) -> None:
        combat = notes / "rules" / "combat.md"
        combat.write_text("---\ntitle: Fighting\n---\nA halberd.")
        run("add", combat)

        def then(moment: str, word: str) -> list[str]:
            return titles(run("search", word, "--leg", "keyword", "--json", "--as-of", moment))

        assert (then("#6@1", "eight"), then("#6@1", "halberd")) == (["Combat"], [])
        assert (then("#6@2", "eight"), then("#6@2", "halberd")) == ([], ["Fighting"])
        assert then("2001-01-01", "eight") == []
        for wrong in ("#6@3", "#6@99999999999999999999", "nobody@1", "yesterday"):
            refused = run("search", "axe", "--as-of", wrong)
            assert (refused.returncode, refused.stdout) == (1, "")

    def test_status_counts_what_is_there(self, run: Run, world: Path, notes: Path) -> None:
        status = json.loads(run("status", "--json").stdout)
        assert status["library"] == str(world)
        assert (status["profile"], status["model"]) == ("default", "hashing")
        assert (status["documents"], status["chunks"], status["versions"]) == (6, 8, 6)
        assert status["kinds"] == {"entry": 2, "note": 4}
        assert status["scopes"] == {"all": 5, "dm-only": 1}
        assert status["sources"] == {"notes": str(notes)}
        assert status["waiting"] == 0
        assert "documents: 6\n" in run("status").stdout

    def test_doctor_finds_nothing_wrong(self, run: Run, world: Path) -> None:
        healthy = run("doctor")
        assert (healthy.returncode, healthy.stdout) == (0, f"{world} is well\n")
        assert json.loads(run("doctor", "--json").stdout) == {
            "library": str(world),
            "ok": True,
            "problems": [],
        }

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("init new.trivium --model none", {"profile": "default", "model": "none"}),
            ("embed -L world.trivium", {"embedded": 0}),
            ("rollback #6 1 -L world.trivium", {"document": "#6", "version": 1}),
            ("remove #6 -L world.trivium", {"removed": 1}),
        ],
    )
    def test_every_command_speaks_json(
        self, run: Run, world: Path, command: str, expected: dict[str, object]
    ) -> None:
        said = json.loads(run(*command.split(), "--json").stdout)
        assert expected.items() <= said.items()


class TestWhichLibrary:
    @pytest.fixture(autouse=True)
    def two(self, tmp_path: Path) -> None:
        for name in ("near", "far"):
            (tmp_path / name).mkdir()
            with trivium.init(tmp_path / name / f"{name}.trivium", model="none") as library:
                library.add_text("words", title=name)

    def test_the_flag_comes_first(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path / "near")
        monkeypatch.setenv("TRIVIUM_LIBRARY", str(tmp_path / "nowhere"))
        assert titles(run("list", "--json", "-L", tmp_path / "far" / "far.trivium")) == ["far"]
        assert titles(run("list", "--json", "--library", "../far/far.trivium")) == ["far"]

    def test_then_the_environment(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path / "near")
        monkeypatch.setenv("TRIVIUM_LIBRARY", str(tmp_path / "far" / "far.trivium"))
        assert titles(run("list", "--json")) == ["far"]

    def test_then_the_nearest_library_upwards(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deep = tmp_path / "near" / "a" / "b"
        deep.mkdir(parents=True)
        monkeypatch.chdir(deep)
        assert titles(run("list", "--json")) == ["near"]

    def test_inside_a_library_it_is_the_one(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path / "near" / "near.trivium")
        assert titles(run("list", "--json")) == ["near"]

    def test_then_the_users_own_which_add_makes(
        self, run: Run, tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir("/")
        own = tmp_path / "data" / "trivium" / "trivium.trivium"
        missing = run("search", "axe")
        assert missing.returncode == 1
        assert (
            missing.stderr == f"error: {own} holds no library; make one with 'trivium init {own}'\n"
        )
        assert run("add", notes, "--no-embed").returncode == 0
        assert own.is_dir()
        assert titles(run("list", "--json", "--category", "rules")) == ["Combat"]

    def test_two_in_one_folder_have_to_be_told_apart(
        self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trivium.init(tmp_path / "near" / "other.trivium", model="none").close()
        monkeypatch.chdir(tmp_path / "near")
        refused = run("list")
        assert refused.returncode == 1
        assert "holds several libraries (near.trivium, other.trivium); choose one with -L" in (
            refused.stderr
        )


class TestStreamsAndExitCodes:
    def test_version(self, run: Run) -> None:
        said = run("--version")
        assert (said.returncode, said.stdout) == (0, f"trivium {trivium.__version__}\n")

    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("search axe --frobnicate", "No such option: --frobnicate"),
            ("frobnicate", "No such command 'frobnicate'"),
            ("search axe -n many", "Invalid value for '--limit' / '-n'"),
            ("search axe --mode loud", "Invalid value for '--mode'"),
            ("rollback #6 first", "Invalid value for '[VERSION]'"),
            ("get", "Missing argument 'NAMES...'"),
        ],
    )
    def test_wrong_usage_is_exit_2(self, run: Run, world: Path, command: str, message: str) -> None:
        refused = run(*command.split())
        assert (refused.returncode, refused.stdout) == (2, "")
        assert message.casefold() in refused.stderr.casefold()

    def test_an_error_in_what_was_asked_is_exit_1_on_stderr(self, run: Run, world: Path) -> None:
        refused = run("get", "nothing")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr == (
            "error: there is no document 'nothing'; 'trivium list' shows them\n"
        )

    def test_notices_go_to_stderr_and_results_to_stdout(
        self, run: Run, world: Path, notes: Path
    ) -> None:
        (notes / "bad.md").write_text("---\ntitle: [\n---\n")
        added = run("add", notes)
        assert added.returncode == 1
        assert added.stdout == "6 unchanged, 1 failed\n"
        assert added.stderr.startswith(f"! {notes / 'bad.md'}, line ")

        (world / "cache" / "manifest.json").write_text("garbage")
        searched = run("search", "axe", "-n", "6")
        assert searched.stdout.startswith("  1 Combat")
        assert searched.stderr.startswith("! the search cache was damaged")
        assert len(searched.stderr.splitlines()) == 1

    def test_the_installed_script_answers(self, world: Path) -> None:
        script = Path(sys.executable).with_name("trivium")
        command = [str(script), "search", "battle", "axe", "-n", "1", "--json"]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        assert titles(answer) == ["Emberfold"]

    def test_a_reader_that_leaves_early_is_no_error(self, world: Path) -> None:
        command = [sys.executable, "-m", "trivium", "search", "axe", "--json"]
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (0, b"")

    def test_a_terminal_without_unicode_still_gets_an_answer(self, world: Path) -> None:
        command = [sys.executable, "-m", "trivium", "search", "axe"]
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"notes:rules/combat.md ? rules ? #6" in done.stdout


def test_the_real_model_finds_what_shares_no_word(run: Run, tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium") as library:
        assert library.settings.model == "minilm"
        library.add_entries(
            [
                {"id": "king", "title": "Ilvaren", "description": "He leads the forest folk."},
                {"id": "soup", "title": "Barley broth", "description": "Simmer for two hours."},
            ]
        )
    answer = run("search", "ruler of the elves", "--json")
    assert titles(answer)[0] == "Ilvaren"
    states = {leg["name"]: leg["state"] for leg in json.loads(answer.stdout)["legs"]}
    assert states == {"keyword": "empty", "vector": "ok", "trigram": "empty"}
