"""Knowledge entries."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from trivium.errors import SourceError
from trivium.ingest.entries import Entry, read_entries
from trivium.ingest.fields import Fields

JWT = {
    "id": "auth-jwt-001",
    "title": "JWT at the gateway",
    "description": "Check the signature once.",
    "context": "Every route.",
    "tags": ["jwt", "token"],
    "type": "pattern",
    "domain": "security",
    "severity": "critical",
    "created": "2024-03-02",
    "owner": "Ada",
}
OTHER = {"id": 7, "title": "Seven"}
READ = [
    Entry(
        "auth-jwt-001",
        "Check the signature once.",
        Fields(
            title="JWT at the gateway",
            context="Every route.",
            tags=("jwt", "token"),
            type="pattern",
            domain="security",
            severity="critical",
            created=datetime(2024, 3, 2, tzinfo=UTC),
            metadata={"owner": "Ada"},
        ),
    ),
    Entry("7", "", Fields(title="Seven")),
]


@pytest.mark.parametrize(
    "source",
    [
        json.dumps([JWT, OTHER], indent=2),
        json.dumps({"version": 1, "entries": [JWT, OTHER]}),
        json.dumps({"entries": [JWT, OTHER]}, indent=2),
        f"\n{json.dumps(JWT)}\r\n\r\n{json.dumps(OTHER)}\n",
    ],
)
def test_three_shapes_of_a_file_say_the_same(source: str) -> None:
    assert read_entries(source.encode(), "entries.json") == READ


def test_a_single_object_is_one_entry() -> None:
    assert read_entries(json.dumps(OTHER).encode(), "e.json") == READ[1:]
    assert read_entries(json.dumps(OTHER, indent=2).encode(), "e.json") == READ[1:]


@pytest.mark.parametrize("source", ["", " \n", "[]", '{"entries": []}'])
def test_a_file_may_be_empty(source: str) -> None:
    assert read_entries(source.encode(), "e.json") == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('[{"title": "a"}]', r"^e\.json, entry 1 has no id\. Give it an \"id\""),
        ('[{"id": " ", "title": "a"}]', "entry 1 has no id"),
        ('[{"id": "a"}]', r"^e\.json, entry 1 \('a'\) has no title\."),
        (
            '[{"id": "a", "title": "A"}, {"id": "a", "title": "B"}]',
            "entry 2: the id 'a' is taken by entry 1",
        ),
        ('[{"id": "a", "title": "A"}, 7]', "entry 2 is not an object"),
        ('[{"id": "a", "title": "A", "severity": "hot"}]', r"entry 1 \('a'\): field 'severity'"),
        ('[{"id": "a", "title": "A", "description": []}]', r"entry 1 \('a'\): field 'description'"),
        ('[{"id": true, "title": "A"}]', "entry 1: field 'id' must be text, not yes or no"),
        (r'[{"id": "a", "title": "\ud800"}]', "field 'title' holds half a character"),
        (r'[{"id": "a", "title": "A", "\ud800": 1}]', "holds half a character"),
        ('[{"id": "a",\n "title": }]', r"^e\.json, line 2, column 11: not valid JSON"),
        ('{"id": "a", "title": "A"}\n{"id": }\n', r"^e\.json, line 2, column 8: not valid JSON"),
        ('{"facts": [\n]}', r"^e\.json holds no list of entries\. Write \["),
        ("[NaN]", "NaN is no JSON number"),
        ("[" * 200_000, "nested too deeply"),
        ("[" + "9" * 5_000 + "]", "not usable JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_entries(source.encode(), "e.json")
