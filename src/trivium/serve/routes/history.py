"""The past of a document: versions, what changed between them, and back to one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from trivium.present import version_json
from trivium.serve.answers import answer
from trivium.serve.callers import Reader, Writer
from trivium.serve.requests import DiffQuery, RollbackBody
from trivium.serve.service import Served

router = APIRouter(tags=["documents"])


@router.get("/documents/{name:path}/versions", summary="Every reading of a document, oldest first")
def get_versions(name: str, library: Served, caller: Reader) -> Response:
    found = library.versions(name, grant=caller.grant)
    return answer([version_json(one) for one in found])


@router.get("/documents/{name:path}/diff", summary="What changed between two versions")
def get_diff(
    name: str, asked: Annotated[DiffQuery, Query()], library: Served, caller: Reader
) -> Response:
    difference = library.diff(
        name, asked.old, asked.new, query=asked.query, limit=asked.limit, grant=caller.grant
    )
    return answer(difference.as_json())


@router.post(
    "/documents/{name:path}/rollback", summary="Make an earlier version the active one again"
)
def post_rollback(
    name: str, library: Served, caller: Writer, asked: RollbackBody | None = None
) -> Response:
    version = asked.version if asked else None
    active = library.rollback(name, version, grant=caller.grant)
    return answer({"document": active.document, "version": active.version})


@router.delete("/documents/{name:path}", summary="Remove a document with all its versions")
def delete_document(name: str, library: Served, caller: Writer) -> Response:
    return answer({"removed": library.remove(name, grant=caller.grant)})
