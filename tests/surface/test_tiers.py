"""Tiers: several libraries as one; priorities reach the score, and a stale copy is never shown."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import trivium
from trivium.config import load_profile
from trivium.embed.hashing import Hashing
from trivium.errors import InvalidValue, LibraryError, UnknownDocument, UnknownName
from trivium.federation import Federation, Tier, configured
from trivium.federation.merging import Order, place_of
from trivium.pages import Cursor
from trivium.present import result_json
from trivium.settings import Layer, combined
from trivium.types import Chunk, Document, Hit, SearchRequest

Run = Callable[..., CompletedProcess[str]]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
PUBLIC = trivium.Grant(frozenset())


def entry(id: str, text: str = "check the token", **fields: Any) -> dict[str, Any]:
    return {"id": id, "title": id, "description": text, "created": "2026-06-01", **fields}


def library(name: str, *entries: dict[str, Any], model: str = "none") -> Path:
    with trivium.init(f"{name}.trivium", profile="vault", model=model) as made:
        made.add_entries(entries)
    return Path(f"{name}.trivium")


def tiers(**libraries: Path) -> Federation:
    return Federation([Tier(name, path) for name, path in libraries.items()])


def search(federation: Federation, query: str = "token", **options: Any) -> trivium.Result:
    return federation.search(query, **{"now": NOW, **options})


def found(result: trivium.Result) -> list[tuple[str, str | None]]:
    return [(hit.id, hit.tier) for hit in result]


class TestWeightsThatNeverReachTheScore:
    def test_each_tier_counts_by_its_priority(self) -> None:
        paths = {name: library(name, entry(name)) for name in ("agent", "project", "team", "wiki")}
        with trivium.open(paths["agent"]) as alone:
            own = alone.search("token", now=NOW).hits[0].score
        with tiers(**paths) as federation:
            result = search(federation)
        assert found(result) == [(n, n) for n in ("agent", "project", "team", "wiki")]
        for hit, factor in zip(result, (1.0, 0.8, 0.6, 0.5), strict=True):
            assert hit.score == pytest.approx(own * factor)
            assert hit.score == pytest.approx(sum(p.contribution for p in hit.parts), abs=1e-9)
            last = hit.parts[-1]
            assert (last.stage, last.name, last.value) == ("tier", hit.tier, factor)
            assert last.contribution == 0.0
        assert result.score_kind == "signals"

    def test_the_breakdown_still_adds_up_and_the_tier_is_in_the_json(self) -> None:
        with tiers(team=library("team", entry("a", severity="critical"))) as federation:
            [hit] = result_json(search(federation, mode="full"))["hits"]
        assert hit["tier"] == "team"
        assert sum(hit["breakdown"].values()) == pytest.approx(hit["score"], abs=1e-9)

    def test_a_priority_of_ones_own(self) -> None:
        tier = Tier("team", library("team", entry("a")), 0.9)
        with Federation([tier]) as federation:
            assert search(federation).hits[0].parts[-1].value == 0.9

    @pytest.mark.parametrize("priority", [0.0, -1.0, 1.5, float("nan")])
    def test_a_priority_that_cannot_be_is_refused(self, priority: float) -> None:
        with pytest.raises(InvalidValue, match="must be above 0 and at most 1"):
            Federation([Tier("a", Path("a.trivium"), priority)])

    def test_two_of_the_same_name_are_refused(self) -> None:
        with pytest.raises(InvalidValue, match="two tiers named 'Agent'"):
            Federation([Tier("agent", Path("a")), Tier("Agent", Path("b"))])


class TestTheSameIdInTwoTiers:
    def test_the_copy_of_the_highest_priority_wins(self) -> None:
        with tiers(
            agent=library("agent", entry("a", "the token of the agent")),
            team=library("team", entry("a", "token token token"), entry("b")),
        ) as federation:
            result = search(federation)
            assert found(result) == [("a", "agent"), ("b", "team")]
            assert result.hits[0].text == "the token of the agent"
            assert result.total == 2

    def test_also_when_it_no_longer_matches_the_query_or_the_filter(self) -> None:
        with tiers(
            agent=library("agent", entry("a", "use a key instead", domain="new")),
            team=library("team", entry("a", domain="old"), entry("b", domain="old")),
        ) as federation:
            assert found(search(federation)) == [("b", "team")]
            by_domain = search(federation, filter=trivium.Filter(domain=("old",)))
            assert found(by_domain) == [("b", "team")]
            browsed = search(federation, "", filter=trivium.Filter(domain=("old",)))
            assert found(browsed) == [("b", "team")]

    def test_a_copy_that_is_expired_or_hidden_does_not_count(self) -> None:
        with tiers(
            agent=library("agent", entry("a", valid_until="2026-05-01")),
            project=library("project", entry("a", scope="dm-only"), entry("s", scope="dm-only")),
            team=library("team", entry("a")),
        ) as federation:
            assert set(found(search(federation))) == {("s", "project"), ("a", "project")}
            assert found(search(federation, grant=PUBLIC)) == [("a", "team")]
            expired = trivium.Filter(include_expired=True, source=("entry:a",))
            assert found(search(federation, filter=expired)) == [("a", "project")]

    def test_an_expired_one_is_shown_on_request_if_there_is_no_other(self) -> None:
        gone = entry("a", valid_until="2026-05-01")
        with tiers(agent=library("agent", gone), team=library("team", gone)) as federation:
            assert found(search(federation)) == []
            expired = trivium.Filter(include_expired=True)
            assert found(search(federation, filter=expired)) == [("a", "agent")]

    def test_an_id_that_looks_like_a_number_is_no_number(self) -> None:
        with tiers(
            agent=library("agent", entry("x", "nothing")), team=library("team", entry("1"))
        ) as federation:
            assert found(search(federation)) == [("1", "team")]

    def test_a_number_is_refused_where_each_tier_has_its_own(self) -> None:
        paths = {name: library(name, entry(name), entry("1")) for name in ("agent", "team")}
        left_out = trivium.Filter(exclude=(trivium.Filter(source=("#2",)),))
        with tiers(**paths) as federation:
            for filter in (trivium.Filter(source=("entry:1", "#2")), left_out):
                with pytest.raises(InvalidValue, match="#2 is another document in each tier"):
                    search(federation, filter=filter)
            with pytest.raises(InvalidValue, match="#1 is another document in each tier"):
                federation.get("#1")
            with pytest.raises(InvalidValue, match="#1 is another document in each tier"):
                federation.moment("#1@1")
            assert [one.document.id for one in federation.get("1")] == ["1"]  # #1 is "agent"
            with pytest.raises(UnknownDocument):
                federation.get("2")
        with tiers(team=paths["team"]) as federation:
            assert found(search(federation, filter=trivium.Filter(source=("#2",)))) == [
                ("1", "team")
            ]
            assert [one.document.id for one in federation.get("#1", "2")] == ["team", "1"]

    def test_as_of_a_day_before_the_better_copy_the_other_one_counted(self) -> None:
        team = library("team", entry("a"))
        with trivium.open(team) as one:
            then = one.moment("a@1")
        with tiers(agent=library("agent", entry("a", "a key")), team=team) as federation:
            assert found(search(federation)) == []
            assert federation.moment("a@1") > then  # the agent's copy is the younger one
            before = trivium.Filter(as_of=then)
            assert found(federation.search("token", filter=before)) == [("a", "team")]
            with pytest.raises(UnknownDocument):
                federation.moment("nobody@1")

    def test_get_gives_the_copy_that_counts(self) -> None:
        with tiers(
            agent=library("agent", entry("a", "old", valid_until="2026-05-01")),
            team=library("team", entry("a", "new"), entry("b")),
        ) as federation:
            readings = federation.get("a", "b", now=NOW)
            assert [(one.text, one.tier) for one in readings] == [
                ("new", "team"),
                ("check the token", "team"),
            ]
            with pytest.raises(UnknownDocument, match="no tier has a document 'c'"):
                federation.get("a", "c")


class TestEveryTier:
    def test_vectors_are_searched_in_every_tier_and_the_model_is_asked_once(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []
        plain = Hashing.query

        def counting(self: Hashing, text: str) -> NDArray[np.float32]:
            asked.append(text)
            return plain(self, text)

        monkeypatch.setattr(Hashing, "query", counting)
        paths = {
            name: library(name, entry(f"{name}-1", "battle axes"), model="hashing")
            for name in ("agent", "team", "wiki")
        }
        with tiers(**paths) as federation:
            result = search(federation, "battleaxe")
            assert {hit.tier for hit in result} == {"agent", "team", "wiki"}
            states = {leg.name: leg.state.value for leg in result.legs}
            assert {states[f"{name}:vector"] for name in paths} == {"ok"}
            assert {states[f"{name}:keyword"] for name in paths} == {"empty"}
            assert asked == ["battleaxe"]
            search(federation, "battleaxe")
            assert len(asked) == 2

    def test_a_model_is_shared_by_the_name_that_is_active(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Wide(Hashing):
            name = "wide"

            def __init__(self) -> None:
                super().__init__(128)

        def named(self: trivium.Library, name: str) -> Hashing:
            return Wide() if name == "wide" else Hashing()

        asked: list[str] = []
        plain = Hashing.query

        def counting(self: Hashing, text: str) -> NDArray[np.float32]:
            asked.append(self.name)
            return plain(self, text)

        monkeypatch.setattr(trivium.Library, "_named", named)
        names = ("agent", "project", "team", "wiki")
        paths = {name: library(name, entry(name), model="hashing") for name in names}
        for name in ("agent", "wiki"):
            with trivium.open(paths[name]) as one:
                one.embed(model="wide")
                one.switch_model("wide")
        monkeypatch.setattr(Hashing, "query", counting)
        with tiers(**paths) as federation:
            result = search(federation)
        states = {leg.name: leg.state.value for leg in result.legs}
        assert {states[f"{name}:vector"] for name in names} == {"ok"}
        assert sorted(asked) == ["hashing", "wide"]

    def test_filters_hold_in_every_tier(self) -> None:
        with tiers(
            agent=library("agent", entry("a", tags=["x"]), entry("b"), model="hashing"),
            team=library("team", entry("c", tags=["x"]), entry("d"), model="hashing"),
        ) as federation:
            result = search(federation, filter=trivium.Filter(tags=("x",)))
            assert found(result) == [("a", "agent"), ("c", "team")]
            for leg in result.legs:
                assert {c.id for c in leg.ranking.candidates} <= {"a@1/0", "c@1/0"}

    def test_a_scope_that_only_one_tier_has_is_no_slip(self) -> None:
        with tiers(
            agent=library("agent", entry("a")),
            team=library("team", entry("b", scope="dm-only"), entry("c")),
        ) as federation:
            result = search(federation, filter=trivium.Filter(scope=("dm-only",)))
            assert (found(result), result.degraded) == ([("b", "team")], ())
            with pytest.raises(UnknownName, match="no document of any tier has the scope 'dm-onl'"):
                search(federation, filter=trivium.Filter(scope=("dm-onl",)))

    def test_what_is_hidden_in_a_tier_changes_no_byte(self) -> None:
        open_one = library("agent", entry("a", "token talk"))
        answers = []
        for name, hidden in (("one", ()), ("two", [entry("a", "token", scope="dm-only")])):
            path = library(name, entry("b"), *hidden)
            with Federation([Tier("agent", open_one), Tier("top", path, 1.0)]) as federation:
                data = result_json(search(federation, grant=PUBLIC, mode="full"))
            del data["took_ms"]
            for leg in data["legs"]:
                del leg["ms"]
            answers.append(json.dumps(data))
        assert answers[0] == answers[1]

    def test_a_tier_that_cannot_be_opened_is_named_and_the_rest_answer(self) -> None:
        broken = library("broken", entry("x"))
        (broken / "index.db").write_bytes(b"not a database at all" * 99)
        with tiers(
            agent=library("agent", entry("a")), team=Path("absent.trivium"), wiki=broken
        ) as federation:
            result = search(federation)
            assert found(result) == [("a", "agent")]
            assert [text.split(":")[0] for text in result.degraded] == ["tier team", "tier wiki"]
            assert "trivium init" in result.degraded[0]

    @pytest.mark.parametrize("path", ["a\0b.trivium", "x" * 5000])
    def test_a_path_that_cannot_be_is_such_a_tier(self, path: str) -> None:
        with tiers(agent=library("agent", entry("a")), team=Path(path)) as federation:
            result = search(federation)
        assert found(result) == [("a", "agent")]
        [said] = result.degraded
        assert said.startswith("tier team: ")
        assert "\0" not in said

    def test_one_that_breaks_while_it_is_asked_is_named_too(self) -> None:
        agent, team = library("agent", entry("a")), library("team", entry("b"))
        with tiers(agent=agent, team=team) as federation:
            search(federation)
            (agent / "index.db").write_bytes(b"\0" * 65536)
            for side in ("index.db-wal", "index.db-shm"):
                (agent / side).unlink(missing_ok=True)
            federation._libraries["agent"]._store._connections.close()  # type: ignore[union-attr]
            scoped = trivium.Filter(scope=("all",))
            for filter in (trivium.Filter(), scoped):
                result = search(federation, filter=filter)
                assert found(result) == [("b", "team")]
            assert search(federation).degraded[0].startswith("tier agent: ")

    def test_where_none_can_be_opened_that_is_the_answer(self) -> None:
        with pytest.raises(LibraryError, match="no tier can be opened: absent"):
            tiers(team=Path("absent.trivium"))

    def test_a_tier_that_lacks_a_road_is_degraded_and_not_fatal(self) -> None:
        with tiers(
            agent=library("agent", entry("a"), model="hashing"), team=library("team", entry("b"))
        ) as federation:
            result = search(federation, profile="omnidata")
            assert {hit.tier for hit in result} == {"agent"}
            assert "tier team: profile 'omnidata' needs the vector leg" in result.degraded[0]

    def test_a_wrong_request_is_an_error_and_not_a_bad_tier(self) -> None:
        with tiers(agent=library("agent", entry("a"))) as federation:
            for options in ({"limit": 0}, {"limit": 5000}, {"budget": 0}, {"legs": ["vektor"]}):
                with pytest.raises(trivium.TriviumError):
                    search(federation, **options)
            with pytest.raises(InvalidValue, match="tiers are not reranked"):
                search(federation, reranker="reader")
            with pytest.raises(trivium.TriviumError, match="the query is empty"):
                search(federation, "")

    def test_memories_are_three_in_all(self) -> None:
        paths = {name: library(name, entry(name)) for name in ("agent", "team")}
        for name, path in paths.items():
            with trivium.open(path) as one:
                for number in range(3):
                    one.remember("a token " * (number + 1), id=f"{name}-m{number}", title="x")
        with tiers(**paths) as federation:
            result = search(federation, include_memories=True)
            memories = [hit for hit in result if hit.document.kind == "memory"]
            assert [hit.score for hit in memories] == [0.5, 0.5, 0.5]
            assert {hit.tier for hit in memories} == {"agent"}
            assert not any(hit.document.kind == "memory" for hit in search(federation))


class TestPages:
    def test_pages_concatenated_are_the_whole_and_the_total_counts_documents_once(self) -> None:
        shared = [entry(f"s{i:02}", "token " * (i % 5 + 1)) for i in range(20)]
        with tiers(
            agent=library("agent", *shared, *(entry(f"a{i:02}") for i in range(40))),
            team=library("team", *shared, *(entry(f"t{i:02}") for i in range(40))),
        ) as federation:
            first = search(federation, limit=20)
            assert len(first) == 20
            pages, cursor = [first], first.next_cursor
            while cursor:
                pages.append(search(federation, limit=20, cursor=cursor))
                cursor = pages[-1].next_cursor
            shown = [pair for page in pages for pair in found(page)]
            assert {page.total for page in pages} == {first.total} == {len(shown)}
            assert len({id for id, _ in shown}) == len(shown)
            assert [hit.rank for page in pages for hit in page] == list(range(1, len(shown) + 1))
            assert first.matched == 120  # a copy counts in each tier
            with pytest.raises(InvalidValue, match="not a cursor of this search"):
                search(federation, "other", cursor=first.next_cursor)

    def test_a_change_in_between_is_said(self) -> None:
        path = library("agent", *(entry(f"a{i:02}") for i in range(60)))
        with tiers(agent=path) as federation:
            first = search(federation, limit=5)
            with trivium.open(path) as one:
                one.add_entries([entry("new")])
            second = search(federation, limit=5, cursor=first.next_cursor)
            assert any("changed since the first page" in text for text in second.warnings)

    def test_a_verdict_between_two_pages_moves_neither(self) -> None:
        paths = {}
        for name in ("agent", "team"):
            severities = ("critical", "warning", "suggestion")
            paths[name] = library(
                name,
                *(
                    entry(
                        f"{name}{i:02}", "token " + "word " * (i % 15), severity=severities[i % 3]
                    )
                    for i in range(45)
                ),
            )
        with tiers(**paths) as federation:

            def judge(verdicts: int) -> None:
                for name in paths:
                    for _ in range(verdicts):
                        federation._libraries[name].feedback("accepted", f"{name}00")

            judge(29)
            whole = found(search(federation, limit=90))
            page = search(federation, limit=20)
            shown, cursor = found(page), page.next_cursor
            judge(1)
            assert found(search(federation, limit=90)) != whole  # a new search is moved
            while cursor:
                page = search(federation, limit=20, cursor=cursor)
                assert not any("changed since" in text for text in page.warnings)
                shown, cursor = shown + found(page), page.next_cursor
            assert shown == whole

    @pytest.mark.parametrize("query", ["", "token"])
    def test_a_page_goes_on_in_order_where_its_last_hit_is_gone(self, query: str) -> None:
        same = trivium.Filter(kind=("entry",))
        names = ("agent", "team")  # ids alternate between the tiers, scores are all the same
        paths = {
            name: library(name, *(entry(f"e{i:02}-{name}", title="x") for i in range(45)))
            for name in names
        }
        equal = [Tier(name, path, 0.5) for name, path in paths.items()]
        with Federation(equal) as federation:
            whole = found(search(federation, query, filter=same, limit=90))
            assert len(whole) == 90
            for size in (20, 51):
                page = search(federation, query, filter=same, limit=size)
                shown = found(page)
                id, tier = shown[-1]
                last = federation._libraries[str(tier)]
                last.remove(id)
                later = search(federation, query, filter=same, limit=90, cursor=page.next_cursor)
                assert any("changed since" in text for text in later.warnings)
                assert shown + found(later) == whole
                whole.remove((id, tier))

    @given(
        st.sets(st.tuples(st.sampled_from("zma"), st.sampled_from("bcde")), min_size=1),
        st.lists(st.sampled_from([0.25, 0.5]), min_size=12, max_size=12),
        st.sampled_from(["", "token"]),
        st.data(),
    )
    def test_what_is_left_is_what_comes_after_the_last_one(
        self, named: set[tuple[str, str]], scores: list[float], query: str, data: st.DataObject
    ) -> None:
        note = Document("n", "n", "n")
        hits = [
            Hit(1, id, score, note, Chunk(id, "n", 1, 0, ""), (), "", (), 0, tier=tier)
            for (tier, id), score in zip(sorted(named), scores, strict=False)
        ]
        order = Order.of([Tier(name, Path(name)) for name in "zma"], SearchRequest(query))
        ranked = sorted(hits, key=order.of_hit)
        place = data.draw(st.integers(0, len(ranked) - 1))
        last = ranked[place]
        cursor = Cursor("", 0, {}, place + 1, last.score, place_of(last), None)
        assert order.rest(ranked, cursor) == ranked[place + 1 :]
        gone = [hit for hit in ranked if hit is not last]
        assert order.rest(gone, cursor) == ranked[place + 1 :]

    def test_feedback_moves_a_tier_as_it_moves_the_library(self) -> None:
        path = library("agent", *(entry(f"a{i}", "token " + "x " * i) for i in range(9)))
        with trivium.open(path) as alone, tiers(agent=path) as federation:
            for _ in range(30):
                alone.feedback("dismissed", "a0")
            expected = [(hit.id, hit.score) for hit in alone.search("token", now=NOW)]
            assert [(hit.id, hit.score) for hit in search(federation)] == expected
            still = [(hit.id, hit.score) for hit in search(federation, profile="default")]
            plain = alone.search("token", now=NOW, profile="default")
            assert still == [(hit.id, hit.score) for hit in plain]

    def test_a_small_corpus_is_shown_whole(self) -> None:
        with tiers(
            agent=library("agent", *(entry(f"a{i}") for i in range(9))),
            team=library("team", *(entry(f"t{i}") for i in range(9))),
        ) as federation:
            result = search(federation, limit=5)
            assert (len(result), result.total, result.next_cursor) == (18, 18, None)
            assert any("that 18 are shown" in text for text in result.warnings)
            assert len(search(federation, limit=5, profile="default")) == 5

    def test_a_budget_and_facets_count_over_all_tiers(self) -> None:
        with tiers(
            agent=library("agent", entry("a", domain="x")),
            team=library("team", entry("b", domain="x")),
        ) as federation:
            result = search(federation, facets=True, budget=5)  # 1 for the title, 4 for the text
            assert found(result) == [("a", "agent")]
            assert any("leaves out 1: b (5)" in text for text in result.warnings)
            assert result.facets is not None
            assert result.facets["domain"] == {"x": 2}


class TestSettings:
    def test_a_path_is_relative_to_the_file_that_names_it(self, tmp_path: Path) -> None:
        layer = Layer(
            str(tmp_path / "conf" / "trivium.toml"),
            {
                "tiers": {
                    "agent": {"library": "a.trivium"},
                    "wiki": {"library": "/w", "priority": 1},
                }
            },
        )
        agent, wiki = configured(combined([layer]))
        assert (agent.library, agent.factor) == (tmp_path / "conf" / "a.trivium", 1.0)
        assert (wiki.library, wiki.factor) == (Path("/w"), 1.0)
        with pytest.raises(UnknownName, match="Did you mean 'wiki'"):
            configured(combined([layer]), ["wikki"])
        with pytest.raises(InvalidValue, match=r"tiers\.agent\.library is not set"):
            configured(combined([Layer("x", {"tiers": {"agent": {"priority": 0.5}}})]))

    @pytest.fixture
    def set_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        library("agent", entry("a"))
        library("team", entry("b"), entry("a", "old token"))
        file = tmp_path / "config" / "trivium" / "trivium.toml"
        file.parent.mkdir(parents=True)
        file.write_text(
            f'[tiers.agent]\nlibrary = "{os.getcwd()}/agent.trivium"\n'
            f'[tiers.team]\nlibrary = "{os.getcwd()}/team.trivium"\n'
        )
        return file

    def test_from_the_terminal(self, run: Run, set_up: Path) -> None:
        data = json.loads(run("search", "--tiers", "token", "--json").stdout)
        assert [(hit["id"], hit["tier"]) for hit in data["hits"]] == [("a", "agent"), ("b", "team")]
        only = json.loads(run("search", "--tier", "team", "token", "--json").stdout)
        assert [hit["tier"] for hit in only["hits"]] == ["team", "team"]
        assert "tier team" in run("search", "--tiers", "token").stdout
        [got] = json.loads(run("get", "--tiers", "a", "--json").stdout)
        assert (got["tier"], got["text"]) == ("agent", "check the token")

    def test_slips_at_the_terminal(self, run: Run, set_up: Path) -> None:
        both = run("search", "--tiers", "-L", "agent.trivium", "token")
        assert (both.returncode, both.stderr[:7]) == (1, "error: ")
        assert "Did you mean 'team'" in run("search", "--tier", "teem", "token").stderr
        twice = set_up.read_text() + '[tiers.team]\nlibrary = "x"\n'
        set_up.write_text(twice)
        refused = run("search", "--tiers", "token")
        assert (refused.returncode, "not valid TOML" in refused.stderr) == (1, True)
        set_up.write_text("")
        assert "no tiers are set" in run("search", "--tiers", "token").stderr

    def test_a_strangers_folder_sets_no_tiers(self, run: Run, set_up: Path) -> None:
        Path("trivium.toml").write_text('[tiers.evil]\nlibrary = "team.trivium"\npriority = 1.0\n')
        answer = run("search", "--tiers", "token", "--json")
        assert {hit["tier"] for hit in json.loads(answer.stdout)["hits"]} == {"agent", "team"}
        assert "not trusted" in answer.stderr


def test_a_model_that_fails_fails_once_and_words_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def failing(self: Hashing, text: str) -> NDArray[np.float32]:
        asked.append(text)
        raise RuntimeError("out of order")

    paths = {name: library(name, entry(name), model="hashing") for name in ("agent", "team")}
    monkeypatch.setattr(Hashing, "query", failing)
    with tiers(**paths) as federation:
        result = search(federation)
    assert len(asked) == 1
    assert found(result) == [("agent", "agent"), ("team", "team")]
    assert result.degraded == (
        "tier agent: vector: out of order",
        "tier team: vector: out of order",
    )


def test_the_profile_can_be_another() -> None:
    with tiers(agent=library("agent", entry("a")), team=library("team", entry("b"))) as federation:
        result = search(federation, profile=load_profile("default"))
        assert result.score_kind == "blend"
        assert found(result) == [("a", "agent"), ("b", "team")]
