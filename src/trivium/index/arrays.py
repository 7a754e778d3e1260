"""A file of named arrays: written once, mapped read-only, each array checked when first used."""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.kernels.strings import HEAD, lower_bound

Array = NDArray[Any]

_MAGIC = b"TRIVARR1"
_ALIGNMENT = 64  # a cache line, and enough for every vector instruction
_WIDEST_CRC = 2**32 - 1  # holds the place of a checksum that is not known yet
_PASSING = 1 << 22  # bytes: of a larger array only what is searched is to stay in memory


class CacheDamaged(Exception):
    """A derived file is not what was written. Never leaves the store: the answer is to rebuild."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Named arrays that come piece by piece: how large each will be, and the pieces in turn.

    The pieces of one array come in order; those of several may alternate. So what is merged need
    never be in memory as a whole.
    """

    layout: Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]
    pieces: Iterable[tuple[str, Array]]

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> Parcel:
        layout = {name: (array.dtype, array.shape) for name, array in arrays.items()}
        return cls(layout, arrays.items())

    def unpacked(self) -> dict[str, Array]:
        """All of it in memory."""
        arrays = {name: np.empty(shape, dtype) for name, (dtype, shape) in self.layout.items()}
        filled = dict.fromkeys(arrays, 0)
        for name, piece in self.pieces:
            end = filled[name] + len(piece)
            arrays[name][filled[name] : end] = piece
            filled[name] = end
        return arrays


def write_arrays(path: Path, parcel: Parcel) -> None:
    """Write the arrays under `path`, whole or not at all.

    Nobody waits for the disk, which may take seconds while searches do: what a power failure leaves
    unwritten has another checksum, and is made again.
    """
    entries: dict[str, Any] = {}
    offset = 0
    for name, (dtype, shape) in parcel.layout.items():
        entries[name] = {"dtype": dtype.str, "shape": shape, "offset": offset, "crc": _WIDEST_CRC}
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        offset += -(-size // _ALIGNMENT) * _ALIGNMENT
    room = len(json.dumps({"arrays": entries, "bytes": offset}))
    start = _data_start(room)
    ends = {name: start + entry["offset"] for name, entry in entries.items()}
    checks = dict.fromkeys(entries, 0)
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        for name, piece in parcel.pieces:
            data = np.ascontiguousarray(piece, parcel.layout[name][0]).reshape(-1).view(np.uint8)
            file.seek(ends[name])
            file.write(data.data)
            ends[name] += data.nbytes
            checks[name] = zlib.crc32(data.data, checks[name])
        for name, check in checks.items():
            entries[name]["crc"] = check
        header = json.dumps({"arrays": entries, "bytes": offset}).encode().ljust(room)
        file.seek(0)
        file.write(_MAGIC + room.to_bytes(8, "little") + header)
        file.truncate(start + offset)
    temporary.replace(path)


def _data_start(header_length: int) -> int:
    used = len(_MAGIC) + 8 + header_length
    return -(-used // _ALIGNMENT) * _ALIGNMENT


class MappedArrays(Mapping[str, Array]):
    """The arrays of a file; nothing is read until it is asked for.

    An array that does not match its checksum raises `CacheDamaged` on first use.
    """

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                magic, length = file.read(8), int.from_bytes(file.read(8), "little")
                if magic != _MAGIC or length > 1 << 24:
                    raise CacheDamaged(f"{path.name} is not an array file")
                header = json.loads(file.read(length))
            start = _data_start(length)
            if path.stat().st_size != start + header["bytes"]:
                raise CacheDamaged(f"{path.name} has been cut short")
            self._entries: dict[str, Any] = header["arrays"]
            self._data = (
                np.memmap(path, np.uint8, "r", offset=start, shape=(header["bytes"],))
                if header["bytes"]
                else np.empty(0, np.uint8)
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CacheDamaged(f"{path.name} cannot be read: {error}") from error
        self._name = path.name
        self._checked: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        if name not in self._checked:
            self._checked[name] = self._check(name)
        return self._checked[name]

    def _check(self, name: str) -> Array:
        entry = self._entries.get(name)
        if entry is None:
            raise CacheDamaged(f"{self._name} has no '{name}'")
        dtype = np.dtype(entry["dtype"])
        count = int(np.prod(entry["shape"], dtype=np.int64))
        start, end = entry["offset"], entry["offset"] + count * dtype.itemsize
        data = self._data[start:end]
        if self._checksum(start, end) != entry["crc"]:
            raise CacheDamaged(f"{self._name}: '{name}' has changed on the disk")
        array: Array = np.asarray(data).view(dtype).reshape(entry["shape"])
        return array

    def _checksum(self, start: int, end: int) -> int:
        """Of these bytes; those of a large array do not stay in this process's memory for it."""
        found = 0
        for at in range(start, end, _PASSING):
            found = zlib.crc32(self._data[at : min(end, at + _PASSING)].data, found)
            if end - start > _PASSING:
                self.release()
        return found

    def release(self) -> None:
        """Let go of what was read so far; the disk still has it, and mostly the system's memory."""
        mapped = getattr(self._data, "_mmap", None)
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Strings:
    """A list of strings as two arrays, so that opening it costs nothing.

    A sorted list has `heads`: the first bytes of each string as a number, to look it up by.
    """

    __slots__ = ("blob", "heads", "offsets")

    def __init__(self, blob: Array, offsets: Array, heads: Array | None = None) -> None:
        self.blob = blob
        self.offsets = offsets
        self.heads = heads

    @classmethod
    def pack(cls, strings: list[str]) -> Strings:
        joined = "".join(strings)
        offsets = np.zeros(len(strings) + 1, np.int64)
        if joined.isascii():  # nearly always, and then a byte is a character
            lengths, data = map(len, strings), joined.encode()
        else:
            encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
            lengths, data = map(len, encoded), b"".join(encoded)
        np.cumsum(np.fromiter(lengths, np.int64, len(strings)), out=offsets[1:])
        return cls(np.frombuffer(data, np.uint8), offsets)

    def arrays(self, name: str) -> dict[str, Array]:
        return {f"{name}.blob": self.blob, f"{name}.offsets": self.offsets}

    def sorted_arrays(self, name: str) -> dict[str, Array]:
        """Those of a sorted list, with its heads."""
        padded = np.concatenate([self.blob, np.zeros(HEAD, np.uint8)])
        places = np.arange(HEAD)
        lengths = np.diff(self.offsets)
        taken = padded[self.offsets[:-1, None] + places]
        taken[places >= lengths[:, None]] = 0
        heads = taken.view(">u8").reshape(-1).astype(np.uint64)
        return {**self.arrays(name), f"{name}.heads": heads}

    @classmethod
    def of(cls, arrays: Mapping[str, Array], name: str) -> Strings:
        found = cls(arrays[f"{name}.blob"], arrays[f"{name}.offsets"])
        if f"{name}.heads" in arrays:
            found.heads = arrays[f"{name}.heads"]
        return found

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _bytes(self, index: int) -> bytes:
        return self.blob[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __getitem__(self, index: int) -> str:
        return self._bytes(index).decode("utf-8", "surrogatepass")

    def all(self) -> list[str]:
        """Every string; one pass, for when all of them are needed anyway."""
        data, offsets = self.blob.tobytes(), self.offsets.tolist()
        if data.isascii():
            text = data.decode()
            return [text[start:end] for start, end in pairwise(offsets)]
        return [
            data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(offsets)
        ]

    def lower_bound(self, string: str) -> int:
        """In a sorted list: the index of the first string that is not less than this one."""
        return self._lower_bound(string)[0]

    def find(self, string: str) -> int:
        """In a sorted list: the index of this string, or -1."""
        index, is_there = self._lower_bound(string)
        return index if is_there else -1

    def _lower_bound(self, string: str) -> tuple[int, bool]:
        wanted = string.encode("utf-8", "surrogatepass")
        return lower_bound(self.blob, self.offsets, self.heads, wanted)

    def prefix_range(self, prefix: str) -> tuple[int, int]:
        """In a sorted list: the half-open range of the strings that start with `prefix`."""
        return self.lower_bound(prefix), self.lower_bound(prefix + "\U0010ffff")
