"""Documents, facts and verdicts over HTTP say what the commands say."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from http_served import Served, problem, serving, without_times

import trivium
from trivium.types import Grant

Run = Callable[..., CompletedProcess[str]]
FACTS = """@prefix m: <http://march.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
m:seat a owl:FunctionalProperty .
m:Hedda m:seat "Emberfold" , "Quillhaven" .
"""


@pytest.fixture
def served(world: Path) -> Iterator[Served]:
    yield from serving(world)


@pytest.fixture(scope="module")
def still(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of a library that nobody changes: notes, entries, facts and two versions."""
    folder = tmp_path_factory.mktemp("still")
    shutil.copytree(pattern, folder / "world.trivium")
    (folder / "facts.ttl").write_text(FACTS)
    with trivium.open(folder / "world.trivium") as library:
        library.add(folder / "facts.ttl")
        library.add_text("A lamp of brass.", title="Lamp", id="lamp")
        library.add_text("A lamp of glass.", title="Lamp", id="lamp")
    yield from serving(folder / "world.trivium")


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/documents/lamp/versions", ["versions", "lamp"]),
        ("/documents/lamp/diff?old=1&new=2", ["diff", "lamp", "1", "2"]),
        ("/documents/lamp/diff?old=1&new=2&query=a", ["diff", "lamp", "1", "2", "--query", "a"]),
        ("/facts?subject=m:Hedda", ["facts", "m:Hedda"]),
        ("/facts?subject=http://march.example/Hedda&depth=2", ["facts", "m:Hedda", "--depth", "2"]),
        ("/verifications", ["verify", "list"]),
        ("/feedback", ["feedback", "stats"]),
    ],
)  # fmt: skip
def test_reading_gives_what_the_command_prints(
    still: Served, run: Run, path: str, arguments: list[str]
) -> None:
    got = still.client.get(path, headers=still.owner())
    assert got.status_code == 200, got.text
    printed = run(*arguments, "-L", still.library.folder, "--json").stdout
    assert without_times(got.text) == without_times(printed)


def test_context_is_what_the_command_prints(still: Served, run: Run) -> None:
    asked = {"prompt": "who drew the axe", "budget": 200}
    got = still.client.post("/context", json=asked, headers=still.owner())
    printed = run(
        "context", "-L", still.library.folder, "--json", "--budget", "200", asked["prompt"]
    )
    assert got.text == printed.stdout


def test_a_whole_document_is_known_by_its_tag(still: Served) -> None:
    first = still.client.get("/documents/lamp")
    tag = first.headers["etag"]
    assert first.json()["text"] == "A lamp of glass."
    again = still.client.get("/documents/lamp", headers={"If-None-Match": f'"x", {tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    search = still.client.get("/search?q=lamp")
    same = still.client.get("/search?q=lamp", headers={"If-None-Match": search.headers["etag"]})
    assert (search.status_code, same.status_code) == (200, 304)


def test_documents_come_in_pages(still: Served) -> None:
    listed, cursor = [], ""
    while True:
        page = still.client.get(f"/documents?limit=2{cursor}").json()
        listed += [one["id"] for one in page["documents"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    public = still.library.documents(grant=Grant(frozenset()))
    assert listed == [one.id for one in public]
    assert page["total"] == len(listed)


def test_a_version_that_was_a_secret_stays_one(served: Served) -> None:
    library = served.library
    library.add_text("The vault code is 4711.", title="Vault", id="vault", scope="dm-only")
    library.add_text("The vault is empty.", title="Vault", id="vault", scope="all")
    get = served.client.get
    assert get("/documents/vault").json()["text"] == "The vault is empty."
    assert [one["version"] for one in get("/documents/vault/versions").json()] == [2]
    for path in (
        "/documents/vault@1/0",
        "/documents/vault/diff?old=1&new=2",
        "/search?q=vault&as_of=vault@1",
    ):
        answer = get(path)
        assert problem(answer)["code"] == "unknown_document", path
        assert "4711" not in answer.text
    writer = served.key("scribe", role="writer")
    back = served.client.post("/documents/vault/rollback", json={"version": 1}, headers=writer)
    assert problem(back)["code"] == "unknown_document"


def test_a_writer_rolls_back_and_removes(served: Served) -> None:
    served.library.add_text("A lamp of brass.", title="Lamp", id="lamp")
    served.library.add_text("A lamp of glass.", title="Lamp", id="lamp")
    scribe = served.key("scribe", role="writer")
    back = served.client.post("/documents/lamp/rollback", headers=scribe)
    assert back.json() == {"document": "lamp", "version": 1}
    assert served.client.get("/documents/lamp").json()["text"] == "A lamp of brass."
    [hidden] = served.library.documents(trivium.Filter(scope=("dm-only",)))
    refused = served.client.delete(f"/documents/{hidden.id}", headers=scribe)
    assert problem(refused)["code"] == "unknown_document"
    assert served.client.delete("/documents/lamp", headers=scribe).json() == {"removed": 1}
    assert served.client.get("/documents/lamp").status_code == 404


def test_verdicts_are_taken_from_readers_about_what_they_see(served: Served) -> None:
    verdict = {"verdict": "accepted", "documents": ["#1"], "query": "axe"}
    given = served.client.post("/feedback", json=verdict).json()
    assert given["documents"] == [served.library.get("#1")[0].document.id]
    assert served.client.get("/feedback").json()["accepted"] == 1
    [hidden] = served.library.documents(trivium.Filter(scope=("dm-only",)))
    about_hidden = verdict | {"documents": [hidden.id]}
    assert problem(served.client.post("/feedback", json=about_hidden))["status"] == 404


def test_a_conflict_is_decided_once_by_one_who_sees_everything(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "facts.ttl").write_text(FACTS)
    served.library.add(tmp_path / "facts.ttl")
    [conflict] = served.client.get("/verifications").json()
    assert conflict["history"] == []
    place = f"/verifications/{conflict['id']}"
    decision = {"decision": "rejected", "why": "a slip of the pen", "statements": [2]}
    scribe = served.key("scribe", role="writer")
    refused = served.client.post(place, json=decision, headers=scribe)
    assert problem(refused)["code"] == "needs_every_scope"
    owner = served.owner()
    done = served.client.post(place, json=decision, headers=owner)
    assert done.json() == {"verification": conflict["id"], "status": "rejected"}
    assert served.client.get("/verifications").json() == []
    facts = served.client.get("/facts?subject=m:Hedda").json()["statements"]
    assert len(facts) == 1
    assert problem(served.client.get("/verifications/v999"))["code"] == "unknown_verification"
    assert problem(served.client.get("/facts?subject=m:Nobody"))["code"] == "unknown_subject"


def test_metrics_count_what_was_asked(served: Served) -> None:
    for _ in range(3):
        served.client.get("/search?q=axe")
    text = served.client.get("/metrics").text
    assert 'trivium_requests_total{method="GET",route="/search",status="200"} 3' in text
    assert 'trivium_request_seconds_count{route="/search"} 3' in text
    assert "\ntrivium_documents 5\n" in text
    reader = served.key("reader")
    assert problem(served.client.get("/metrics", headers=reader))["code"] == "role_too_low"


def test_openapi_has_an_example_of_every_body(still: Served) -> None:
    document = still.client.get("/openapi.json").json()
    bodies = document["components"]["schemas"]
    for name in ("SearchBody", "ContextBody", "FeedbackBody", "DecisionBody"):
        assert bodies[name]["examples"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (method, path)
    asked = bodies["SearchBody"]["examples"][1]
    assert still.client.post("/search", json=asked).status_code == 200
    example = document["paths"]["/search"]["get"]["responses"]["200"]["content"]
    said = example["application/json"]["example"]
    real = json.loads(still.client.get("/search?q=axe").text)
    assert set(said) == set(real)
    assert set(said["hits"][0]) == set(real["hits"][0])
