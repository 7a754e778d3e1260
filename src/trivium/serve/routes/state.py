"""How the server and its library are, and who asks."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from trivium.serve.answers import answer
from trivium.serve.callers import NOBODY, Caller, Reader, needs_role
from trivium.serve.metrics import MEDIA_TYPE
from trivium.serve.problems import Problem
from trivium.serve.requests import TokenBody
from trivium.serve.service import Served, Service
from trivium.version import __version__

router = APIRouter(tags=["state"])


@router.get("/status", summary="What the library holds, and what the caller may do")
def get_status(library: Served, caller: Reader) -> Response:
    said = {"version": __version__, "caller": caller_json(caller)}
    return answer({**said, **library.status(grant=caller.grant)})


@router.get("/health", summary="Whether the server runs; needs no key")
def get_health() -> Response:
    return answer({"status": "ok"})


@router.get("/ready", summary="Whether the library answers; needs no key")
def get_ready(request: Request) -> Response:
    service: Service = request.app.state.service
    if service.stopping.is_set() or not service.ready.is_set():
        raise Problem(
            503,
            "not_ready",
            "the server is starting or stopping",
            "try again in a moment",
            {"Retry-After": "1"},
        )
    return answer({"status": "ready"})


@router.get(
    "/metrics",
    summary="Numbers for Prometheus; for an admin, or from this machine",
    response_class=PlainTextResponse,
)
def get_metrics(request: Request, library: Served, caller: Reader) -> Response:
    service: Service = request.app.state.service
    if caller is not NOBODY:
        needs_role(caller, "admin")
    seen = library.status(grant=caller.grant)
    gauges = {f"trivium_{name}": {"": seen[name]} for name in ("documents", "chunks")}
    gauges["trivium_tasks"] = {
        f'{{state="{state}"}}': float(count) for state, count in service.tasks.counts().items()
    }
    return Response(service.metrics.text(gauges), media_type=MEDIA_TYPE)


@router.post("/session", summary="The owner's key for the token of 'trivium serve --owner'")
def post_session(asked: TokenBody, request: Request) -> Response:
    service: Service = request.app.state.service
    return answer({"key": service.gate.exchange(asked.token), "name": "owner", "role": "admin"})


def caller_json(caller: Caller) -> dict[str, Any]:
    scopes = caller.grant.scopes
    return {
        "name": caller.name,
        "role": caller.role,
        "scopes": None if scopes is None else sorted(scopes),
    }
