"""What a tool may be given: its schema for clients, and a check whose errors say what to pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from trivium.errors import InvalidValue, nearest

Kind: TypeAlias = Literal["text", "texts", "number", "flag"]

MOST_TEXTS = 50
"""Values of one list: a filter of more is a slip."""
LONGEST = 4000
"""Characters of a text, unless the argument says otherwise: about a page, more than a question."""

_SCHEMAS: Mapping[Kind, Mapping[str, Any]] = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_TEXTS},
    "number": {"type": "integer"},
    "flag": {"type": "boolean"},
}
_EXPECTED: Mapping[Kind, str] = {
    "text": 'a text, such as "…"',
    "texts": 'a list of texts, such as ["…"]',
    "number": "a whole number",
    "flag": "true or false",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument. `default` is what counts when it is left out or null; `least` and `most` are
    bounds of a number, and of a text `most` is the number of characters.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {**_SCHEMAS[self.kind], "description": self.description}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.kind == "number":
            schema |= {"minimum": self.least, "maximum": self.most}
        if self.default is not None:
            schema["default"] = self.default
        return schema

    def read(self, value: Any) -> Any:
        """The value as the tool takes it; `InvalidValue` says what to pass instead."""
        if not self._fits(value):
            raise InvalidValue(f"'{self.name}' is not {_EXPECTED[self.kind]}; pass one")
        if self.choices and value not in self.choices:
            hint = nearest(value, self.choices) or f" There are: {', '.join(self.choices)}."
            raise InvalidValue(f"'{value}' cannot be the {self.name}.{hint}")
        if self.kind == "number" and not (self.least or 0) <= value <= (self.most or 0):
            raise InvalidValue(
                f"{self.name} {value} is out of bounds; pass a number from {self.least} "
                f"to {self.most}"
            )
        longest = self.most or LONGEST
        texts = value if self.kind == "texts" else [value] if self.kind == "text" else []
        if any(len(text) > longest for text in texts):
            raise InvalidValue(f"{self.name} is longer than {longest} characters; pass less")
        return tuple(value) if self.kind == "texts" else value

    def _fits(self, value: Any) -> bool:
        if self.kind == "number":
            return isinstance(value, int) and not isinstance(value, bool)
        if self.kind == "texts":
            fits = isinstance(value, list) and len(value) <= MOST_TEXTS
            return fits and all(isinstance(one, str) for one in value)
        return isinstance(value, str if self.kind == "text" else bool)


def input_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments; nothing else may be passed."""
    return {
        "type": "object",
        "properties": {one.name: one.schema() for one in arguments},
        "required": [one.name for one in arguments if one.required],
        "additionalProperties": False,
    }


def read_arguments(
    tool: str, arguments: Sequence[Argument], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Every argument by name, defaults filled in; the first one that is wrong is an error."""
    known = {one.name: one for one in arguments}
    for name in given:
        if name not in known:
            hint = nearest(name, known) or f" It takes: {', '.join(known)}."
            raise InvalidValue(f"{tool} has no argument '{name}'.{hint}")
    values = {}
    for name, one in known.items():
        value = given.get(name)
        if value is None and one.required:
            raise InvalidValue(f"{tool} needs '{name}'; pass {_EXPECTED[one.kind]}")
        fallback = () if one.kind == "texts" else one.default
        values[name] = fallback if value is None else one.read(value)
    return values
