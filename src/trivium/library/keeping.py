"""Looking at and after what is there: documents and the library's state."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from trivium.checks import check_scopes
from trivium.config import library_toml
from trivium.errors import InvalidValue
from trivium.kernels import COMPILED
from trivium.library.base import Opened
from trivium.pipeline import EVERYTHING
from trivium.present import facets
from trivium.protocols import KeepsTextSearch, Optimizes
from trivium.store.record.database import repeatable
from trivium.types import NO_FILTER, OWNER, Document, Filter, Grant, Reading, document_of

SHOWN = 20
"""Failed texts that `status` names; the reason is mostly the same for all."""

MOST_LISTED = 1000
"""Documents of one page of a list."""


class Keeping(Opened):
    """What shows or removes what is stored."""

    @repeatable
    def get(self, *names: str, grant: Grant = OWNER) -> list[Reading]:
        """Documents or chunks by id, `#number` or uri, whole; an unknown one is an error."""
        found = self._found(names, grant)
        readings = []
        for name, document in ((name, found[name]) for name in names):
            if document.is_called(name):
                text = self._store.text(document.id, document.version)
                readings.append(Reading(document, tuple(self._store.chunks(document.id)), text))
            else:
                [chunk] = self._store.chunk(name) or [self._unknown(name)]
                if not self._may_see(document.id, chunk.version, grant):
                    self._unknown(name)
                readings.append(Reading(document, (chunk,), chunk.text))
        return readings

    def optimize(self) -> int:
        """Merge the pieces that edits have left of the index; how many there were."""
        if not isinstance(self._store, Optimizes):
            raise InvalidValue("this library keeps its index in order itself; leave it as it is")
        return self._store.optimize()

    def use_text_search(self, name: str) -> int:
        """Store the words of all passages anew, in this text-search configuration of PostgreSQL;
        how many passages.
        """
        if not isinstance(self._store, KeepsTextSearch):
            raise InvalidValue("only a library in PostgreSQL has a text-search configuration")
        settings = replace(self.settings, text_search=name)
        count = self._store.use_text_search(name, library_toml(self.profile_name, settings))
        self.settings = settings
        return count

    @repeatable
    def documents(
        self, filter: Filter = NO_FILTER, *, limit: int | None = None, grant: Grant = OWNER
    ) -> list[Document]:
        """The documents that a filter leaves, in the order of their ids."""
        with self._store.view(grant) as view:
            check_scopes(view, filter, grant)
        return self._store.documents(filter, grant, limit)

    @repeatable
    def page(
        self,
        filter: Filter = NO_FILTER,
        *,
        limit: int = 100,
        after: str | None = None,
        grant: Grant = OWNER,
    ) -> tuple[list[Document], int, str | None]:
        """Documents in the order of their ids: a page, how many there are, and what the next page
        comes `after`; None on the last one.
        """
        if not 1 <= limit <= MOST_LISTED:
            raise InvalidValue(f"{limit} documents cannot be listed; choose 1 to {MOST_LISTED}")
        with self._store.view(grant) as view:
            check_scopes(view, filter, grant)
            found = view.browse(filter, "document", EVERYTHING)
            left = [chunk for chunk in found.ids if after is None or chunk > after]
            documents = view.documents(left[:limit])
        return documents, found.matched, left[limit - 1] if len(left) > limit else None

    @repeatable
    def overview(self, filter: Filter = NO_FILTER, *, grant: Grant = OWNER) -> dict[str, Any]:
        """How many documents and chunks a filter leaves, and how many have each value."""
        with self._store.view(grant) as view:
            check_scopes(view, filter, grant)
            found = view.browse(filter, "document", EVERYTHING)
            documents = view.documents(found.ids)
            chunks = view.browse(filter, "chunk", 1).matched
        return {"documents": found.matched, "chunks": chunks, "facets": facets(documents)}

    @repeatable
    def known(
        self, ids: Collection[str], *, grant: Grant = OWNER, as_of: datetime | None = None
    ) -> dict[str, Document]:
        """Those of the ids that documents within the grant have; other names do not count."""
        if as_of is None:
            found = self._store.find(list(ids), grant)
            return {id: document for id, document in found.items() if document.id == id}
        with self._store.view(grant, as_of) as view:
            chunks = [*view.browse(NO_FILTER, "document", EVERYTHING).ids]
            wanted = [chunk for chunk in chunks if document_of(chunk) in ids]
            return {one.document.id: one.document for one in view.records(wanted).values()}

    @repeatable
    def values(self, name: str, *, grant: Grant = OWNER) -> frozenset[str]:
        """The values of a field (scope, kind, category …) that documents in the grant have."""
        with self._store.view(grant) as view:
            return view.values(name)

    def remove(self, *names: str, grant: Grant = OWNER) -> int:
        """Remove documents with all their versions and kept sources; all of them or none."""
        found = self._found(names, grant)
        for name, document in found.items():
            if not document.is_called(name):
                raise InvalidValue(f"'{name}' is a chunk; remove its document '{document.id}'")
        ids = sorted({document.id for document in found.values()})
        sources = {one.source_hash for id in ids for one in self._store.versions(id)}
        count = self._store.remove(ids)
        for hash in sources - self._store.history.source_hashes():
            self._archive().remove(hash)
        return count

    @repeatable
    def status(self, *, grant: Grant = OWNER) -> dict[str, Any]:
        """Counts, models and what waits; for others than the owner only what they may see."""
        if grant.scopes is not None:
            seen = self.overview(grant=grant)
            return {
                "profile": self.profile_name,
                "model": self.model_name,
                "documents": seen["documents"],
                "chunks": seen["chunks"],
                "kinds": seen["facets"]["kind"],
                "scopes": seen["facets"]["scope"],
            }
        return {
            "library": str(self.folder),
            "profile": self.profile_name,
            "model": self.model_name,
            **self._store.status(),
            "models": [asdict(model) for model in self._store.models()],
            "waiting": self.waiting(),
            "building": [model.name for model in self._store.queue.building()],
            "failed": self._failed(),
            "sources": self._store.sources(),
            "kernels": "compiled" if COMPILED else "NumPy: slower; install again with a C compiler",
        }

    def _failed(self) -> list[dict[str, str]]:
        """Why texts that wait have no vector yet, as far as it was tried."""
        active, queue = self._store.active_model(), self._store.queue
        found = []
        for model in [*([active] if active else []), *queue.building()]:
            outage = queue.outage(model.fingerprint)
            reasons = [("", outage)] if outage else []
            for chunk, why in reasons + queue.problems(model.fingerprint, SHOWN):
                found.append({"model": model.name, "chunk": chunk, "problem": why})
        return found
