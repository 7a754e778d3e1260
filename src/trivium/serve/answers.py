"""Answers: JSON with the same bytes as every other surface, and tags to know them by."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any

from fastapi import Request, Response

from trivium.present import to_text

JSON = "application/json"
KEEP = {"Cache-Control": "private, no-cache", "Vary": "Authorization, X-API-Key"}
"""A copy may be kept, by the one who asked, and is asked about before it is used."""

_TIMES = re.compile(rb'^( *"(?:took_ms|ms)": )[0-9.e-]+(?=,?$)', re.MULTILINE)


def text_of(data: Any) -> bytes:
    """What `--json` prints."""
    return to_text(data).encode("utf-8", "replace") + b"\n"


def line_of(data: Any) -> str:
    """The same on one line, for a stream."""
    return json.dumps(data, ensure_ascii=False, default=str)


def answer(data: Any, status: int = 200, **headers: str) -> Response:
    """Data as an answer that nobody keeps."""
    said = {"Cache-Control": "no-store", **headers}
    return Response(text_of(data), status, said, JSON)


def tagged(request: Request, data: Any) -> Response:
    """Data as an answer with a tag; nothing but the tag where the caller has it already.

    Two answers that differ only in how long they took have one tag, so it is a weak one.
    """
    body = text_of(data)
    digest = sha256(_TIMES.sub(rb"\g<1>0", body)).hexdigest()[:32]
    tag = f'W/"{digest}"'
    headers = {**KEEP, "ETag": tag}
    known = [one.strip() for one in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, JSON)
