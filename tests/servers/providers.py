"""A small real server on the loopback that speaks the interfaces of model providers.

It answers rightly unless it is told to misbehave, and keeps everything it was sent.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from trivium.embed.hashing import Hashing


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Any
    connection: int


@dataclass(frozen=True, slots=True)
class Trouble:
    """How to answer wrongly, once. What is not set is as it should be."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    wait: float = 0.0
    promised: int = 0
    """Bytes that the header promises beyond what is sent."""
    drip: float = 0.0
    """Seconds between the bytes of the answer."""
    change: Callable[[Any], Any] | None = None
    """What to do to the right answer before it is sent."""


def overlap(query: str, text: str) -> float:
    """The share of the query's words that the text holds: what the reranker here thinks."""
    wanted = set(re.findall(r"\w+", query.lower()))
    held = set(re.findall(r"\w+", text.lower()))
    return round(len(wanted & held) / max(1, len(wanted)), 6)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        return  # a client that hangs up on a slow answer is what some tests are about


class Provider:
    """The server. `key` is what it wants to be shown; `troubles` are used up one a request."""

    def __init__(self, dimension: int = 8, key: str = "") -> None:
        self.model = Hashing(dimension)
        self.key = key
        self.seen: list[Seen] = []
        self.troubles: list[Trouble] = []
        self.always: Trouble | None = None
        self.chat: Callable[[Sequence[Mapping[str, str]]], str] = lambda messages: "I do not know."
        self.lock = Lock()
        self.connections = 0
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: Any) -> Any:
        """What a right provider says."""
        place = path.partition("?")[0]
        if place.endswith("/embeddings"):
            return self._embeddings(body)
        if place.endswith("/chat/completions"):
            return {
                "choices": [
                    {"message": {"role": "assistant", "content": self.chat(body["messages"])}}
                ]
            }
        texts = body.get("documents", body.get("texts"))
        scores = [overlap(body["query"], text) for text in texts]
        order = sorted(range(len(texts)), key=lambda place: -scores[place])
        if place == "/tei/rerank":
            return [{"index": place, "score": scores[place]} for place in order]
        results = [{"index": place, "relevance_score": scores[place]} for place in order]
        if place == "/voyage/rerank":
            return {"object": "list", "data": results[: body.get("top_k", len(order))]}
        return {"results": results[: body.get("top_n", len(order))]}

    def _embeddings(self, body: Any) -> Any:
        texts = body["input"]
        rows = self.model.documents(texts).tolist()
        if "dimensions" in body:
            rows = [row[: body["dimensions"]] for row in rows]
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        return {"object": "list", "data": data[::-1], "model": body.get("model", "")}

    def stream(self, text: str) -> Iterator[bytes]:
        """The answer in pieces, as chat endpoints send it."""
        for piece in re.findall(r"\S+\s*|\s+", text):
            yield _event({"choices": [{"delta": {"content": piece}}]})
        yield b"data: [DONE]\n\n"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with provider.lock:
                    provider.connections += 1
                    self.number = provider.connections

            def log_message(self, format: str, *arguments: Any) -> None:
                return

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with provider.lock:
                    provider.seen.append(Seen(self.path, headers, body, self.number))
                    trouble = provider.always or (
                        provider.troubles.pop(0) if provider.troubles else Trouble()
                    )
                time.sleep(trouble.wait)
                shown = headers.get("api-key") or headers.get("authorization", "")[len("Bearer ") :]
                if provider.key and shown != provider.key:
                    said = f"Incorrect API key provided: {shown}"
                    trouble = Trouble(401, body=json.dumps({"error": {"message": said}}).encode())
                if body.get("stream") and trouble.status == 200 and trouble.body is None:
                    return self._stream(body)
                self._send(trouble, trouble.body or self._right(trouble, body))
                return None

            def _right(self, trouble: Trouble, body: Any) -> bytes:
                if trouble.status != 200:
                    return json.dumps({"error": {"message": "no"}}).encode()
                answer = provider.answer(self.path, body)
                return json.dumps(trouble.change(answer) if trouble.change else answer).encode()

            def _send(self, trouble: Trouble, data: bytes) -> None:
                self.send_response(trouble.status)
                self.send_header("Content-Length", str(len(data) + trouble.promised))
                for name, value in trouble.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                for piece in (
                    [data[i : i + 1] for i in range(len(data))] if trouble.drip else [data]
                ):
                    self.wfile.write(piece)
                    self.wfile.flush()
                    time.sleep(trouble.drip)
                self.close_connection = bool(trouble.promised)

            def _stream(self, body: Any) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                for event in provider.stream(provider.chat(body["messages"])):
                    self.wfile.write(event)
                    self.wfile.flush()
                self.close_connection = True

        return Handler


def _event(data: Any) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


@contextmanager
def running(dimension: int = 8, key: str = "") -> Iterator[Provider]:
    provider = Provider(dimension, key)
    provider.start()
    try:
        yield provider
    finally:
        provider.stop()


NAN = math.nan
