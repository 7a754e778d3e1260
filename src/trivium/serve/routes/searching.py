"""Searching, counting, and what comes to mind while somebody types."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from trivium.present import result_json
from trivium.serve.answers import answer, tagged
from trivium.serve.callers import Reader
from trivium.serve.requests import FacetsQuery, SearchBody, SearchQuery, SuggestQuery, search
from trivium.serve.service import Served

router = APIRouter(tags=["search"])


@router.post("/search", summary="Search by meaning, words and spelling")
def post_search(asked: SearchBody, request: Request, library: Served, caller: Reader) -> Response:
    request.state.query = asked.query
    return answer(result_json(search(library, asked, caller.grant)))


@router.get("/search", summary="The same by parameters, with an ETag")
def get_search(
    asked: Annotated[SearchQuery, Query()], request: Request, library: Served, caller: Reader
) -> Response:
    request.state.query = asked.q
    return tagged(request, result_json(search(library, asked.body(), caller.grant)))


@router.get("/facets", summary="How many documents have each source, category, tag …")
def get_facets(
    asked: Annotated[FacetsQuery, Query()], request: Request, library: Served, caller: Reader
) -> Response:
    return tagged(request, library.overview(asked.narrowed(), grant=caller.grant))


@router.get("/suggest", summary="Titles and words that fit what was typed so far")
def get_suggest(
    asked: Annotated[SuggestQuery, Query()], request: Request, library: Served, caller: Reader
) -> Response:
    request.state.query = asked.q
    found = library.suggest(asked.q, limit=asked.limit, grant=caller.grant)
    data: dict[str, Any] = {"query": asked.q, "suggestions": [asdict(one) for one in found]}
    return answer(data)
