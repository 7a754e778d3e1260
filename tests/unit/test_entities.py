"""What rows are about, told apart by number: the same as by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.index import entities
from trivium.index.arrays import Strings
from trivium.index.building import Row, build
from trivium.index.entities import Names
from trivium.index.segment import Segment
from trivium.index.standing import units_of
from trivium.types import COLUMNS, Document

IRI = st.sampled_from([None, "x:axe", "x:king", "x:bridge", "note-1"])  # a document has such an id
ABOUT = st.tuples(st.sampled_from(["note-1", "note-2", "x:king", "facts"]), IRI)


def segment_of(about: list[tuple[str, str | None]]) -> Segment:
    """A row for each: its document and its subject."""
    rows = []
    for number, (name, subject) in enumerate(sorted(about, key=lambda one: one[0])):
        document = Document(id=name, uri=name, title="")
        columns = tuple("axe" for _ in COLUMNS)
        rows.append(Row(number, 1, number, document, columns, subject, "x:says", "x:graph"))
    return build(rows)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.lists(ABOUT, min_size=1, max_size=8), min_size=1, max_size=4), st.data())
def test_entities_are_counted_once_however_many_segments_have_them(
    about: list[list[tuple[str, str | None]]], data: st.DataObject
) -> None:
    segments = [segment_of(some) for some in about]
    rows = [
        np.array(sorted(data.draw(st.sets(st.integers(0, len(one) - 1)))), np.int64)
        for one in segments
    ]
    names = [
        set(units_of(segment, some, "entity")) for segment, some in zip(segments, rows, strict=True)
    ]
    found = entities.count([segment.entities for segment in segments], rows)
    assert found == len(set().union(*names))


def test_an_entity_is_called_by_its_subject_or_its_document() -> None:
    segment = segment_of([("note-1", None), ("note-2", "x:axe"), ("note-2", "note-1")])
    every = np.arange(3)
    assert units_of(segment, every, "entity") == ["note-1", "x:axe", "note-1"]
    assert entities.count([segment.entities], [every]) == 2


def test_what_was_worked_out_about_the_rows_is_shared_by_a_segment_with_other_words() -> None:
    segment = segment_of([("note-1", "x:axe")])
    assert segment.knowing({}).entities is segment.entities


def test_names_are_found_in_any_order() -> None:
    names = Names(Strings.pack(["", "x:b", "x:a", "Größe", "x:c"]))
    assert names.numbers_of(["x:a", "x:d", "", "Größe"]).tolist() == [2, -1, 0, 3]
    assert names.numbers_of([]).tolist() == []


def test_names_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        entities, "_hashes", lambda strings: np.array([len(one) for one in strings], np.int64)
    )
    names = Names(Strings.pack(["", "x:b", "x:a", "longer"]))
    assert names.numbers_of(["x:a", "x:b", "x:c", "longer"]).tolist() == [2, 1, -1, 3]
