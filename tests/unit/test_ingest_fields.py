"""What sources say about themselves."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from trivium.errors import SourceError
from trivium.ingest.fields import Fields, document_fields


def test_a_full_front_matter_finds_its_places() -> None:
    fields = document_fields(
        {
            "title": " Gravewind ",
            "category": "items",
            "scope": "DM-only",
            "type": "weapon",
            "domain": "lore",
            "severity": "Warning",
            "context": "Found in the Cleft.",
            "tags": ["#sword", "cold", 2024, "cold", ""],
            "aliases": "The Cold Blade, Gravy",
            "valid_from": date(2024, 1, 1),
            "valid_until": "2025-01-01T12:00:00+02:00",
            "created": date(2023, 8, 19),
            "updated": datetime(2023, 9, 1, 8),
            "author": "Ada",
            "rating": 4.5,
            "seen": [date(2024, 5, 31), {"by": None, 7: True}],
            "empty": None,
        },
        "gravewind.md",
    )
    assert fields == Fields(
        title="Gravewind",
        category="items",
        scope="dm-only",
        type="weapon",
        domain="lore",
        severity="warning",
        context="Found in the Cleft.",
        tags=("sword", "cold", "2024"),
        valid_from=datetime(2024, 1, 1, tzinfo=UTC),
        valid_until=datetime(2025, 1, 1, 10, tzinfo=UTC),
        created=datetime(2023, 8, 19, tzinfo=UTC),
        updated=datetime(2023, 9, 1, 8, tzinfo=UTC),
        metadata={
            "author": "Ada",
            "rating": 4.5,
            "seen": ["2024-05-31", {"by": None, "7": True}],
            "aliases": ["The Cold Blade", "Gravy"],
        },
    )
    json.dumps(dict(fields.metadata), allow_nan=False)


def test_nothing_said_is_nothing_known() -> None:
    assert document_fields({}, "a.md") == Fields()
    assert (
        document_fields({"title": None, "scope": "", "tags": None, "date": ""}, "a.md") == Fields()
    )


def test_date_and_modified_stand_in_for_created_and_updated() -> None:
    fields = document_fields({"date": date(2024, 1, 1), "modified": "2024-02-01"}, "a.md")
    assert fields.created == datetime(2024, 1, 1, tzinfo=UTC)
    assert fields.updated == datetime(2024, 2, 1, tzinfo=UTC)
    assert fields.metadata == {}


def test_the_proper_name_wins_and_the_other_is_kept() -> None:
    fields = document_fields({"created": date(2024, 1, 1), "date": date(2020, 1, 1)}, "a.md")
    assert fields.created == datetime(2024, 1, 1, tzinfo=UTC)
    assert fields.metadata == {"date": "2020-01-01"}


def test_tags_may_be_one_line() -> None:
    assert document_fields({"tags": "sword, cold ,,sword"}, "a.md").tags == ("sword", "cold")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": ["a"]}, r"^a\.md: field 'title' must be text, not a list\. Write title: "),
        ({"category": False}, r"field 'category' must be text, not yes or no.*in quotes"),
        ({"scope": {"a": 1}}, "field 'scope' must be text, not a mapping"),
        (
            {"severity": "critcal"},
            r"'critcal'.* critical, warning, suggestion\. Did you mean 'critical'",
        ),
        ({"severity": "high"}, "field 'severity' is 'high', which is unknown"),
        (
            {"tags": {"a": 1}},
            r"field 'tags' must be a list, not a mapping\. Write tags: \[one, two\]",
        ),
        ({"tags": [["a"]]}, "field 'tags' must be text, not a list"),
        ({"aliases": 7}, "field 'aliases' must be a list, not 7"),
        ({"created": 2024}, "field 'created' must be a date, not 2024"),
        ({"date": "soon"}, "field 'date': 'soon' is not a date or time"),
        ({"valid_from": "2024-02-01", "valid_until": "2024-01-01"}, "earlier than valid_from"),
        ({"x": b"bytes"}, "field 'x' is bytes, which cannot be kept"),
        ({"x": float("nan")}, "field 'x' is nan, which cannot be kept"),
        ({"x": "\ud800"}, "field 'x' holds half a character or a NUL"),
        ({"title": "a\0b"}, "field 'title' holds half a character or a NUL"),
    ],
)
def test_wrong_types_are_refused_with_file_field_and_what_to_write(
    fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(SourceError, match=message):
        document_fields(fields, "a.md")


def test_metadata_is_not_a_bottomless_pit() -> None:
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(SourceError, match="field 'x' is nested too deeply"):
        document_fields({"x": deep}, "a.md")
