"""Several blocks of vectors → one, and vectors → a block, a few thousand at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.index.arrays import Array, Parcel
from trivium.index.codes import ARRAYS, encode
from trivium.index.codes import layout as coded_layout
from trivium.index.documents import Mask
from trivium.index.matrix import CODED_FROM, Block
from trivium.vectors import Floats32

ROWS = 4_096
"""Vectors moved at a time: six megabytes at 384 dimensions."""

Numbers = NDArray[np.int64]


def merge_blocks(blocks: Sequence[Block], alive: Sequence[Mask]) -> Block:
    """The living vectors of several blocks as one, in memory."""
    return Block(merged_blocks(blocks, alive).unpacked())


def merged_blocks(blocks: Sequence[Block], alive: Sequence[Mask]) -> Parcel:
    """The same as a parcel; with codes where there are many, which are those that they had."""
    chosen = [np.flatnonzero(living) for living in alive]
    numbers = np.concatenate([b.numbers[rows] for b, rows in zip(blocks, chosen, strict=True)])
    owners = np.repeat(np.arange(len(blocks)), [len(rows) for rows in chosen])
    order = np.argsort(numbers, kind="stable")
    numbers, owners, rows = numbers[order], owners[order], np.concatenate(chosen)[order]
    width = max((block.width for block in blocks if len(block)), default=0)
    layout = _layout_of_block(len(numbers), width)
    known = all(block.is_coded for block in blocks)
    copied = [name for name in layout if name == "matrix" or (name in ARRAYS and known)]

    def pieces() -> Iterator[tuple[str, Array]]:
        yield "numbers", numbers
        for start in range(0, len(numbers), ROWS):
            owner, row = owners[start : start + ROWS], rows[start : start + ROWS]
            for name in copied:
                piece = _gathered(blocks, name, owner, row, layout[name])
                yield name, piece
                if name == "matrix" and not known:
                    yield from _coded(piece, layout)
            for block in blocks:
                block.release()

    return Parcel(layout, pieces())


def _gathered(
    blocks: Sequence[Block],
    name: str,
    owner: Numbers,
    row: Numbers,
    kind: tuple[np.dtype[Any], tuple[int, ...]],
) -> Array:
    """These rows of these blocks, of the matrix or of an array of the codes."""
    dtype, shape = kind
    places = np.unique(owner).tolist()
    if len(places) == 1 and row[-1] - row[0] == len(row) - 1:  # as they lie, nearly always
        return _array_of(blocks[places[0]], name)[row[0] : row[-1] + 1]
    piece = np.empty((len(row), *shape[1:]), dtype)
    for place in places:
        piece[owner == place] = _array_of(blocks[place], name)[row[owner == place]]
    return piece


def _array_of(block: Block, name: str) -> Array:
    array: Array = block.matrix if name == "matrix" else getattr(block.codes, name)
    return array


def block_parcel(numbers: Numbers, width: int, matrix: Iterable[Floats32]) -> Parcel:
    """The arrays of a block whose vectors come a piece at a time; with codes where there are
    many.
    """
    layout = _layout_of_block(len(numbers), width)

    def pieces() -> Iterator[tuple[str, Array]]:
        yield "numbers", numbers
        for piece in matrix:
            yield "matrix", piece
            yield from _coded(piece, layout)

    return Parcel(layout, pieces())


def _layout_of_block(count: int, width: int) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
    layout: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {
        "numbers": (np.dtype(np.int64), (count,)),
        "matrix": (np.dtype(np.float32), (count, width)),
    }
    return layout | (coded_layout(count, width) if count >= CODED_FROM else {})


def _coded(piece: Floats32, layout: Mapping[str, object]) -> Iterator[tuple[str, Array]]:
    if "codes" in layout:
        coded = encode(piece)
        yield from ((name, getattr(coded, name)) for name in ARRAYS)
