"""Azure AI Document Intelligence, played by a small server that speaks its interface."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from trivium.errors import InvalidValue, SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import Reader
from trivium.ingest.extract.azure import ENDPOINT, KEY, Azure

PATH = "/documentintelligence/documentModels/prebuilt-layout"


def paragraph(offset: int, text: str, page: int, role: str | None = None) -> dict[str, Any]:
    return {
        "spans": [{"offset": offset, "length": len(text)}],
        "boundingRegions": [{"pageNumber": page, "polygon": [0, 0, 1, 0, 1, 1, 0, 1]}],
        "content": text,
        **({"role": role} if role else {}),
    }


def cell(row: int, column: int, text: str, **more: Any) -> dict[str, Any]:
    return {"rowIndex": row, "columnIndex": column, "content": text, **more}


RESULT: dict[str, Any] = {
    "apiVersion": "2024-11-30",
    "modelId": "prebuilt-layout",
    "pages": [{"pageNumber": 1}, {"pageNumber": 2}],
    "paragraphs": [
        paragraph(0, "Seattle General", 1, "pageHeader"),
        paragraph(20, "Medical Report", 1, "title"),
        paragraph(40, "Vital Signs", 1, "sectionHeading"),
        paragraph(60, "Value", 1),  # stands in the table
        paragraph(100, "Blood Pressure", 1, "sectionHeading"),
        paragraph(120, "It is elevated.", 2),
        paragraph(140, "• Rest", 2),
        paragraph(150, "• Less salt", 2),
        paragraph(170, "Page 2 of 3", 2, "pageNumber"),
    ],
    "tables": [
        {
            "rowCount": 3,
            "columnCount": 2,
            "spans": [{"offset": 55, "length": 40}],
            "boundingRegions": [{"pageNumber": 1}],
            "cells": [
                cell(0, 0, "Measurement", kind="columnHeader"),
                cell(0, 1, "Value", kind="columnHeader"),
                cell(1, 0, "Pulse", rowSpan=2),
                cell(1, 1, "78"),
                cell(2, 1, "80"),
            ],
        }
    ],
    "sections": [
        {"elements": ["/paragraphs/1", "/sections/1"]},
        {"elements": ["/paragraphs/2", "/tables/0", "/sections/2"]},
        {"elements": ["/paragraphs/4", "/paragraphs/5"]},
    ],
}


class Service(ThreadingHTTPServer):
    """Answers in the order of its script, then as the real one does."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[str, str, bytes, str]] = []
        self.script: list[tuple[int, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        place = f"{self.server.url}{PATH}/analyzeResults/42?api-version=2024-11-30"
        self._answer(body, 202, {"Operation-Location": place, "Retry-After": "0"}, b"")

    def do_GET(self) -> None:
        polls = sum(1 for method, *_ in self.server.seen if method == "GET")
        status = {"status": "running"} if polls < 1 else {
            "status": "succeeded", "analyzeResult": RESULT
        }  # fmt: skip
        self._answer(b"", 200, {"Retry-After": "0"}, json.dumps(status).encode())

    def _answer(self, sent: bytes, code: int, headers: dict[str, str], body: bytes) -> None:
        key = self.headers.get("Ocp-Apim-Subscription-Key", "")
        self.server.seen.append((self.command, self.path, sent, key))
        if self.server.script:
            code, headers, body = self.server.script.pop(0)
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def azure(service: Service, pauses: list[float]) -> Azure:
    return Azure(service.url, "a-key", sleep=pauses.append)


def blocks(extraction: Extraction) -> list[tuple[str, int | None, str]]:
    return [
        (f"{block.kind}{block.level or ''}", block.page, extraction.text[block.start : block.end])
        for block in extraction.blocks
    ]


def test_paragraphs_roles_tables_and_pages_become_blocks(azure: Azure, service: Service) -> None:
    extraction = azure(b"%PDF-1.7 scan", "report.pdf")
    assert blocks(extraction) == [
        ("heading1", 1, "Medical Report"),
        ("heading2", 1, "Vital Signs"),
        ("table", 1, "| Measurement | Value |\n|---|---|\n| Pulse | 78 |\n| Pulse | 80 |"),
        ("heading3", 1, "Blood Pressure"),
        ("paragraph", 2, "It is elevated."),
        ("list", 2, "- Rest\n- Less salt"),
    ]
    assert extraction.title == "Medical Report"
    assert extraction.extractor == "azure-layout/2024-11-30"
    assert extraction.media_type == "application/pdf"
    methods = [(method, key) for method, _, _, key in service.seen]
    assert methods == [("POST", "a-key"), ("GET", "a-key"), ("GET", "a-key")]
    assert service.seen[0][1].startswith(f"{PATH}:analyze?api-version=2024-11-30")
    assert service.seen[0][2] == b"%PDF-1.7 scan"


def test_too_many_requests_wait_as_long_as_they_are_told(
    azure: Azure, service: Service, pauses: list[float]
) -> None:
    busy = json.dumps({"error": {"code": "429", "message": "Slow down."}}).encode()
    service.script = [(429, {"Retry-After": "7"}, busy), (503, {}, b""), (500, {}, b"oh")]
    assert azure(b"x", "a.pdf").title == "Medical Report"
    assert pauses[:3] == [7.0, 2.0, 4.0]


def test_a_service_that_stays_broken_is_given_up(
    azure: Azure, service: Service, pauses: list[float]
) -> None:
    service.script = [(500, {}, b"")] * 5
    with pytest.raises(SourceError, match=r"Azure answers 500: no reason given; 5 attempts\. Try"):
        azure(b"x", "a.pdf")
    assert len(service.seen) == 5
    assert pauses == [1.0, 2.0, 4.0, 8.0]


def test_a_key_that_is_refused_is_not_sent_again(azure: Azure, service: Service) -> None:
    service.script = [(401, {}, b"{}")]
    for _ in range(3):
        with pytest.raises(SourceError, match=rf"refuses the key \(401\)\. Check {ENDPOINT}"):
            azure(b"x", "a.pdf")
    assert len(service.seen) == 1


def test_a_file_that_azure_refuses_is_named_with_its_reason(azure: Azure, service: Service) -> None:
    error = {"error": {"message": "Invalid request.", "innererror": {"message": "Too large."}}}
    service.script = [(400, {}, json.dumps(error).encode())]
    with pytest.raises(SourceError, match=r"^Azure answers 400: Too large\.$"):
        azure(b"x", "a.pdf")
    failed = {"status": "failed", "error": {"message": "The file is corrupted."}}
    place = {"Operation-Location": f"{service.url}/x"}
    service.script = [(202, place, b""), (200, {}, json.dumps(failed).encode())]
    with pytest.raises(SourceError, match=r"^Azure could not read it: The file is corrupted\.$"):
        azure(b"x", "a.pdf")


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>garbage",
        b"[]",
        b'{"status": "dancing"}',
        b'{"status": "succeeded"}',
        b'{"status": "succeeded", "analyzeResult": {"paragraphs": [{"spans": "x"}]}}',
        b'{"status": "succeeded", "analyzeResult": {"tables": [{"cells": [{}]}]}}',
        b'{"status": "succeeded", "analyzeResult": {"tables": [{"cells": [{"rowIndex": 1e9,'
        b' "columnIndex": 0}]}]}}',
        b'{"status": "succeeded", "analyzeResult": {"sections": [{"elements": [7]}]}}',
    ],
)
def test_garbage_makes_no_sense_and_no_mess(azure: Azure, service: Service, answer: bytes) -> None:
    place = {"Operation-Location": f"{service.url}/x"}
    service.script = [(202, place, b""), (200, {}, answer)]
    with pytest.raises(SourceError, match="Azure's answer makes no sense"):
        azure(b"x", "a.pdf")


def test_the_key_goes_nowhere_else(azure: Azure, service: Service) -> None:
    service.script = [(202, {"Operation-Location": "https://elsewhere.example/steal"}, b"")]
    with pytest.raises(SourceError, match="named no place for its answer"):
        azure(b"x", "a.pdf")
    service.script = [(302, {"Location": f"{service.url}/other"}, b"")]
    with pytest.raises(SourceError, match="Azure answers 302"):
        azure(b"x", "a.pdf")
    assert len(service.seen) == 2
    assert "a-key" not in repr(azure)


def test_an_analysis_that_never_ends_is_given_up(service: Service) -> None:
    moments = iter(range(0, 100_000, 100))
    azure = Azure(service.url, "k", sleep=lambda _: None, clock=lambda: float(next(moments)))
    place = {"Operation-Location": f"{service.url}/x"}
    service.script = [(202, place, b""), *[(200, {}, b'{"status": "running"}')] * 20]
    with pytest.raises(SourceError, match="did not finish within 15 minutes"):
        azure(b"x", "a.pdf")


def test_a_service_that_is_not_there(pauses: list[float]) -> None:
    azure = Azure("http://127.0.0.1:9", "k", sleep=pauses.append)
    with pytest.raises(SourceError, match=r"Azure cannot be reached .*; 5 attempts"):
        azure(b"x", "a.pdf")


def test_it_is_used_only_when_it_is_chosen(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENDPOINT, service.url)
    monkeypatch.setenv(KEY, "a-key")
    with Reader("azure") as reader:
        reader.check("photo.png", 10)
        assert reader(b"\x89PNG", "photo.png").title == "Medical Report"
        assert reader(b"# Here", "note.md").title == "Here"
    assert [path for method, path, *_ in service.seen if method == "POST"] != []
    seen = len(service.seen)
    with Reader() as reader:
        assert reader(b"<p>local", "a.html").text == "local"
    assert len(service.seen) == seen


def test_what_it_needs_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENDPOINT, raising=False)
    monkeypatch.delenv(KEY, raising=False)
    with pytest.raises(InvalidValue, match=f"set {ENDPOINT} and {KEY}"):
        Reader("azure")
    for address in ("example.org", "http://example.org", "ftp://localhost"):
        with pytest.raises(InvalidValue, match="write https://NAME"):
            Azure(address, "k")
