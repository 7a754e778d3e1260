"""A bundle that is searched where it lies: its import is kept in the user's cache folder."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path

from trivium.errors import LibraryReadOnly, NotALibrary
from trivium.store.omnidata.database import state_of
from trivium.store.omnidata.manifest import NAME
from trivium.store.omnidata.reading import INDEX, MEMORIES
from trivium.version import __version__

KEPT = 2
"""Imports of one bundle: the current one, and the last, which somebody may still be reading."""

LONGEST_WORK = 24 * 3600
"""Seconds after which a folder of work in progress is taken for one that was killed."""

_IMPORTER = "1"  # changed when an import would come out differently


def cached(bundle: Path, make: Callable[[Path], object]) -> Path:
    """The library made of a bundle as it is now; `make` fills the folder it is given.

    It is made anew when the bundle changed. The bundle itself is never written.
    """
    if not bundle.is_dir():
        raise NotALibrary(f"there is no bundle at {bundle}; check the path")
    shelf = _shelf(bundle)
    target = shelf / _key(bundle)
    if _is_whole(target):
        return target
    try:
        shelf.mkdir(parents=True, exist_ok=True, mode=0o700)
        workshop = Path(tempfile.mkdtemp(prefix=".", dir=shelf))
    except OSError as error:
        raise LibraryReadOnly(
            f"{shelf} cannot be written ({error.strerror}); set XDG_CACHE_HOME to a folder that "
            "can, or take the bundle into a library with 'trivium import'"
        ) from error
    try:
        make(workshop / target.name)
        if target.exists() and not _is_whole(target):
            shutil.rmtree(target, ignore_errors=True)
        try:
            (workshop / target.name).rename(target)
        except OSError:
            if not _is_whole(target):  # otherwise another process was quicker
                raise
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    _forget_old(shelf, target)
    return target


def _shelf(bundle: Path) -> Path:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = str(bundle.resolve()).encode("utf-8", "surrogateescape")
    return base / "trivium" / "bundles" / hashlib.sha256(path).hexdigest()[:16]


def _key(bundle: Path) -> str:
    """A name that changes with the bundle, with the importer and with the form of the record."""
    migrations = resources.files("trivium.store.sqlite").joinpath("migrations").iterdir()
    state = (
        _IMPORTER,
        __version__,
        sorted(one.read_bytes() for one in migrations if one.name.endswith(".sql")),
        *(state_of(bundle / name) for name in (NAME, INDEX, MEMORIES)),
    )
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16] + ".trivium"


def _is_whole(library: Path) -> bool:
    return (library / "index.db").is_file() and (library / "library.toml").is_file()


def forget_older(folders: Iterable[Path]) -> None:
    """Remove what killed processes left behind."""
    for folder in folders:
        if time.time() - _made(folder) > LONGEST_WORK:
            shutil.rmtree(folder, ignore_errors=True)


def _forget_old(shelf: Path, current: Path) -> None:
    forget_older(shelf.glob(".*"))
    others = [path for path in shelf.glob("*.trivium") if path != current]
    others.sort(key=_made, reverse=True)
    for path in others[KEPT - 1 :]:
        shutil.rmtree(path, ignore_errors=True)


def _made(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process was quicker
        return math.inf
