"""Plain data, as TOML and flags have it, made into settings: checked, and named where wrong."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, TypeVar

from trivium.errors import InvalidValue, UnknownSetting, nearest

Settings = TypeVar("Settings")

LARGEST = 1e9
"""Beyond it no setting means anything, and arithmetic ends."""

_KINDS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}


def parse(settings: type[Settings], data: Mapping[str, Any], where: str) -> Settings:
    """Build a settings dataclass from plain data; unknown keys and wrong types are refused."""
    if not isinstance(data, Mapping):
        raise InvalidValue(f"'{where.rstrip('.')}' must be a table of settings, not {data!r}")
    hints = typing.get_type_hints(settings)
    known = [f.name for f in fields(settings)]  # type: ignore[arg-type]  # every caller passes one
    for key in data:
        if key not in known:
            name = f"{where}{key}"
            hint = nearest(key, known) or f" Known here: {', '.join(known)}."
            raise UnknownSetting(f"unknown setting '{name}'.{hint}")
    return settings(**{key: _value(hints[key], value, where + key) for key, value in data.items()})


def _value(hint: Any, value: Any, name: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return parse(hint, value, name + ".")
    if origin is Literal:
        if value not in arguments:
            raise InvalidValue(
                f"'{name}' must be one of {', '.join(map(str, arguments))}, not {value!r}"
            )
        return value
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise InvalidValue(f"'{name}' must be a list, not {value!r}")
        return tuple(_value(arguments[0], item, name) for item in value)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise InvalidValue(f"'{name}' must be a table, not {value!r}")
        return {key: _value(arguments[1], item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(hint, types.UnionType):
        return value if value is None else _value(arguments[0], value, name)
    return _scalar(hint, value, name)


def _scalar(hint: type, value: Any, name: str) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and not -LARGEST <= value <= LARGEST:
        raise InvalidValue(f"'{name}' must be within {LARGEST:,.0f}, above or below 0, not {value}")
    if hint is float and is_number:
        return float(value)
    if not isinstance(value, hint) or (hint is int and not is_number):
        raise InvalidValue(f"'{name}' must be {_KINDS[hint]}, not {value!r}")
    return value
