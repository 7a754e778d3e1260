"""Where settings are found: built in, the user's file, the folder's file, environment, flags.

A `trivium.toml` in a folder may be a stranger's. Until `trivium trust` it may choose a profile and
a model by name and nothing else; what it says beyond that is left aside, with a notice. Trust is
in the content: a file that changed is a stranger's again.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from trivium.errors import InvalidValue, TriviumError, UnknownName, command
from trivium.settings import (
    BUILT_IN,
    Configuration,
    Layer,
    Line,
    combined,
    from_environment,
    from_flags,
)

NAME = "trivium.toml"
_PRESETS = Path(__file__).parent / "presets.toml"
_LARGEST = 1 << 20
"""No honest settings file is longer; what a folder brings must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Places:
    """The files that settings are read from; `project` is None where no folder upwards has one."""

    user: Path
    project: Path | None
    trusted: Path


def places(environment: Mapping[str, str], folder: Path) -> Places:
    """The user's file, and the nearest `trivium.toml` from `folder` upwards."""
    base = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    own = Path(base) / "trivium"
    here = folder.resolve()
    found = (place / NAME for place in (here, *here.parents))
    project = next((file for file in found if file.is_file()), None)
    if project is not None and project.resolve() == (own / NAME).resolve():
        project = None
    return Places(own / NAME, project, own / "trusted.json")


def configuration(
    flags: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """The settings in force in `folder` (the current one), later places winning over earlier."""
    environment = os.environ if environment is None else environment
    files = places(environment, folder or Path.cwd())
    layers = [Layer(BUILT_IN, _presets())]
    notices: list[str] = []
    if files.user.is_file():
        layers.append(Layer(str(files.user), _toml(files.user, files.user.read_bytes())))
    if files.project is not None:
        layer, notice = _project(files.project, files.trusted)
        layers += [layer] if layer else []
        notices += [notice] if notice else []
    layers += from_environment(environment, layers)
    layers.append(from_flags(flags or {}))
    return combined(layers, notices)


def trust(folder: Path, environment: Mapping[str, str] | None = None) -> tuple[Path, list[Line]]:
    """Let the folder's file, as it is now, set everything; gives the file and what it sets."""
    environment = os.environ if environment is None else environment
    file = (folder if folder.name == NAME else folder / NAME).resolve()
    data = _bytes(file)
    layer = Layer(str(file), _toml(file, data))
    lines = [
        line
        for line in combined([layer]).lines()
        if line.origin == layer.origin  # what it leaves at its default it does not set
    ]
    store = places(environment, folder).trusted
    _write(store, {**_trusted(store), str(file): sha256(data).hexdigest()})
    return file, lines


def distrust(folder: Path, environment: Mapping[str, str] | None = None) -> Path:
    """Take the trust back; an error where there was none."""
    environment = os.environ if environment is None else environment
    file = (folder if folder.name == NAME else folder / NAME).resolve()
    store = places(environment, folder).trusted
    known = _trusted(store)
    if known.pop(str(file), None) is None:
        raise UnknownName(f"{file} was not trusted; 'trivium trust --list' shows what is")
    _write(store, known)
    return file


def trusted_files(environment: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Every file that was trusted, and whether it still is: trusted, changed or gone."""
    environment = os.environ if environment is None else environment
    known = _trusted(places(environment, Path.cwd()).trusted)
    return [(name, _state(Path(name), digest)) for name, digest in sorted(known.items())]


def _state(file: Path, digest: str) -> str:
    try:
        return "trusted" if sha256(file.read_bytes()).hexdigest() == digest else "changed"
    except OSError:
        return "gone"


@cache
def _presets() -> Mapping[str, Any]:
    return tomllib.loads(_PRESETS.read_text(encoding="utf-8"))


def _project(file: Path, store: Path) -> tuple[Layer | None, str]:
    """The folder's layer, and what to tell the user about it."""
    try:
        data = _bytes(file)
        digest = _trusted(store).get(str(file.resolve()))
        layer = Layer(str(file), _toml(file, data), digest == sha256(data).hexdigest())
        aside = combined([layer]).ignored
    except TriviumError as error:
        if _trusted(store).get(str(file.resolve())) is not None:
            raise
        return None, f"{file} is not read: {error}"
    if not aside:
        return layer, ""
    names = ", ".join(line.name for line in aside[:5]) + (" …" if len(aside) > 5 else "")
    changed = "has changed since it was trusted" if digest else "is not trusted"
    return layer, (
        f"{file} {changed}, so this in it is ignored: {names}; read it, then run "
        f"{command('trust', file.parent)}"
    )


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST + 1)
    except FileNotFoundError as error:
        raise UnknownName(f"there is no {file}; name the folder that holds {NAME}") from error
    except OSError as error:
        raise InvalidValue(f"{file} cannot be read: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise InvalidValue(f"{file} is larger than 1 MB; settings are shorter than that")
    return data


def _toml(file: Path, data: bytes) -> Mapping[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidValue(f"{file} is not valid TOML: {error}; correct it") from error


def _trusted(store: Path) -> dict[str, str]:
    """What was trusted; a damaged list trusts nothing."""
    try:
        data = json.loads(store.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}


def _write(store: Path, known: Mapping[str, str]) -> None:
    import tempfile  # only here: it costs a start more than reading settings does

    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=store.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=2, sort_keys=True)
        Path(name).replace(store)
    except OSError as error:
        raise InvalidValue(f"{store} cannot be written: {error.strerror}") from error
