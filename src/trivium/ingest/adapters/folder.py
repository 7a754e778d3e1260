"""A folder of files, told apart by their content."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from trivium.ingest.files import SUFFIXES, walk
from trivium.origins import SourceChanges, SourceItem


class Folder:
    """The files that an extractor can read."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def sync(self, watermark: str, known: Mapping[str, str]) -> SourceChanges:
        created: list[str] = []
        updated: list[str] = []
        skipped: list[str] = []
        errors: list[tuple[str, str]] = []
        closed: list[Path] = []
        there = set()

        def unread(path: Path, why: str) -> None:
            closed.append(path)
            errors.append((str(path), why))

        for file in walk(self.root, unread):
            if file.suffix.lower() not in SUFFIXES:
                continue
            path = file.relative_to(self.root).as_posix()
            there.add(path)
            try:
                same = path in known and known[path] == sha256(file.read_bytes()).hexdigest()
            except OSError as error:
                errors.append(
                    (str(file), f"cannot be read: {error.strerror}; check its permissions")
                )
                continue
            (skipped if same else updated if path in known else created).append(path)
        gone = known.keys() - there if there else set[str]()
        gone = {one for one in gone if not any(map((self.root / one).is_relative_to, closed))}
        return SourceChanges(
            tuple(created), tuple(updated), tuple(sorted(gone)), tuple(skipped), tuple(errors)
        )

    def read(self, path: str) -> SourceItem:
        file = self.root / path
        modified = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        return SourceItem(file.read_bytes(), modified)
