"""The past of a library: versions of a document, back to one of them, and moments by name."""

from __future__ import annotations

from datetime import datetime

from trivium.clock import parse_time
from trivium.errors import UnknownDocument
from trivium.library.base import Opened
from trivium.types import OWNER, Grant, Version


class Versioning(Opened):
    """What shows earlier readings of a document and brings one back."""

    def versions(self, name: str, *, grant: Grant = OWNER) -> list[Version]:
        """Every reading of a document, oldest first."""
        return self._store.versions(self._found([name], grant)[name].id)

    def rollback(self, name: str, version: int | None = None) -> Version:
        """Make an earlier version the active one, by default the one before it.

        Ids, text, fields, chunks and vectors are those of then, and no model is called. The uri
        stays today's, and so does a scope that is not public.
        """
        id = self._found([name], OWNER)[name].id
        if version is None:
            version = self._before(id)
        self._store.activate(id, version, self._now())
        [active] = [one for one in self._store.versions(id) if one.active]
        return active

    def moment(self, text: str, *, grant: Grant = OWNER) -> datetime:
        """What `--as-of` means: a date or time, or `DOC@N`, when that version became active."""
        name, at, version = text.rpartition("@")
        if not at or not version.isdecimal():
            return parse_time(text)
        id = self._found([name], grant)[name].id
        moment = self._store.became_active(id, int(version)) if len(version) < 10 else None
        if moment is None:
            raise UnknownDocument(f"{name} has no version {version}; 'trivium versions' lists them")
        return moment

    def _before(self, id: str) -> int:
        versions = self._store.versions(id)
        [active] = [one.version for one in versions if one.active]
        earlier = [one.version for one in versions if one.version < active]
        if not earlier:
            raise UnknownDocument(
                f"{id} is at version {active}, and none before it is kept; "
                f"'trivium versions {id}' lists them"
            )
        return max(earlier)
