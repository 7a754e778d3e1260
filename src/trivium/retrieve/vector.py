"""Meaning: the query's vector against those of the chunks, by cosine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trivium.abilities import serves
from trivium.errors import LibraryUnavailable
from trivium.protocols import Embedder, VectorForesight, VectorSearch, View
from trivium.turns import waiting
from trivium.types import Filter, Leg, LegState, Unit
from trivium.vectors import unit as to_unit

if TYPE_CHECKING:
    from concurrent.futures import Executor

Vector = NDArray[np.float32]


def search(
    view: View, query: str, embedder: Embedder | None, filter: Filter, depth: int, unit: Unit
) -> Leg:
    """The chunks nearest in meaning; if that cannot be told, the leg says why."""
    if not serves(view, VectorSearch):
        return Leg("vector", LegState.SKIPPED, note="this library has no vectors")
    if embedder is None and view.model:
        note = f"the library's vectors are of {view.model}, and there is no such model at hand"
        return Leg("vector", LegState.FAILED, note=note)
    if embedder is None:
        return Leg("vector", LegState.SKIPPED, note="this library has no embedding model")
    try:
        if view.model and view.model != embedder.fingerprint:
            note = (
                f"the library's vectors are of {view.model}, the model at hand is "
                f"{embedder.fingerprint}; run 'trivium embed' to make new ones"
            )
            return Leg("vector", LegState.FAILED, note=note)
        with waiting(view):
            made = embedder.query(query)
        vector = made if isinstance(embedder, _Ahead) else to_unit(made)
        if not vector.any():
            return Leg("vector", LegState.EMPTY, note="the model sees no meaning in this query")
        found = view.nearest(vector, filter, depth, unit)
    except LibraryUnavailable:  # words cannot be read there either; whoever asked may ask again
        raise
    # A model is somebody else's code, on somebody else's server perhaps: whatever it does, words
    # must still be searched, and the answer must say what is missing.
    except Exception as error:
        return Leg("vector", LegState.FAILED, note=str(error) or type(error).__name__)
    return Leg(
        "vector",
        LegState.OK if found.ids else LegState.EMPTY,
        found.ranking(),
        complete=found.complete,
        yardstick=found.yardstick,
        vector=vector,
        note=_waiting(found.missing),
    )


def _waiting(missing: int) -> str:
    if not missing:
        return ""
    return f"{missing} chunks wait for their vector; 'trivium embed' makes it"


def asked_ahead(
    view: View,
    embedder: Embedder,
    query: str,
    filter: Filter,
    depth: int,
    threads: Callable[[], Executor] | None,
) -> Embedder:
    """The embedder with the query's vector, which the view already looks for; or, with threads,
    still at work on it in one of them. As it is where it would work for nothing.
    """

    def vector() -> Vector:
        with waiting(view):
            made = to_unit(embedder.query(query))
        if made.any() and serves(view, VectorForesight):
            view.expect(made, filter, depth)
        return made

    try:
        if not serves(view, VectorSearch) or view.model != embedder.fingerprint:
            return embedder
        asked = threads().submit(vector).result if threads else _at_once(vector)
    except Exception:  # somebody else's code: the leg meets the same error, and says so
        return embedder
    return _Ahead(embedder, asked)


def _at_once(make: Callable[[], Vector]) -> Callable[[], Vector]:
    """Makes it, and gives it, or the error, whenever it is asked for."""
    try:
        made = make()
    except Exception as error:
        failure = error  # the name `error` is gone by then

        def failed() -> Vector:
            raise failure

        return failed
    return lambda: made


class _Ahead:
    """An embedder that was asked before its answer is needed; a failure comes with the answer."""

    def __init__(self, embedder: Embedder, asked: Callable[[], Vector]) -> None:
        self._embedder, self._asked = embedder, asked

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def documents(self, texts: Sequence[str]) -> Vector:
        return self._embedder.documents(texts)

    def query(self, text: str) -> Vector:
        return self._asked()
