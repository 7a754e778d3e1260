"""Libraries: made, opened, and examined where they are too damaged to be opened."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trivium.config import IndexSettings, library_toml, load_profile
from trivium.embed import embedder as model_named
from trivium.errors import (
    InvalidValue,
    LibraryCorrupt,
    LibraryExists,
    LibraryReadOnly,
    NotALibrary,
)
from trivium.library import NO_MODEL, Library
from trivium.library.homes import connected, is_address, is_served
from trivium.parsing import parse
from trivium.protocols import Progress, silent
from trivium.store.sqlite import SqliteStore, examine_record

if TYPE_CHECKING:
    from trivium.remote import RemoteLibrary
    from trivium.settings import Configuration
    from trivium.store.omnidata import ImportReport

BUNDLE = ".omnidata"
_LEFT = {"library.toml"}  # all that an `init` which was killed leaves behind


def init(
    path: str | Path,
    *,
    profile: str | None = None,
    model: str | None = None,
    vectors: str | None = None,
    configuration: Configuration | None = None,
) -> Library:
    """Make an empty library at `path`, frozen to the profile's `[index]` settings.

    What is not said comes from the settings (`trivium config list`), else from the profile.
    """
    if configuration is None:
        from trivium.configuration import configuration as read_configuration

        configuration = read_configuration()
    configured = configuration.settings
    profile = profile or configured.profile
    settings = load_profile(profile).index
    model = model or configured.model or settings.model
    if vectors:
        settings = parse(IndexSettings, asdict(settings) | {"vectors": vectors}, "index.")
    return _made(path, profile, replace(settings, model=model))


def _made(place: str | Path, profile: str, settings: IndexSettings) -> Library:
    if settings.model != NO_MODEL:
        model_named(settings.model)  # an unknown name fails before anything is written
    if settings.vectors == "lance":
        from trivium.store.lance.dataset import lancedb_package

        lancedb_package()  # so does a missing package
    if is_address(place):
        if settings.vectors != "matrix":
            raise InvalidValue("PostgreSQL searches vectors itself; leave out --vectors")
        with closing(connected(str(place), create=True)) as store:
            if not store.keep_making(library_toml(profile, settings), settings.text_search):
                shown = store.address.shown
                raise LibraryExists(f"there is a library at {shown} already; choose another schema")
        return Library(place)
    return _made_in(Path(place), profile, settings)


def _made_in(folder: Path, profile: str, settings: IndexSettings) -> Library:
    if folder.suffix == BUNDLE:
        raise InvalidValue(f"{folder} is a bundle's name; name a library {folder.stem}.trivium")
    if (folder / "index.db").exists():
        raise LibraryExists(f"there is a library at {folder} already; choose another path")
    if folder.exists() and (not folder.is_dir() or {f.name for f in folder.iterdir()} - _LEFT):
        raise LibraryExists(f"{folder} is not an empty folder; choose another path")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "library.toml").write_text(library_toml(profile, settings), encoding="utf-8")
    except OSError as error:
        raise LibraryReadOnly(f"{folder} cannot be made: {error.strerror}") from error
    SqliteStore(folder, create=True).close()
    return Library(folder)


def open(path: str | Path, *, create: bool = False, progress: Progress = silent) -> Library:
    """Open the library at `path`; with `create` make it first where there is none.

    A bundle (`NAME.omnidata`) is opened for reading, by way of an import in the cache folder.
    """
    if is_served(path):
        raise NotALibrary(f"{path} is a served library; use trivium.connect to reach it")
    if is_address(path):
        return init(path) if create and not exists(path) else Library(path)
    folder = Path(path)
    if folder.suffix == BUNDLE:
        from trivium.store.omnidata import cached

        made = cached(folder, lambda copy: from_bundle(folder, copy, progress=progress))
        return Library(made, bundle=folder)
    if create and not exists(folder):
        return init(folder)
    return Library(folder)


def connect(url: str, *, configuration: Configuration | None = None) -> RemoteLibrary:
    """The library that `trivium serve` answers for at `url`: search, get, documents, context, add,
    remove, feedback and status, as of one that lies here.

    Its key is in the variable TRIVIUM_KEY, or in the one that the tier of this address names.
    """
    if configuration is None:
        from trivium.configuration import configuration as read_configuration

        configuration = read_configuration()
    from trivium.remote.reaching import as_set

    return as_set(url, configuration.settings.tiers)


def exists(path: str | Path) -> bool:
    """Whether there is a library at `path`."""
    if not is_address(path):
        return (Path(path) / "index.db").exists()
    try:
        connected(str(path)).close()
    except NotALibrary:
        return False
    return True


def from_bundle(
    bundle: str | Path,
    path: str | Path,
    *,
    profile: str = "omnidata",
    model: str | None = None,
    progress: Progress = silent,
) -> ImportReport:
    """Make a library at `path` of a bundle; a bundle with a fault in it makes none.

    Its model is that of the bundle's vectors where it is at hand, and `none` where it is not.
    """
    from trivium.store.omnidata import Bundle

    with Bundle(Path(bundle), progress) as source:
        settings = source.settings(load_profile(profile).index, model, model_named)
        with _made(path, profile, settings) as library:
            return library.import_bundle(source, progress=progress)


def copy(source: str | Path, target: str | Path, *, progress: Progress = silent) -> dict[str, Any]:
    """Copy the library at `source`, of whatever kind, to `target`, of whatever kind.

    A copy that was cut off goes on; a library that holds anything else is left alone.
    """
    with open(source, progress=progress) as library:
        settings = library.settings
        if is_address(target):
            settings = replace(settings, vectors="matrix")
        there = exists(target)
        with Library(target) if there else _made(target, library.profile_name, settings) as copied:
            return library.copy_into(copied, progress=progress)


def examine(path: str | Path) -> list[str]:
    """What is wrong with the library at `path`, also where it is too damaged to be opened."""
    try:
        with open(path) as library:
            return library.doctor()
    except LibraryCorrupt as error:
        record = Path(path) / "index.db"
        there = not is_address(path) and record.is_file()
        return examine_record(record) if there else [str(error)]
