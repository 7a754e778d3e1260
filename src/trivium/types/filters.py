"""Who may see what, and what a caller wants to see of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from trivium.types.documents import PUBLIC_SCOPE
from trivium.values import dataclass

Scalar: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Grant:
    """The scopes a caller may see. The local owner's grant is every scope there is."""

    scopes: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if self.scopes is not None:
            object.__setattr__(self, "scopes", self.scopes | {PUBLIC_SCOPE})

    def allows(self, scope: str) -> bool:
        return self.scopes is None or scope in self.scopes


OWNER = Grant()
PUBLIC = Grant(frozenset())


@dataclass(frozen=True, slots=True)
class Filter:
    """Which chunks a search may consider: OR within a dimension, AND across dimensions.

    `source` takes `#7`, a source's name, a file name, a uri or a path glob. Whatever matches any
    of the filters in `exclude` is out. Validity is judged at `valid_at` unless `include_expired`;
    a filter without `valid_at` does not look at validity (the pipeline fills in "now").
    """

    scope: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    severity: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, Scalar], ...] = ()
    created_from: datetime | None = None
    created_until: datetime | None = None
    valid_at: datetime | None = None
    include_expired: bool = False
    subjects: tuple[str, ...] = ()
    predicates: tuple[str, ...] = ()
    rdf_types: tuple[str, ...] = ()
    subclasses: bool = False
    """Whether a type stands for its subclasses too (rdfs:subClassOf, any number of steps)."""
    graphs: tuple[str, ...] = ()
    exclude: tuple[Filter, ...] = ()
    as_of: datetime | None = None

    def narrows(self) -> bool:
        """Whether the caller asked for anything (validity at "now" is not a wish)."""
        plain = replace(self, valid_at=None, include_expired=False, subclasses=False)
        return plain != NO_FILTER


NO_FILTER = Filter()
