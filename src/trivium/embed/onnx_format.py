"""ONNX files, as far as a network needs them: read the tensors of one, write another.

The format is a few nested messages of Protocol Buffers. The package `onnx` writes them too, but it
is as large as the runtime, and every first query of a process would have to load it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Tensor = NDArray[Any]

# How a field is written: as a number, as four or eight bytes, or as bytes after their count.
_VARINT, _EIGHT, _COUNTED, _FOUR = 0, 1, 2, 5
_SIZES = {_EIGHT: 8, _FOUR: 4}

_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64, 9: np.bool_}
_CODES: dict[Any, int] = {np.dtype(kind): code for code, kind in _TYPES.items()}
FLOAT = 1

_VERSION = 10  # of the format: the lowest that knows all that is used here
_OPERATIONS = {"": 18, "com.microsoft": 1}  # the versions of the operations; "" are ONNX's own
_FLOAT_ATTRIBUTE, _INTEGER_ATTRIBUTE = 1, 2


def tensors(file: bytes) -> dict[str, Tensor]:
    """The constants of a model by name, in the order in which they stand there.

    Those of other types than a network has are left out. `ValueError` for what is no such file.
    """
    found = {}
    for graph in _all(memoryview(file), 7):
        for one in _all(graph, 5):
            fields = list(_fields(one))
            shape = [value for number, value in fields if number == 1]
            only = dict(fields)
            kind, name, raw = only[2], bytes(only[8]).decode(), only.get(9, b"")
            if kind in _TYPES and len(raw):
                found[name] = np.frombuffer(raw, _TYPES[kind]).reshape(shape)
    return found


class Graph:
    """A model in the making; what is added gets a name, which is how others refer to it."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []
        self._count = 0

    def input(self, name: str, kind: type[np.generic], dimensions: Sequence[str]) -> str:
        """Something that a run is given; dimensions of one name have one size."""
        self._inputs.append(_field(11, _typed(name, _CODES[np.dtype(kind)], dimensions)))
        return name

    def constant(self, value: Tensor) -> str:
        name = self._named()
        dims = b"".join(_number(1, size) for size in value.shape)
        kind = _number(2, _CODES[value.dtype])
        data = np.ascontiguousarray(value).data.cast("B") if value.size else b""
        self._constants.append(_field(5, dims, kind, _text(8, name), _field(9, data)))
        return name

    def node(
        self, operation: str, *inputs: str, domain: str = "", **attributes: int | float
    ) -> str:
        """The (first) result of an operation; "" leaves an optional input out."""
        name = self._named()
        parts = [_text(1, one) for one in inputs]
        parts += [_text(2, name), _text(4, operation), _text(7, domain)]
        parts += [_field(5, _attribute(key, value)) for key, value in attributes.items()]
        self._nodes.append(_field(1, *parts))
        return name

    def model(self, output: str, dimensions: Sequence[str]) -> bytes:
        """The file, for a runtime to load; `output` is a result in float32."""
        graph = _field(
            7,
            *self._nodes,
            _text(2, "network"),
            *self._constants,
            *self._inputs,
            _field(12, _typed(output, FLOAT, dimensions)),
        )
        versions = [
            _field(8, _text(1, domain), _number(2, version))
            for domain, version in _OPERATIONS.items()
        ]
        return b"".join([_number(1, _VERSION), graph, *versions])

    def _named(self) -> str:
        self._count += 1
        return str(self._count)


def _attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        number = _tag(2, _FOUR) + struct.pack("<f", value)
        return _text(1, name) + number + _number(20, _FLOAT_ATTRIBUTE)
    return _text(1, name) + _number(3, value) + _number(20, _INTEGER_ATTRIBUTE)


def _typed(name: str, kind: int, dimensions: Sequence[str]) -> bytes:
    shape = _field(2, *(_field(1, _text(2, dimension)) for dimension in dimensions))
    return _text(1, name) + _field(2, _field(1, _number(1, kind), shape))


# --- Protocol Buffers ----------------------------------------------------------------------------


def _all(message: memoryview, number: int) -> Iterator[memoryview]:
    return (value for field, value in _fields(message) if field == number)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an integer, or the bytes of whatever else it is."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _read_varint(message, at)
            yield number, value
            continue
        if kind == _COUNTED:
            size, at = _read_varint(message, at)
        else:
            size = _SIZES.get(kind, len(message))
        if at + size > len(message):
            raise _damaged()
        yield number, message[at : at + size]
        at += size


def _read_varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number that starts there, and where the next field does: seven bits a byte, low first."""
    value = shift = 0
    for end in range(at, len(message)):
        value |= (message[end] & 0x7F) << shift
        if message[end] < 0x80:
            return value, end + 1
        shift += 7
    raise _damaged()


def _damaged() -> ValueError:
    return ValueError("the file is not in the format ONNX, or it is cut off")


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _number(number: int, value: int) -> bytes:
    return _tag(number, _VARINT) + _varint(value)


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _field(number: int, *parts: bytes | memoryview) -> bytes:
    size = sum(map(len, parts))
    return b"".join([_tag(number, _COUNTED), _varint(size), *parts])
