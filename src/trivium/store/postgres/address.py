"""`postgresql://user@host/database?schema=name`: where a library in PostgreSQL lies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from trivium.errors import InvalidValue

SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "trivium"

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def is_address(name: str) -> bool:
    """Whether this names a library in PostgreSQL and not a folder."""
    return name.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


@dataclass(frozen=True, slots=True)
class Address:
    """A database and the schema in it that is the library; several may lie side by side."""

    connection: str
    """What libpq takes: the address without the schema."""
    schema: str
    shown: str
    """The address for people: no password in it."""

    @classmethod
    def parse(cls, url: str) -> Address:
        if not is_address(url):
            raise InvalidValue(f"'{url}' is no address; write postgresql://host/database")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise InvalidValue(f"the address cannot be read: {error}; correct it") from error
        given = parse_qsl(parts.query, keep_blank_values=True)
        schemas = [value for name, value in given if name == "schema"] or [DEFAULT_SCHEMA]
        if not _NAME.fullmatch(schemas[-1]) or schemas[-1].startswith("pg_"):
            raise InvalidValue(
                f"'{schemas[-1]}' cannot be a schema; use small letters, digits and _"
            )
        rest = [(name, value) for name, value in given if name != "schema"]
        query = urlencode(rest)
        host = parts.netloc.rpartition("@")[2]
        user = parts.username or ""
        known = {name: value for name, value in rest if name in ("host", "port")}
        shown = urlunsplit(
            (
                "postgresql",
                f"{user}@{host}" if user else host,
                parts.path,
                urlencode(known | ({"schema": schemas[-1]} if "schema=" in parts.query else {})),
                "",
            )
        )
        del port  # read only to see whether it is a number
        connection = urlunsplit(("postgresql", parts.netloc, parts.path, query, ""))
        return cls(connection, schemas[-1], shown)
