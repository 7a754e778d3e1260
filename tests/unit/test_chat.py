"""Chat over HTTP: an answer is whole, or it is said that it is not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from providers import Provider, Trouble, running

from trivium.chat import Chat
from trivium.errors import ModelRefused, ModelUnavailable
from trivium.settings import ChatSettings

ASKED = [{"role": "user", "content": "who?"}]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running() as server:
        yield server


def chat(provider: Provider, time_out: float = 5) -> Chat:
    return Chat.of(ChatSettings(url=f"{provider.url}/v1", model="m", tokens=9, time_out=time_out))


def event(text: str, reason: str | None = None) -> bytes:
    choice = {"delta": {"content": text}, "finish_reason": reason}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def streamed(provider: Provider, body: bytes) -> str:
    provider.troubles = [Trouble(body=body)]
    return "".join(chat(provider).stream(ASKED))


def test_the_mark_that_closes_a_stream_needs_no_blank(provider: Provider) -> None:
    assert streamed(provider, event("Hedda.") + b"data:[DONE]\n\n" + event("no")) == "Hedda."
    assert streamed(provider, event("Hedda.") + b"data: [DONE]\n\n") == "Hedda."


def test_a_stream_that_breaks_off_is_no_answer(provider: Provider) -> None:
    with pytest.raises(ModelUnavailable, match="broke off"):
        streamed(provider, event("Hed"))
    assert streamed(provider, event("Hed") + event("da.", "stop")) == "Hedda."


def test_chunks_that_break_off_are_no_answer(provider: Provider) -> None:
    first = event("Hed")
    chunks = b"%x\r\n%s\r\n" % (len(first), first)
    chunked = {"Transfer-Encoding": "chunked"}
    provider.troubles = [Trouble(body=chunks, headers=chunked, promised=1)]  # and hangs up
    with pytest.raises(ModelUnavailable, match="broke off"):
        list(chat(provider).stream(ASKED))


def test_an_answer_that_was_cut_says_so(provider: Provider) -> None:
    cut = streamed(provider, event("Hedda drew", "length") + b"data: [DONE]\n\n")
    assert cut.startswith("Hedda drew … (The answer was cut at 9 tokens; raise chat.tokens")
    body = json.dumps(
        {"choices": [{"message": {"content": "[1] and"}, "finish_reason": "length"}]}
    ).encode()
    provider.troubles = [Trouble(body=body), Trouble(body=body)]
    with pytest.raises(ModelRefused, match="cut at 9 tokens"):
        chat(provider).complete(ASKED)
    assert chat(provider).complete(ASKED, whole=False) == "[1] and"


def test_a_stream_that_drips_ends_within_its_time_out(provider: Provider) -> None:
    provider.always = Trouble(body=b"x" * 60, drip=0.05)  # no line ever ends
    started = time.perf_counter()
    with pytest.raises(ModelUnavailable, match="in time"):
        list(chat(provider, time_out=0.3).stream(ASKED))
    assert time.perf_counter() - started < 2
