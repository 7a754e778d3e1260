"""Running a server: where it listens, how long it waits, how it stops."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from threading import Thread
from time import monotonic, sleep
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from trivium.errors import InvalidValue
from trivium.library import Library
from trivium.serve.answers import text_of
from trivium.serve.app import STOP_SECONDS, application
from trivium.serve.callers import Gate, is_loopback
from trivium.serve.problems import MEDIA_TYPE, Problem
from trivium.serve.rates import Rates
from trivium.serve.service import DEFAULTS, Options, Service

KEEP_ALIVE_SECONDS = 15
WAITING = 128
"""Connections that may wait to be taken."""
LONGEST_HEAD = 32 * 1024

AFAR = 50.0
"""Requests a second for each key where others can reach the server, unless something is said."""


class PatientProtocol(H11Protocol):
    """HTTP that waits for the head of a request only so long: slow ones hold no connection."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_is_there()
        elif self._waiting is None and not self.transport.is_closing():
            self._await_head()

    def on_response_complete(self) -> None:
        self._head_is_there()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_is_there()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is answered as every error is, and the connection is over."""
        problem = Problem(400, "malformed_request", "this is no HTTP request", "send HTTP/1.1")
        body = text_of(problem.as_json())
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        headers.append((b"content-length", str(len(body)).encode()))
        self.logger.debug(msg)
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _await_head(self) -> None:
        service: Service = self.config.app.state.service  # type: ignore[union-attr]
        self._waiting = self.loop.call_later(service.options.header_seconds, self._give_up)

    def _head_is_there(self) -> None:
        if self._waiting:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()


class Server(uvicorn.Server):
    """A server that tells its service when it is to stop, so that streams come to an end."""

    def __init__(self, service: Service, **settings: Any) -> None:
        self.service = service
        super().__init__(
            uvicorn.Config(
                application(service),
                http=PatientProtocol,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=int(STOP_SECONDS),
                h11_max_incomplete_event_size=LONGEST_HEAD,
                **settings,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.service.stopping.set()
        await super().shutdown(sockets)


def serve_forever(
    library: Library,
    options: Options,
    *,
    host: str,
    port: int,
    owner: bool,
    told: Callable[[str], None],
) -> None:
    """Answer until somebody says stop; requests that run then are finished."""
    listener = listening(library, host, port)
    url = address_of(listener)
    if options.rate is None:
        options = replace(options, rate=0.0 if is_loopback(listener.getsockname()[0]) else AFAR)
    service = service_of(library, options)
    if owner:
        told(f"open {url}/#token={service.gate.owner_token()} (good once) to see the whole library")
    told(f"{library.folder} is served at {url}; Ctrl-C stops it")
    if options.only_agents:
        told(f"agents find it at {url}/mcp")
    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn sends them on when it has stopped
        signal.signal(number, lambda *_: None)
    Server(service).run(sockets=[listener])


def service_of(library: Library, options: Options) -> Service:
    return Service(library, Gate(library, Rates(options.rate or 0.0)), options)


def listening(library: Library, host: str, port: int) -> socket.socket:
    """A socket at the address; one that others can reach is refused while there are no keys."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError, OverflowError) as error:
        raise InvalidValue(f"'{host}' is no address to listen at; use 127.0.0.1") from error
    now, keys = datetime.now(UTC), library.keys()
    if not is_loopback(str(address[0])) and not any(key.is_valid(now) for key in keys):
        raise InvalidValue(
            f"{host} can be reached by others, and the library has no valid key; make one with "
            "'trivium key create', or listen at 127.0.0.1"
        )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(WAITING)  # who comes before the server is up waits, and is not refused
    except OSError as error:
        listener.close()
        raise InvalidValue(
            f"cannot listen at {host} port {port}: {error.strerror}; choose another --port"
        ) from error
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def running(
    library: Library, options: Options = DEFAULTS, *, host: str = "127.0.0.1", port: int = 0
) -> Iterator[tuple[str, Service]]:
    """A server in a thread of this process: its URL, once it answers, and what it has in hand."""
    service = service_of(library, options)
    listener = listening(library, host, port)
    server = Server(service)
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        limit = monotonic() + 60
        while not server.started:
            if not thread.is_alive() or monotonic() > limit:
                raise InvalidValue("the server did not start; its log says why")
            sleep(0.01)
        yield address_of(listener), service
    finally:
        server.should_exit = True
        thread.join()
