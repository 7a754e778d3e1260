"""Trivium: local-first hybrid search for knowledge. The public names, nothing else."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trivium.version import __version__

if TYPE_CHECKING:
    from trivium.errors import TriviumError
    from trivium.library import Library
    from trivium.opening import connect, init, open
    from trivium.types import Filter, Grant, Hit, Part, Result, SearchRequest

__all__ = [
    "Filter",
    "Grant",
    "Hit",
    "Library",
    "Part",
    "Result",
    "SearchRequest",
    "TriviumError",
    "__version__",
    "connect",
    "init",
    "open",
]

_ROOMS = {
    "Library": "library",
    "TriviumError": "errors",
    "connect": "opening",
    "init": "opening",
    "open": "opening",
}


def __getattr__(name: str) -> Any:
    """A public name, from its room: `trivium --help` need not load the engine."""
    if name not in __all__:
        raise AttributeError(f"module 'trivium' has no attribute '{name}'")
    value = getattr(import_module(f"trivium.{_ROOMS.get(name, 'types')}"), name)
    globals()[name] = value
    return value
