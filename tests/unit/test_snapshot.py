"""A state of the library: what is remembered of one search never changes the next."""

from __future__ import annotations

import numpy as np
import pytest

from trivium.index import snapshot
from trivium.index.building import Row, build
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
