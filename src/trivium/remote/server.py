"""The other side: asked by HTTP, and what it says when it will not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlencode

from trivium import errors
from trivium.endpoint import Call, Endpoint
from trivium.errors import (
    InvalidValue,
    ModelError,
    ServerRefused,
    ServerUnavailable,
    TriviumError,
)

DEFAULT_KEY = "TRIVIUM_KEY"
TIME_OUT = 30.0
"""Seconds: a search takes milliseconds, one in the past or on a cold server seconds."""

LONGEST_SENTENCE = 400
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_ERRORS: Mapping[str, type[TriviumError]] = {
    "empty_query": errors.EmptyQuery,
    "unknown_document": errors.UnknownDocument,
    "unknown_name": errors.UnknownName,
    "invalid_value": errors.InvalidValue,
    "invalid_request": errors.InvalidValue,
    "unknown_field": errors.InvalidValue,
    "too_large": errors.InvalidValue,
    "missing_leg": errors.MissingLeg,
    "missing_extra": errors.MissingExtra,
    "unreadable_source": errors.SourceError,
    "library_busy": errors.LibraryBusy,
    "library_read_only": errors.LibraryReadOnly,
    "storage_full": errors.StorageFull,
}
"""The codes of `trivium serve` that say what was wrong with the request or the library."""
_STRANGE = ("unknown_path", "wrong_method")
"""What a server of another version says to a request that it does not know."""


@dataclass(slots=True)
class Server(Endpoint):
    """A running `trivium serve`. Every answer is JSON, or an error in our own words."""

    time_out: float = TIME_OUT

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        data: bytes | None = None,
    ) -> Any:
        """What the server answers to JSON, or to bare bytes."""
        if query:
            path = f"{path}?{urlencode(query, doseq=True)}"
        sent = data if data is not None else b"" if body is None else json.dumps(body).encode()
        call = Call(self, path, sent, self._headers(), self.time_out, method=method)
        if data is not None:
            call.headers = {**call.headers, "Content-Type": "application/octet-stream"}
        try:
            return json.loads(self._within(call))
        except (ValueError, RecursionError) as error:
            raise self.garbled("it is not JSON") from error
        except ModelError as error:  # what an endpoint calls a model is a library here
            raise ServerUnavailable(str(error)) from error

    def garbled(self, what: str) -> ServerUnavailable:
        """The error for an answer that Trivium would not give."""
        return ServerUnavailable(
            f"{self._at} does not answer as 'trivium serve' does ({what}); check the address, and "
            "that both sides have the same version"
        )

    def _key(self) -> str:
        try:
            return super(Server, self)._key()  # a class with slots is not the one that was written
        except ModelError as error:
            raise ServerRefused(str(error)) from error

    def _raise(self, response: HTTPResponse, body: bytes) -> None:
        status = response.status
        if 200 <= status < 300:
            return
        if 300 <= status < 400:
            raise ServerUnavailable(
                f"{self._at} sends elsewhere ({status}), which is not followed; correct the address"
            )
        raise self.problem(body, status)

    def problem(self, body: bytes | Any, status: int = 0) -> TriviumError:
        """The error that a problem+json stands for."""
        said = _object(body)
        code, detail, step = (_clean(said.get(name)) for name in ("code", "detail", "next"))
        status = status or int(said.get("status") or 0)
        if not code or not detail or code in _STRANGE:
            return self.garbled(f"status {status}")
        if status in (401, 403):
            known = self.key_variable or DEFAULT_KEY
            return ServerRefused(
                f"{self._at} refuses: {detail}; {step} (the key goes into {known})"
            )
        kind = _ERRORS.get(code)
        if kind is not None:
            return kind(detail)
        if 400 <= status < 500 and status != 429:
            return InvalidValue(f"{self._at}: {detail}; {step}")
        return ServerUnavailable(f"{self._at} cannot answer now: {detail}; {step}")


def _object(body: bytes | Any) -> Mapping[str, Any]:
    try:
        data = json.loads(body) if isinstance(body, bytes) else body
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _clean(text: Any) -> str:
    """What a stranger says, short and without signs that steer a terminal."""
    return _UNSEEN.sub(" ", text).strip()[:LONGEST_SENTENCE] if isinstance(text, str) else ""
