"""An Obsidian vault: a folder whose notes link to each other.

`[[Note]]`, `[[folder/Note#Part|shown]]` and `![[Note]]` become links, `#tags` in the text become
tags, and aliases are found like words of the note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from trivium.errors import SourceError
from trivium.ingest.adapters.folder import Folder
from trivium.ingest.fields import document_fields, split_front_matter
from trivium.ingest.files import decode, normalise_lines, walk
from trivium.origins import SourceItem

_LINK = re.compile(r"!?\[\[([^\[\]|#^]+)(?:[#^][^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_TAG = re.compile(r"(?<![\w/#&])#([\w/-]*[^\W\d][\w/-]*)")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_MOST = 1_000  # links and tags of a note


class Vault(Folder):
    """The notes of a vault, and whatever else lies in it."""

    def read(self, path: str) -> SourceItem:
        item = super().read(path)
        if not path.lower().endswith(".md"):
            return item
        try:
            text = normalise_lines(decode(item.data, path))
            front, body = split_front_matter(text, path)
            said = document_fields(front, path)
        except SourceError:  # whoever extracts it will say so
            return item
        body = _CODE.sub(" ", body)
        fields: dict[str, object] = {}
        tags = [*said.tags, *_TAG.findall(body)[:_MOST]]
        if tags:
            fields["tags"] = list(dict.fromkeys(tags))
        if aliases := said.metadata.get("aliases"):
            fields["context"] = "\n".join(filter(None, (said.context, ", ".join(aliases))))
        named = dict.fromkeys(name.strip() for name in _LINK.findall(body)[:_MOST])
        links = tuple(self._place(name) for name in named if name)
        return replace(item, fields=fields, links=links)

    def _place(self, name: str) -> str:
        """The path of the note that a link means, or its name where there is none."""
        wanted = name.removesuffix(".md").casefold()
        if wanted in self._paths:
            return self._paths[wanted]
        return self._names.get(PurePosixPath(wanted).name if "/" not in wanted else "", name)

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        paths = (file.relative_to(self.root).as_posix() for file in walk(self.root))
        return {path.removesuffix(".md").casefold(): path for path in paths}

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Each note by its bare name; of several the one nearest to the root, as Obsidian does."""
        found: dict[str, str] = {}
        for key, path in sorted(self._paths.items(), key=lambda one: (one[1].count("/"), one[1])):
            found.setdefault(PurePosixPath(key).name, path)
        return found
