"""One server that speaks JSON over HTTP: what all remote models are reached by.

Written on the standard library, because importing a client would cost every start more than the
call. Connections are kept and used again; a call ends within its time-out whatever the server
does; what can be tried again is tried again, after the time the server asks for. A redirect is
never followed, so that a key goes nowhere but where the settings say, and no message repeats it.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from threading import Lock, Timer
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from trivium.deadline import within
from trivium.errors import ModelRefused, ModelUnavailable
from trivium.settings import may_carry_a_key
from trivium.version import __version__

LARGEST_ANSWER = 64 * 1024 * 1024
"""A thousand vectors of 4,096 numbers, written out; what is longer is no answer."""

DONE = "[DONE]"
"""What closes a stream; without it, or the model's own word, an answer may have broken off."""

FIRST_PAUSE = 0.25
_AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504, 529))
_AT_FAULT = frozenset((400, 413, 414, 415, 422))
_BROKEN = (OSError, HTTPException, ValueError)
"""What a connection raises; the last for a host, path or proxy that none can be made to."""
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|key|jina|pa|hf)[-_][\w*.-]{4,}")


def shown(url: str) -> str:
    """The URL as messages name it: what follows "?" may be a key."""
    return url.partition("?")[0]


@dataclass(slots=True)
class Endpoint:
    """A server at a base URL. Safe to share between threads.

    `environment`, `sleep` and `clock` are parameters for tests.
    """

    url: str
    key_variable: str = ""
    key_header: str = "Authorization"
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _idle: list[HTTPConnection] = field(default_factory=list, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def post(self, path: str, body: Any, *, time_out: float, tries: int = 1) -> Any:
        """The JSON that the server answers.

        `ModelUnavailable` when it cannot be reached or will not serve, `ModelRefused` when this
        request is at fault or the answer is not JSON.
        """
        deadline = self.clock() + time_out
        data, headers = json.dumps(body).encode(), self._headers()
        for attempt in range(tries):
            try:
                left = max(deadline - self.clock(), 0.001)
                return _parsed(self._within(Call(self, path, data, headers, left)))
            except ModelUnavailable as error:
                pause = error.retry_after
                pause = FIRST_PAUSE * 2**attempt if pause is None else pause
                last = attempt + 1 == tries
                if last or not error.retryable or self.clock() + pause >= deadline:
                    raise
                self.sleep(pause)
        raise ValueError("a call needs at least one try")

    def stream(self, path: str, body: Any, *, time_out: float) -> Iterator[str]:
        """What the `data:` lines of a server-sent stream hold, as they come; `DONE` is the last."""
        call = Call(self, path, json.dumps(body).encode(), self._headers(), time_out)
        timer = Timer(time_out, call.give_up)  # however it drips, the time is over then
        timer.daemon = True
        timer.start()
        connection = None
        try:
            try:
                call.connection = connection = self._connection(time_out)
                within(time_out, connection.connect)  # a name may be looked up for minutes
                self._send(connection, path, call.data, call.headers)
                call.sock = connection.sock  # the connection lets go of it when it will be closed
                response = connection.getresponse()
                if response.status != 200:
                    self._raise(response, response.read(LARGEST_ANSWER))
                while line := response.readline(LARGEST_ANSWER):
                    text = line.decode("utf-8", "replace").strip()
                    if text.startswith("data:"):
                        yield (event := text.removeprefix("data:").strip())
                        if event == DONE:
                            return
                if call.given_up:
                    raise _late(self.url)
            except _BROKEN as error:
                if call.given_up:
                    raise _late(self.url) from error
                raise self._unreachable(error) from error
        finally:
            timer.cancel()
            if connection is not None:
                connection.close()

    def close(self) -> None:
        """Let go of the connections that wait to be used again."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def __del__(self) -> None:
        self.close()  # whoever lets go of a model need not know that it holds connections

    # --- one exchange ----------------------------------------------------------------------------

    def _within(self, call: Call) -> bytes:
        """The answer, in time: however long a name is looked up, or byte by byte it comes."""
        try:
            return within(call.time_out, call)
        except TimeoutError:
            call.give_up()
            raise _late(self.url) from None

    def exchange(self, call: Call) -> bytes:
        """Send it and read the whole answer, on a kept connection if there is one."""
        with self._lock:
            kept = self._idle.pop() if self._idle else None
        if kept is not None:
            try:
                return self._exchange(kept, call)
            except _BROKEN as error:  # closed meanwhile; that is no failure
                # what was slow is not sent twice: the server may be at work on it
                if call.given_up or isinstance(error, TimeoutError):
                    raise self._unreachable(error) from error
        try:
            return self._exchange(self._connection(call.time_out), call)
        except _BROKEN as error:
            raise self._unreachable(error) from error

    def _exchange(self, connection: HTTPConnection, call: Call) -> bytes:
        call.connection = connection
        connection.timeout = call.time_out
        if connection.sock is not None:  # a kept one has the time-out of the call that made it
            connection.sock.settimeout(call.time_out)
        try:
            self._send(connection, call.path, call.data, call.headers, call.method)
            response = connection.getresponse()
            body = response.read(LARGEST_ANSWER + 1)
            kept = response.isclosed() and not response.will_close
            if response.length:  # what the header promised and did not come
                raise IncompleteRead(body)
            if response.status != 200:
                self._raise(response, body)
        except BaseException:
            connection.close()
            raise
        if len(body) > LARGEST_ANSWER:
            connection.close()
            raise ModelRefused(f"{self._at} answers with more than 64 MB; ask for less at a time")
        if kept and not call.given_up:
            with self._lock:
                self._idle.append(connection)
        else:
            connection.close()
        return body

    def _send(
        self,
        connection: HTTPConnection,
        path: str,
        data: bytes,
        headers: Mapping[str, str],
        method: str = "POST",
    ) -> None:
        base = urlsplit(self.url)
        target = base.path.rstrip("/") + path
        if base.query:
            target += ("&" if "?" in target else "?") + base.query
        connection.request(method, target, data, dict(headers))

    def _connection(self, time_out: float | None) -> HTTPConnection:
        parts = urlsplit(self.url)
        host, secure = parts.hostname or "", parts.scheme == "https"
        proxy = None if proxy_bypass(host) else getproxies().get(parts.scheme)
        kind = HTTPSConnection if secure else HTTPConnection
        if not proxy or host in ("localhost", "127.0.0.1", "::1"):
            return kind(host, parts.port, timeout=time_out)
        through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        connection = kind(through.hostname or "", through.port or 8080, timeout=time_out)
        connection.set_tunnel(host, parts.port or (443 if secure else 80))
        return connection

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"trivium/{__version__}",
        }
        key = self._key()
        if key:
            headers[self.key_header] = (
                f"Bearer {key}" if self.key_header == "Authorization" else key
            )
        return headers

    def _key(self) -> str:
        if not self.key_variable:
            return ""
        key = self.environment.get(self.key_variable, "").strip()
        if not key:
            raise ModelUnavailable(
                f"{self._at} needs a key; put it into the environment variable {self.key_variable}"
            )
        if not key.isascii() or not key.isprintable():
            raise ModelUnavailable(
                f"the environment variable {self.key_variable} does not hold a key: it has signs "
                "that no key has; set it again"
            )
        if not may_carry_a_key(self.url):
            raise ModelUnavailable(
                f"a key is not sent to {self._at}, where anybody on the way could read it; use "
                "https, or remove key_variable"
            )
        return key

    @property
    def _at(self) -> str:
        return shown(self.url)

    # --- what went wrong -------------------------------------------------------------------------

    def _raise(self, response: HTTPResponse, body: bytes) -> None:
        status, said = response.status, self._said(body)
        if status in (401, 403):
            raise ModelUnavailable(
                f"{self._at} refuses the key ({status}{said}); check the environment variable "
                f"{self.key_variable or 'and name it in key_variable'}"
            )
        if status in _AGAIN:
            raise ModelUnavailable(
                f"{self._at} cannot serve now ({status}{said}); try again later",
                retryable=True,
                retry_after=_retry_after(response.getheader("Retry-After")),
            )
        if status in _AT_FAULT:
            raise ModelRefused(f"{self._at} refuses the request ({status}{said})")
        if 300 <= status < 400:
            raise ModelUnavailable(
                f"{self._at} sends elsewhere ({status}), which is not followed; correct the url"
            )
        raise ModelUnavailable(
            f"{self._at} answers {status}{said}; check the url and the model's name"
        )

    def _said(self, body: bytes) -> str:
        """What the server says about it, short and without a key it may repeat."""
        try:
            data = json.loads(body)
            error = data.get("error", data) if isinstance(data, dict) else data
            text = error.get("message", error) if isinstance(error, dict) else error
        except (ValueError, RecursionError):
            text = body[:400].decode("utf-8", "replace")
        text = _UNSEEN.sub(" ", str(text)).strip()
        key = self.environment.get(self.key_variable, "").strip() if self.key_variable else ""
        if key:
            text = text.replace(key, "…")
        text = _LIKE_A_KEY.sub("…", text)
        return f": {text[:200]}" if text else ""

    def _unreachable(self, error: Exception) -> ModelUnavailable:
        if isinstance(error, TimeoutError):
            return _late(self.url)
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ModelUnavailable(
            f"{self._at} cannot be reached ({why}); check the url and whether the server runs",
            retryable=isinstance(error, (OSError, HTTPException)),  # a name that is none stays so
        )


@dataclass(slots=True)
class Call:
    """One exchange, and the connection it uses, so that it can be given up from outside."""

    endpoint: Endpoint
    path: str
    data: bytes
    headers: Mapping[str, str]
    time_out: float
    connection: HTTPConnection | None = None
    given_up: bool = False
    sock: socket.socket | None = None
    method: str = "POST"

    def __call__(self) -> bytes:
        return self.endpoint.exchange(self)

    def give_up(self) -> None:
        self.given_up = True
        sock = self.sock or (self.connection.sock if self.connection else None)
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads from it


def _late(url: str) -> ModelUnavailable:
    return ModelUnavailable(
        f"{shown(url)} did not answer in time; try again later, or raise its time_out",
        retryable=True,
    )


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ModelRefused("the server's answer is not JSON; check the url") from error


def _retry_after(text: str | None) -> float | None:
    """Seconds to wait: a number, or the time until a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
