"""The past of a library: versions of a document, their sources, back to one, and letting go."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from trivium.clock import parse_time
from trivium.compare import Comparison, compare
from trivium.config import load_profile
from trivium.errors import InvalidValue, UnknownDocument, command
from trivium.library.base import Opened
from trivium.pipeline import Search
from trivium.present import result_json
from trivium.protocols import Pruned
from trivium.types import OWNER, Grant, Result, SearchRequest, Version
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """Two versions compared, and what a query finds in the library with either of them."""

    comparison: Comparison
    found: tuple[Result, Result] | None = None

    def as_json(self) -> dict[str, Any]:
        """The same as plain data, for every surface."""
        said = asdict(self.comparison)
        if self.found:
            said["found"] = [result_json(result) for result in self.found]
        return said


class Versioning(Opened):
    """What shows earlier readings of a document, brings one back, or lets them go."""

    def versions(self, name: str, *, grant: Grant = OWNER) -> list[Version]:
        """Every reading of a document, oldest first, and whether its source file is kept."""
        id = self._found([name], grant)[name].id
        versions = self._store.versions(id)
        if grant.scopes is not None:  # where files lie elsewhere is the owner's business, too
            return [one for one in versions if self._may_see(id, one.version, grant)]
        hashes = {one.source_hash for one in versions}
        blobs, kept = self._store.history.blobs(hashes), self._archive().kept(hashes)
        return [
            replace(
                one,
                archived=one.source_hash in kept,
                blob=blobs.get(one.source_hash, ""),
            )
            for one in versions
        ]

    def source(self, name: str, version: int | None = None, *, grant: Grant = OWNER) -> bytes:
        """The file that a version was read from, as it was."""
        [document] = self._found([name], grant).values()
        wanted = self._existing(document.id, version or document.version, grant)
        data = self._archive().get(wanted.source_hash)
        if data is None:
            raise UnknownDocument(f"the source of {name} at version {wanted.version} is not kept")
        return data

    def rollback(self, name: str, version: int | None = None, *, grant: Grant = OWNER) -> Version:
        """Make an earlier version the active one, by default the one before it.

        Ids, text, fields, chunks and vectors are those of then, and no model is called. The uri
        stays today's, and so does a scope that is not public.
        """
        id = self._found([name], grant)[name].id
        if version is None:
            version = self._before(id, grant)
        self._existing(id, version, grant)
        self._store.activate(id, version, self._now())
        [active] = [one for one in self._store.versions(id) if one.active]
        return active

    def diff(
        self,
        name: str,
        old: int,
        new: int,
        *,
        query: str | None = None,
        limit: int = 10,
        grant: Grant = OWNER,
    ) -> Difference:
        """What changed between two versions; with a query, what it finds with either active."""
        id = self._found([name], grant)[name].id
        for version in (old, new):
            self._existing(id, version, grant)
        comparison = compare(
            id,
            old,
            new,
            (self._store.text(id, old), self._store.text(id, new)),
            (self._store.chunks(id, old), self._store.chunks(id, new)),
        )
        if query is None:
            return Difference(comparison)
        request = SearchRequest(query, limit)
        before, after = (self._found_with(request, id, at, grant) for at in (old, new))
        return Difference(comparison, (before, after))

    def moment(self, text: str, *, grant: Grant = OWNER) -> datetime:
        """What `--as-of` means: a date or time, or `DOC@N`, when that version became active."""
        name, at, version = text.rpartition("@")
        if not at or not version.isdecimal():
            return parse_time(text)
        id = self._found([name], grant)[name].id
        known = len(version) < 10
        known = known and self._may_see(id, int(version), grant)
        moment = self._store.history.became_active(id, int(version)) if known else None
        if moment is None:
            raise UnknownDocument(f"{name} has no version {version}; 'trivium versions' lists them")
        return moment

    def prune(
        self, *, keep: int | None = None, before: datetime | None = None, dry_run: bool = False
    ) -> Pruned:
        """Let go of what nothing needs: vectors of no chunk, archived files of no version.

        With `keep` also of versions but the newest so many of each document, with `before` of
        those that have not been active since, with both of what is both. Never of an active one.
        """
        if keep is not None and keep < 0:
            raise InvalidValue(f"{keep} versions cannot be kept; choose a number from 0 on")
        pruned = self._store.history.prune(keep, before, dry_run=dry_run)
        if not dry_run and (pruned.versions or pruned.vectors):
            self._store.history.compact()
        but = pruned.versions if dry_run else ()
        referenced = self._store.history.source_hashes(but)
        files, size = self._archive().prune(referenced, dry_run=dry_run)
        return replace(pruned, files=files, bytes=pruned.bytes + size)

    def _found_with(self, request: SearchRequest, id: str, version: int, grant: Grant) -> Result:
        """The answer of the library if this version of the document were the active one."""
        profile, model = load_profile(self.profile_name), self._at_hand()
        with self._store.view(grant, instead=(id, version)) as view:
            return Search(view, profile, model, self._threads, self._now(), grant)(request)

    def _existing(self, id: str, version: int, grant: Grant = OWNER) -> Version:
        for one in self._store.versions(id):
            if one.version == version and self._may_see(id, version, grant):
                return one
        raise UnknownDocument(
            f"{id} has no version {version}; {command('versions', id)} lists them"
        )

    def _before(self, id: str, grant: Grant) -> int:
        versions = self._store.versions(id)
        [active] = [one.version for one in versions if one.active]
        earlier = [
            one.version
            for one in versions
            if one.version < active and self._may_see(id, one.version, grant)
        ]
        if not earlier:
            raise UnknownDocument(
                f"{id} is at version {active}, and none before it is kept; "
                f"{command('versions', id)} lists them"
            )
        return max(earlier)
