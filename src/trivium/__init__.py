"""Trivium: local-first hybrid search for knowledge. The public names, nothing else."""

from trivium.errors import TriviumError
from trivium.library import Library
from trivium.opening import init, open
from trivium.types import Filter, Grant, Hit, Part, Result, SearchRequest
from trivium.version import __version__

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
    "init",
    "open",
]
