"""Errors as problem+json (RFC 9457): a code, a sentence, and the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from trivium import errors
from trivium.errors import TriviumError
from trivium.present import to_text

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """An answer that is an error; `next` says what to do about it."""

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        next: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.sentence = sentence
        self.next = next
        self.headers = dict(headers or {})
        if status == 401:
            self.headers["WWW-Authenticate"] = 'Bearer realm="trivium"'

    def as_json(self) -> dict[str, Any]:
        return {
            "type": "about:blank",
            "title": self.code.replace("_", " "),
            "status": self.status,
            "code": self.code,
            "detail": self.sentence,
            "next": self.next,
        }

    def response(self) -> Response:
        body = to_text(self.as_json()).encode("utf-8", "replace") + b"\n"
        return Response(body, self.status, self.headers, MEDIA_TYPE)


READ = "read GET /openapi.json or docs/http.md for what can be asked"
AGAIN = "try again in a moment"

_KINDS: tuple[tuple[type[TriviumError], int, str, str], ...] = (
    (errors.EmptyQuery, 400, "empty_query", "write some words, or browse by a filter"),
    (errors.UnknownDocument, 404, "unknown_document", "GET /documents lists what there is"),
    (errors.UnknownName, 400, "unknown_name", READ),
    (errors.InvalidValue, 400, "invalid_value", READ),
    (errors.MissingLeg, 400, "missing_leg", "choose another profile"),
    (errors.MissingExtra, 501, "missing_extra", "install the extra where the server runs"),
    (errors.RequestError, 400, "invalid_request", READ),
    (errors.SourceError, 422, "unreadable_source", "send the file in a format that can be read"),
    (errors.ModelUnavailable, 503, "model_unavailable", AGAIN),
    (errors.ModelError, 502, "model_error", "look at GET /status"),
    (errors.LibraryBusy, 503, "library_busy", AGAIN),
    (errors.LibraryReadOnly, 409, "library_read_only", "ask the owner for a library to write to"),
    (errors.StorageFull, 507, "storage_full", "free some space where the library lies"),
)
_PRIVATE = (errors.LibraryError, errors.ModelError)
"""What their messages say (paths, addresses) is for the owner, who finds it in the log."""


def problem_of(error: TriviumError) -> Problem:
    """The problem that an error of the library is."""
    for kind, status, code, next in _KINDS:
        if isinstance(error, kind):
            sentence = code.replace("_", " ") if isinstance(error, _PRIVATE) else str(error)
            headers = {"Retry-After": "1"} if status == 503 else {}
            return Problem(status, code, sentence, next, headers)
    return Problem(
        500,
        "library_error",
        "the library cannot be used as it is",
        "its owner finds the reason in the server's log and with 'trivium doctor'",
    )


def refusal_of(error: RequestValidationError) -> Problem:
    """The problem that a request of the wrong form is: the first thing that is wrong with it."""
    refused: Sequence[Refused] = error.errors() or [{"type": "", "loc": (), "msg": "unreadable"}]
    first = refused[0]
    if first["type"] == "json_invalid":
        reason = first.get("ctx", {}).get("error", "")
        return Problem(
            400, "malformed_json", f"the body is not JSON: {reason}", "send a JSON object"
        )
    place = ".".join(map(str, first["loc"][1:]))
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "unknown_field":
        return Problem(422, "unknown_field", message, READ)
    if not place and first["type"] in ("model_attributes_type", "dict_type", "missing"):
        return Problem(422, "invalid_request", "the body is no JSON object", AS_JSON)
    if _TEXT in first["loc"]:
        place, wrong = _of_several_kinds(refused)
    else:
        wrong = _wrong(first)
    return Problem(422, "invalid_request", f"'{place}' {wrong}" if place else message, READ)


def _wrong(one: Refused) -> str:
    plain = _PLAIN.get(one["type"].removesuffix("_parsing").removesuffix("_type"))
    return plain or f"is not right: {one['msg']}"


def _of_several_kinds(refused: Sequence[Refused]) -> tuple[str, str]:
    """The place of a value that may be a text or something else, and what is wrong with it. The
    validator tells for each kind what that would need; nobody wants to hear of the others.
    """
    at = refused[0]["loc"].index(_TEXT)
    field = refused[0]["loc"][:at]
    told = [one for one in refused if one["loc"][:at] == field and len(one["loc"]) > at]
    meant = max(told, key=lambda one: (len(one["loc"]), not one["type"].endswith("_type")))
    if meant["type"].endswith("_type") and len(meant["loc"]) == at + 1:
        kinds = [_wrong(one).removeprefix("must be ") for one in told]
        return ".".join(map(str, field[1:])), f"must be {' or '.join(kinds)}"
    steps = (*field[1:], *meant["loc"][at + 1 :])
    return ".".join(map(str, steps)), _wrong(meant)


_TEXT = "constrained-str"
"""What the validator calls a text of limited length where other kinds of values will do, too."""
Refused: TypeAlias = Mapping[str, Any]


AS_JSON = "send one, with the header 'Content-Type: application/json'"
_PLAIN = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be a text",
    "list": "must be a list",
    "dict": "must be an object",
    "model_attributes": "must be an object",
    "missing": "is missing",
}
"""What is wrong with a value, by the first part of the validator's own name for it."""


_STATUS = {
    400: ("malformed_json", "the body cannot be read as JSON", "send a JSON object"),
    404: ("unknown_path", "there is nothing at this path", READ),
    405: ("wrong_method", "this path does not take that method", READ),
    413: ("too_large", "the body is too large", "send less"),
}


def answer_problem(request: Request, error: Exception) -> Response:
    """Every error that is meant, as an answer."""
    if isinstance(error, Problem):
        return error.response()
    if isinstance(error, TriviumError):
        request.state.reason = f"{type(error).__name__}: {error}"
        return problem_of(error).response()
    if isinstance(error, RequestValidationError):
        return refusal_of(error).response()
    if isinstance(error, HTTPException):
        default = ("invalid_request", str(error.detail), READ)
        code, sentence, next = _STATUS.get(error.status_code, default)
        return Problem(error.status_code, code, sentence, next, error.headers).response()
    return unexpected().response()


async def no_other_parameters(request: Request) -> None:
    """Refuse parameters where a route has none; where it has some, its own object refuses."""
    route = request.scope["route"]
    for name in request.query_params if not route.dependant.query_params else ():
        raise Problem(422, "unknown_field", f"there is no field '{name}' here", READ)


def unexpected() -> Problem:
    return Problem(
        500,
        "internal_error",
        "something went wrong that should not",
        "the owner finds the reason in the server's log; please report it",
    )
