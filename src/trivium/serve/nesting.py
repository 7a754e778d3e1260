"""Filters in filters: as deep as somebody may mean it, so that no request runs out of stack."""

from __future__ import annotations

from typing import Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

MOST_NESTED = 10


def _shallow(given: Any) -> Any:
    level = [given]
    for _ in range(MOST_NESTED + 1):
        held = [one.get("exclude") for one in level if isinstance(one, dict)]
        level = [one for several in held if isinstance(several, list) for one in several]
    if level:
        raise PydanticCustomError("nested", f"filters lie up to {MOST_NESTED} deep in another")
    return given


SHALLOW = BeforeValidator(_shallow)
"""Refuses a filter, as it was sent, whose `exclude` holds filters in filters without end."""
