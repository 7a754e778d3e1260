"""`trivium config` and `trivium trust`, as they are typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "trivium" / "trivium.toml"


def test_list_says_where_values_came_from_and_shows_no_secret(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-verysecret")
    monkeypatch.setenv("TRIVIUM_PROFILE", "omnidata")
    shown = run("config", "list")
    assert "profile = 'omnidata'  (environment TRIVIUM_PROFILE)" in shown.stdout
    assert "key_variable = OPENAI_API_KEY, which is set  (built-in)" in shown.stdout
    assert "time_out" not in shown.stdout
    assert "chat.time_out = 120.0  (default)" in run("config", "list", "--all").stdout
    data = json.loads(run("config", "list", "--json").stdout)
    one = next(
        line
        for line in data["settings"]
        if line["name"] == "models.text-embedding-3-small.key_variable"
    )
    assert one == {
        "name": "models.text-embedding-3-small.key_variable",
        "value": "OPENAI_API_KEY",
        "origin": "built-in",
        "is_set": True,
    }
    for command in (("config", "list"), ("config", "list", "--all"), ("config", "list", "--json")):
        answer = run(*command)
        assert "verysecret" not in answer.stdout + answer.stderr


def test_addresses_are_listed_without_what_may_be_secret(run: Run, own_settings: Path) -> None:
    own_settings.parent.mkdir(parents=True)
    own_settings.write_text(
        "[models.mine]\nurl = 'https://host/v1?code=verysecret'\n"
        "[tiers.team]\nlibrary = 'postgresql://ana:very/secret@db:5432/notes?password=verysecret'\n"
        "[tiers.own]\nlibrary = 'postgresql://ana:verysecret@db/notes'\n"
    )
    shown = run("config", "list").stdout
    assert "models.mine.url = 'https://host/v1?…'" in shown
    assert "tiers.own.library = 'postgresql://ana:…@db/notes'" in shown
    for command in (("config", "list"), ("config", "list", "--json")):
        assert "secret" not in run(*command).stdout.replace("OPENAI", "")


def test_trust_tells_what_it_lets_in(run: Run, home: Path) -> None:
    (home / "trivium.toml").write_text('[chat]\nurl = "https://x.example/v1"\n')
    before = run("config", "list")
    assert "chat.url is ignored" in before.stdout
    assert "is not trusted" in before.stderr
    assert "chat.url = 'https://x.example/v1'" in run("trust", ".").stdout
    assert run("config", "list").stderr == ""
    assert "(trusted)" in run("config", "path").stdout
    assert json.loads(run("trust", "--list", "--json").stdout) == [
        {"file": str(home / "trivium.toml"), "state": "trusted"}
    ]
    assert run("trust", "--revoke", ".").returncode == 0
    assert "is not trusted" in run("config", "list").stderr


def test_new_libraries_are_made_as_the_settings_say(run: Run, own_settings: Path) -> None:
    own_settings.parent.mkdir(parents=True)
    own_settings.write_text('profile = "omnidata"\nmodel = "hashing"\n')
    made = json.loads(run("init", "a.trivium", "--json").stdout)
    assert (made["profile"], made["model"]) == ("omnidata", "hashing")
    made = json.loads(run("init", "b.trivium", "--model", "none", "--json").stdout)
    assert (made["profile"], made["model"]) == ("omnidata", "none")


def test_mistakes_are_told_and_exit_1(run: Run, own_settings: Path) -> None:
    own_settings.parent.mkdir(parents=True)
    own_settings.write_text('profil = "omnidata"\n')
    answer = run("config", "list")
    assert answer.returncode == 1
    assert "Did you mean 'profile'?" in answer.stderr
    assert run("trust").returncode == 1
    assert run("trust", "nowhere").returncode == 1
    assert run("config", "list", "--set", "nonsense").returncode == 1
