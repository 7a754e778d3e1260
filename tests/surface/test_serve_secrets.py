"""Adding what somebody may not see changes no byte of what they get, whatever they ask."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_served import Served, serving, without_times
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import trivium

FACTS = """@prefix m: <http://march.example/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
m:seat a owl:FunctionalProperty .
m:Hedda rdfs:label "Hedda of the nine forges" ; m:owns m:Gravewind .
m:Hedda m:seat "Emberfold" , "Quillhaven" .
m:Gravewind rdfs:label "Gravewind the axe" .
"""
HIDDEN_FACTS = """@prefix m: <http://march.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix secret: <http://secret.example/> .
m:Hedda m:seat "{word}" ; rdfs:label "{word} the traitor" ; secret:pays m:Osmund .
m:Osmund rdfs:label "{word} of the axe" .
"""
WORDS = (
    "axe",
    "Gravewind",
    "forge",
    "poison",
    "keeper",
    "zyzzyva",
    "Quillhaven",
    "damage",
    "Hedda",
)


def requests_of(hidden: str) -> list[tuple[str, str, Any]]:
    """Method, path and body of everything a reader may ask, also by guessing a hidden name."""
    get = [
        "/search?q=axe&limit=20&facets=true",
        "/search?q=Gravewnd&mode=full",
        "/search?q=poison+zyzzyva+keeper",
        "/search?q=who+drew+the+axe&profile=omnidata&limit=2",
        "/search?q=Hedda&profile=worlds",
        "/search?scope=dm-only&q=axe",
        "/search?scope=nothing&q=axe",
        "/search?q=axe&as_of=2030-01-01",
        f"/search?q=axe&as_of={hidden}@1",
        "/facets",
        "/facets?kind=note",
        "/suggest?q=zyz",
        "/suggest?q=a",
        "/suggest?q=the+tra",
        "/documents",
        "/documents?limit=2",
        "/documents/lamp",
        f"/documents/{hidden}",
        f"/documents/{hidden}/versions",
        f"/documents/{hidden}@1/0",
        "/documents/lamp/versions",
        "/documents/lamp/diff?old=1&new=2&query=axe",
        "/facts?subject=http://march.example/Hedda&depth=2",
        "/facts?subject=http://march.example/Osmund",
        "/facts?subject=secret:pays",
        "/verifications?all=true",
        "/feedback",
        "/status",
    ]
    post: list[tuple[str, Any]] = [
        (
            "/search",
            {"query": "axe forge", "facets": True, "filter": {"exclude": [{"tags": "books"}]}},
        ),
        ("/search", {"query": "", "filter": {"kind": ["note", "entry", "facts"]}, "limit": 50}),
        ("/search", {"query": "axe", "filter": {"rdf_types": ["secret:x"]}}),
        ("/context", {"prompt": "who drew the axe Gravewind", "budget": 300}),
        ("/known", {"ids": [hidden, "lamp"]}),
        ("/feedback", {"verdict": "accepted", "documents": [hidden]}),
    ]
    return [("GET", path, None) for path in get] + [("POST", *one) for one in post]


@pytest.fixture(scope="module")
def served(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("secrets")
    shutil.copytree(pattern, folder / "world.trivium")
    (folder / "facts.ttl").write_text(FACTS)
    with trivium.open(folder / "world.trivium") as library:
        library.add(folder / "facts.ttl")
        library.add_text("A lamp of brass beside the axe.", title="Lamp", id="lamp")
        library.add_text("A lamp of glass beside the axe.", title="Lamp", id="lamp")
        library.feedback("accepted", "lamp", query="lamp")
    yield from serving(folder / "world.trivium")


hidden_documents = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.lists(st.sampled_from(WORDS), min_size=3, max_size=12).map(" ".join),
        st.sampled_from(("dm-only", "gm")),
        st.sampled_from(("text", "facts", "entry", "memory")),
    ),
    min_size=1,
    max_size=4,
)


def test_hidden_documents_change_no_byte(served: Served, tmp_path: Path) -> None:
    asked = requests_of("secret-0")
    readers: list[dict[str, str]] = [{}, served.key("players", "players")]

    def answers() -> list[tuple[int, str]]:
        got = []
        for headers in readers:
            for method, path, body in asked:
                answer = served.client.request(method, path, json=body, headers=headers)
                got.append((answer.status_code, without_times(answer.text)))
        return got

    before = answers()
    assert sum(status == 200 for status, _ in before) > 40  # they do get something

    # No shrinking: what was hidden stays there, so a smaller example proves nothing.
    @settings(max_examples=3, deadline=None, phases=[Phase.generate], database=None)
    @given(hidden_documents)
    def adding_changes_nothing(documents: list[tuple[int, str, str, str]]) -> None:
        for number, text, scope, kind in documents:
            add_hidden(served, tmp_path, number, text, scope, kind)
        for request, then, now in zip(asked * len(readers), before, answers(), strict=True):
            assert now == then, request

    adding_changes_nothing()


def add_hidden(served: Served, folder: Path, number: int, text: str, scope: str, kind: str) -> None:
    """Something that readers may not see: it is like what they see, and is judged and changed."""
    library, id = served.library, f"secret-{number}"
    if kind == "facts":
        file = folder / f"hidden-{number}-{scope}.ttl"
        file.write_text(HIDDEN_FACTS.format(word=text))
        library.add(file, scope=scope)
    elif kind == "entry":
        entry = {"id": id, "title": text, "description": text, "scope": scope, "tags": ["books"]}
        library.add_entries([entry], force=True)
    elif kind == "memory":
        library.remember(text, scope=scope)
    else:
        library.add_text(text, title=f"{text} the traitor", id=id, scope=scope, force=True)
        library.add_text(text + " again", title=text, id=id, scope=scope, force=True)
        library.feedback("dismissed", id, query="axe")


def test_errors_say_the_same_of_what_is_hidden_and_what_is_not_there(served: Served) -> None:
    served.library.add_text("The safe.", title="Safe", id="safe", scope="dm-only")
    scribe = served.key("scribe", role="writer")
    for method, path, body in (
        ("GET", "/documents/NAME", None),
        ("GET", "/documents/NAME/versions", None),
        ("GET", "/documents/NAME/diff?old=1&new=1", None),
        ("POST", "/documents/NAME/rollback", {"version": 1}),
        ("POST", "/documents/NAME/reingest", None),
        ("DELETE", "/documents/NAME", None),
        ("POST", "/feedback", {"verdict": "failed", "documents": ["NAME"]}),
        ("GET", "/search?q=safe&as_of=NAME@1", None),
    ):
        said = []
        for name in ("safe", "none"):
            named = json.loads(json.dumps(body).replace("NAME", name))
            answer = served.client.request(
                method, path.replace("NAME", name), json=named, headers=scribe
            )
            assert answer.status_code == 404, (method, path, answer.text)
            said.append(answer.text.replace(name, "NAME"))
        assert said[0] == said[1]
    assert served.library.get("safe")
