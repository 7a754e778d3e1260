"""The dataclass that travels between stages: frozen, slotted, and quick to define.

The standard decorator compiles six functions for every class, and a search defines eighty of
them: a fifth of a cold start. This one compiles `__init__` only. What it makes is a dataclass all
the same: `fields`, `replace`, `asdict`, `copy` and `pickle` work on it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

Value = TypeVar("Value")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """The standard decorator, for classes that are frozen and slotted."""
        if not (frozen and slots):
            raise TypeError("only frozen, slotted classes; 'dataclasses' has the others")
        return _made


def replace(value: Value, **changes: Any) -> Value:
    """The same with other values in these fields, as `dataclasses.replace` has it, but quickly."""
    made: Any = type(value)
    fields, places = _in_order(made)
    values = list(fields(value))
    for name, changed in changes.items():
        values[places[name]] = changed
    return cast(Value, made(*values))


@cache
def _in_order(made: Any) -> tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]:
    """What reads the fields of a class as its initialiser takes them, and the place of each."""
    names = [field.name for field in dataclasses.fields(made) if field.init]
    places = {name: place for place, name in enumerate(names)}
    if len(names) > 1:
        return attrgetter(*names), places
    return lambda value: tuple(getattr(value, name) for name in names), places


def _made(cls: type) -> type:
    own = vars(cls)
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    fields = dataclasses.fields(made)
    methods: dict[str, Callable[..., Any]] = {
        "__init__": _initialiser(made, fields),
        "__repr__": _representation([field.name for field in fields if field.repr]),
        **_comparison([field.name for field in fields if field.compare]),
        "__setattr__": _set,
        "__delattr__": _delete,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _initialiser(made: type, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """Each value goes through its slot's own descriptor, which nothing can forbid."""
    parameters, lines = [], []
    names: dict[str, Any] = {"MISSING": dataclasses.MISSING}
    for field in fields:
        name = field.name
        value, default = name, ""
        if field.default_factory is not dataclasses.MISSING:
            names[f"make_{name}"] = field.default_factory
            value = f"make_{name}()"
            if field.init:
                value, default = f"{value} if {name} is MISSING else {name}", "=MISSING"
        elif field.default is not dataclasses.MISSING:
            names[f"default_{name}"] = field.default
            default = f"=default_{name}"
            value = name if field.init else f"default_{name}"
        elif not field.init:
            continue  # __post_init__ sets it
        if field.init:
            parameters.append(name + default)
        names[f"set_{name}"] = getattr(made, name).__set__
        lines.append(f" set_{name}(self, {value})")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__(self, {', '.join(parameters)}):\n" + "\n".join(lines or [" pass"]), names)
    made_here: Callable[..., None] = names["__init__"]
    made_here.__qualname__ = f"{made.__qualname__}.__init__"
    return made_here


def _representation(names: list[str]) -> Callable[[Any], str]:
    def representation(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return representation


def _comparison(names: list[str]) -> dict[str, Callable[..., Any]]:
    """Equal if of one class and of equal values, as the standard decorator has it."""
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


def _set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
