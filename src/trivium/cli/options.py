"""The options that commands share, and what they mean."""

from __future__ import annotations

import json
import os
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trivium.clock import parse_time
from trivium.errors import InvalidValue, NotALibrary, UnknownName, nearest
from trivium.types import Filter, Scalar
from trivium.values import dataclass

if TYPE_CHECKING:
    from trivium.library import Library
    from trivium.remote import RemoteLibrary

LibraryOption = Annotated[
    str | None,
    typer.Option(
        "--library",
        "-L",
        help="The library: a folder, postgresql://host/database, or http://host:port of one that "
        "is served. Otherwise TRIVIUM_LIBRARY, the nearest *.trivium folder upwards, or "
        "trivium.trivium in your data folder.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Many = list[str] | None


def many(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, show_default=False)


def served(given: str | None) -> str | None:
    """The address of the library that is meant, if somebody serves it."""
    name = given or os.environ.get("TRIVIUM_LIBRARY") or ""
    return name if name.lower().startswith(("http://", "https://")) else None


def reach(given: str | None, *, create: bool = False) -> Library | RemoteLibrary:
    """The library that is meant, opened, wherever it is."""
    from trivium import opening as libraries

    address = served(given)
    return libraries.connect(address) if address else libraries.open(locate(given), create=create)


def locate(given: str | None) -> Path | str:
    """The library that is meant, whether or not it exists."""
    if given or os.environ.get("TRIVIUM_LIBRARY"):
        name = given or os.environ["TRIVIUM_LIBRARY"]
        if served(given):
            from trivium.remote import CAN

            raise InvalidValue(
                f"{name} is a served library, which takes {', '.join(CAN)}; do this where it lies"
            )
        if "://" in name:
            return name
        path = Path(name)
        if path.suffix == ".omnidata":
            from trivium.cli.bundles import prepare

            prepare(path)
        return path
    here = Path.cwd()
    for folder in (here, *here.parents):
        if folder.suffix == ".trivium" and _holds_a_library(folder):
            return folder
        found = sorted(path for path in folder.glob("*.trivium") if _holds_a_library(path))
        if not found and folder == here:  # further up it may be anybody's
            found = sorted(filter(_is_closed, folder.glob("*.trivium")))
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise NotALibrary(f"{folder} holds several libraries ({names}); choose one with -L")
        if found:
            return found[0]
    return default_library()


def _holds_a_library(folder: Path) -> bool:
    try:
        return S_ISREG((folder / "index.db").stat().st_mode)
    except OSError:
        return False


def _is_closed(folder: Path) -> bool:
    """Whether nobody here may look into it; whoever opens it is told so."""
    try:
        (folder / "index.db").stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def default_library() -> Path:
    """The user's own library."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "trivium" / "trivium.trivium"


@dataclass(frozen=True, slots=True)
class FilterFlags:
    """The filter flags as they were typed."""

    scope: Many = None
    source: Many = None
    category: Many = None
    kind: Many = None
    type: Many = None
    domain: Many = None
    severity: Many = None
    tag: Many = None
    meta: Many = None
    subject: Many = None
    predicate: Many = None
    rdf_type: Many = None
    graph: Many = None
    exclude: Many = None
    created_from: str | None = None
    created_until: str | None = None
    valid_at: str | None = None
    include_expired: bool = False
    subclasses: bool = False

    def filter(self) -> Filter:
        """The filter they stand for."""
        values: dict[str, Any] = {}
        for flag, dimension in _DIMENSIONS.items():
            values[dimension] = tuple(getattr(self, flag) or ())
        return Filter(
            **values,
            metadata=tuple(_pair(text) for text in self.meta or ()),
            created_from=parse_time(self.created_from) if self.created_from else None,
            created_until=parse_time(self.created_until) if self.created_until else None,
            valid_at=parse_time(self.valid_at) if self.valid_at else None,
            include_expired=self.include_expired,
            subclasses=self.subclasses,
            exclude=tuple(_exclusion(text) for text in self.exclude or ()),
        )


_DIMENSIONS = {
    "scope": "scope",
    "source": "source",
    "category": "category",
    "kind": "kind",
    "type": "type",
    "domain": "domain",
    "severity": "severity",
    "tag": "tags",
    "subject": "subjects",
    "predicate": "predicates",
    "rdf_type": "rdf_types",
    "graph": "graphs",
}


def _pair(text: str) -> tuple[str, Scalar]:
    """`key=value`; the value is read as JSON where it is JSON, otherwise as text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise InvalidValue(f"write metadata as key=value, not '{text}'")
    try:
        read = json.loads(value)
    except ValueError:
        return key, value
    return key, read if isinstance(read, str | int | float | bool) else value


def _exclusion(text: str) -> Filter:
    name, equals, value = text.partition("=")
    dimension = _DIMENSIONS.get(name.replace("-", "_"))
    if not equals:
        raise InvalidValue(f"write what to leave out as name=value, not '{text}'")
    if dimension is None:
        known = sorted(name.replace("_", "-") for name in _DIMENSIONS)
        hint = nearest(name, known) or f" There are: {', '.join(known)}."
        raise UnknownName(f"there is nothing named '{name}' to leave out.{hint}")
    wanted: dict[str, Any] = {dimension: (value,)}
    return Filter(**wanted)
