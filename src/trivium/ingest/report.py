"""What an `add` did."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class AddReport:
    """What an `add` did; `waiting` counts texts without a vector.

    `errors` and `notes` are (name, message): what was not taken in, and what was but for a part.
    `skipped` are files of a folder that nobody reads; a note says which of them an extra would.
    `renamed` are those of `updated` whose file moved, `missing` documents whose file is gone, and
    `removed` those that therefore are no longer there.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    errors: tuple[tuple[str, str], ...] = ()
    skipped: tuple[str, ...] = ()
    waiting: int = 0
    model_problem: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    renamed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    blob_problem: str = ""

    @property
    def is_news(self) -> bool:
        """Whether anything changed, or did not when it should have."""
        return any((self.added, self.updated, self.removed, self.errors, self.notes))

    def renamed_places(self, here: str, shown: str) -> AddReport:
        """The same with names that begin otherwise, for those who need not know our folders."""

        def told(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
            return tuple((a.replace(here, shown), b.replace(here, shown)) for a, b in pairs)

        return replace(self, errors=told(self.errors), notes=told(self.notes))

    def as_json(self) -> dict[str, Any]:
        """The same as plain data, for every surface."""
        return {
            "added": list(self.added),
            "updated": list(self.updated),
            "unchanged": list(self.unchanged),
            "renamed": list(self.renamed),
            "missing": list(self.missing),
            "removed": list(self.removed),
            "skipped": list(self.skipped),
            "errors": [{"name": name, "message": text} for name, text in self.errors],
            "notes": [{"name": name, "message": text} for name, text in self.notes],
            "waiting": self.waiting,
            "model_problem": self.model_problem,
            "blob_problem": self.blob_problem,
        }
