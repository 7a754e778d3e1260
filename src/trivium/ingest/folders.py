"""What a folder says about the documents in it: `.trivium.toml`, four harmless keys.

It comes with the files and may be a stranger's, so it can say who may see them and how they are
sorted, and nothing else. A file that cannot be read is an error for all documents below it: it may
have said that they are secret.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trivium.errors import SourceError, nearest
from trivium.ingest.fields import Fields, document_fields

FOLDER_FILE = ".trivium.toml"
KEYS = ("scope", "category", "tags", "kind")
_LARGEST = 64 * 1024


@dataclass
class FolderWords:
    """The folder files of one `add`; each is read once. `notes` are (file, sentence)."""

    notes: list[tuple[str, str]] = field(default_factory=list)
    _read: dict[Path, Fields | SourceError | None] = field(default_factory=dict)
    _below: dict[Path, Fields] = field(default_factory=dict)

    def fill(self, fields: Fields, folder: Path, root: Path) -> Fields:
        """The fields with the folder's words where the source says nothing itself.

        The nearest file that has a key counts, from the document's folder up to the source's root.
        """
        said = self._said(folder, root)
        return replace(
            fields,
            scope=fields.scope or said.scope,
            category=fields.category or said.category,
            kind=fields.kind or said.kind,
            tags=tuple(dict.fromkeys((*fields.tags, *said.tags))),
        )

    def _said(self, folder: Path, root: Path) -> Fields:
        if folder not in self._below:
            own = self._own(folder) or Fields()
            outside = folder == root or not folder.is_relative_to(root)
            above = Fields() if outside else self._said(folder.parent, root)
            self._below[folder] = Fields(
                scope=own.scope or above.scope,
                category=own.category or above.category,
                kind=own.kind or above.kind,
                tags=own.tags or above.tags,
            )
        return self._below[folder]

    def _own(self, folder: Path) -> Fields | None:
        if folder not in self._read:
            try:
                self._read[folder] = self._parsed(folder / FOLDER_FILE)
            except SourceError as error:
                self._read[folder] = error
        found = self._read[folder]
        if isinstance(found, SourceError):
            raise found
        return found

    def _parsed(self, file: Path) -> Fields | None:
        try:
            if not file.is_file():
                return None
            data = file.read_bytes()[: _LARGEST + 1]
            if len(data) > _LARGEST:
                raise SourceError(f"{file} is longer than {_LARGEST // 1024} KB. Shorten it.")
            values: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        except OSError as error:
            raise SourceError(
                f"{file} cannot be read ({error.strerror}), so nothing below it is. "
                "Check its permissions."
            ) from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
            raise SourceError(
                f"{file} is not valid TOML ({error}), so nothing below it is read. Correct it."
            ) from error
        for key in sorted(values.keys() - set(KEYS)):
            hint = nearest(key, KEYS) or f" It may set {', '.join(KEYS)}."
            self.notes.append((str(file), f"a folder may not set '{key}': ignored.{hint}"))
        return document_fields({key: values[key] for key in KEYS if key in values}, str(file))
