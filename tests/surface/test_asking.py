"""`trivium context`, `ask` and `check`, with a real chat endpoint on the loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from providers import Provider, Trouble, running

import trivium
from trivium.answering import ASK, CHECK, contradictions
from trivium.errors import InvalidValue, ModelRefused

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running(key="chat-key") as server:
        yield server


@pytest.fixture
def chat(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Provider:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CHAT_KEY", "chat-key")
    file = tmp_path / "config" / "trivium" / "trivium.toml"
    file.parent.mkdir(parents=True)
    file.write_text(
        f'[chat]\nurl = "{provider.url}/v1"\nmodel = "some/model"\ntime_out = 2\n'
        'key_variable = "CHAT_KEY"\n'
    )
    return provider


def test_context_is_within_its_budget_in_both_forms(run: Run, world: Path) -> None:
    shown = run("context", "who drew the axe", "-L", world, "--budget", "100")
    assert shown.returncode == 0
    assert "### [1] Emberfold · The nine forges · " in shown.stdout
    assert len(shown.stdout.rstrip("\n")) / 4 <= 100
    assert "of 100 tokens (characters / 4, rounded up)" in shown.stderr
    data = json.loads(run("context", "who drew the axe", "-L", world, "--json").stdout)
    assert data["tokens"] <= data["budget"] == 4000
    assert data["citations"][0]["heading"] == "The nine forges"
    assert data["citations"][0]["uri"] == "notes:places/emberfold.md"
    assert {"prompt", "profile", "counter", "text", "left_out", "confidence", "degraded"} <= set(
        data
    )
    assert run("context", "axe", "-L", world, "--budget", "3").returncode == 1
    assert run("context", "axe", "-L", world, "--budgt", "3").returncode == 2


def test_context_keeps_to_scopes_and_filters(run: Run, world: Path) -> None:
    assert "poisoned" in run("context", "poisoned axe", "-L", world).stdout
    assert "poisoned" not in run("context", "poisoned axe", "-L", world, "--scope", "all").stdout
    with trivium.open(world) as library:
        public = trivium.Grant(frozenset())
        assert "poisoned" not in library.context("poisoned axe", grant=public).text


def test_an_answer_streams_and_its_citations_are_checked(
    run: Run, world: Path, chat: Provider
) -> None:
    chat.chat = lambda messages: "Hedda drew it [1]. Others say so too [2, 77].\x1b[2J"
    answer = run("ask", "who drew the axe", "-L", world)
    assert answer.returncode == 0
    assert "Hedda drew it [1]." in answer.stdout
    assert "[1] Emberfold · The nine forges" in answer.stdout
    assert "cites [77], which it was not given" in answer.stderr
    assert "[2, 77].\ufffd[2J" in answer.stdout
    [seen] = chat.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == "Bearer chat-key"
    assert seen.body["stream"] is True
    system, user = seen.body["messages"]
    assert system["content"] == ASK
    assert user["content"].endswith('Question: "who drew the axe"')
    assert "> Hedda drew the battle axe" in user["content"]
    data = json.loads(run("ask", "who drew the axe", "-L", world, "--json").stdout)
    assert (data["cited"], data["unknown_citations"]) == ([1, 2], [77])


def test_an_answer_without_a_citation_is_called_that(run: Run, world: Path, chat: Provider) -> None:
    assert "cites no passage" in run("ask", "who drew the axe", "-L", world).stderr


def test_without_a_model_they_say_what_to_set_and_show_the_context(
    run: Run, world: Path, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text("Hedda drew a spear from the first forge.\n")
    for command in (("ask", "who drew the axe"), ("check", note)):
        answer = run(*command, "-L", world)
        assert answer.returncode == 1
        assert "set chat.url and chat.model" in answer.stderr
        assert "> Hedda drew the battle axe" in answer.stdout
    [sent] = json.loads(run("check", note, "-L", world, "--json").stdout)
    assert sent["passage"] == "Hedda drew a spear from the first forge."
    assert sent["context"]["citations"][0]["title"] == "Emberfold"
    with trivium.open(world) as library, pytest.raises(InvalidValue, match=r"chat\.url"):
        library.ask("who drew the axe")


@pytest.mark.parametrize(
    "trouble", [Trouble(401), Trouble(500), Trouble(wait=4)], ids=["401", "500", "slow"]
)
def test_a_chat_model_that_fails_is_an_error_without_the_key(
    run: Run, world: Path, chat: Provider, trouble: Trouble
) -> None:
    chat.always = trouble
    answer = run("ask", "who drew the axe", "-L", world)
    assert answer.returncode == 1
    assert answer.stderr.startswith("error: ")
    assert "chat-key" not in answer.stderr


NOTE = "# Forges\n\nHedda drew the battle axe Gravewind from the   second forge.\n"


def finds(*claims: Mapping[str, object]) -> Callable[[Sequence[Mapping[str, str]]], str]:
    return lambda messages: "Here you are:\n" + json.dumps(list(claims))


def passage_with(messages: Sequence[Mapping[str, str]], words: str) -> int:
    data = json.loads(messages[1]["content"])
    return next(int(one["number"]) for one in data["passages"] if words in one["text"])


def test_contradictions_are_listed_with_both_quotations(
    run: Run, world: Path, chat: Provider, tmp_path: Path
) -> None:
    def find(messages: Sequence[Mapping[str, str]]) -> str:
        place = passage_with(messages, "first forge")
        true = {
            "note": "from the second forge",
            "passage": place,
            "quote": "from the first forge",
            "why": "Which forge?",
        }
        invented = {**true, "quote": "from the ninth forge"}
        elsewhere = {**true, "passage": 99}
        return json.dumps([true, invented, elsewhere, {**true, "note": "x"}, "rubbish"])

    chat.chat = find
    note = tmp_path / "new.md"
    note.write_text(NOTE)
    answer = run("check", note, "-L", world)
    assert answer.returncode == 0
    assert "the note says: from the second forge" in answer.stdout
    assert "the library says: from the first forge" in answer.stdout
    assert "(Emberfold · The nine forges · notes:places/emberfold.md · version 1)" in answer.stdout
    assert "1 contradiction in 1 passages" in answer.stdout
    assert "4 claims were dropped" in answer.stderr
    assert chat.seen[0].body["messages"][0]["content"] == CHECK
    data = json.loads(run("check", note, "-L", world, "--json").stdout)
    assert data["dropped"] == 4
    assert data["contradictions"][0]["quote"] == "from the first forge"


def test_what_the_search_did_without_is_told(
    run: Run, world: Path, chat: Provider, tmp_path: Path
) -> None:
    file = tmp_path / "config" / "trivium" / "trivium.toml"
    with file.open("a") as settings:
        settings.write(
            f'[rerankers.gone]\nkind = "tei"\nurl = "{chat.url}/gone"\nkey_variable = "CHAT_KEY"\n'
        )
    note = tmp_path / "new.md"
    note.write_text(NOTE + "\n# Wolves\n\nNine wolves live there.\n")
    chat.chat = lambda messages: "[]"
    chat.troubles = [Trouble(401)]
    assert (
        "! without rerank: gone"
        in run("ask", "who drew the axe", "-L", world, "--reranker", "gone").stderr
    )
    chat.troubles = [Trouble(401)] * 2
    answer = run("check", note, "-L", world, "--reranker", "gone")
    assert answer.stderr.count("! without rerank: gone") == 1
    chat.troubles = [Trouble(401)] * 2
    data = json.loads(run("check", note, "-L", world, "--reranker", "gone", "--json").stdout)
    assert len(data["degraded"]) == 1
    assert not [warning for warning in data["warnings"] if "rerank" in warning]


def test_no_document_steers_the_terminal(
    run: Run, world: Path, chat: Provider, tmp_path: Path
) -> None:
    with trivium.open(world) as library:
        library.add_text("The pass\x1b[2J of Norn is shut. " * 90, title="Norn \x1b[2J", id="n")
    note = tmp_path / "new.md"
    note.write_text("The pass\x1b[2J of Norn is open.\n")

    def find(messages: Sequence[Mapping[str, str]]) -> str:
        text = "The pass\x1b[2J of Norn is"
        place = passage_with(messages, text)
        claim = {"note": f"{text} open", "passage": place, "quote": f"{text} shut", "why": "?"}
        return json.dumps([claim])

    chat.chat = find
    answer = run("check", note, "-L", world)
    assert "the note says: The pass\ufffd[2J of Norn is open" in answer.stdout
    assert "the library says: The pass\ufffd[2J of Norn is shut" in answer.stdout


def test_a_note_is_not_held_against_itself(world: Path, notes: Path) -> None:
    with trivium.open(world) as library:
        [(_, context), *_] = library.held_against(notes / "places" / "emberfold.md")
    assert context.citations
    assert all(one.hit.title != "Emberfold" for one in context.citations)


def test_what_cannot_be_checked_is_told(
    run: Run, world: Path, chat: Provider, tmp_path: Path
) -> None:
    note = tmp_path / "new.md"
    note.write_text(NOTE)
    chat.chat = lambda messages: "I would rather not."
    answer = run("check", note, "-L", world)
    assert answer.returncode == 1
    assert "passage 1: the model did not answer with a list" in answer.stderr
    assert run("check", tmp_path / "none.md", "-L", world).returncode == 1
    assert run("check", tmp_path, "-L", world).returncode == 1


def test_quotations_may_differ_in_spacing_only(world: Path) -> None:
    with trivium.open(world) as library:
        context = library.context("who drew the axe")
    place = next(one.number for one in context.citations if "first forge" in one.text)
    claim = {"note": "the second\nforge", "passage": place, "quote": "first  forge", "why": ""}
    assert len(contradictions(json.dumps([claim]), NOTE, context)[0]) == 1
    for change in (
        {"note": "the Second forge"},
        {"quote": "first forges"},
        {"quote": ""},
        {"note": 7},
    ):
        assert contradictions(json.dumps([{**claim, **change}]), NOTE, context) == ([], 1)
    for rubbish in ("", "{}", "[", "null", "[" * 100_000 + "]"):
        with pytest.raises(ModelRefused):
            contradictions(rubbish, NOTE, context)
