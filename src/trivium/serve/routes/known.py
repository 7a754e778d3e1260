"""What programs that search several libraries as one ask of each."""

from __future__ import annotations

from fastapi import APIRouter, Response

from trivium.present import document_json
from trivium.serve.answers import answer
from trivium.serve.callers import Reader
from trivium.serve.requests import KnownBody
from trivium.serve.service import Served

router = APIRouter(tags=["documents"])


@router.post("/known", summary="Which of these ids documents have, and a stamp of what is seen")
def post_known(asked: KnownBody, library: Served, caller: Reader) -> Response:
    then = library.moment(asked.as_of, grant=caller.grant) if asked.as_of else None
    found = library.known(asked.ids, grant=caller.grant, as_of=then)
    documents = [document_json(found[id]) for id in sorted(found)]
    return answer({"stamp": library.stamp(grant=caller.grant), "documents": documents})
