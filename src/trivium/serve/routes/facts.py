"""Facts: what is stated around a subject, what cannot all be true, and who decided what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Query, Response

from trivium.errors import UnknownName
from trivium.graph.shown import around_json
from trivium.serve.answers import answer
from trivium.serve.callers import Reader, Writer, needs_every_scope
from trivium.serve.problems import Problem
from trivium.serve.requests import DecisionBody, FactsQuery, VerificationsQuery
from trivium.serve.service import Served

router = APIRouter(tags=["facts"])


@contextmanager
def _found(code: str, next: str) -> Iterator[None]:
    """What is asked for by name and is not there, or not for this caller, is not found."""
    try:
        yield
    except UnknownName as error:
        raise Problem(404, code, str(error), next) from error


@router.get("/facts", summary="What is stated around a subject, and where it was read")
def get_facts(asked: Annotated[FactsQuery, Query()], library: Served, caller: Reader) -> Response:
    with _found("unknown_subject", "POST /search finds subjects"):
        found = library.facts(
            asked.subject, depth=asked.depth, limit=asked.limit, grant=caller.grant
        )
    return answer(around_json(found))


@router.get("/verifications", summary="Conflicts among facts that are open, or all of them")
def list_verifications(
    asked: Annotated[VerificationsQuery, Query()], library: Served, caller: Reader
) -> Response:
    found = library.verifications(grant=caller.grant)
    if asked.all:
        found = [*found, *library.settled(grant=caller.grant)]
    shown = [one for one in found if asked.all or one.status == "open"]
    return answer([one.as_json(whole=caller.is_owner) for one in shown])


@router.get("/verifications/{id}", summary="One conflict, by its id or the beginning of it")
def get_verification(id: str, library: Served, caller: Reader) -> Response:
    with _found("unknown_verification", "GET /verifications lists them"):
        one = library.verification(id, grant=caller.grant)
    return answer(one.as_json(whole=caller.is_owner))


@router.post("/verifications/{id}", summary="Decide a conflict, once and for all")
def post_verification(id: str, asked: DecisionBody, library: Served, caller: Writer) -> Response:
    needs_every_scope(caller, "what is struck may stand in documents of any scope")
    with _found("unknown_verification", "GET /verifications lists them"):
        one = library.decide(
            id,
            asked.decision,
            by=asked.by or caller.name,
            why=asked.why,
            statements=tuple(asked.statements),
        )
    return answer({"verification": one.id, "status": asked.decision})
