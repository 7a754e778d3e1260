"""The archive: source files by the hash of their content, so that no reading is ever lost."""

from __future__ import annotations

import errno
import os
import tempfile
import time
from collections.abc import Collection, Iterable
from hashlib import sha256
from pathlib import Path

from trivium.errors import LibraryReadOnly, StorageFull

GRACE = 3600.0
"""Seconds for which a file that no version refers to is left alone: an `add` may be under way."""


class FileArchive:
    """`archive/ab/abcdef…` under a library's folder. A file is written once and never changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, hash: str) -> Path:
        """Where content of this hash lies, whether or not it does."""
        return self._folder / hash[:2] / hash

    def put(self, data: bytes) -> str:
        """Keep the content and give back its hash; what is kept already is not written again."""
        hash = sha256(data).hexdigest()
        target = self.path(hash)
        try:
            if target.exists() and target.stat().st_size == len(data):
                os.utime(target)  # in use again: see GRACE
                return hash
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=target.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(name).replace(target)  # whole or not at all
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(
                    f"the disk that holds {self._folder} is full; free some"
                ) from error
            raise LibraryReadOnly(
                f"{self._folder} cannot be written ({error.strerror}); check its permissions"
            ) from error
        return hash

    def get(self, hash: str) -> bytes | None:
        """The content, or None where it was never kept, was pruned, or no longer fits its hash."""
        try:
            data = self.path(hash).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == hash else None

    def kept(self, hashes: Iterable[str]) -> set[str]:
        return {hash for hash in hashes if self.path(hash).is_file()}

    def prune(self, referenced: Collection[str], *, dry_run: bool) -> tuple[int, int]:
        """Also halves that a killed process left go."""
        latest = time.time() - GRACE
        unused = [
            file
            for file in self._folder.glob("??/*")
            if file.name not in referenced and file.stat().st_mtime < latest
        ]
        size = sum(file.stat().st_size for file in unused)
        for file in unused if not dry_run else ():
            file.unlink(missing_ok=True)
        return len(unused), size

    def remove(self, hash: str) -> None:
        self.path(hash).unlink(missing_ok=True)
