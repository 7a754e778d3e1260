"""Agents over HTTP: the tools of `trivium.mcp` at one address, for those whom the gate lets in."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from trivium.mcp.server import Caller as Agent
from trivium.mcp.server import server
from trivium.mcp.tools import ALL, READING
from trivium.serve.callers import Caller
from trivium.serve.problems import Problem
from trivium.serve.service import Service

PLACE = "/mcp"
READERS = READING | {"feedback"}


class Agents:
    """Streamable HTTP without sessions: every request says who asks and is answered by itself.

    It answers while `running` is entered.
    """

    def __init__(self, service: Service) -> None:
        self._gate = service.gate
        self._manager = StreamableHTTPSessionManager(
            server(service.library, _agent),
            json_response=True,
            stateless=True,
            max_request_body_size=service.options.most_body,
        )
        self.route = Route(PLACE, endpoint=self)

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if request.method != "POST":  # a stream or the end of a session, which there are none of
            raise Problem(
                405,
                "wrong_method",
                "agents ask by POST alone",
                "send the request by POST",
                {"Allow": "POST"},
            )
        address = request.client.host if request.client else ""
        caller = await run_in_threadpool(self._gate.caller, request.headers, address)
        request.state.caller = caller.name
        request.state.agent = _as_agent(caller)
        await self._manager.handle_request(scope, receive, send)


def _as_agent(caller: Caller) -> Agent:
    return Agent(caller.grant, ALL if caller.may("writer") else READERS)


def _agent(request: Request) -> Agent:
    agent: Agent = request.state.agent
    return agent
