"""What a running server has in hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import Annotated, TypeAlias

from fastapi import Depends, Request

from trivium.library import Library
from trivium.serve.callers import Gate
from trivium.serve.metrics import Metrics
from trivium.serve.tasks import Tasks

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """How a server behaves; the command line's flags."""

    most_body: int = MEGABYTE
    """Bytes of a request that is not an upload."""
    most_upload: int = 200 * MEGABYTE
    """Bytes of an upload: what `add` reads of a file."""
    header_seconds: float = 10.0
    """How long a connection may take for the head of a request."""
    body_seconds: float = 30.0
    """How long the next piece of a body may take."""
    rate: float | None = None
    """Requests a second for each key or address; 0 sets no limit, None leaves it to the place."""
    log_queries: bool = False
    only_agents: bool = False
    """Whether the tools for agents are all that is served."""


DEFAULTS = Options()


@dataclass(slots=True)
class Service:
    """The open library and what stands around it."""

    library: Library
    gate: Gate
    options: Options = DEFAULTS
    metrics: Metrics = field(default_factory=Metrics)
    tasks: Tasks = field(default_factory=Tasks)
    ready: Event = field(default_factory=Event)
    stopping: Event = field(default_factory=Event)


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


async def _library(request: Request) -> Library:
    return _service(request).library


Served: TypeAlias = Annotated[Library, Depends(_library)]
"""The library, for routes that need nothing else."""
