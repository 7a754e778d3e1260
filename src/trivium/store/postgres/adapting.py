"""Values on their way to PostgreSQL and back: rows with names, vectors as bytes, texts with NUL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from psycopg import Connection, Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.string import StrDumper, StrDumperUnknown

from trivium.errors import LibraryCorrupt

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Row(tuple[Any, ...]):
    """A row whose values are taken by place or by name."""

    __slots__ = ()
    names: ClassVar[Mapping[str, int]] = {}

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(self.names[key] if isinstance(key, str) else key)

    def keys(self) -> list[str]:
        return list(self.names)


def rows_with_names(cursor: Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
    """The row factory of every connection."""
    names = {column.name: place for place, column in enumerate(cursor.description or ())}
    made: type[Row] = type("Row", (Row,), {"names": names, "__slots__": ()})
    return made


class Vector(bytes):
    """Little-endian float32, as the record packs a vector."""

    __slots__ = ()


class _VectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Vector) -> Buffer:
        values = np.frombuffer(obj, "<f4")
        return len(values).to_bytes(2, "big") + b"\0\0" + values.astype(">f4").tobytes()


class _VectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return np.frombuffer(data, ">f4", offset=4).astype("<f4").tobytes()


class _VectorTextLoader(Loader):
    format = Format.TEXT

    def load(self, data: Buffer) -> bytes:
        text = bytes(data).decode().strip("[]")
        return np.array([float(one) for one in text.split(",")], "<f4").tobytes()


class _Text(StrDumper):
    """PostgreSQL's text cannot hold NUL."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", REPLACEMENT) if "\0" in obj else obj)


class _TextOfAnyType(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", REPLACEMENT) if "\0" in obj else obj)


def adapt(connection: Connection[Any]) -> None:
    """Make a connection speak as this module says."""
    info = TypeInfo.fetch(connection, "vector")
    if info is None:
        raise LibraryCorrupt(
            "the database has no type 'vector' any more; a superuser runs: CREATE EXTENSION vector"
        )
    adapters = connection.adapters
    adapters.register_dumper(str, _Text)
    adapters.register_dumper(str, _TextOfAnyType)
    adapters.register_dumper(Vector, type("VectorDumper", (_VectorDumper,), {"oid": info.oid}))
    adapters.register_loader(info.oid, _VectorLoader)
    adapters.register_loader(info.oid, _VectorTextLoader)
