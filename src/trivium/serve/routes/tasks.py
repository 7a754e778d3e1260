"""Tasks: how far long work has come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import monotonic

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from trivium.serve.answers import answer, line_of
from trivium.serve.callers import Caller, Writer
from trivium.serve.problems import Problem
from trivium.serve.service import Service
from trivium.serve.tasks import Task

router = APIRouter(tags=["tasks"])

LOOK_SECONDS = 0.05
BREATH_SECONDS = 10.0
"""A stream that says nothing for longer is taken for dead by what stands between."""


@router.get("/tasks", summary="The caller's tasks, newest first; an admin's: all")
def list_tasks(caller: Writer, request: Request) -> Response:
    service: Service = request.app.state.service
    tasks = [task for task in service.tasks.all() if _is_for(task, caller)]
    return answer({"tasks": [task.as_json() for task in tasks]})


@router.get("/tasks/{id}", summary="How far a task has come")
def get_task(id: str, caller: Writer, request: Request) -> Response:
    return answer(_task(request, id, caller).as_json())


@router.get(
    "/tasks/{id}/events",
    summary="The same as server-sent events, until it is over",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def get_task_events(id: str, caller: Writer, request: Request) -> StreamingResponse:
    _task(request, id, caller)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _events(request, id, caller), media_type="text/event-stream", headers=headers
    )


async def _events(request: Request, id: str, caller: Caller) -> AsyncIterator[bytes]:
    """A `progress` for each step, and an `end`; it waits without holding a thread."""
    service: Service = request.app.state.service
    told, last = -1, monotonic()
    while not service.stopping.is_set():
        task = _task(request, id, caller)
        if task.revision != told:
            name = "end" if task.is_over else "progress"
            yield f"event: {name}\ndata: {line_of(task.as_json())}\n\n".encode()
            told, last = task.revision, monotonic()
        elif monotonic() - last > BREATH_SECONDS:
            yield b": still here\n\n"
            last = monotonic()
        if task.is_over:
            return
        await asyncio.sleep(LOOK_SECONDS)


def _task(request: Request, id: str, caller: Caller) -> Task:
    service: Service = request.app.state.service
    task = service.tasks.get(id)
    if task is None or not _is_for(task, caller):
        raise Problem(404, "unknown_task", f"there is no task '{id}'", "GET /tasks lists yours")
    return task


def _is_for(task: Task, caller: Caller) -> bool:
    """One's own; and all for an admin who sees everything, since reports name documents."""
    return task.caller == caller.name or (caller.may("admin") and caller.is_owner)
