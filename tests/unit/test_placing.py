"""Where chunks stand: as a dictionary would have it, gaps, dead rows and strangers included."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trivium.index.placing import ROW_BITS, ROW_MASK, Places

pieces_of_numbers = st.lists(st.integers(0, 3_000), unique=True, max_size=60)


@given(pieces_of_numbers, st.integers(0, 60), st.data(), st.lists(st.integers(-2, 4_000)))
def test_a_place_is_what_a_dictionary_says(
    numbers: list[int], cut: int, data: st.DataObject, asked: list[int]
) -> None:
    pieces = [numbers[:cut], numbers[cut:]]
    alive = [[data.draw(st.booleans()) for _ in piece] for piece in pieces]
    known = {
        number: (index, row)
        for index, piece in enumerate(pieces)
        for row, number in enumerate(piece)
        if alive[index][row]
    }
    places = Places.of(
        [(np.array(p, np.int64), np.array(a, bool)) for p, a in zip(pieces, alive, strict=True)]
    )
    wanted = [*asked, *numbers]
    found = places[np.array(wanted, np.int64)].tolist()
    told = [(one >> ROW_BITS, one & ROW_MASK) if one >= 0 else None for one in found]
    assert told == [known.get(number) for number in wanted]
