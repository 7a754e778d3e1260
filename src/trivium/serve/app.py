"""The application: routes, errors and the edge around them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware

from trivium.errors import TriviumError
from trivium.serve.edge import Edge
from trivium.serve.logs import log
from trivium.serve.openapi import described
from trivium.serve.pages import Pages
from trivium.serve.problems import Problem, answer_problem, no_other_parameters
from trivium.serve.routes import (
    asking,
    documents,
    facts,
    filling,
    history,
    known,
    searching,
    state,
    tasks,
)
from trivium.serve.service import Service
from trivium.types import PUBLIC
from trivium.version import __version__

if TYPE_CHECKING:
    from trivium.serve.agents import Agents

PORTAL = Path(__file__).parent / "portal"
ROUTERS = (
    searching.router,
    asking.router,
    filling.router,
    history.router,
    documents.router,
    known.router,
    facts.router,
    tasks.router,
    state.router,
)
WORTH_PACKING = 1_000
"""Bytes below which compressing costs more than it saves."""


STOP_SECONDS = 30.0
"""How long requests and tasks that were accepted may take when the server is told to stop."""


def _warm(service: Service) -> None:
    """Ask once, so that the first to ask does not wait for the index and the model to load."""
    try:
        service.library.search("warm", limit=1, grant=PUBLIC)
    except TriviumError as error:
        log("not warm", reason=str(error))
    service.ready.set()


def _agents(service: Service) -> Agents | None:
    """The tools for agents, where what speaks their protocol is installed."""
    try:
        from trivium.serve.agents import Agents
    except ImportError:
        return None
    return Agents(service)


def application(service: Service) -> FastAPI:
    """The application that answers for an open library."""

    agents = _agents(service)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.get_running_loop().run_in_executor(None, _warm, service)
        async with agents.running() if agents else nullcontext():
            yield
        await warming
        await asyncio.to_thread(service.tasks.close, STOP_SECONDS)

    app = FastAPI(
        title="Trivium",
        version=__version__,
        summary="Search by meaning, words and spelling, in one ranking that explains itself.",
        docs_url=None,  # its page would be fetched from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        dependencies=[Depends(no_other_parameters)],
    )
    app.state.service = service
    for kind in (Problem, TriviumError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, answer_problem)
    only_agents = service.options.only_agents
    for router in () if only_agents else ROUTERS:
        app.include_router(router)
    if agents:
        app.router.routes.append(agents.route)
    if (PORTAL / "index.html").is_file() and not only_agents:
        app.mount("/", Pages(directory=PORTAL, html=True), name="portal")
    app.openapi = described(app)  # type: ignore[method-assign]
    app.add_middleware(GZipMiddleware, minimum_size=WORTH_PACKING, compresslevel=5)
    app.add_middleware(Edge, service=service)
    return app
