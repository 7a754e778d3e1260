"""Putting things in: uploads, reading again, vectors; all of it as tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from trivium.ingest.report import AddReport
from trivium.protocols import Progress
from trivium.serve.answers import answer
from trivium.serve.callers import Caller, Writer, needs_every_scope
from trivium.serve.requests import EmbedBody, ReingestBody, UploadQuery
from trivium.serve.service import Service
from trivium.serve.tasks import Task
from trivium.serve.uploads import Received

router = APIRouter(tags=["documents"])

_FILE = {"type": "string", "format": "binary"}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {"file": {"type": "array", "items": _FILE}},
                    "required": ["file"],
                }
            },
            "application/octet-stream": {"schema": _FILE},
        },
    }
}


@router.post(
    "/documents", status_code=202, summary="Take in files, as a task", openapi_extra=_UPLOAD
)
def post_documents(
    asked: Annotated[UploadQuery, Query()], caller: Writer, request: Request, upload: Received
) -> Response:
    service: Service = request.app.state.service

    def work(progress: Progress) -> Mapping[str, Any]:
        try:
            report = service.library.upload(
                *upload.files,
                place="" if caller.is_owner else caller.name,
                scope=asked.scope,
                category=asked.category,
                tags=asked.tags,
                kind=asked.kind,
                force=asked.force,
                embed=asked.embed,
                progress=_shown(progress, caller),
                grant=caller.grant,
            )
        finally:
            upload.discard()
        return report_json(report, caller)

    same = f"{caller.name}\n{asked.model_dump_json(exclude={'name'})}\n{upload.digest}"
    task, upload.kept = service.tasks.start("add", caller.name, work, same=same)
    return accepted(task)


@router.post(
    "/documents/{name:path}/reingest", status_code=202, summary="Read a document's source again"
)
def post_reingest(
    name: str, caller: Writer, request: Request, asked: ReingestBody | None = None
) -> Response:
    service: Service = request.app.state.service
    [reading] = service.library.get(name, grant=caller.grant)
    embed = asked.embed if asked else True

    def work(progress: Progress) -> Mapping[str, Any]:
        report = service.library.reingest(
            reading.document.id,
            embed=embed,
            progress=_shown(progress, caller),
            grant=caller.grant,
        )
        return report_json(report, caller)

    return accepted(service.tasks.start("reingest", caller.name, work)[0])


@router.post("/embed", status_code=202, summary="Embed what waits for its vector")
def post_embed(caller: Writer, request: Request, asked: EmbedBody | None = None) -> Response:
    needs_every_scope(caller, "what waits may be of any scope")
    service: Service = request.app.state.service
    model = asked.model if asked else None

    def work(progress: Progress) -> Mapping[str, Any]:
        report = service.library.embed(model=model, progress=progress)
        failed = [{"chunk": chunk, "problem": why} for chunk, why in report.failed]
        done = {"model": report.model, "embedded": report.embedded, "waiting": report.waiting}
        return {**done, "failed": failed}

    same = f"{caller.name}\nembed\n{model}"
    return accepted(service.tasks.start("embed", caller.name, work, same=same)[0])


def accepted(task: Task) -> Response:
    place = f"/tasks/{task.id}"
    return answer({"task": task.id, "state": task.state}, 202, Location=place)


def _shown(progress: Progress, caller: Caller) -> Progress:
    """How far it has come; texts of others wait in the same line, and their number is theirs."""
    if caller.is_owner:
        return progress

    def shown(stage: str, done: int, total: int | None) -> None:
        if stage == "read":
            progress(stage, done, total)
        else:
            progress(stage, 0, None)

    return shown


def report_json(report: AddReport, caller: Caller) -> dict[str, Any]:
    """What became of the files, as `trivium add --json` says it; of others' texts nothing."""
    said = report.as_json()
    if not caller.is_owner:
        said["waiting"] = 0
        for name in ("model_problem", "blob_problem"):
            said[name] = "see the server's log" if said[name] else ""
    return said
