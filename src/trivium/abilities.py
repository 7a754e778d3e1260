"""Which abilities of `protocols.py` a view has: they are those of its class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from trivium.protocols import SpellingSearch, VectorSearch, View, WordSearch

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Ability = TypeVar("Ability")

LEG_ABILITIES: Mapping[str, type] = {
    "keyword": WordSearch,
    "vector": VectorSearch,
    "trigram": SpellingSearch,
}

_KNOWN: dict[tuple[type, type], bool] = {}


def serves(view: object, ability: type[Ability]) -> TypeIs[Ability]:
    """Whether a view has the ability; as by `isinstance`, which looks at each method every time."""
    key = type(view), ability
    known = _KNOWN.get(key)
    if known is None:
        known = _KNOWN[key] = isinstance(view, ability)
    return known


def legs_of(view: View) -> tuple[str, ...]:
    """The legs this view can serve."""
    return tuple(name for name, ability in LEG_ABILITIES.items() if serves(view, ability))
