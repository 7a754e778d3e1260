"""The ids of chunks, and which of them make the beginning of a ranking."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trivium import kernels
from trivium.kernels import ROW_BITS, Array, Floats, Rows
from trivium.types import chunk_id


class Named(NamedTuple):
    """Chunks by row: their document, version and ordinal, and the names of the documents."""

    blob: Array
    offsets: Array
    document: Array
    version: Array
    ordinal: Array


def chunk_ids(named: Named, rows: Rows) -> tuple[str, ...]:
    """The ids of the chunks in these rows."""
    if kernels.native:
        found: tuple[str, ...] = kernels.native.chunk_ids(*named, rows.astype(np.int64, copy=False))
        return found
    ids = []
    for row in rows.tolist():
        document = named.document[row]
        name = named.blob[named.offsets[document] : named.offsets[document + 1]].tobytes()
        text = name.decode("utf-8", "surrogatepass")
        ids.append(chunk_id(text, int(named.version[row]), int(named.ordinal[row])))
    return tuple(ids)


class Beginning(NamedTuple):
    """Of a ranking: ids, places and scores; best first, of equal ones the first id."""

    ids: tuple[str, ...]
    places: Rows
    scores: tuple[float, ...]


def first_units(
    segments: tuple[Named, ...],
    places: Rows,
    scores: Floats,
    among: int,
    wanted: int,
    by_document: bool,
) -> Beginning | None:
    """The shortest beginning of the ranking of these chunks that holds so many documents, or else
    chunks; None if the first so many `among` them do not. A place is `segment << ROW_BITS | row`.
    """
    if kernels.native:
        found = kernels.native.first_units(segments, places, scores, among, wanted, by_document)
        return found and Beginning(found[0], np.frombuffer(found[1], np.int64), found[2])
    owners, rows = places >> ROW_BITS, places & ((1 << ROW_BITS) - 1)
    ids = [""] * len(places)
    for owner, named in enumerate(segments):
        here = np.flatnonzero(owners == owner)
        for place, id in zip(here.tolist(), chunk_ids(named, rows[here]), strict=True):
            ids[place] = id
    order = [at for _, _, at in sorted(zip((-scores).tolist(), ids, range(len(ids)), strict=True))]
    seen: set[tuple[int, int]] = set()
    for length, at in enumerate(order[:among], start=1):
        owner, row = int(owners[at]), int(rows[at])
        seen.add((owner, int(segments[owner].document[row]) if by_document else row))
        if len(seen) == wanted:
            chosen = order[:length]
            worth = tuple(scores[chosen].tolist())
            return Beginning(tuple(ids[at] for at in chosen), places[chosen], worth)
    return None
