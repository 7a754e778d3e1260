"""Embeddings over HTTP, against a real server that answers rightly and wrongly."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
import pytest
from providers import NAN, Provider, Trouble, running

from trivium.embed import embedder
from trivium.embed.http import HttpEmbedder, _batches
from trivium.endpoint import Endpoint
from trivium.errors import InvalidValue, ModelMismatch, ModelRefused, ModelUnavailable, UnknownModel
from trivium.protocols import Embedder
from trivium.settings import ModelSettings

SECRET = "sk-test-0123456789abcdef"
TEXTS = ["an axe", "a short sword", "", "naïve 東京 🦊", "broken \ud800 name"]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with running() as server:
        yield server


def settings(provider: Provider, **changes: Any) -> ModelSettings:
    plain = ModelSettings(url=f"{provider.url}/v1", model="base", dimension=8)
    return replace(plain, **changes)


def model(provider: Provider, **changes: Any) -> HttpEmbedder:
    return HttpEmbedder("mine", settings(provider, **changes))


def waits(provider: Provider) -> tuple[Endpoint, list[float]]:
    """An endpoint that only notes down how long it would wait."""
    waited: list[float] = []
    return Endpoint(f"{provider.url}/v1", sleep=waited.append), waited


def test_vectors_come_back_in_the_order_of_the_texts(provider: Provider) -> None:
    mine: Embedder = model(provider)
    rows = mine.documents(TEXTS)
    expected = provider.model.documents(
        ["an axe", "a short sword", " ", "naïve 東京 🦊", "broken ? name"]
    )
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    assert rows.dtype == np.float32
    assert mine.documents([]).shape == (0, 8)
    assert provider.seen[0].path == "/v1/embeddings"
    assert provider.seen[0].body["model"] == "base"


def test_prefixes_go_where_they_belong_and_into_the_fingerprint(provider: Provider) -> None:
    mine = model(provider, query_prefix="query: ", document_prefix="passage: ")
    mine.documents(["x"])
    mine.query("y")
    assert [seen.body["input"] for seen in provider.seen] == [["passage: x"], ["query: y"]]
    assert mine.fingerprint != model(provider).fingerprint


def test_the_fingerprint_is_the_models_and_not_the_servers(provider: Provider) -> None:
    here = model(provider, key_variable="SOME_KEY")
    there = HttpEmbedder("other", settings(provider, url="https://elsewhere.example/v2"))
    assert here.fingerprint == there.fingerprint == "api:base:8:plain"
    assert model(provider, model="else").fingerprint != here.fingerprint
    assert model(provider, dimension=4).fingerprint != here.fingerprint


def test_the_key_is_sent_and_a_refused_one_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    with running(key=SECRET) as provider:
        mine = model(provider, key_variable="SOME_KEY")
        with pytest.raises(ModelUnavailable, match="SOME_KEY"):
            mine.query("axe")
        assert provider.seen == []
        monkeypatch.setenv("SOME_KEY", SECRET)
        assert mine.query("axe").shape == (8,)
        assert provider.seen[0].headers["authorization"] == f"Bearer {SECRET}"
        monkeypatch.setenv("SOME_KEY", SECRET + "wrong")
        with pytest.raises(ModelUnavailable, match=r"refuses the key.*SOME_KEY") as error:
            mine.query("sword")
        assert "0123456789" not in str(error.value)
        assert not error.value.retryable
        assert len(provider.seen) == 2  # a key that is refused is not sent again
        assert SECRET not in repr(mine.__dict__)


@pytest.mark.parametrize("key", ["two\nlines", "schlüssel"])
def test_a_key_that_is_none_is_not_sent(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("SOME_KEY", key)
    with pytest.raises(ModelUnavailable, match="does not hold a key") as error:
        model(provider, key_variable="SOME_KEY").query("axe")
    assert key not in str(error.value)


def test_a_key_never_goes_out_in_the_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    away = ModelSettings(
        url="http://models.example/v1", model="m", dimension=8, key_variable="SOME_KEY"
    )
    with pytest.raises(ModelUnavailable, match="use https"):
        HttpEmbedder("mine", away).query("axe")


def test_a_redirect_is_not_followed_with_the_key(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    with running() as thief:
        provider.troubles = [Trouble(307, {"Location": f"{thief.url}/v1/embeddings"})]
        with pytest.raises(ModelUnavailable, match="not followed"):
            model(provider, key_variable="SOME_KEY").query("axe")
        assert thief.seen == []


def test_azure_wants_a_deployment_a_version_and_another_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZURE_KEY", "azure-key")
    with running(key="azure-key") as provider:
        azure = replace(
            settings(provider),
            kind="azure",
            url=provider.url,
            model="text-embedding-3-small",
            deployment="my embeddings",
            api_version="2024-10-21",
            key_variable="AZURE_KEY",
        )
        HttpEmbedder("a", azure).documents(["axe"])
        [seen] = provider.seen
    assert seen.path == "/openai/deployments/my%20embeddings/embeddings?api-version=2024-10-21"
    assert seen.headers["api-key"] == "azure-key"
    assert "authorization" not in seen.headers
    assert "model" not in seen.body


def test_fewer_numbers_are_asked_for_where_the_model_can(provider: Provider) -> None:
    assert model(provider, dimension=4, shorten=True).query("axe").shape == (4,)
    assert provider.seen[0].body["dimensions"] == 4


# --- batches and connections ---------------------------------------------------------------------


def test_batches_are_bounded_by_count_and_by_characters() -> None:
    texts = ["a" * 5, "b" * 5, "c" * 5, "d" * 50, "e", "f", "g", "h"]
    found = [[texts[i] for i in batch] for batch in _batches(texts, 3, 12)]
    assert found == [["a" * 5, "b" * 5], ["c" * 5], ["d" * 50], ["e", "f", "g"], ["h"]]
    assert list(_batches([], 3, 12)) == []


def test_many_texts_go_out_side_by_side_over_few_connections(provider: Provider) -> None:
    mine = model(provider, batch=5, concurrency=3)
    texts = [f"text number {i}" for i in range(60)]
    provider.always = Trouble(wait=0.05)
    started = time.perf_counter()
    rows = mine.documents(texts)
    took = time.perf_counter() - started
    np.testing.assert_allclose(rows, provider.model.documents(texts), atol=1e-6)
    assert len(provider.seen) == 12
    assert provider.connections <= 3
    assert took < 12 * 0.05  # one after the other they would wait for longer than that
    mine.documents(["one more"])
    assert provider.connections <= 3


def test_a_connection_that_the_server_closed_is_opened_anew(provider: Provider) -> None:
    mine = model(provider)
    provider.troubles = [Trouble(headers={"Connection": "close"})]
    mine.query("one")
    mine.query("two")
    assert len(provider.seen) == 2


def test_a_kept_connection_has_the_time_out_of_each_call(provider: Provider) -> None:
    endpoint = Endpoint(f"{provider.url}/v1")
    endpoint.post("/embeddings", {"input": ["one"]}, time_out=0.3)
    provider.troubles = [Trouble(wait=0.6)]
    endpoint.post("/embeddings", {"input": ["two"]}, time_out=5)
    assert (len(provider.seen), provider.connections) == (2, 1)
    provider.troubles = [Trouble(wait=1)]
    with pytest.raises(ModelUnavailable, match="in time"):
        endpoint.post("/embeddings", {"input": ["three"]}, time_out=0.2)
    time.sleep(0.2)
    assert len(provider.seen) == 3  # what was slow is not sent twice


def test_a_query_is_asked_once(provider: Provider) -> None:
    mine = model(provider)
    first, again = mine.query("axe"), mine.query("axe")
    assert len(provider.seen) == 1
    np.testing.assert_array_equal(first, again)
    mine.query("sword")
    assert len(provider.seen) == 2


# --- troubles ------------------------------------------------------------------------------------


def test_a_query_tries_again_after_the_time_the_server_asks_for(provider: Provider) -> None:
    endpoint, waited = waits(provider)
    provider.troubles = [Trouble(429, {"Retry-After": "2"}), Trouble(500)]
    mine = HttpEmbedder("mine", settings(provider), endpoint)
    assert mine.query("axe").shape == (8,)
    assert waited == [2.0, 0.5]
    assert len(provider.seen) == 3


def test_a_query_does_not_wait_longer_than_its_time_out(provider: Provider) -> None:
    endpoint, waited = waits(provider)
    provider.troubles = [Trouble(429, {"Retry-After": "3600"})]
    with pytest.raises(ModelUnavailable) as error:
        HttpEmbedder("mine", settings(provider), endpoint).query("axe")
    assert waited == []
    assert (error.value.retryable, error.value.retry_after) == (True, 3600.0)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_documents_are_left_to_the_queue_above(provider: Provider, status: int) -> None:
    provider.troubles = [Trouble(status, {"Retry-After": "7"})]
    with pytest.raises(ModelUnavailable, match=str(status)) as error:
        model(provider).documents(["axe"])
    assert (error.value.retryable, error.value.retry_after) == (True, 7.0)
    assert len(provider.seen) == 1


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_at_fault_is_refused_for_good(provider: Provider, status: int) -> None:
    provider.troubles = [Trouble(status)]
    with pytest.raises(ModelRefused, match=str(status)):
        model(provider).query("axe")
    assert len(provider.seen) == 1


def test_a_wrong_address_is_no_reason_to_try_again(provider: Provider) -> None:
    provider.troubles = [Trouble(404, body=b"<html>not \x1b[2J found</html>")]
    with pytest.raises(ModelUnavailable, match="check the url") as error:
        model(provider).query("axe")
    assert not error.value.retryable
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("trouble", [Trouble(wait=5), Trouble(drip=0.05)], ids=["slow", "dripping"])
def test_a_call_ends_within_its_time_out(provider: Provider, trouble: Trouble) -> None:
    provider.always = trouble
    started = time.perf_counter()
    with pytest.raises(ModelUnavailable, match="in time") as error:
        model(provider, query_time_out=0.3).query("axe")
    assert time.perf_counter() - started < 2
    assert error.value.retryable


def test_a_server_that_is_not_there_can_come_back() -> None:
    with running() as provider:
        gone = settings(provider, query_time_out=0.2)
    with pytest.raises(ModelUnavailable, match="cannot be reached") as error:
        HttpEmbedder("mine", gone).documents(["axe"])
    assert error.value.retryable


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://api..example.com/v1", ""),
        ("http://127.0.0.1:9/é", ""),
        ("https://models.example/v1", "http://foo:bar"),
    ],
)
def test_an_address_that_is_none_is_said_to_be_out_of_reach(
    monkeypatch: pytest.MonkeyPatch, url: str, proxy: str
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with running() as provider:
        gone = settings(provider, url=url)
    with pytest.raises(ModelUnavailable, match="cannot be reached") as error:
        HttpEmbedder("mine", gone).query("axe")
    assert "check the url" in str(error.value)
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        list(Endpoint(url).stream("/x", {}, time_out=1))


def test_a_stream_whose_name_is_looked_up_for_minutes_ends_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = Event()

    def hanging(*_: object, **__: object) -> None:
        over.wait(60)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    try:
        with pytest.raises(ModelUnavailable, match="did not answer in time"):
            list(Endpoint("http://models.example").stream("/x", {}, time_out=0.2))
        assert not over.is_set()
    finally:
        over.set()


@pytest.mark.parametrize(
    "trouble",
    [Trouble(401), Trouble(500), Trouble(400), Trouble(404), Trouble(307), Trouble(body=b"{}")],
)
def test_no_message_shows_what_an_address_asks_for(provider: Provider, trouble: Trouble) -> None:
    provider.always = trouble
    mine = model(provider, url=f"{provider.url}/v1?api-key={SECRET}", query_time_out=1)
    with pytest.raises((ModelUnavailable, ModelRefused)) as error:
        mine.query("axe")
    assert provider.seen[0].path == f"/v1/embeddings?api-key={SECRET}"
    assert f"{provider.url}/v1" in str(error.value)
    assert SECRET not in str(error.value)


def test_an_answer_that_breaks_off_can_be_tried_again(provider: Provider) -> None:
    provider.troubles = [Trouble(promised=100)]
    with pytest.raises(ModelUnavailable) as error:
        model(provider).documents(["axe"])
    assert error.value.retryable
    provider.troubles = [Trouble(promised=100)]
    assert model(provider).query("axe").shape == (8,)


@pytest.mark.parametrize(
    "body",
    [
        b'{"data": [{"index": 0, "embed',
        b"",
        b"[]",
        b"null",
        b'{"data": null}',
        b'{"data": [1]}',
        b'{"data": [{"embedding": [1, "x", 1, 1, 1, 1, 1, 1]}]}',
        b'{"data": [{"embedding": [[1], 1, 1, 1, 1, 1, 1, 1]}]}',
        b'{"data": [{"index": "a", "embedding": [1, 1, 1, 1, 1, 1, 1, 1]}]}',
        b'{"data": [{"index": 1, "embedding": [1, 1, 1, 1, 1, 1, 1, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0, 0, 0, 0, 0, 0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999, 0, 0, 0, 0, 0, 0, 0]}]}',
        b'{"data": [{"index": 1e999, "embedding": [1, 1, 1, 1, 1, 1, 1, 1]}]}',
        b'{"data": [{"embedding": [1' + b"0" * 400 + b", 1, 1, 1, 1, 1, 1, 1]}]}",
        b'{"data": [{"embedding": [[1, 2], [3, 4], [1, 2], [3, 4], [1, 2], [3, 4], [1], [1]]}]}',
        b'{"data": [{"embedding": [[1], [1], [1], [1], [1], [1], [1], [1]]}]}',
        b"[" * 100_000,
    ],
)
def test_rubbish_never_becomes_a_vector(provider: Provider, body: bytes) -> None:
    provider.troubles = [Trouble(body=body or b" ")]
    with pytest.raises(ModelRefused):
        model(provider).query("axe")


def test_nan_is_refused(provider: Provider) -> None:
    def spoil(answer: Any) -> Any:
        answer["data"][0]["embedding"][3] = NAN
        return answer

    provider.troubles = [Trouble(change=spoil)]
    with pytest.raises(ModelRefused, match="something else than numbers"):
        model(provider).query("axe")


def test_a_wrong_count_is_refused(provider: Provider) -> None:
    provider.troubles = [Trouble(change=lambda answer: {"data": answer["data"][1:]})]
    with pytest.raises(ModelRefused, match="1 embeddings for 2 texts"):
        model(provider).documents(["an axe", "a sword"])


def test_a_wrong_dimension_says_what_to_set(provider: Provider) -> None:
    with pytest.raises(
        ModelMismatch, match=r"vectors of 8 numbers.*models\.mine\.dimension says 9"
    ):
        model(provider, dimension=9).query("axe")


# --- names ---------------------------------------------------------------------------------------


def test_models_are_found_by_name_in_the_settings(provider: Provider) -> None:
    assert embedder("mine", {"mine": settings(provider)}).query("axe").shape == (8,)
    assert embedder("hashing", {}).name == "hashing"
    with pytest.raises(UnknownModel, match=r"Did you mean 'mine'\?.*\[models.mime\]"):
        embedder("mime", {"mine": settings(provider)})


@pytest.mark.parametrize(
    ("missing", "needs"),
    [
        ({"url": ""}, "needs url"),
        ({"dimension": 0, "model": ""}, "needs model and dimension"),
        ({"kind": "azure"}, "needs deployment and api_version"),
        ({"kind": "fastembed", "model": ""}, "needs model"),
    ],
)
def test_settings_that_lack_something_say_what(
    provider: Provider, missing: dict[str, Any], needs: str
) -> None:
    with pytest.raises(InvalidValue, match=needs):
        embedder("mine", {"mine": settings(provider, **missing)})


def test_what_was_sent_is_json_that_anybody_can_read(provider: Provider) -> None:
    model(provider).documents(TEXTS)
    assert json.dumps(provider.seen[0].body)
    assert provider.seen[0].headers["content-type"] == "application/json"
    assert provider.seen[0].body["input"][2] == " "
