"""Settings: layers, where a value came from, what a stranger may set, and no secret shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trivium.configuration import (
    configuration,
    distrust,
    places,
    trust,
    trusted_files,
)
from trivium.embed import EMBEDDERS
from trivium.errors import InvalidValue, TriviumError, UnknownName, UnknownSetting
from trivium.settings import (
    BUILT_IN,
    OFFLINE_MODELS,
    Configuration,
    Layer,
    Settings,
    combined,
    from_flags,
    may_carry_a_key,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "deep"
    folder.mkdir(parents=True)
    return folder


def user(home: Path, text: str) -> Path:
    file = home / "trivium" / "trivium.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def read(home: Path, work: Path, flags: dict[str, object] | None = None, **variables: str):  # type: ignore[no-untyped-def]
    return configuration(
        flags, environment={"XDG_CONFIG_HOME": str(home), **variables}, folder=work
    )


def origin(found: Configuration, name: str) -> tuple[object, str]:
    [line] = [line for line in found.lines() if line.name == name]
    return line.value, line.origin


def test_without_any_file_there_are_the_presets_of_the_documents(home: Path, work: Path) -> None:
    settings = read(home, work).settings
    small, qwen = settings.models["text-embedding-3-small"], settings.models["qwen3-embedding-8b"]
    assert (small.url, small.dimension) == ("https://api.openai.com/v1", 1536)
    assert (qwen.model, qwen.dimension) == ("qwen/qwen3-embedding-8b", 4096)
    assert settings.rerankers["rerank-4-pro"].model == "cohere/rerank-4-pro"
    assert settings.profile == "default"


def test_a_later_place_wins_and_each_value_says_where_it_came_from(home: Path, work: Path) -> None:
    file = user(home, 'profile = "omnidata"\nmodel = "static"\n[chat]\nmodel = "a"\ntokens = 5\n')
    project = work.parent / "trivium.toml"
    project.write_text('model = "hashing"\n')
    found = read(
        home,
        work,
        {"chat.model": "c", "chat.url": None},
        TRIVIUM_CHAT__MODEL="b",
        TRIVIUM_LIBRARY="x",
    )
    assert origin(found, "profile") == ("omnidata", str(file))
    assert origin(found, "model") == ("hashing", str(project))
    assert origin(found, "chat.tokens") == (5, str(file))
    assert origin(found, "chat.model") == ("c", "flag")
    assert origin(found, "chat.url") == ("", "default")
    assert origin(found, "models.qwen3-embedding-8b.dimension") == (4096, BUILT_IN)
    without = read(home, work, TRIVIUM_CHAT__MODEL="b")
    assert origin(without, "chat.model") == ("b", "environment TRIVIUM_CHAT__MODEL")


def test_a_table_is_merged_value_by_value(home: Path, work: Path) -> None:
    user(home, "[models.text-embedding-3-small]\nbatch = 7\n")
    small = read(home, work).settings.models["text-embedding-3-small"]
    assert (small.batch, small.dimension) == (7, 1536)


def test_variables_reach_named_tables_and_keep_their_type(home: Path, work: Path) -> None:
    found = read(
        home,
        work,
        TRIVIUM_MODELS__TEXT_EMBEDDING_3_SMALL__DIMENSION="256",
        TRIVIUM_MODELS__MINE__MODEL="42",
        TRIVIUM_TIERS__TEAM__PRIORITY="0.5",
    )
    assert found.settings.models["text-embedding-3-small"].dimension == 256
    assert found.settings.models["mine"].model == "42"
    assert found.settings.tiers["team"].priority == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[chat]\nmodle = "x"', "'chat.modle'. Did you mean 'model'?"),
        ('[models.a]\nurl = "ftp://x"', "must be like https://host/path"),
        ("[models.a]\nbatch = 0", "must be above 0"),
        ("[models.a]\ndimension = '3'", "must be a whole number"),
        ("[models]\na = 1", "must be a table"),
        ("= 1", "not valid TOML"),
    ],
)
def test_a_mistake_names_the_file_and_what_is_wrong(
    home: Path, work: Path, text: str, message: str
) -> None:
    file = user(home, text)
    with pytest.raises(TriviumError) as error:
        read(home, work)
    assert message in str(error.value)
    assert str(file) in str(error.value)


def test_a_mistake_in_a_variable_names_the_variable(home: Path, work: Path) -> None:
    with pytest.raises(UnknownSetting, match=r"TRIVIUM_CHAT__MODLE.*Did you mean 'model'"):
        read(home, work, TRIVIUM_CHAT__MODLE="x")


@pytest.mark.parametrize(
    "line", ['key_variable = "sk-secret99"', 'url = "https://u:secret99@host"']
)
def test_a_secret_in_a_file_is_refused_without_being_repeated(
    home: Path, work: Path, line: str
) -> None:
    user(home, f"[chat]\n{line}\n")
    with pytest.raises(InvalidValue) as error:
        read(home, work)
    assert "secret99" not in str(error.value)


def test_an_empty_table_is_a_choice(home: Path, work: Path) -> None:
    assert not read(home, work).chose("rerankers", "rerank-4-pro")
    user(home, "[rerankers.rerank-4-pro]\n")
    assert read(home, work).chose("rerankers", "rerank-4-pro")


# --- trust ---------------------------------------------------------------------------------------

STRANGER = """
profile = "jicklejime"
[models.text-embedding-3-small]
url = "https://evil.example/v1"
[chat]
key_variable = "AWS_SECRET"
[tiers.mine]
library = "/etc"
"""


def test_a_strangers_file_may_choose_a_profile_and_nothing_else(home: Path, work: Path) -> None:
    (work / "trivium.toml").write_text(STRANGER)
    found = read(home, work)
    assert found.settings.profile == "jicklejime"
    assert found.settings.models["text-embedding-3-small"].url == "https://api.openai.com/v1"
    assert found.settings.chat.key_variable == ""
    assert found.settings.tiers == {}
    assert [line.name for line in found.ignored] == [
        "models.text-embedding-3-small.url",
        "chat.key_variable",
        "tiers.mine.library",
    ]
    [notice] = found.notices
    assert "chat.key_variable" in notice
    assert f"trivium trust {work}" in notice


@pytest.mark.parametrize(
    "line",
    [
        'model = "text-embedding-3-small"',  # would send everything that is added to a server
        'profile = "/etc/passwd.toml"',  # would read any file there is
    ],
)
def test_a_stranger_may_name_only_what_ships_and_sends_nothing(
    home: Path, work: Path, line: str
) -> None:
    (work / "trivium.toml").write_text(line + "\n")
    found = read(home, work)
    assert (found.settings.model, found.settings.profile) == (Settings().model, Settings().profile)
    assert [line.name for line in found.ignored] == [line.partition(" ")[0]]
    assert len(found.notices) == 1


def test_the_models_that_a_stranger_may_name_are_those_that_ship() -> None:
    assert set(EMBEDDERS) | {"none"} == OFFLINE_MODELS


def test_a_flag_through_something_that_is_no_table_is_an_error() -> None:
    with pytest.raises(UnknownSetting, match="not a table"):
        from_flags({"chat": "x", "chat.url": "https://y"})


def test_trust_holds_until_the_file_changes(home: Path, work: Path) -> None:
    environment = {"XDG_CONFIG_HOME": str(home)}
    file = work / "trivium.toml"
    file.write_text(STRANGER)
    trusted, lines = trust(work, environment)
    assert trusted == file.resolve()
    assert ("chat.key_variable", "AWS_SECRET") in [(line.name, line.value) for line in lines]
    assert read(home, work).settings.chat.key_variable == "AWS_SECRET"
    assert read(home, work).notices == ()
    file.write_text(STRANGER + 'model = "static"\n'.replace("model", "# model"))
    found = read(home, work)
    assert found.settings.chat.key_variable == ""
    assert "changed since it was trusted" in found.notices[0]
    assert trusted_files(environment) == [(str(file.resolve()), "changed")]
    trust(file, environment)
    distrust(work, environment)
    assert read(home, work).settings.chat.key_variable == ""
    with pytest.raises(UnknownName, match="was not trusted"):
        distrust(work, environment)


def test_a_strangers_rubbish_stops_nobody(home: Path, work: Path) -> None:
    for rubbish in (b"= =", b"\xff\xfe", b'[chat]\nunheard = "of"', b"a = " + b"[" * 5000):
        (work / "trivium.toml").write_bytes(rubbish)
        found = read(home, work)
        assert "is not read" in found.notices[0]
        assert found.settings.profile == "default"


def test_a_damaged_list_of_trust_trusts_nothing(home: Path, work: Path) -> None:
    (work / "trivium.toml").write_text(STRANGER)
    store = places({"XDG_CONFIG_HOME": str(home)}, work).trusted
    store.parent.mkdir(parents=True)
    for damage in ("", "[]", '{"a"', json.dumps({str(work): None})):
        store.write_text(damage)
        assert read(home, work).settings.chat.key_variable == ""


def test_trust_in_a_folder_without_a_file_says_so(home: Path, work: Path) -> None:
    with pytest.raises(UnknownName, match=r"name the folder that holds trivium.toml"):
        trust(work, {"XDG_CONFIG_HOME": str(home)})


def test_the_users_own_file_is_not_a_strangers_when_met_on_the_way_up(home: Path) -> None:
    file = user(home, '[chat]\nmodel = "a"\n')
    found = read(home, file.parent)
    assert found.settings.chat.model == "a"
    assert found.notices == ()


def test_names_of_a_stranger_cannot_steer_the_terminal() -> None:
    layer = Layer("x", {"models": {"\x1b[2J.evil": {"url": "https://h"}}}, trusted=False)
    assert combined([layer]).ignored[0].name == 'models."\\u001b[2J.evil".url'


def test_a_key_goes_by_tls_or_stays_on_the_machine() -> None:
    assert may_carry_a_key("https://api.example/v1")
    assert may_carry_a_key("http://127.0.0.1:8080")
    assert may_carry_a_key("http://localhost/v1")
    assert not may_carry_a_key("http://10.0.0.8/v1")
