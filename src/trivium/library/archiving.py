"""Source files: kept by their hash in the library, and in blob storage where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.errors import TriviumError
from trivium.library.base import Opened


class Archiving(Opened):
    """What looks after the files that documents were read from."""

    def send_sources(self) -> tuple[int, str]:
        """Copy archived files to blob storage that are not there yet: (how many, what failed).

        What failed is tried again at the next `add`; the library itself has all of them.
        """
        if self.configuration.settings.archive.kind == "none":
            return 0, ""
        from trivium.ingest.blobs import blobs

        try:
            storage = blobs(self.configuration.settings.archive, self.settings.container)
            if storage is None:
                return 0, ""
            waiting = self._not_sent()
            for number, hash in enumerate(waiting):
                data = self._archive().get(hash)
                if data is not None:
                    try:
                        uri = storage.put(hash, data)
                    except TriviumError as error:
                        left = len(waiting) - number
                        return number, f"{error}; {left} files wait for the next 'trivium add'"
                    self._store.history.add_blob(hash, uri)
        except TriviumError as error:
            return 0, str(error)
        return len(waiting), ""

    def _not_sent(self) -> Sequence[str]:
        hashes = self._store.history.source_hashes()
        sent = self._store.history.blobs(hashes)
        return sorted(self._archive().kept(hashes - sent.keys()))
