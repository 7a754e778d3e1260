"""Profile vault: document 004 on the same engine, in numbers worked out by hand.

The classes are named after what the public implementation of that document gets wrong.
"""

from __future__ import annotations

import json
import math
import os
import random
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import trivium
from trivium.config import load_profile
from trivium.embed.hashing import Hashing
from trivium.library import Library
from trivium.present import breakdown_of, result_json
from trivium.protocols import TermStatistics
from trivium.score import tfidf
from trivium.store.sqlite.connection import Connections
from trivium.types import Filter, Grant, Hit, Part, Result

NOW = datetime(2026, 6, 1, tzinfo=UTC)
YEAR = timedelta(days=365)
PUBLIC = Grant(frozenset())


def entry(id: str, description: str = "Check the signature.", **fields: Any) -> dict[str, Any]:
    return {"id": id, "title": id, "description": description, "created": "2026-06-01", **fields}


def vault(folder: Path, *entries: dict[str, Any], model: str = "none") -> Library:
    library = trivium.init(folder / "v.trivium", profile="vault", model=model)
    library.add_entries(entries)
    return library


def search(library: Library, query: str, **options: Any) -> Result:
    return library.search(query, **{"now": NOW, "limit": 50, **options})


def ids(result: Result) -> list[str]:
    return [hit.id for hit in result]


def signals(hit: Hit) -> dict[str, float | None]:
    return {part.name: part.value for part in hit.parts if part.stage == "score"}


def test_the_profile_has_the_numbers_of_the_document() -> None:
    search = load_profile("vault").search
    weights = search.keyword.weights
    assert [weights[c] for c in ("title", "key", "body", "tags", "context")] == [10, 5, 3, 2, 1]
    assert search.score.weights == {
        "semantic": 0.40,
        **dict.fromkeys(("severity", "temporal_decay", "tag_overlap", "domain_match"), 0.15),
    }
    assert search.score.hybrid == {**search.score.weights, "semantic": 0.25, "vector": 0.15}
    assert search.score.severity == {"critical": 1.0, "warning": 0.7, "suggestion": 0.4}
    assert (search.score.half_life_days, search.score.decay_zone) == (365, 0.25)


class TestRecall:
    def test_a_title_outranks_a_key_a_description_tags_and_a_context(self, tmp_path: Path) -> None:
        rest = {"title": "x", "description": "y"}
        with vault(
            tmp_path,
            {**rest, "id": "a", "context": "forge"},
            {**rest, "id": "b", "tags": ["forge"]},
            {"id": "c", "title": "x", "description": "forge"},
            {**rest, "id": "forge"},
            {"id": "e", "title": "forge", "description": "y"},
            *({**rest, "id": f"z{i}"} for i in range(9)),  # so that the word is a rare one
        ) as library:
            result = search(library, "forge")
            by_recall = sorted(result, key=lambda hit: hit.parts[0].rank or 0)
            assert [hit.id for hit in by_recall] == ["e", "forge", "c", "b", "a"]

    def test_union_adds_what_only_meaning_finds(self, tmp_path: Path) -> None:
        texts = {"axe": "A battle axe.", "axes": "Battleaxes everywhere.", "road": "A long road."}
        entries = [entry(id, text, title=id) for id, text in texts.items()]
        with vault(tmp_path, *entries, model="hashing") as library:
            result = search(library, "battle axe")
            assert {leg.name: leg.state.value for leg in result.legs} == {
                "keyword": "ok",
                "vector": "ok",
            }
            assert set(ids(result)) == {"axe", "axes", "road"}
            assert result.hits[0].id == "axe"
            union = [part for hit in result for part in hit.parts if part.stage == "fuse"]
            assert {part.contribution for part in union} == {0.0}

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("café", "coffee"),
            ("CAFE", "coffee"),
            ("C++", "cpp"),
            ("node-js", "node"),
            ("Ethan's manager", "ethan"),
            ("кузница", "forge"),
            ("東京", "tokyo"),
            ("京", "tokyo"),
        ],
    )
    def test_what_people_type_finds_what_it_should(
        self, tmp_path: Path, query: str, found: str
    ) -> None:
        with vault(
            tmp_path,
            entry("coffee", "Meet at the café."),
            entry("cpp", "Write it in C++ where speed counts."),
            entry("node", "Run it with node-js."),
            entry("ethan", "Ethan's manager signs."),
            entry("forge", "Старая кузница у реки."),
            entry("tokyo", "会議は東京都で。"),
        ) as library:
            assert ids(search(library, query))[0] == found


class TestRawQueriesThatDieInFts5:
    @pytest.mark.parametrize(
        "query", ['"', "*", "-", "foo:bar", "NEAR(", "a AND", "(", "^x", "title:", "' OR 1=1 --"]
    )
    def test_each_gives_an_answer(self, tmp_path: Path, query: str) -> None:
        with vault(tmp_path, entry("a", "foo bar near and title")) as library:
            assert search(library, query).degraded == ()

    def test_no_search_needs_the_bm25_function(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with vault(tmp_path, entry("jwt-1", "JWT validation"), entry("b", "other")) as library:
            before = search(library, "how does JWT validation work").hits
        opened = Connections._open

        def without_bm25(self: Connections) -> sqlite3.Connection:
            connection = opened(self)
            connection.set_authorizer(_no_bm25)
            return connection

        monkeypatch.setattr(Connections, "_open", without_bm25)
        with trivium.open(tmp_path / "v.trivium") as library:
            assert search(library, "how does JWT validation work").hits == before

    def test_the_public_table_answers_by_the_default_rank(self, tmp_path: Path) -> None:
        vault(tmp_path, entry("jwt-1", "JWT validation"), entry("b", "other")).close()
        with closing(sqlite3.connect(tmp_path / "v.trivium" / "index.db")) as connection:
            query = "SELECT key FROM words WHERE words MATCH ? ORDER BY rank"
            found = connection.execute(query, ("jwt OR validation OR work",)).fetchall()
        assert found == [("jwt-1",)]


def _no_bm25(action: int, _: str | None, name: str | None, *more: str | None) -> int:
    denied = action == sqlite3.SQLITE_FUNCTION and name == "bm25"
    return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK


class TestOverFetchThatNeverHappens:
    @pytest.fixture
    def library(self, tmp_path: Path) -> Iterator[Library]:
        with vault(tmp_path, *(entry(f"e{i:03}", f"axe number {i}") for i in range(100))) as made:
            yield made

    @pytest.mark.parametrize(("limit", "fetched"), [(1, 30), (10, 30), (11, 33), (20, 60)])
    def test_three_times_the_limit_or_thirty(
        self, library: Library, limit: int, fetched: int
    ) -> None:
        result = search(library, "axe", limit=limit)
        assert len(result.legs[0].ranking) == result.total == fetched
        assert (len(result), result.matched) == (limit, 100)

    def test_what_recall_puts_far_back_can_come_first(self, tmp_path: Path) -> None:
        entries = [entry(f"e{i:02}", "axe" + " filler" * i) for i in range(60)]
        entries[24] |= {"severity": "critical", "tags": ["edge"], "domain": "arms"}
        with vault(tmp_path, *entries) as library:
            [best] = search(library, "axe", limit=1, prefer_tags=["edge"], prefer_domain="arms")
        assert (best.id, best.parts[0].rank) == ("e24", 25)


class TestSmallCorpusGuard:
    @staticmethod
    def of(folder: Path, size: int, **options: Any) -> Library:
        return vault(folder, *(entry(f"e{i:02}", "axe") for i in range(size)), **options)

    @pytest.mark.parametrize("model", ["none", "hashing"])
    def test_fewer_than_fifty_are_all_shown_when_most_would_be_dropped(
        self, tmp_path: Path, model: str
    ) -> None:
        with self.of(tmp_path, 45, model=model) as library:  # more than the over-fetch of 30
            result = search(library, "axe", limit=10)
            assert (len(result), result.total, result.next_cursor) == (45, 45, None)
            assert any("that 45 are shown" in text for text in result.warnings)

    def test_half_is_not_more_than_half(self, tmp_path: Path) -> None:
        with self.of(tmp_path, 20) as library:
            result = search(library, "axe", limit=10)
            assert (len(result), result.total, result.warnings) == (10, 20, ())
            rest = search(library, "axe", limit=3, cursor=result.next_cursor)
            assert len(rest) == 3  # a later page is a page
            assert len(search(library, "axe", limit=9)) == 20

    def test_fifty_are_a_corpus(self, tmp_path: Path) -> None:
        with self.of(tmp_path, 50) as library:
            result = search(library, "axe", limit=5)
            assert (len(result), result.total, result.matched) == (5, 30, 50)
            assert result.next_cursor

    def test_it_counts_what_is_found_within_filter_and_grant(self, tmp_path: Path) -> None:
        with self.of(tmp_path, 60) as library:
            library.add_entries(entry(f"h{i}", "axe", domain="x") for i in range(9))
            found = search(library, "axe", limit=2, filter=Filter(domain=("x",)))
            assert len(found) == 9

    def test_what_only_meaning_finds_does_not_flood_the_page(self, tmp_path: Path) -> None:
        with self.of(tmp_path, 9, model="hashing") as library:
            library.add_entries(entry(f"r{i:02}", f"a long road {i}") for i in range(30))
            few = search(library, "axe", limit=2)
            assert {hit.id for hit in few} >= {f"e{i:02}" for i in range(9)}
            assert len(few) <= 11
            assert (few.matched, few.next_cursor) == (9, None)
            assert len(few.legs[1].ranking) == 30
            plain = search(library, "axe", limit=5)
            assert (len(plain), plain.warnings) == (5, ())

    def test_other_profiles_have_none(self, tmp_path: Path) -> None:
        with self.of(tmp_path, 9) as library:
            assert len(search(library, "axe", limit=2, profile="default")) == 2


class TestDecayThatNeverActs:
    def test_a_year_halves_it_in_the_score(self, tmp_path: Path) -> None:
        with vault(
            tmp_path,
            entry("new"),
            entry("old", created=(NOW - YEAR).isoformat()),
            entry("older", created=(NOW - 2 * YEAR).isoformat()),
        ) as library:
            result = search(library, "signature")
            decays = {hit.id: signals(hit)["temporal_decay"] for hit in result}
            assert decays == {"new": 1.0, "old": pytest.approx(0.5), "older": pytest.approx(0.25)}
            assert ids(result) == ["new", "old", "older"]
            scores = {hit.id: hit.score for hit in result}
            assert scores["new"] - scores["old"] == pytest.approx(0.15 * 0.5)

    def test_it_goes_on_with_the_clock(self, tmp_path: Path) -> None:
        with vault(tmp_path, entry("a")) as library:
            [today] = search(library, "signature")
            [later] = search(library, "signature", now=NOW + YEAR)
            assert today.score - later.score == pytest.approx(0.15 * 0.5)

    def test_a_window_ends_in_a_straight_line(self, tmp_path: Path) -> None:
        begun, ends = NOW - timedelta(days=70), NOW + timedelta(days=10)  # 12.5 % of 80 days left
        window = {"valid_from": begun.isoformat(), "valid_until": ends.isoformat()}
        with vault(tmp_path, entry("a", **window)) as library:
            [hit] = search(library, "signature")
            assert signals(hit)["temporal_decay"] == pytest.approx(0.5)
            assert ids(search(library, "signature", now=ends)) == []

    def test_age_counts_from_the_file_and_not_from_the_day_it_was_added(
        self, tmp_path: Path
    ) -> None:
        note = tmp_path / "note.md"
        note.write_text("Check the signature.")
        os.utime(note, ((NOW - YEAR).timestamp(),) * 2)
        with trivium.init(tmp_path / "v.trivium", profile="vault", model="none") as library:
            library.add(note)
            [hit] = search(library, "signature")
            assert signals(hit)["temporal_decay"] == pytest.approx(0.5)

    def test_what_is_expired_is_shown_on_request_with_nothing_left(self, tmp_path: Path) -> None:
        with vault(
            tmp_path,
            entry("past", valid_until="2026-05-01"),
            entry("to-come", valid_from="2026-07-01"),
        ) as library:
            assert ids(search(library, "signature")) == []
            shown = search(library, "signature", filter=Filter(include_expired=True))
            assert {hit.id: signals(hit)["temporal_decay"] for hit in shown} == {
                "past": 0.0,
                "to-come": 0.0,
            }


class TestScore:
    def test_a_whole_score_by_hand(self, tmp_path: Path) -> None:
        with vault(
            tmp_path,
            {
                "id": "auth-1",
                "title": "JWT",
                "description": "validation",
                "tags": ["auth", "api"],
                "domain": "security",
                "severity": "warning",
                "created": (NOW - YEAR).isoformat(),
            },
            {"id": "b", "title": "Other", "description": "things", "created": "2026-06-01"},
        ) as library:
            result = search(
                library,
                "how does JWT validation work",
                prefer_tags=["auth", "web"],
                prefer_domain="security",
                mode="full",
            )
        [hit] = result
        # N 2; jwt, validation, auth, api in one entry each, work in none
        one, none = math.log(3 / 2) + 1, math.log(3) + 1
        cosine = 2 * one**2 / (math.sqrt(2 * one**2 + none**2) * math.sqrt(4 * one**2))
        assert signals(hit) == {
            "semantic": pytest.approx(cosine),
            "vector": 0.0,
            "severity": 0.7,
            "temporal_decay": pytest.approx(0.5),
            "tag_overlap": pytest.approx(1 / 3),
            "domain_match": 1.0,
        }
        assert hit.score == pytest.approx(0.4 * cosine + 0.15 * (0.7 + 0.5 + 1 / 3 + 1.0))
        assert result.score_kind == "signals"

    def test_meaning_takes_its_share_where_it_was_searched(self, tmp_path: Path) -> None:
        with vault(tmp_path, entry("a", "axe"), entry("b", "road"), model="hashing") as library:
            best = search(library, "axe").hits[0]
            weights = {part.name: part.weight for part in best.parts if part.stage == "score"}
            assert weights == load_profile("vault").search.score.hybrid
            words_only = search(library, "axe", legs=["keyword"]).hits[0]
            weights = {part.name: part.weight for part in words_only.parts[1:]}
            assert weights == {**load_profile("vault").search.score.weights, "vector": 0.0}

    def test_what_only_words_found_has_its_cosine_all_the_same(self, tmp_path: Path) -> None:
        entries = [entry(f"e{i:02}", f"axe {i}") for i in range(40)]
        with vault(tmp_path, *entries, model="hashing") as library:
            result = search(library, "axe", limit=1)
            near = {c.id: c.score for leg in result.legs[1:] for c in leg.ranking.candidates}
            profile = load_profile(
                "vault", ["search.vector.depth=1", "search.vector.depth_per_hit=0"]
            )
            for hit in search(library, "axe", limit=30, profile=profile):
                if hit.chunk.id in near:
                    assert signals(hit)["vector"] == near[hit.chunk.id]
                assert signals(hit)["vector"] > 0  # type: ignore[operator]

    def test_preferences_rank_and_do_not_filter(self, tmp_path: Path) -> None:
        with vault(
            tmp_path, entry("a"), entry("b", tags=["auth"]), entry("c", domain="security")
        ) as library:
            plain = search(library, "signature")
            assert all(signals(hit)["tag_overlap"] == 0 for hit in plain)
            assert ids(search(library, "signature", prefer_tags=["auth"]))[0] == "b"
            found = search(library, "signature", prefer_domain="security")
            assert (found.hits[0].id, len(found)) == ("c", 3)
            other = search(library, "signature", prefer_tags=["auth"], profile="default")
            assert any("has no signals" in text for text in other.warnings)

    def test_the_breakdown_has_the_documents_keys_and_adds_up(self, tmp_path: Path) -> None:
        with vault(tmp_path, entry("a", severity="critical"), model="hashing") as library:
            full = result_json(search(library, "signature", mode="full"))["hits"]
            scan = result_json(search(library, "signature"))["hits"]
        for hit in full:
            assert list(hit["breakdown"]) == [
                *("semantic", "vector", "severity"),
                *("temporalDecay", "tagOverlap", "domainMatch"),
            ]
            assert sum(hit["breakdown"].values()) == pytest.approx(hit["score"], abs=1e-9)
        assert "breakdown" not in scan[0]

    def test_a_score_that_a_reranker_replaced_has_no_breakdown(self) -> None:
        signal = Part("score", "semantic", 0.4)
        assert breakdown_of([signal]) == {"semantic": 0.4}
        assert breakdown_of([signal, Part("rerank", "reader", 0.9)]) == {}

    def test_pages_are_made_at_the_moment_of_the_first(self, tmp_path: Path) -> None:
        many = [
            entry(f"e{i:03}", "axe", created=(NOW - timedelta(days=i)).isoformat())
            for i in range(60)
        ]
        with vault(tmp_path, *many) as library:
            whole = ids(search(library, "axe", limit=20))
            first = search(library, "axe", limit=10)
            second = search(
                library, "axe", limit=10, cursor=first.next_cursor, now=NOW + timedelta(days=99)
            )
            assert ids(first) + ids(second) == whole


class TestFiltersThatLeak:
    def test_a_filter_holds_in_both_roads(self, tmp_path: Path) -> None:
        with vault(
            tmp_path,
            entry("a", "axe", domain="arms", tags=["x"]),
            entry("b", "axe", domain="tools"),
            model="hashing",
        ) as library:
            for filter in (Filter(domain=("tools",)), Filter(exclude=(Filter(tags=("x",)),))):
                result = search(library, "axe", filter=filter)
                assert ids(result) == ["b"]
                for leg in result.legs:
                    assert {c.id for c in leg.ranking.candidates} == {"b@1/0"}

    def test_what_is_hidden_changes_no_byte(self, tmp_path: Path) -> None:
        open_ones = [entry("a", "axe and road"), entry("b", "axe")]
        hidden = [entry(f"h{i}", "axe axe road", scope="dm-only") for i in range(5)]
        answers = []
        for name, entries in (("one", open_ones), ("two", [*open_ones, *hidden])):
            (tmp_path / name).mkdir()
            with vault(tmp_path / name, *entries, model="hashing") as library:
                data = result_json(search(library, "axe road", grant=PUBLIC, mode="full"))
                del data["took_ms"]
                for leg in data["legs"]:
                    del leg["ms"]
                answers.append(json.dumps(data))
        assert answers[0] == answers[1]


class TestIdfThatDrifts:
    def test_after_a_thousand_changes_every_idf_equals_a_rebuild(self, tmp_path: Path) -> None:
        chance = random.Random(4)
        vocabulary = [f"word{i}" for i in range(60)]
        written: dict[str, dict[str, Any]] = {}

        def random_entry(id: str) -> dict[str, Any]:
            text = " ".join(chance.choices(vocabulary, k=chance.randint(1, 12)))
            return entry(
                id, text, tags=chance.sample(vocabulary, 2), context=chance.choice(vocabulary)
            )

        with vault(tmp_path) as library:
            for step in range(1000):
                id = f"e{chance.randrange(80):02}"
                if id in written and chance.random() < 0.3:
                    library.remove(id)
                    del written[id]
                else:
                    written[id] = random_entry(id)
                    library.add_entries([written[id]])
                if step % 100 == 99:
                    search(library, "word1")  # the index follows in many small steps
            with library._store.view(Grant()) as view:
                assert isinstance(view, TermStatistics)
                kept = view.frequencies(vocabulary, tfidf.COLUMNS)
            assert len(library.documents()) == len(written) == kept.count
            (tmp_path / "anew").mkdir()
            with (
                vault(tmp_path / "anew", *written.values()) as anew,
                anew._store.view(Grant()) as view,
            ):
                rebuilt = view.frequencies(vocabulary, tfidf.COLUMNS)
        assert kept == rebuilt
        by_hand = {
            word: sum(word in _words_of(one) for one in written.values()) for word in vocabulary
        }
        for word in vocabulary:
            assert tfidf.idf(kept.count, kept.holding.get(word, 0)) == tfidf.idf(
                len(written), by_hand[word]
            )


def _words_of(entry: dict[str, Any]) -> set[str]:
    texts = (entry["title"], entry["description"], entry["context"], *entry["tags"])
    return set(" ".join(texts).split())


class TestStaleVectors:
    @staticmethod
    def cosine(library: Library, query: str) -> float:
        """The likeness of the only entry with what the model makes of a text."""
        with library._store.view(Grant()) as view:
            [(_, cosine)] = view.nearest(Hashing().query(query), Filter(), 1, "chunk").scored
        return cosine

    def test_only_title_description_and_context_are_embedded(self, tmp_path: Path) -> None:
        fields = {"context": "on servers", "tags": ["auth"], "domain": "security"}
        with vault(tmp_path, entry("a", "Check it.", **fields), model="hashing") as library:
            assert self.cosine(library, "a\nCheck it.\non servers") == pytest.approx(1.0)
            library.add_entries([entry("a", "Check it.", **fields | {"tags": ["other"]})])
            assert library.status()["models"][0]["vectors"] == 1

    @pytest.mark.parametrize("changed", ["title", "description", "context"])
    def test_an_edit_of_any_of_them_refreshes_the_vector(
        self, tmp_path: Path, changed: str
    ) -> None:
        before = entry("a", "Check it.", context="on servers")
        with vault(tmp_path, before, model="hashing") as library:
            after = before | {changed: "something new"}
            library.add_entries([after])
            assert library.waiting() == 0
            text = f"{after['title']}\n{after['description']}\n{after['context']}"
            assert self.cosine(library, text) == pytest.approx(1.0)

    def test_a_vector_for_each_model_and_one_model_at_a_time(self, tmp_path: Path) -> None:
        with vault(tmp_path, entry("a", "axe"), entry("b", "road"), model="hashing") as library:
            library._named = lambda name: Other()  # type: ignore[method-assign]
            assert library.embed(model="other").embedded == 2
            assert library.embed(model="other").embedded == 0  # "entries that already have vectors"
            models = [(m["name"], m["active"], m["vectors"]) for m in library.status()["models"]]
            assert models == [("hashing", True, 2), ("other", False, 2)]
            assert search(library, "axe").legs[1].state == "ok"
            library.add_entries([entry("a", "axe and more")])
            assert library.embed(model="other").embedded == 0  # it was embedded for both
            library.switch_model("other")
            after = [(m["name"], m["active"]) for m in library.status()["models"]]
            assert after == [("hashing", False), ("other", True)]
            assert search(library, "axe").legs[1].state == "ok"
        with trivium.open(tmp_path / "v.trivium") as library:
            assert library.model_name == "other"
            assert library.settings.template == "{title}\n{text}\n{context}"

    def test_texts_go_to_the_model_a_hundred_at_a_time(self, tmp_path: Path) -> None:
        calls: list[int] = []

        class Counting(Hashing):
            def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
                calls.append(len(texts))
                return super().documents(texts)

        with vault(tmp_path, model="hashing") as library:
            library._embedder = Counting()
            library.add_entries(entry(f"e{i:03}", f"axe {i}") for i in range(230))
        assert calls == [100, 100, 30]


class Other(Hashing):
    """Another model that makes other vectors."""

    name = "other"

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().documents([f"other {text}" for text in texts])
