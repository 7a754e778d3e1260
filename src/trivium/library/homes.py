"""Where a library lives: in a folder, or in a schema of a PostgreSQL database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from trivium.config import IndexSettings, parse_library_toml, read_library_toml
from trivium.errors import MissingExtra, NotALibrary, command, install
from trivium.protocols import Archive
from trivium.store.record.store import RecordStore

if TYPE_CHECKING:
    from trivium.store.postgres.store import PostgresStore


class Home(Protocol):
    """What a library finds at home: how it was made, its record, its sources, room for caches."""

    @property
    def name(self) -> Path | str:
        """What people call it."""

    def made_with(self) -> tuple[str, IndexSettings]: ...
    def store(self, lance: str | None) -> RecordStore:
        """The record; `lance` is where its vectors lie in LanceDB, None if they do not."""

    def archive(self) -> Archive: ...
    def cache(self) -> Path | None:
        """A folder for what can be made again; None where there is none to write to."""


class FolderHome:
    """`NAME.trivium/`. Where it is the import of a bundle, it may only be read."""

    def __init__(self, folder: Path, bundle: Path | None = None) -> None:
        self.name = bundle or folder
        self._folder = folder
        self._bundle = bundle

    def made_with(self) -> tuple[str, IndexSettings]:
        return read_library_toml(self._folder)

    def store(self, lance: str | None) -> RecordStore:
        from trivium.store.sqlite import SqliteStore

        bundle = self._bundle
        refusal = f"{bundle} is a bundle; 'trivium import' makes a library of it" if bundle else ""
        return SqliteStore(self._folder, refusal=refusal, lance=lance)

    def archive(self) -> Archive:
        from trivium.ingest.archive import FileArchive

        return FileArchive(self._folder / "archive")

    def cache(self) -> Path | None:
        return self._folder / "cache" if os.access(self._folder, os.W_OK) else None


class ServerHome:
    """`postgresql://…`. All is in the database but caches, which lie in the user's cache folder."""

    def __init__(self, url: str) -> None:
        self._store = connected(url)
        self.name = self._store.address.shown

    def made_with(self) -> tuple[str, IndexSettings]:
        try:
            text = self._store.made_with()
            if text is None:
                raise NotALibrary(f"{self.name} holds no library; run {command('init', self.name)}")
            return parse_library_toml(text, str(self.name))
        except BaseException:
            self._store.close()
            raise

    def store(self, lance: str | None) -> RecordStore:
        return self._store

    def archive(self) -> Archive:
        return self._store.archive

    def cache(self) -> Path | None:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return base / "trivium" / "servers" / self._store.id


def is_address(place: Path | str) -> bool:
    """Whether this is the address of a server and not a folder."""
    return isinstance(place, str) and place.startswith(("postgresql://", "postgres://"))


def is_served(place: object) -> bool:
    """Whether this is the address of a library that somebody serves."""
    return str(place).lower().startswith(("http://", "https://"))


def home_of(place: Path | str, bundle: Path | None = None) -> Home:
    if is_address(place):
        return ServerHome(str(place))
    return FolderHome(Path(place), bundle)


def connected(url: str, *, create: bool = False) -> PostgresStore:
    """The store at an address; with `create` its tables are made where there are none."""
    try:
        from trivium.store.postgres.address import Address
        from trivium.store.postgres.store import PostgresStore
    except ImportError as error:
        raise MissingExtra(
            f"PostgreSQL needs psycopg, which is not installed; {install('postgres')}"
        ) from error
    return PostgresStore(Address.parse(url), create=create)
