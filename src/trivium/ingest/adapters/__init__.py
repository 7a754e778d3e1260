"""Adapters: where documents come from. Each is found by its name among the entry points of the
group `trivium.sources`; `folder`, `obsidian` and `git` ship with Trivium.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from trivium.errors import UnknownName, nearest
from trivium.origins import DocumentSource

GROUP = "trivium.sources"
SHIPPED: Mapping[str, str] = {
    "folder": "trivium.ingest.adapters.folder:Folder",
    "obsidian": "trivium.ingest.adapters.obsidian:Vault",
    "git": "trivium.ingest.adapters.git:Repository",
}


def adapter(name: str, root: Path) -> DocumentSource:
    """The source of this kind at a place; `UnknownName` where nobody knows the kind."""
    if name in SHIPPED:
        module, _, made_by = SHIPPED[name].partition(":")
        shipped: DocumentSource = getattr(import_module(module), made_by)(root)
        return shipped
    others = {one.name: one for one in entry_points(group=GROUP)}
    if name not in others:
        known = sorted({*SHIPPED, *others})
        hint = nearest(name, known) or f" There are: {', '.join(known)}."
        raise UnknownName(f"there is no kind of source named '{name}'.{hint}")
    found: DocumentSource = others[name].load()(root)
    return found
