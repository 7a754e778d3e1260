"""Context for a language model, and what people thought of what they found."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from trivium.context import context_json
from trivium.serve.answers import answer
from trivium.serve.callers import Reader
from trivium.serve.requests import ContextBody, FeedbackBody, FeedbackQuery, profile_of
from trivium.serve.service import Served

router = APIRouter(tags=["search"])


@router.post("/context", summary="Passages for a language model, within a budget of tokens")
def post_context(asked: ContextBody, request: Request, library: Served, caller: Reader) -> Response:
    request.state.query = asked.prompt
    found = library.context(
        asked.prompt,
        budget=asked.budget,
        filter=asked.filter.filter(),
        profile=profile_of(library, asked.profile, asked.set),
        reranker=asked.reranker,
        include_memories=asked.include_memories,
        grant=caller.grant,
    )
    return answer(context_json(found))


@router.post("/feedback", summary="Say whether what was found was of use")
def post_feedback(asked: FeedbackBody, library: Served, caller: Reader) -> Response:
    given = library.feedback(asked.verdict, *asked.documents, query=asked.query, grant=caller.grant)
    documents = [one.document for one in given]
    return answer({"verdict": asked.verdict, "query": asked.query, "documents": documents})


@router.get("/feedback", summary="The verdicts so far, and the weights before and after them")
def get_feedback(
    asked: Annotated[FeedbackQuery, Query()], library: Served, caller: Reader
) -> Response:
    profile = profile_of(library, asked.profile)
    return answer(library.feedback_stats(profile=profile, grant=caller.grant))
