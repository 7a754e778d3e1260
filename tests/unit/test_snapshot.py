"""A state of the library: what is remembered of one search never changes the next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from trivium.index import folder, snapshot
from trivium.index.arrays import Parcel, write_arrays
from trivium.index.building import Row, build
from trivium.index.folder import CacheFolder
from trivium.index.placing import ROW_BITS, ROW_MASK
from trivium.index.snapshot import LivingSegment, Seen, Snapshot
from trivium.stemmer import stem
from trivium.types import COLUMNS, NO_FILTER, OWNER, Bm25, Clause, Document, Phrase, WordQuery

EVERY = Bm25(dict.fromkeys(COLUMNS, 1.0))


def row(number: int, document: str, text: str, ordinal: int = 0) -> Row:
    texts = tuple(text if name == "body" else "" for name in COLUMNS)
    return Row(number, 1, ordinal, Document(id=document, uri=document, title=""), texts)


def seen(*segments: list[Row]) -> Seen:
    living = [LivingSegment(build(rows), np.ones(len(rows), bool)) for rows in segments]
    return Snapshot(1, segments=tuple(living)).seen_by(OWNER)


def found(library: Seen, word: str, depth: int = 10, unit: str = "chunk") -> tuple[list[str], int]:
    query = WordQuery.any_of([Clause((Phrase((stem(word),)),))])
    allowed = library.allowed(NO_FILTER, lambda types, subclasses: frozenset())
    answer = library.words(query, EVERY, allowed, depth, unit)  # type: ignore[arg-type]
    return [id for id, _ in answer.scored], answer.matched or 0


def test_where_chunks_stand_is_known_however_many_were_given_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "MOST_GIVEN", 3)
    words = ["axe", "bow", "club"]
    first = [row(n, f"a{n}", words[n % 3]) for n in range(9)]
    library = seen(first, [row(10 + n, f"b{n}", words[n % 3]) for n in range(9)])
    for word in words * 2:
        chunks, _ = found(library, word)
        assert len(chunks) == 6
        told = [
            library.segments[place >> ROW_BITS].id(place & ROW_MASK)
            for place in library.places(chunks).tolist()
        ]
        assert told == chunks
    everything = [f"{letter}{n}@1/0" for letter in "ab" for n in range(9)]
    places = library.places([*everything, "a0@2/0", "c1@1/0", ""])
    second = 1 << ROW_BITS
    assert places.tolist() == [*range(9), *range(second, second + 9), -1, -1, -1]


def test_documents_are_counted_also_where_another_one_stands_between_their_chunks() -> None:
    rows = [row(1, "d", "axe"), row(3, "d@1/0x", "axe"), row(2, "d", "axe", ordinal=1)]
    library = seen(rows)
    assert not library.snapshot.segments[0].segment.documents_ascend
    assert found(library, "axe", unit="document") == (["d@1/0", "d@1/0x@1/0", "d@1/1"], 2)
    assert found(library, "axe", unit="chunk")[1] == 3


def fact(number: int, document: str, text: str) -> Row:
    return replace(row(number, document, text, ordinal=number), predicate="urn:says")


def test_a_document_of_which_a_label_renamed_a_part_is_one_document() -> None:
    """A fact that is called otherwise since another document was read stands in a new segment."""
    facts = [fact(number, "f", "axe") for number in range(3)]
    library = seen(
        [*facts, row(9, "a", "bow")], [fact(3, "f", "axe axe"), row(4, "z", "an axe of old")]
    )
    assert found(library, "axe", unit="document")[1] == 2
    assert found(library, "axe", depth=2, unit="document")[0][-1] == "z@1/0"
    assert found(library, "axe", depth=1, unit="document") == (["f@1/3"], 2)
    assert found(library, "axe", unit="chunk")[1] == 5
    assert found(library, "bow", unit="document") == (["a@1/0"], 1)
    places = library.places([*(f"f@1/{number}" for number in range(4)), "a@1/0", "z@1/0"])
    assert [library.units(places, unit) for unit in ("chunk", "document", "entity")] == [6, 3, 3]


def test_a_document_whose_last_version_is_dead_in_another_segment_is_one_document() -> None:
    old, new = build([fact(1, "f", "axe")]), build([fact(2, "f", "axe"), row(3, "a", "axe")])
    living = (
        LivingSegment(old, np.zeros(1, bool)),
        LivingSegment(new, np.ones(2, bool)),
    )
    library = Snapshot(1, segments=living).seen_by(OWNER)
    assert found(library, "axe", unit="document") == (["a@1/0", "f@1/2"], 2)


def test_a_file_that_another_process_replaced_while_it_was_named_is_written_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = CacheFolder(tmp_path, "library"), CacheFolder(tmp_path, "library")

    def living(first: int, count: int) -> LivingSegment:
        rows = [row(n, f"d{n:03}", "axe") for n in range(first, first + count)]
        return LivingSegment(build(rows), np.ones(count, bool))

    one.save(Snapshot(1, segments=(living(0, 40),)), "first")
    held, _ = one.load() or pytest.fail("nothing was written")
    theirs = Snapshot(3, segments=(*held.segments, living(100, 30)))  # to be merged into one

    def written(path: Path, parcel: Parcel) -> None:
        write_arrays(path, parcel)
        if path.name.startswith("alive"):
            monkeypatch.undo()
            other.save(theirs, "third")

    monkeypatch.setattr(folder, "write_arrays", written)
    saved = one.save(Snapshot(2, segments=(*held.segments, living(100, 1))), "second")
    loaded, stamp = one.load() or pytest.fail("nothing was written")
    assert (loaded.generation, stamp) == (2, "second")
    assert [len(segment.segment) for segment in loaded.segments] == [40, 1]
    assert [segment.file for segment in saved.segments] == [
        segment.file for segment in loaded.segments
    ]
