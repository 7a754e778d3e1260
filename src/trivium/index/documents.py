"""The filter columns of a segment's documents, as codes and numbers; and Filter → mask."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trivium.clock import microseconds
from trivium.index.arrays import Array, Strings
from trivium.sources import source_matcher
from trivium.types import Filter, Scalar

Mask = NDArray[np.bool_]

_CODED = ("scope", "kind", "category", "type", "domain", "severity")
_ALWAYS, _NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Described(Protocol):
    """What is kept of a document: its place, and what it can be filtered by."""

    @property
    def number(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def uri(self) -> str: ...
    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def metadata(self) -> Mapping[str, Any]: ...


class _Codes(dict[Any, int]):
    """Strings to small numbers in order of appearance; "" and None are 0."""

    def __missing__(self, value: str) -> int:
        number = self[value] = len(self) - 1
        return number


class DocumentTable:
    """Document-level columns, in the order of document ids."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    def __len__(self) -> int:
        return len(self._arrays["document.number"])

    @cached_property
    def ids(self) -> Strings:
        return Strings.of(self._arrays, "document.id")

    @cached_property
    def moments(self) -> NDArray[np.int64]:
        """When documents begin or cease to be valid, ascending; worked out once, for every
        snapshot that the segment is part of."""
        columns = [self._arrays[f"document.{name}"] for name in ("valid_from", "valid_until")]
        together = np.concatenate(columns)
        return np.sort(together[(together != _ALWAYS) & (together != _NEVER)])

    @cached_property
    def _uris(self) -> Strings:
        return Strings.of(self._arrays, "document.uri")

    @cached_property
    def _values(self) -> dict[str, int]:
        """The code of every value of the coded columns, tags and metadata."""
        return {value: code for code, value in enumerate(Strings.of(self._arrays, "value").all())}

    @staticmethod
    def pack(documents: Sequence[Described]) -> dict[str, Array]:
        """The arrays of these documents, which are sorted by id."""
        codes = _Codes({"": 0, None: 0})

        def column(name: str) -> Iterator[Any]:
            return map(attrgetter(name), documents)

        arrays: dict[str, Array] = {
            "document.number": np.array(list(column("number")), np.int64),
            **Strings.pack(list(column("id"))).arrays("document.id"),
            **Strings.pack(list(column("uri"))).arrays("document.uri"),
        }
        for name in _CODED:
            values = list(map(codes.__getitem__, column(name)))
            arrays[f"document.{name}"] = np.array(values, np.int32)
        tags = [[codes[tag] for tag in given] if given else () for given in column("tags")]
        facts = [
            [codes[metadata_value(key, value)] for key, value in given.items()] if given else ()
            for given in column("metadata")
        ]
        arrays |= _ragged("document.tags", tags) | _ragged("document.metadata", facts)
        for name, missing in (
            ("created", _NEVER),
            ("valid_from", _ALWAYS),
            ("valid_until", _NEVER),
        ):
            times = [microseconds(time) if time else missing for time in column(name)]
            arrays[f"document.{name}"] = np.array(times, np.int64)
        del codes[None]
        return arrays | Strings.pack(list(codes)).arrays("value")

    @staticmethod
    def merge(
        tables: Sequence[tuple[DocumentTable, NDArray[np.int64]]],
    ) -> tuple[dict[str, Array], NDArray[np.int64]]:
        """The chosen documents of several tables as one; and the new place of each, in order."""
        codes: dict[str, int] = {"": 0}
        pieces: dict[str, list[Array]] = {}
        ragged: dict[str, list[tuple[Array, Array]]] = {"tags": [], "metadata": []}
        ids: list[str] = []
        uris: list[str] = []
        for table, chosen in tables:
            arrays = table._arrays
            values = Strings.of(arrays, "value").all()
            remap = np.array([codes.setdefault(value, len(codes)) for value in values], np.int32)
            for texts, of in ((ids, table.ids.all()), (uris, table._uris.all())):
                texts += map(of.__getitem__, chosen.tolist())
            for name in ("number", "created", "valid_from", "valid_until"):
                pieces.setdefault(name, []).append(arrays[f"document.{name}"][chosen])
            for name in _CODED:
                pieces.setdefault(name, []).append(remap[arrays[f"document.{name}"][chosen]])
            for name in ("tags", "metadata"):
                given = remap[arrays[f"document.{name}"]]
                ragged[name].append(_taken(given, arrays[f"document.{name}.offsets"], chosen))
        order = sorted(range(len(ids)), key=ids.__getitem__)
        places = np.empty(len(ids), np.int64)
        places[order] = np.arange(len(ids))
        merged: dict[str, Array] = {
            **Strings.pack([ids[i] for i in order]).arrays("document.id"),
            **Strings.pack([uris[i] for i in order]).arrays("document.uri"),
            **Strings.pack(list(codes)).arrays("value"),
        }
        for name in ("number", "created", "valid_from", "valid_until", *_CODED):
            merged[f"document.{name}"] = np.concatenate(pieces[name])[order]
        for name in ("tags", "metadata"):
            flat, counts = map(np.concatenate, zip(*ragged[name], strict=True))
            flat, counts = _taken(flat, _offsets(counts), np.array(order, np.int64))
            merged |= {f"document.{name}": flat, f"document.{name}.offsets": _offsets(counts)}
        return merged, places

    def with_scopes(self, scopes: frozenset[str]) -> Mask:
        """The documents whose scope is one of these."""
        return self._any_of("scope", tuple(scopes))

    def values_of(self, name: str, chosen: Mask) -> set[str]:
        """The values of a coded column, or the tags, that the chosen documents have."""
        values = Strings.of(self._arrays, "value")
        column = self._arrays[f"document.{name}"]
        if name == "tags":
            chosen = np.repeat(chosen, np.diff(self._arrays["document.tags.offsets"]))
        return {values[code] for code in np.unique(column[chosen]) if code}

    def matching(self, filter: Filter) -> Mask:
        """The documents that meet all document-level conditions of the filter."""
        mask = np.ones(len(self), bool)
        for name in _CODED:
            wanted = getattr(filter, name)
            if wanted:
                mask &= self._any_of(name, wanted)
        if filter.tags:
            mask &= self._any_in_list("tags", filter.tags)
        for key, values in _by_key(filter.metadata).items():
            mask &= self._any_in_list("metadata", [metadata_value(key, v) for v in values])
        if filter.source:
            mask &= self._from_source(filter.source)
        if filter.created_from or filter.created_until:
            mask &= self._created_between(filter)
        if filter.valid_at and not filter.include_expired:
            at = microseconds(filter.valid_at)
            mask &= self._arrays["document.valid_from"] <= at
            mask &= at < self._arrays["document.valid_until"]
        return mask

    def _codes_of(self, values: Sequence[str]) -> NDArray[np.int32]:
        known = self._values
        return np.array([known[value] for value in values if value and value in known], np.int32)

    def _any_of(self, name: str, wanted: Sequence[str]) -> Mask:
        codes = self._codes_of(wanted)
        column = self._arrays[f"document.{name}"]
        return column == codes[0] if len(codes) == 1 else np.isin(column, codes)

    def _any_in_list(self, name: str, wanted: Sequence[str]) -> Mask:
        codes = self._codes_of(wanted)
        offsets = self._arrays[f"document.{name}.offsets"]
        hits = np.flatnonzero(np.isin(self._arrays[f"document.{name}"], codes))
        mask = np.zeros(len(self), bool)
        mask[np.searchsorted(offsets, hits, side="right") - 1] = True
        return mask

    def _from_source(self, patterns: Sequence[str]) -> Mask:
        matches: Callable[[int, str], bool] = source_matcher(patterns)
        numbers = self._arrays["document.number"].tolist()
        pairs = zip(numbers, self._uris.all(), strict=True)
        return np.fromiter((matches(number, uri) for number, uri in pairs), bool, len(self))

    def _created_between(self, filter: Filter) -> Mask:
        created = self._arrays["document.created"]
        mask: Mask = created != _NEVER  # without a date it is in no range
        if filter.created_from:
            mask &= created >= microseconds(filter.created_from)
        if filter.created_until:
            mask &= created < microseconds(filter.created_until)
        return mask


def metadata_value(key: str, value: object) -> str:
    """One string for a key and its value, so that equality of both is equality of strings."""
    return f"{key}\x1f{json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)}"


def _by_key(metadata: Sequence[tuple[str, Scalar]]) -> dict[str, list[Scalar]]:
    keys: dict[str, list[Scalar]] = {}
    for key, value in metadata:
        keys.setdefault(key, []).append(value)
    return keys


def _ragged(name: str, lists: Sequence[Sequence[int]]) -> dict[str, Array]:
    flat = [value for values in lists for value in values]
    offsets = _offsets(np.array([len(values) for values in lists], np.int64))
    return {name: np.array(flat, np.int32), f"{name}.offsets": offsets}


def _offsets(counts: Array) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _taken(flat: Array, offsets: Array, chosen: NDArray[np.int64]) -> tuple[Array, Array]:
    """The lists with these numbers one after the other, and how long each is."""
    counts = offsets[chosen + 1] - offsets[chosen]
    moved = np.repeat(offsets[chosen] - _offsets(counts)[:-1], counts)
    return flat[moved + np.arange(len(moved))], counts
