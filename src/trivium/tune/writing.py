"""A profile as TOML: every setting, so that the file says by itself what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from trivium.config import Profile
from trivium.errors import LibraryReadOnly


def profile_toml(profile: Profile, heading: str) -> str:
    """The TOML that `load_profile` reads back as this profile."""
    lines = [f"# {line}" for line in heading.splitlines()]
    lines.append(f"description = {_value(profile.description)}")
    for name in ("index", "search"):
        lines += _table(name, getattr(profile, name))
    return "\n".join(lines) + "\n"


def write_profile(profile: Profile, path: Path, heading: str) -> None:
    """Write it; what stands there already is never replaced."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(profile_toml(profile, heading))
    except FileExistsError as error:
        raise LibraryReadOnly(f"{path} exists; choose another with --output") from error
    except OSError as error:
        raise LibraryReadOnly(
            f"{path} cannot be written ({error.strerror}); choose another with --output"
        ) from error


def _table(name: str, settings: Any) -> Iterator[str]:
    items = (
        settings.items()
        if isinstance(settings, Mapping)
        else [(one.name, getattr(settings, one.name)) for one in fields(settings)]
    )
    plain = [(key, value) for key, value in items if not _is_table(value)]
    if plain:
        yield ""
        yield f"[{name}]"
        yield from (f"{key} = {_value(value)}" for key, value in plain if value is not None)
    for key, value in items:
        if _is_table(value):
            yield from _table(f"{name}.{key}", value)


def _is_table(value: Any) -> bool:
    return is_dataclass(value) or isinstance(value, Mapping)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return repr(value)
