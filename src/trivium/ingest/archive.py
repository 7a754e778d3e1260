"""The archive: source files by the hash of their content, so that no reading is ever lost."""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from pathlib import Path


class Archive:
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
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=target.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                Path(name).replace(target)  # whole or not at all
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        return hash

    def get(self, hash: str) -> bytes | None:
        """The content, or None where it was never kept, was pruned, or no longer fits its hash."""
        try:
            data = self.path(hash).read_bytes()
        except OSError:
            return None
        return data if sha256(data).hexdigest() == hash else None

    def hashes(self) -> list[str]:
        """Everything that is kept."""
        return sorted(file.name for file in self._folder.glob("??/*") if len(file.name) == 64)

    def remove(self, hash: str) -> None:
        self.path(hash).unlink(missing_ok=True)
