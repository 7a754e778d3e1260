"""`manifest.json`: what a bundle says about itself, in both directions.

A bundle comes from anywhere, so what its manifest says is checked word by word; what it does not
say has a default, and what cannot be true is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from string import Formatter
from typing import Any

from trivium.config import IndexSettings
from trivium.errors import SourceError, TriviumError
from trivium.protocols import Embedder

FORMAT = "omnidata"
FORMAT_VERSION = 1
GENERATOR = "trivium"
NAME = "manifest.json"

LARGEST_MANIFEST = 4 * 1024 * 1024
LARGEST_DIMENSION = 65_536
LONGEST_NAME = 200
_PLACEHOLDERS = {"title", "heading", "text", "context", "tags"}
_LOCAL_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(frozen=True, slots=True)
class Declared:
    """A model as the manifest names it; 0 and "" where it does not say."""

    name: str
    dimension: int = 0
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was understood of a manifest. `ours` says that Trivium wrote the bundle."""

    ours: bool = False
    models: tuple[Declared, ...] = ()
    index: Mapping[str, Any] | None = None

    def declared(self, name: str) -> Declared:
        """The model that chunks call by this name."""
        return next((model for model in self.models if model.name == name), Declared(name))

    def over(self, settings: IndexSettings) -> IndexSettings:
        """The settings with those the bundle was made with, where it names sound ones."""
        index = self.index or {}
        template = index.get("template")
        size, overlap = _count(index.get("chunk_size"), 100_000), index.get("chunk_overlap")
        if isinstance(template, str) and _is_plain(template):
            settings = replace(settings, template=template)
        if size and (overlap == 0 or _count(overlap, size)):
            overlap = _count(overlap, size)
            settings = replace(settings, chunk_size=size, chunk_overlap=overlap)
        return settings


def read_manifest(folder: Path) -> Manifest:
    """The bundle's manifest; an empty one if there is no such file, `SourceError` if it is junk."""
    path = folder / NAME
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_MANIFEST + 1)
    except FileNotFoundError:
        return Manifest()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}; check the bundle") from error
    if len(data) > LARGEST_MANIFEST:
        raise SourceError(f"{path} is larger than any manifest; get the bundle again")
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path} is not JSON ({error}); get the bundle again") from error
    if not isinstance(values, dict):
        raise SourceError(f"{path} is not a JSON object; get the bundle again")
    return _understood(values, path)


def _understood(values: Mapping[str, Any], path: Path) -> Manifest:
    format = values.get("format", FORMAT)
    if not isinstance(format, str) or FORMAT not in format.lower():
        raise SourceError(f"{path} says that this is {format!r}, not {FORMAT}; check the path")
    ours = str(values.get("generator", "")).startswith(GENERATOR)
    version = values.get("version", FORMAT_VERSION)
    if ours and not (isinstance(version, int) and version <= FORMAT_VERSION):
        raise SourceError(f"{path} is of version {version!r}; upgrade Trivium to read the bundle")
    index = values.get("index")
    return Manifest(
        ours, tuple(_models(values, path)), index if isinstance(index, dict) and ours else None
    )


def _models(values: Mapping[str, Any], path: Path) -> list[Declared]:
    listed = values.get("models")
    flat = {key: value for key, value in values.items() if key.startswith("embedding_")}
    entries = [*(listed if isinstance(listed, list) else []), values.get("embedding"), flat]
    found: dict[str, Declared] = {}
    for entry in entries:
        model = _model(entry, path)
        if model:
            found.setdefault(model.name, model)
    return list(found.values())


def _model(entry: object, path: Path) -> Declared | None:
    """A model from `{"model": …, "dimension": …}`, under any of the names in use for these."""
    if not isinstance(entry, dict):
        return None
    name = next((entry[k] for k in ("embedding_model", "model", "name") if k in entry), None)
    if not isinstance(name, str) or not name:
        return None
    keys = ("dimension", "dimensions", "embedding_dimension", "embedding_dimensions", "dim")
    dimension = next((entry[key] for key in keys if entry.get(key) is not None), 0)
    if dimension and not _count(dimension, LARGEST_DIMENSION):
        raise SourceError(
            f"{path} gives {name!r} the dimension {dimension!r}; write a number from 1 to "
            f"{LARGEST_DIMENSION}"
        )
    fingerprint = entry.get("fingerprint", "")
    return Declared(
        plain_name(name),
        _count(dimension, LARGEST_DIMENSION),
        plain_name(fingerprint) if isinstance(fingerprint, str) else "",
    )


def local_model(
    declared: Declared, named: Callable[[str], Embedder], own: Embedder | None = None
) -> Embedder | None:
    """The model at hand that makes such vectors, or None: the library's `own`, or one by name.

    A fingerprint must be the model's; where there is none, name and dimension must be.
    """
    fingerprint, dimension = declared.fingerprint, declared.dimension
    if own and fingerprint == own.fingerprint and dimension == own.dimension:
        return own
    for name in (declared.name, fingerprint.partition(":")[0]):
        if not _LOCAL_NAME.fullmatch(name):
            continue  # a stranger's words choose among installed models, never a path or a URL
        try:
            model = named(name)
            same = fingerprint in ("", model.fingerprint)
        except TriviumError:
            continue
        if same and model.dimension == dimension:
            return model
    return None


def plain_name(text: str) -> str:
    """A name without control characters, of bounded length."""
    return _CONTROL.sub(" ", text).strip()[:LONGEST_NAME]


def _count(value: object, most: int) -> int:
    """A whole number from 1 to `most`; 0 for anything else."""
    whole = value if isinstance(value, int) and not isinstance(value, bool) else 0
    return whole if 0 < whole <= most else 0


def _is_plain(template: str) -> bool:
    """Whether a template only names columns: a format string of a stranger could do more."""
    try:
        pieces = list(Formatter().parse(template))
    except ValueError:
        return False
    return len(template) < 1000 and all(
        name is None or (name in _PLACEHOLDERS and not form and not conversion)
        for _, name, form, conversion in pieces
    )
