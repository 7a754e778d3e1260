"""Memory, two passes and budgets: an agent's way of asking, from Python and from the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import trivium
from trivium.errors import InvalidValue
from trivium.present import result_json
from trivium.text import token_estimate

Run = Callable[..., CompletedProcess[str]]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
PUBLIC = trivium.Grant(frozenset())
LONG = "Check the signature of every token before anything else is read. " * 8


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[trivium.Library]:
    entries: list[dict[str, Any]] = [
        {"id": "auth-1", "title": "JWT signature", "description": LONG, "severity": "critical",
         "type": "rule", "domain": "security", "tags": ["auth"], "created": "2026-06-01"},
        {"id": "auth-2", "title": "Token age", "description": "A token lives for an hour.",
         "created": "2026-06-01"},
    ]  # fmt: skip
    with trivium.init(tmp_path / "v.trivium", profile="vault", model="none") as library:
        library.add_entries(entries)
        yield library


def search(library: trivium.Library, query: str = "token", **options: Any) -> trivium.Result:
    return library.search(query, **{"now": NOW, **options})


def ids(result: trivium.Result) -> list[str]:
    return [hit.id for hit in result]


class TestMemory:
    def test_a_memory_is_left_out_unless_it_is_asked_for(self, vault: trivium.Library) -> None:
        vault.remember("The token was refused last week.", type="session", id="m1")
        assert "m1" not in ids(search(vault))
        result = search(vault, include_memories=True)
        [memory] = [hit for hit in result if hit.document.kind == "memory"]
        assert (memory.score, memory.document.type) == (0.5, "session")
        assert [(p.stage, p.contribution) for p in memory.parts][-1] == ("memory", 0.5)
        assert memory.score == sum(part.contribution for part in memory.parts)

    def test_a_memory_in_front_makes_nothing_less_sure(self, vault: trivium.Library) -> None:
        vault.remember("JWT signature token.", id="m1")
        without, with_it = search(vault, "jwt"), search(vault, "jwt", include_memories=True)
        assert ids(with_it)[0] == "m1"
        assert with_it.confidence == without.confidence == 1.0
        assert with_it.ambiguous == ()

    def test_it_comes_where_half_a_point_puts_it(self, vault: trivium.Library) -> None:
        vault.remember("A token again.", id="m1")
        result = search(
            vault, include_memories=True, prefer_tags=["auth"], prefer_domain="security"
        )
        scores = {hit.id: hit.score for hit in result}
        assert scores["auth-1"] > 0.5 > scores["auth-2"]
        assert ids(result) == ["auth-1", "m1", "auth-2"]

    def test_memories_are_ordered_by_their_own_rank_and_three_at_most(
        self, vault: trivium.Library
    ) -> None:
        for id, text in (
            ("a", "A word about the token among many other words of that long day."),
            ("b", "token token token"),
            ("c", "the token and the key"),
            ("d", "nothing of the kind"),
            ("e", "token talk and more talk about other things"),
        ):
            vault.remember(text, id=id, title="x")
        memories = [i for i in ids(search(vault, include_memories=True)) if len(i) == 1]
        assert memories == ["b", "c", "e"]
        more = search(vault, include_memories=True, most_memories=10)
        assert [i for i in ids(more) if len(i) == 1] == ["b", "c", "e", "a"]
        assert ids(search(vault, include_memories=True, most_memories=0)) == ids(search(vault))
        by_kind = search(vault, filter=trivium.Filter(kind=("memory",)))
        assert (ids(by_kind), by_kind.total) == (["b", "c", "e", "a"], 4)

    def test_pages_neither_lose_nor_repeat_one(self, vault: trivium.Library) -> None:
        for id in "cab":
            vault.remember("token " * (1 + ord(id) % 3), id=id, title="x")
        whole = ids(search(vault, include_memories=True))
        profile = trivium.config.load_profile("vault", ["search.small_corpus=0"])
        shown: list[str] = []
        cursor = None
        while True:
            page = search(vault, include_memories=True, limit=1, cursor=cursor, profile=profile)
            shown += ids(page)
            cursor = page.next_cursor
            if cursor is None:
                break
        assert shown == whole
        assert len(whole) == 5

    def test_a_filter_a_grant_and_validity_hold_for_memories(self, vault: trivium.Library) -> None:
        vault.remember("A secret token.", id="hidden", scope="dm-only")
        vault.remember("An open token.", id="open", tags=["x"])
        assert "hidden" not in ids(search(vault, include_memories=True, grant=PUBLIC))
        assert ids(
            search(vault, filter=trivium.Filter(kind=("entry",)), include_memories=True)
        ) == [
            "auth-1",
            "auth-2",
        ]
        tagged = search(vault, filter=trivium.Filter(tags=("x",)), include_memories=True)
        assert ids(tagged) == ["open"]
        assert tagged.score_kind == "signals"

    @pytest.mark.parametrize(
        ("query", "text"),
        [
            ("café", "We met at the café."),
            ("C++", "He writes C++ only."),
            ("node-js", "Deployed with node-js."),
            ("Ethan's manager", "Ethan's manager said no."),
            ("кузница", "Старая кузница."),
            ("東京", "東京都で会った。"),
            ('"', 'A lone " sign.'),
        ],
    )
    def test_what_people_type_finds_memories_too(
        self, vault: trivium.Library, query: str, text: str
    ) -> None:
        vault.remember(text, id="m1")
        found = ids(search(vault, query, include_memories=True))
        assert found == (["m1"] if query != '"' else [])

    def test_what_has_no_word_of_the_query_is_not_put_before_the_rest(self, tmp_path: Path) -> None:
        with trivium.init(tmp_path / "h.trivium", profile="vault", model="hashing") as library:
            library.add_entries([{"id": "a", "title": "Token", "description": "A token."}])
            library.remember("Tabs, not spaces.", id="m1")
            assert ids(search(library, include_memories=True)) == ["a"]
            by_meaning = search(library, include_memories=True, legs=["vector"])
            assert set(ids(by_meaning)) == {"a", "m1"}

    def test_the_same_text_is_remembered_once_and_an_id_makes_versions(
        self, vault: trivium.Library
    ) -> None:
        [first] = vault.remember("Tabs, not spaces.", type="preference").added
        assert vault.remember("Tabs, not spaces.", type="preference").unchanged == (first,)
        vault.remember("Tabs.", id="style")
        assert vault.remember("Spaces.", id="style").updated == ("style",)
        assert len(vault.versions("style")) == 2

    def test_what_a_document_says_can_be_remembered_but_its_id_is_taken(
        self, vault: trivium.Library
    ) -> None:
        assert vault.remember(LONG, id="m1").added == ("m1",)
        with pytest.raises(InvalidValue, match="'auth-1' is the id of a document of kind entry"):
            vault.remember("x", id="auth-1")
        assert vault.documents()[0].kind == "entry"

    def test_what_cannot_be_remembered_is_said(self, vault: trivium.Library) -> None:
        with pytest.raises(InvalidValue, match="nothing to remember"):
            vault.remember("  \n")
        with pytest.raises(InvalidValue, match="Did you mean 'lesson'"):
            vault.remember("x", type="leson")  # type: ignore[arg-type]

    def test_other_profiles_rank_memories_as_anything_else(self, vault: trivium.Library) -> None:
        vault.remember("A token again.", id="m1")
        result = search(vault, include_memories=True, profile="default")
        assert "m1" in ids(result)
        assert all(hit.score != 0.5 for hit in result)

    def test_from_the_terminal(self, run: Run, vault: trivium.Library) -> None:
        said = run("remember", "Short tokens are better.", "--type", "lesson")
        assert said.stdout.startswith("remembered: memory-")
        assert run("remember", "Short tokens are better.", "--type", "lesson").stdout.startswith(
            "known already: memory-"
        )
        data = json.loads(run("search", "token", "--include-memories", "--json").stdout)
        [memory] = [hit for hit in data["hits"] if hit["kind"] == "memory"]
        assert (memory["type"], memory["score"]) == ("lesson", 0.5)
        assert [leg["name"] for leg in data["legs"]] == ["keyword", "vector", "memory"]
        assert run("remember", "x", "--type", "dream").returncode == 2
        assert run("remember", " ").returncode == 1


class TestTwoPasses:
    def test_scan_shows_the_first_120_characters_and_what_the_whole_would_cost(
        self, vault: trivium.Library
    ) -> None:
        hit = next(h for h in result_json(search(vault))["hits"] if h["id"] == "auth-1")
        assert hit["snippet"] == LONG.strip()[:120]
        assert hit["tokens"] == token_estimate(LONG.strip()) == 130  # 519 characters
        assert (hit["type"], hit["domain"], hit["tags"]) == ("rule", "security", ["auth"])
        assert "text" not in hit
        for mark in hit["highlights"]:
            assert hit["snippet"][mark["start"] : mark["end"]].lower() == "token"

    def test_full_is_the_whole_entry_with_its_breakdown(self, vault: trivium.Library) -> None:
        hit = next(
            h for h in result_json(search(vault, mode="full"))["hits"] if h["id"] == "auth-1"
        )
        assert hit["text"] == LONG.strip()
        assert hit["fields"]["severity"] == "critical"
        assert len(hit["breakdown"]) == 6

    def test_get_loads_the_chosen_ones(self, run: Run, vault: trivium.Library) -> None:
        got = json.loads(run("get", "auth-2", "auth-1", "--json").stdout)
        assert [one["id"] for one in got] == ["auth-2", "auth-1"]


class TestBudget:
    def test_it_is_never_exceeded_and_what_is_left_out_is_named(
        self, vault: trivium.Library
    ) -> None:
        whole = search(vault, mode="full")
        assert ids(whole)[0] == "auth-1"  # 4 + 130 tokens
        small = search(vault, mode="full", budget=60)
        assert ids(small) == ["auth-2"]  # title 3, text 7
        [said] = [text for text in small.warnings if "budget" in text]
        assert said == (
            "the budget of 60 tokens leaves out 1: auth-1 (134); 'trivium get' shows them"
        )
        assert [hit.rank for hit in small] == [2]

    @pytest.mark.parametrize("mode", ["scan", "full"])
    @pytest.mark.parametrize("budget", [1, 9, 10, 33, 34, 44, 134, 144, 1000])
    def test_every_budget_holds(self, vault: trivium.Library, mode: Any, budget: int) -> None:
        result = search(vault, mode=mode, budget=budget)
        shown = [
            token_estimate(hit.title) + token_estimate(hit.text if mode == "full" else hit.snippet)
            for hit in result
        ]
        assert sum(shown) <= budget
        assert len(result) + sum("auth-" in text for text in result.warnings) >= 1
        assert (len(result) == 2) == (result.warnings == ())

    def test_on_get(self, run: Run, vault: trivium.Library) -> None:
        got = run("get", "auth-1", "auth-2", "--json", "--budget", "60")
        assert [one["id"] for one in json.loads(got.stdout)] == ["auth-2"]
        assert "leaves out 1: auth-1 (134)" in got.stderr
        assert run("get", "auth-1", "--budget", "0").returncode == 1

    def test_on_search(self, run: Run, vault: trivium.Library) -> None:
        data = json.loads(run("search", "token", "--budget", "12", "--json").stdout)
        assert [hit["id"] for hit in data["hits"]] == ["auth-2"]
        assert run("search", "token", "--budget", "-1").returncode == 1
