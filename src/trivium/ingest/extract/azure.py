"""Azure AI Document Intelligence as extractor: files go out, paragraphs and tables come back.

Used only when it is chosen (`--extractor azure`). It speaks the service's REST interface with the
standard library: POST the file to the layout model, ask for the result until it is there.
"""

from __future__ import annotations

import json
import mimetypes
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException
from pathlib import PurePath
from typing import Any, NoReturn
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from trivium.errors import InvalidValue, SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.grid import Cell, spread
from trivium.ingest.extract.writer import Writer

VERSION = "2024-11-30"
EXTRACTOR = f"azure-layout/{VERSION}"
ENDPOINT = "TRIVIUM_AZURE_DOCUMENT_ENDPOINT"
KEY = "TRIVIUM_AZURE_DOCUMENT_KEY"

SUFFIXES = frozenset(
    (
        *(".pdf", ".docx", ".pptx", ".xlsx", ".html", ".htm"),
        *(".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".heif", ".heic"),
    )
)
"""What the layout model reads; pictures among them, which nothing here reads otherwise."""

_TRIES = 5
_LONGEST_WAIT = 60.0
_LONGEST_ANALYSIS = 900.0
_TIME_OUT = 60.0
_LARGEST_ANSWER = 400 * 1024 * 1024
_FURNITURE = frozenset(("pageHeader", "pageFooter", "pageNumber"))
_BULLETS = ("• ", "· ", "- ", "– ", "* ", "o ", "▪ ")


@dataclass(slots=True)
class Azure:
    """The service at an endpoint. `sleep` and `clock` are parameters for tests.

    Answers 429 and 5xx, and connections that fail, are tried again with growing pauses, or after
    the time the service asks for. A key that is refused once is not sent again.
    """

    endpoint: str
    key: str = field(repr=False)
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _refusal: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.endpoint)
        local = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if not parts.hostname or parts.scheme not in (("https", "http") if local else ("https",)):
            raise InvalidValue(
                f"{ENDPOINT} is '{self.endpoint}'; write https://NAME.cognitiveservices.azure.com"
            )

    @classmethod
    def from_environment(cls) -> Azure:
        endpoint, key = os.environ.get(ENDPOINT, ""), os.environ.get(KEY, "")
        if not endpoint or not key:
            raise InvalidValue(
                f"the extractor 'azure' needs an endpoint and a key; set {ENDPOINT} and {KEY}"
            )
        return cls(endpoint.strip(), key.strip())

    def __call__(self, data: bytes, name: str) -> Extraction:
        """What the service sees in a file. Raises `SourceError` when it cannot or will not say."""
        if self._refusal:
            raise SourceError(self._refusal)
        if not data:
            raise SourceError("it is empty: 0 bytes. Save it again, or leave it out.")
        result = self._analysed(data)
        try:
            return _extraction(result, name)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise _nonsense() from error

    def _analysed(self, data: bytes) -> dict[str, Any]:
        base = self.endpoint.rstrip("/")
        url = (
            f"{base}/documentintelligence/documentModels/prebuilt-layout:analyze"
            f"?api-version={VERSION}&stringIndexType=unicodeCodePoint"
        )
        headers, _ = self._ask(url, data)
        place = headers.get("Operation-Location") or ""
        if urlsplit(place)[:2] != urlsplit(self.endpoint)[:2]:  # the key goes nowhere else
            raise SourceError("Azure named no place for its answer. Check the endpoint.")
        until = self.clock() + _LONGEST_ANALYSIS
        while self.clock() < until:
            headers, body = self._ask(place, None)
            status = body.get("status")
            if status == "succeeded" and isinstance(body.get("analyzeResult"), dict):
                return dict(body["analyzeResult"])
            if status == "failed":
                raise SourceError(f"Azure could not read it: {_problem(body)}.")
            if status not in ("notStarted", "running"):
                raise _nonsense()
            self.sleep(_pause(headers, 1.0))
        raise SourceError("Azure did not finish within 15 minutes. Try it again later.")

    def _ask(self, url: str, data: bytes | None) -> tuple[Message, dict[str, Any]]:
        """One request with its repetitions; the headers and the JSON of the answer."""
        problem = ""
        for attempt in range(_TRIES):
            headers: Message = Message()
            try:
                code, headers, body = self._send(url, data)
            except (OSError, HTTPException) as error:
                problem = f"cannot be reached ({error})"
            else:
                if code in (200, 202):
                    return headers, _json(body) if code == 200 else {}
                if code in (401, 403):
                    self._refuse(code)
                problem = f"answers {code}: {_problem(_json_or_nothing(body))}"
                if code != 429 and code < 500:
                    raise SourceError(f"Azure {problem}.")
            if attempt < _TRIES - 1:
                self.sleep(_pause(headers, float(2**attempt)))
        raise SourceError(f"Azure {problem}; {_TRIES} attempts. Try it again later.")

    def _send(self, url: str, data: bytes | None) -> tuple[int, Message, bytes]:
        request = Request(url, data, {"Ocp-Apim-Subscription-Key": self.key})
        if data is not None:
            request.add_header("Content-Type", "application/octet-stream")
        try:
            with _OPENER.open(request, timeout=_TIME_OUT) as answer:
                return answer.status, answer.headers, answer.read(_LARGEST_ANSWER)
        except HTTPError as error:
            with error:
                return error.code, error.headers, error.read(_LARGEST_ANSWER)

    def _refuse(self, code: int) -> NoReturn:
        self._refusal = f"Azure refuses the key ({code}). Check {ENDPOINT} and {KEY}."
        raise SourceError(self._refusal)


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would take the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = build_opener(_NoRedirect)


def _pause(headers: Message, otherwise: float) -> float:
    given = (headers.get("Retry-After") or "").strip()
    return min(float(given) if given.isdecimal() else otherwise, _LONGEST_WAIT)


def _json(body: bytes) -> dict[str, Any]:
    found = _json_or_nothing(body)
    if not found:
        raise _nonsense()
    return found


def _json_or_nothing(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _problem(body: dict[str, Any]) -> str:
    error = body.get("error")
    error = error if isinstance(error, dict) else {}
    inner = error.get("innererror")
    message = (inner if isinstance(inner, dict) else {}).get("message") or error.get("message")
    return str(message or "no reason given").rstrip(".")[:300]


def _nonsense() -> SourceError:
    return SourceError("Azure's answer makes no sense. Check the endpoint, or try it again later.")


# --- the answer as blocks ------------------------------------------------------------------------


def _extraction(result: dict[str, Any], name: str) -> Extraction:
    writer = Writer()
    tables = result.get("tables") or []
    covered = [span for table in tables for span in _spans(table)]
    parts: list[tuple[int, int, dict[str, Any]]] = [(_offset(table), 1, table) for table in tables]
    for paragraph in result.get("paragraphs") or []:
        at = _offset(paragraph)
        inside = any(start <= at < end for start, end in covered)
        if not inside and paragraph.get("role") not in _FURNITURE:
            parts.append((at, 0, paragraph))
    parts.sort(key=lambda part: part[:2])
    levels = _levels(result)
    items: list[str] = []
    title = None
    for _, kind, part in parts:
        text, role = str(part.get("content") or ""), part.get("role")
        if kind == 0 and role is None and text.startswith(_BULLETS):
            writer.page = _page(part) if not items else writer.page
            items.append(f"- {text[2:]}")
            continue
        writer.list(items)
        items = []
        writer.page = _page(part)
        if kind == 1:
            writer.table(spread(_rows(part)))
        elif role in ("title", "sectionHeading"):
            title = title or (text if role == "title" else None)
            writer.heading(text, levels.get(_offset(part), 1 if role == "title" else 2))
        else:
            writer.paragraph(text)
    writer.list(items)
    media_type = mimetypes.guess_type(PurePath(name).name)[0] or "application/octet-stream"
    if not len(writer):
        raise SourceError("Azure found no text in it. Check what it shows, or leave it out.")
    return writer.extraction(title, {}, media_type, EXTRACTOR)


def _spans(part: dict[str, Any]) -> Iterator[tuple[int, int]]:
    for span in part.get("spans") or []:
        yield int(span["offset"]), int(span["offset"]) + int(span["length"])


def _offset(part: dict[str, Any]) -> int:
    return min((start for start, _ in _spans(part)), default=0)


def _page(part: dict[str, Any]) -> int | None:
    pages = [int(region["pageNumber"]) for region in part.get("boundingRegions") or []]
    return min(pages, default=None)


def _rows(table: dict[str, Any]) -> list[list[Cell]]:
    rows: dict[int, list[tuple[int, Cell]]] = {}
    for cell in table.get("cells") or []:
        columns, down = int(cell.get("columnSpan") or 1), int(cell.get("rowSpan") or 1)
        placed = (int(cell["columnIndex"]), Cell(str(cell.get("content") or ""), columns, down))
        rows.setdefault(int(cell["rowIndex"]), []).append(placed)
    last = max(rows, default=-1)
    if last > 100_000:
        raise ValueError("a table of that many rows is no table")
    by_column = (sorted(rows.get(at, []), key=lambda one: one[0]) for at in range(last + 1))
    return [[cell for _, cell in row] for row in by_column]


def _levels(result: dict[str, Any]) -> dict[int, int]:
    """The level of each section's heading by its offset: how deep its section lies."""
    sections, paragraphs = result.get("sections") or [], result.get("paragraphs") or []
    below_title = any(one.get("role") == "title" for one in paragraphs)
    levels: dict[int, int] = {}
    waiting, seen = [(0, 0)], set[int]()
    while waiting:
        at, depth = waiting.pop()
        if at in seen or at >= len(sections):
            continue
        seen.add(at)
        for element in sections[at].get("elements") or []:
            _, kind, number = str(element).split("/")
            if kind == "sections":
                waiting.append((int(number), depth + 1))
            elif kind == "paragraphs" and int(number) < len(paragraphs):
                paragraph = paragraphs[int(number)]
                if paragraph.get("role") == "sectionHeading":
                    levels[_offset(paragraph)] = max(depth, 1) + below_title
    return levels
