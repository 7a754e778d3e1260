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
