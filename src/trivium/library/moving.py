"""Moving house: all of a library into another place, whatever either of them is."""

from __future__ import annotations

from typing import Any

from trivium.errors import LibraryExists
from trivium.library.base import Opened
from trivium.protocols import Progress, silent


class Moving(Opened):
    """What copies a library. No model is called."""

    def copy_into(self, target: Opened, *, progress: Progress = silent) -> dict[str, Any]:
        """Copy everything but keys into an empty library, or go on where a copy was cut off.

        The copy is compared with its original before it counts as one.
        """
        from trivium.store.record.copying import begin, copy_record

        try:
            begin(self._store, target._store)
        except LibraryExists as error:
            raise LibraryExists(f"{target.folder} cannot take a copy: {error}") from error
        files = self._copy_sources(target, progress)
        copied = copy_record(self._store, target._store, progress)
        target._store.flush()
        return {"rows": dict(copied.rows), "files": files, "resumed": copied.resumed}

    def unfinished(self) -> bool:
        """Whether this is the beginning of a copy."""
        from trivium.store.record.copying import unfinished

        return unfinished(self._store.database)

    def doctor(self) -> list[str]:
        """What is wrong; an empty list says that all is well."""
        problems = self._store.check()
        if self.unfinished():
            problems.insert(0, "a copy into it was not finished; run 'trivium copy' again")
        return problems

    def _copy_sources(self, target: Opened, progress: Progress) -> int:
        mine, theirs = self._archive(), target._archive()
        kept = sorted(mine.kept(self._store.history.source_hashes()))
        there = theirs.kept(kept)
        missing = [hash for hash in kept if hash not in there]
        for number, hash in enumerate(missing, start=1):
            data = mine.get(hash)
            if data is not None:
                theirs.put(data)
            progress("files", number, len(missing))
        return len(kept)
