"""Putting things in over HTTP: uploads as tasks, with progress, and never twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from http_served import Served, problem, serving

import trivium

NOTE = b"---\ntitle: The lamp\n---\nA brass lamp hangs in the reading room.\n"
FACTS = b"@prefix m: <http://march.example/> .\nm:Lamp m:hangsIn m:ReadingRoom .\n"


@pytest.fixture
def served(world: Path) -> Iterator[Served]:
    yield from serving(world)


def finished(served: Served, answer: httpx.Response, headers: dict[str, str]) -> dict[str, Any]:
    """The task when it is over."""
    assert answer.status_code == 202, answer.text
    limit = monotonic() + 60
    while True:
        task: dict[str, Any] = served.client.get(answer.headers["location"], headers=headers).json()
        if task["state"] in ("done", "failed"):
            return task
        assert monotonic() < limit
        sleep(0.02)


def test_a_file_is_taken_in_as_bytes_or_as_a_form(served: Served) -> None:
    owner = served.owner()
    sent = served.client.post("/documents?name=lamp.md&category=items", content=NOTE, headers=owner)
    task = finished(served, sent, owner)
    assert (task["state"], task["report"]["errors"]) == ("done", [])
    [id] = task["report"]["added"]
    document = served.client.get(f"/documents/{id}", headers=owner).json()
    assert (document["uri"], document["category"]) == ("upload:lamp.md", "items")
    form = [("file", ("lamp.md", NOTE)), ("file", ("facts.ttl", FACTS))]
    sent = served.client.post("/documents", files=form, headers=owner)
    report = finished(served, sent, owner)["report"]
    assert (report["unchanged"], report["errors"]) == ([id], [])  # its category was said before
    assert len(report["added"]) == 1
    again = finished(served, served.client.post("/documents", files=form, headers=owner), owner)
    assert (again["report"]["added"], again["report"]["updated"]) == ([], [])


def test_a_broken_file_is_named_in_the_report(served: Served) -> None:
    owner = served.owner()
    sent = served.client.post("/documents?name=x.pdf", content=b"%PDF-1.7 no", headers=owner)
    report = finished(served, sent, owner)["report"]
    [error] = report["errors"]
    assert error["name"] == "x.pdf"
    assert "/tmp" not in error["message"]


def test_what_is_refused_when_it_is_written_has_the_name_that_was_sent(served: Served) -> None:
    scribe = served.key("scribe", role="writer")
    entry = json.dumps([{"id": "e-1", "title": "E", "scope": "dm-only"}]).encode()
    form = [("file", ("a.json", entry)), ("file", ("b.md", b"---\nscope: dm-only\n---\nx"))]
    report = finished(served, served.client.post("/documents", files=form, headers=scribe), scribe)
    refused = [error["name"] for error in report["report"]["errors"]]
    assert refused == ["a.json, entry 'e-1'", "b.md"]
    empty = served.client.post("/documents?name=empty.md", headers=scribe)
    report = finished(served, empty, scribe)
    assert [note["name"] for note in report["report"]["notes"]] == ["empty.md"]


def test_many_uploads_of_one_file_make_one_document(served: Served) -> None:
    headers = served.key("scribe", role="writer")
    barrier = Barrier(25)

    def send(_: int) -> str:
        with httpx.Client(base_url=served.url, timeout=60, headers=headers) as client:
            barrier.wait()
            answers = [client.post("/documents?name=lamp.md", content=NOTE) for _ in range(40)]
        assert {answer.status_code for answer in answers} == {202}
        return str(answers[-1].json()["task"])

    with ThreadPoolExecutor(25) as pool:
        last = set(pool.map(send, range(25)))
    for task in last:
        answer = httpx.Response(202, headers={"location": f"/tasks/{task}"})
        assert finished(served, answer, headers)["state"] == "done"
    [document] = served.library.documents(trivium.Filter(source=("upload",)))
    assert (document.uri, document.version) == ("upload:scribe/lamp.md", 1)


def test_adds_at_once_in_several_handles_make_one_version(world: Path, tmp_path: Path) -> None:
    file = tmp_path / "lamp.md"
    file.write_bytes(NOTE)
    barrier = Barrier(4)

    def add(_: int) -> tuple[int, int]:
        with trivium.open(world) as library:
            barrier.wait()
            report = library.add(file, embed=False)
            return len(report.added), len(report.unchanged)

    with ThreadPoolExecutor(4) as pool:
        reports = sorted(pool.map(add, range(4)))
    assert reports == [(0, 1), (0, 1), (0, 1), (1, 0)]
    with trivium.open(world) as library:
        [document] = library.documents(trivium.Filter(source=("lamp.md",)))
        assert len(library.versions(document.id)) == 1


def test_files_on_their_way_leave_nothing_behind(
    served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = tmp_path / "way"
    way.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(way))
    owner = served.owner()
    sent = [served.client.post("/documents?name=a.md", content=NOTE, headers=owner)]
    sent.append(served.client.post("/documents", files={"file": ("b.md", NOTE)}, headers=owner))
    for one in sent:
        finished(served, one, owner)
    for path in ("/documents?name=a.md&nmae=b", "/documents", "/documents?name=a.md&force=perhaps"):
        assert served.client.post(path, content=NOTE, headers=owner).status_code == 422
    refused = served.client.post("/documents?name=a.md", content=NOTE, headers=served.key("r"))
    assert refused.status_code == 403
    limit = monotonic() + 60
    while list(way.iterdir()):
        assert monotonic() < limit
        sleep(0.02)


def test_a_task_tells_how_far_it_has_come(served: Served) -> None:
    owner = served.owner()
    task = served.client.post("/documents?name=lamp.md", content=NOTE, headers=owner).json()["task"]
    events = []
    with served.client.stream("GET", f"/tasks/{task}/events", headers=owner) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                events.append(line.removeprefix("event: "))
            elif line.startswith("data: "):
                last = json.loads(line.removeprefix("data: "))
    assert events[-1] == "end"
    assert set(events[:-1]) <= {"progress"}
    assert (last["id"], last["state"]) == (task, "done")


def test_a_task_is_known_to_those_who_started_it(served: Served) -> None:
    scribe, other = served.key("scribe", role="writer"), served.key("other", role="writer")
    task = served.client.post("/documents?name=a.md", content=NOTE, headers=scribe).json()["task"]
    assert problem(served.client.get(f"/tasks/{task}", headers=other))["code"] == "unknown_task"
    assert served.client.get("/tasks", headers=other).json() == {"tasks": []}
    [known] = served.client.get("/tasks", headers=scribe).json()["tasks"]
    assert known["id"] == task
    assert served.client.get(f"/tasks/{task}", headers=served.owner()).status_code == 200


def test_readers_put_nothing_in(served: Served) -> None:
    for headers in ({}, served.key("reader", "dm-only")):
        for method, path in (
            ("POST", "/documents?name=a.md"),
            ("POST", "/documents/x/reingest"),
            ("POST", "/embed"),
            ("GET", "/tasks"),
        ):
            answer = served.client.request(method, path, headers=headers)
            assert problem(answer)["code"] == "role_too_low"


def test_nobody_writes_to_or_over_what_they_cannot_see(served: Served) -> None:
    scribe = served.key("scribe", role="writer")
    keeper = served.key("keeper", "dm-only", role="writer")

    def errors(path: str, content: bytes, headers: dict[str, str]) -> list[str]:
        sent = served.client.post(path, content=content, headers=headers)
        report = finished(served, sent, headers)["report"]
        return [error["message"] for error in report["errors"]]

    secret = NOTE.replace(b"title", b"scope: dm-only\ntitle")
    assert "not yours to write" in errors("/documents?name=a.md", secret, scribe)[0]
    assert "not yours to write" in errors("/documents?name=a.md&scope=x", NOTE, scribe)[0]
    assert errors("/documents?name=a.md", secret, keeper) == []
    entry = json.dumps([{"id": "vault-door", "title": "T", "description": "A door."}]).encode()
    assert errors("/documents?name=e.json&scope=dm-only", entry, keeper) == []
    assert "choose another" in errors("/documents?name=e.json", entry, scribe)[0]


def test_a_source_is_read_again(served: Served) -> None:
    owner = served.owner()
    sent = served.client.post("/documents?name=lamp.md", content=NOTE, headers=owner)
    [id] = finished(served, sent, owner)["report"]["added"]
    sent = served.client.post(f"/documents/{id}/reingest", headers=owner)
    assert finished(served, sent, owner)["report"]["updated"] == [id]
    document = served.client.get(f"/documents/{id}", headers=owner).json()
    assert (document["version"], document["uri"]) == (2, "upload:lamp.md")


def test_what_waits_is_embedded(served: Served) -> None:
    owner = served.owner()
    sent = served.client.post("/documents?name=a.md&embed=false", content=NOTE, headers=owner)
    assert finished(served, sent, owner)["state"] == "done"
    done = finished(served, served.client.post("/embed", headers=owner), owner)
    assert done["report"]["embedded"] == 1
    scribe = served.key("scribe", role="writer")
    refused = problem(served.client.post("/embed", headers=scribe))
    assert refused["code"] == "needs_every_scope"
