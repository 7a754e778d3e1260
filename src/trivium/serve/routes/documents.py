"""Documents: listed, and read whole."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from trivium.present import document_json, reading_json
from trivium.serve.answers import answer, tagged
from trivium.serve.callers import Reader
from trivium.serve.requests import DocumentsQuery
from trivium.serve.service import Served

router = APIRouter(tags=["documents"])


@router.get("/documents", summary="The documents, in the order of their ids")
def list_documents(
    asked: Annotated[DocumentsQuery, Query()], library: Served, caller: Reader
) -> Response:
    documents, total, after = library.page(
        asked.narrowed(), limit=asked.limit, after=asked.cursor, grant=caller.grant
    )
    return answer(
        {
            "total": total,
            "documents": [document_json(document) for document in documents],
            "next_cursor": after,
        }
    )


@router.get("/documents/{name:path}", summary="A document or chunk, whole")
def get_document(name: str, request: Request, library: Served, caller: Reader) -> Response:
    [reading] = library.get(name, grant=caller.grant)
    return tagged(request, reading_json(reading))
