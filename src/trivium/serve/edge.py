"""The edge: what is refused before it is read, what every answer says, and what is written down."""

from __future__ import annotations

import asyncio
from time import perf_counter

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trivium.serve.callers import is_same_origin
from trivium.serve.logs import log, log_failure
from trivium.serve.problems import Problem, unexpected
from trivium.serve.service import Service

CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": CONTENT_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Edge:
    """Around the whole application, plain ASGI."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = _Exchange(self.service, scope, receive, send)
        try:
            exchange.check()
            await self.app(scope, exchange.receive, exchange.send)
            if exchange.failure:
                raise exchange.failure
        except Problem as problem:
            await exchange.refuse(problem)
        except Exception as error:  # a fault of ours: logged, and no trace of it goes out
            log_failure(error, scope["path"])
            await exchange.refuse(unexpected())
        finally:
            exchange.note()


class _Exchange:
    """One request and its answer."""

    def __init__(self, service: Service, scope: Scope, receive: Receive, send: Send) -> None:
        self._service = service
        self._scope = scope
        self._receive = receive
        self._send = send
        self._headers = Headers(scope=scope)
        self._started = perf_counter()
        self.failure: Problem | None = None
        """What was wrong with the body. Whoever parses it may take that for a mistake in it."""
        self._read = 0
        self._status = 0
        self._sent = 0
        scope.setdefault("state", {})
        service.metrics.begin()

    @property
    def _most(self) -> int:
        options = self._service.options
        upload = self._scope["method"] in ("POST", "PUT") and self._scope["path"] == "/documents"
        return options.most_upload if upload else options.most_body

    def check(self) -> None:
        """A `Problem` for pages of other places, and for what says that it is too large."""
        origin = self._headers.get("origin")
        host = self._headers.get("host", "")
        if origin is not None and not is_same_origin(origin, host):
            raise Problem(
                403,
                "foreign_origin",
                "pages of other places may not ask here",
                "ask from the server's own page, or from a program",
            )
        length = self._headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._most:
            raise self._too_large()

    def _too_large(self) -> Problem:
        return Problem(
            413,
            "too_large",
            f"the body is larger than {self._most} bytes",
            "send less, or start the server with a higher limit",
            {"Connection": "close"},
        )

    async def receive(self) -> Message:
        """The next piece of the body, if it comes in time and there are not too many."""
        try:
            async with asyncio.timeout(self._patience()):
                message = await self._receive()
        except TimeoutError as error:
            self.failure = Problem(
                408,
                "too_slow",
                "the body did not come in time",
                "send it again, faster",
                {"Connection": "close"},
            )
            raise self.failure from error
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > self._most:
                self.failure = self._too_large()
                raise self.failure
            self._whole = not message.get("more_body", False)
        return message

    _whole = False
    _refusing = False

    def _patience(self) -> float | None:
        """Seconds; once the body is there, waiting means to wait for the caller to go away."""
        return None if self._whole else self._service.options.body_seconds

    async def send(self, message: Message) -> None:
        if self.failure and not self._status and not self._refusing:
            return
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in SAFE.items():
                headers.setdefault(name, value)
        elif message["type"] == "http.response.body":
            self._sent += len(message.get("body", b""))
        await self._send(message)

    async def refuse(self, problem: Problem) -> None:
        """Answer with a problem, unless an answer has begun."""
        if not self._status:
            self._refusing = True
            await problem.response()(self._scope, self._receive, self.send)

    def note(self) -> None:
        """One line for the log."""
        state = self._scope["state"]
        route = self._scope.get("route")
        seconds = perf_counter() - self._started
        pattern = getattr(route, "path", None)
        method = self._scope["method"]
        known = method if method in METHODS else "other"
        self._service.metrics.note(known, pattern or "other", self._status, seconds)
        said = {
            "method": method,
            "path": self._scope["path"],
            "route": pattern,
            "status": self._status,
            "ms": round(seconds * 1000, 1),
            "bytes": self._sent,
            "caller": state.get("caller"),
        }
        if reason := state.get("reason"):
            said["reason"] = reason
        if self._service.options.log_queries and (query := state.get("query")) is not None:
            said["query"] = query
        log("request", **said)
