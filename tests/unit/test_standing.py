"""Which chunks make a ranking: as by sorting all of them by score and id."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.index.building import Row, build
from trivium.index.standing import Standing, first_units, ids_at
from trivium.types import COLUMNS, Document, Unit, document_of

# few different numbers, so that there are ties, also between segments
SCORES = st.sampled_from([0.5, 1.0, 1.5, 7.0])
CHUNKS = st.dictionaries(
    st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 12)), SCORES, min_size=1, max_size=40
)


@settings(deadline=None, max_examples=60)
@given(
    CHUNKS,
    st.integers(1, 3),
    st.integers(1, 12),
    st.integers(0, 20),
    st.sampled_from(["chunk", "document"]),
)
def test_the_first_units_are_those_of_a_sorted_list(
    chunks: dict[tuple[str, int], float], pieces: int, units: int, more: int, unit: Unit
) -> None:
    owners = [sorted(name for name in "abcdefgh" if ord(name) % pieces == n) for n in range(pieces)]
    held = [[key for key in sorted(chunks) if key[0] in some] for some in owners]
    segments = [
        build([_row(number, *key) for number, key in enumerate(keys)]) for keys in held if keys
    ]
    scores = []
    for segment in segments:
        ids = segment.ids(np.arange(len(segment)))
        scores.append(np.array([chunks[id[0], int(id.rpartition("/")[2])] for id in ids]))

    def best(count: int) -> Standing:
        kept = [np.sort(np.argsort(-some, kind="stable")[: count + more]) for some in scores]
        return Standing.of(kept, scores)

    ranked = sorted((-score, f"{name}@1/{place}") for (name, place), score in chunks.items())
    expected: list[tuple[str, float]] = []
    seen: set[str] = set()
    for below, id in ranked:
        if len(seen) < units:
            seen.add(id if unit == "chunk" else document_of(id))
            expected.append((id, -below))
    chosen = first_units(segments, best, len(chunks), units, unit)
    assert list(zip(chosen.ids, chosen.scores, strict=True)) == expected
    assert list(chosen.ids) == ids_at(segments, chosen.places)


def _row(number: int, name: str, ordinal: int) -> Row:
    document = Document(id=name, uri=name, title="")
    return Row(number, 1, ordinal, document, tuple("axe" for _ in COLUMNS))
