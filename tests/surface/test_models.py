"""Libraries whose models run on a server: a real one, on the loopback."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from providers import Provider, Trouble, running

import trivium
from trivium.config import load_profile
from trivium.types import LegState

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running(dimension=64, key="the-key") as server:
        yield server


@pytest.fixture
def settings(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PROVIDER_KEY", "the-key")
    file = tmp_path / "config" / "trivium" / "trivium.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f"""
[models.mine]
url = "{provider.url}/v1"
model = "base-64"
dimension = 64
key_variable = "PROVIDER_KEY"
query_time_out = 0.5
batch = 2

[rerankers.rerank-4-pro]
url = "{provider.url}/v1"
key_variable = "PROVIDER_KEY"

[rerankers.pefm]
kind = "tei"
url = "{provider.url}/tei"
key_variable = "PROVIDER_KEY"
"""
    )
    return file


@pytest.fixture
def library(settings: Path, notes: Path, home: Path) -> Iterator[trivium.Library]:
    with trivium.init(home / "remote.trivium", model="mine") as made:
        made.add(notes)
        yield made


def legs(result: trivium.Result) -> dict[str, LegState]:
    return {leg.name: leg.state for leg in result.legs}


def test_a_library_is_made_and_searched_with_a_model_of_the_settings(
    run: Run, settings: Path, notes: Path, provider: Provider, home: Path
) -> None:
    assert run("init", "remote.trivium", "--model", "mine").returncode == 0
    assert run("add", notes).returncode == 0
    sent = [text for seen in provider.seen for text in seen.body["input"]]
    assert all(len(seen.body["input"]) <= 2 for seen in provider.seen)
    assert any("Gravewind" in text for text in sent)
    answer = json.loads(run("search", "battle axe", "--json").stdout)
    assert answer["degraded"] == []
    assert {leg["name"]: leg["state"] for leg in answer["legs"]}["vector"] == "ok"
    assert provider.seen[-1].body["input"] == ["battle axe"]
    for file in (home / "remote.trivium").rglob("*"):
        assert not file.is_file() or b"the-key" not in file.read_bytes()


def test_an_unknown_model_is_named_before_anything_is_made(
    run: Run, settings: Path, home: Path
) -> None:
    answer = run("init", "x.trivium", "--model", "mien")
    assert answer.returncode == 1
    assert "Did you mean 'mine'?" in answer.stderr
    assert not (home / "x.trivium").exists()


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(401),
        Trouble(429, {"Retry-After": "60"}),
        Trouble(500),
        Trouble(wait=3),
        Trouble(body=b"{"),
    ],
    ids=["401", "429", "500", "slow", "truncated"],
)
def test_words_answer_within_the_time_out_when_the_model_does_not(
    library: trivium.Library, provider: Provider, trouble: Trouble
) -> None:
    provider.always = trouble
    started = time.perf_counter()
    result = library.search("battle axe")
    assert time.perf_counter() - started < 2.5
    assert result.hits[0].title == "Emberfold"
    assert legs(result)["vector"] is LegState.FAILED
    assert result.degraded[0].startswith("vector: ")
    assert "the-key" not in "".join(result.degraded)


def test_words_answer_when_the_server_is_gone(library: trivium.Library, provider: Provider) -> None:
    provider.stop()
    with trivium.open(library.folder) as again:
        result = again.search("battle axe")
    assert result.hits[0].title == "Emberfold"
    assert "cannot be reached" in result.degraded[0]


def test_words_answer_where_the_settings_do_not_know_the_model(
    library: trivium.Library, settings: Path
) -> None:
    settings.write_text("")
    with trivium.open(library.folder) as again:
        result = again.search("battle axe")
        assert again.status()["model"] == "mine"
    assert result.hits[0].title == "Emberfold"
    assert "no such model at hand" in result.degraded[0]


def test_a_model_that_fails_while_adding_costs_no_words(
    settings: Path, notes: Path, home: Path, provider: Provider
) -> None:
    provider.always = Trouble(401)
    with trivium.init(home / "late.trivium", model="mine") as library:
        report = library.add(notes)
        assert report.waiting > 0
        assert "PROVIDER_KEY" in report.model_problem
        provider.always = None
        library.embed()
        assert library.waiting() == 0
        assert library.search("battle axe").degraded == ()


def test_a_strangers_folder_cannot_send_the_key_elsewhere(
    run: Run, settings: Path, library: trivium.Library, home: Path, provider: Provider
) -> None:
    with running(dimension=64) as thief:
        (home / "trivium.toml").write_text(f'[models.mine]\nurl = "{thief.url}/v1"\n')
        provider.seen.clear()
        answer = run("search", "-L", library.folder, "axe")
        assert answer.returncode == 0
        assert len(provider.seen) == 1
        assert thief.seen == []
        assert "trivium trust" in answer.stderr


# --- reranking -----------------------------------------------------------------------------------


@pytest.fixture
def many(settings: Path, home: Path) -> Iterator[trivium.Library]:
    """Thirty notes that all speak of an axe; the higher the number, the more it says of a king."""
    with trivium.init(home / "many.trivium", model="mine", profile="allcodex") as made:
        entries = [
            {
                "id": f"n{i:02}",
                "title": f"Note {i}",
                "description": "axe " * (30 - i) + "king" * (i % 7 == 3),
            }
            for i in range(30)
        ]
        made.add_entries(entries)
        yield made


def reranks(provider: Provider) -> list[int]:
    return [
        len(seen.body.get("documents", seen.body.get("texts")))
        for seen in provider.seen
        if seen.path.endswith("/rerank")
    ]


def test_allcodex_reads_the_top_20_notes_and_keeps_5(
    many: trivium.Library, provider: Provider
) -> None:
    result = many.search("axe king", limit=10)
    assert reranks(provider) == [20]
    assert result.score_kind == "rerank"
    assert len(result) == 5
    assert result.total == 30
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    assert all(
        abs(hit.score - sum(part.contribution for part in hit.parts)) < 1e-12 for hit in result
    )
    assert result.next_cursor is None
    plain = many.search("axe king", limit=10, reranker="")
    assert plain.score_kind == "rrf"
    assert len(plain) == 10
    assert reranks(provider) == [20]


def test_a_profiles_reranker_is_optional(
    many: trivium.Library, provider: Provider, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.write_text(
        settings.read_text().replace("[rerankers.rerank-4-pro]", "[rerankers.mine]")
    )
    monkeypatch.setenv("OPENROUTER_API_KEY", "lies here for another program")
    with trivium.open(many.folder) as again:
        result = again.search("axe king")
    assert (result.score_kind, len(result), result.degraded) == ("rrf", 10, ())
    assert reranks(provider) == []


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(401),
        Trouble(500),
        Trouble(body=b"{"),
        Trouble(body=b'{"results": []}'),
        Trouble(wait=3),
    ],
    ids=["401", "500", "truncated", "wrong count", "slow"],
)
def test_a_reranker_that_fails_leaves_the_fused_order(
    many: trivium.Library, provider: Provider, trouble: Trouble
) -> None:
    plain = many.search("axe king", reranker="")
    provider.always = trouble
    profile = load_profile("allcodex", ["search.rerank.time_out=0.5"])
    result = many.search("axe king", profile=profile)
    assert [hit.id for hit in result] == [hit.id for hit in plain]
    assert result.score_kind == "rrf"
    assert any(note.startswith("rerank: rerank-4-pro: ") for note in result.degraded)
    assert result.next_cursor is not None


def test_a_reranker_may_take_as_long_as_its_own_settings_say(
    many: trivium.Library, provider: Provider, settings: Path
) -> None:
    described = f'[rerankers.slow]\nkind = "tei"\nurl = "{provider.url}/tei"\ntime_out = 60\n'
    settings.write_text(settings.read_text() + described)
    with trivium.open(many.folder) as library:
        for setting, seconds in (([], 60), (["search.rerank.time_out=0.5"], 0.5)):
            profile, _ = library._reader(load_profile("allcodex", setting), "slow")
            assert profile.search.rerank.time_out == seconds


def test_pages_of_a_reranked_search_are_one_ranking(
    many: trivium.Library, provider: Provider
) -> None:
    profile = load_profile("allcodex", ["search.rerank.keep=0"])
    whole = [hit.id for hit in many.search("axe king", limit=30, profile=profile)]
    assert sorted(whole) == [f"n{i:02}" for i in range(30)]
    provider.seen.clear()
    seen, cursor = [], None
    while True:
        result = many.search("axe king", limit=7, profile=profile, cursor=cursor)
        seen += [hit.id for hit in result]
        provider.always = Trouble(500)  # later pages ask nobody, and need nobody
        cursor = result.next_cursor
        if cursor is None:
            break
    assert seen == whole
    assert reranks(provider) == [20]


def test_the_reranker_is_asked_only_when_the_ranking_is_not_sure(
    many: trivium.Library, provider: Provider
) -> None:
    for threshold, calls in ((0.0, []), (1.0, [20])):
        profile = load_profile(
            "allcodex", ["search.rerank.when=unsure", f"search.confidence.threshold={threshold}"]
        )
        provider.seen.clear()
        result = many.search("axe king", profile=profile)
        assert reranks(provider) == calls
        assert bool(result.ambiguous) == bool(calls)
        assert result.confidence is not None
        assert 0 <= result.confidence <= 1
    plain = many.search("axe king", reranker="")
    assert {hit.id for hit in plain.hits[:2]} <= set(result.ambiguous)


def test_a_reranker_by_flag(run: Run, many: trivium.Library, provider: Provider) -> None:
    answer = run("search", "axe", "king", "-L", many.folder, "--reranker", "pefm", "--json")
    data = json.loads(answer.stdout)
    assert data["score_kind"] == "rerank"
    assert data["hits"][0]["parts"][-1]["name"] == "pefm"
    assert provider.seen[-1].path == "/tei/rerank"
    assert (
        json.loads(run("search", "axe", "-L", many.folder, "--no-rerank", "--json").stdout)[
            "score_kind"
        ]
        == "rrf"
    )
    wrong = run("search", "axe", "-L", many.folder, "--reranker", "pfem")
    assert wrong.returncode == 1
    assert "Did you mean 'pefm'?" in wrong.stderr


def test_what_a_caller_may_not_see_is_not_sent(
    world: Path, settings: Path, provider: Provider
) -> None:
    with trivium.open(world) as library:
        library.search("poisoned axe", reranker="pefm", grant=trivium.Grant(frozenset()))
    [sent] = [seen.body["texts"] for seen in provider.seen if seen.path == "/tei/rerank"]
    assert sent
    assert not any("poisoned" in text for text in sent)


def test_a_result_says_how_sure_it_is(world: Path) -> None:
    with trivium.open(world) as library:
        sure = library.search("Quillhaven keeper Osmund Tace")
        assert sure.confidence is not None
        assert sure.confidence >= 0.5
        assert sure.ambiguous == ()
        assert library.search("", filter=trivium.Filter(category=("rules",))).confidence is None
        assert library.search("xqzzy", legs=["keyword"]).confidence == 0.0


def test_with_every_provider_down_words_answer_and_say_what_is_missing(
    many: trivium.Library, provider: Provider
) -> None:
    provider.stop()
    started = time.perf_counter()
    with trivium.open(many.folder) as again:
        result = again.search("axe king")
    assert time.perf_counter() - started < 3
    assert len(result) == 10
    assert [note.partition(":")[0] for note in result.degraded] == ["vector", "rerank"]
    assert {leg.name: leg.state for leg in result.legs}["keyword"] is LegState.OK
