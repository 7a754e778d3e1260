"""Where a string stands in a sorted list of them."""

from __future__ import annotations

from trivium import kernels
from trivium.kernels import Array

HEAD = 8  # bytes of a string that fit a number


def lower_bound(
    blob: Array, offsets: Array, heads: Array | None, wanted: bytes
) -> tuple[int, bool]:
    """The index of the first string that is not less than this one, and whether it is this one.

    `heads` are the first bytes of each string as a number.
    """
    if kernels.native:
        found: tuple[int, bool] = kernels.native.lower_bound(blob, offsets, heads, wanted)
        return found

    def string(index: int) -> bytes:
        return blob[offsets[index] : offsets[index + 1]].tobytes()

    low, high = 0, len(offsets) - 1
    if heads is not None:
        head = heads.dtype.type(int.from_bytes(wanted[:HEAD].ljust(HEAD, b"\0"), "big"))
        low, high = int(heads.searchsorted(head)), int(heads.searchsorted(head, side="right"))
    while low < high:
        middle = (low + high) // 2
        if string(middle) < wanted:
            low = middle + 1
        else:
            high = middle
    return low, low < len(offsets) - 1 and string(low) == wanted
