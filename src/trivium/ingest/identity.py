"""Which document a file is: that of its uri, else one whose file moved here, else a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Protocol

from trivium.ingest.draft import document_id
from trivium.ingest.files import is_gone
from trivium.origins import Catalogue
from trivium.types import OWNER, Document, Draft, Grant


@dataclass(frozen=True, slots=True)
class Waiting:
    """A draft on its way to the store; `name` is what the report calls it.

    `mirrored` says that it was found in a folder, and is not something that was named by itself.
    """

    draft: Draft
    name: str
    mirrored: bool = False


class Known(Protocol):
    """What is asked of the store."""

    @property
    def catalogue(self) -> Catalogue: ...
    def find(self, names: Sequence[str], grant: Grant) -> dict[str, Document]: ...


def identified(
    waiting: Sequence[Waiting], store: Known, sources: Mapping[str, str]
) -> list[Waiting]:
    """The files under the id of the document each of them is; all else as it was."""
    files = {one.draft.document.uri: one for one in waiting if is_file(one.draft.document, sources)}
    found = store.find(list(files), OWNER)
    known = {uri: found[uri].id for uri in files if uri in found and found[uri].uri == uri}
    strangers = [one for uri, one in files.items() if uri not in known]
    if strangers:
        known |= _moved(strangers, store, sources, set(known.values()))
        known |= _new([one for one in strangers if one.draft.document.uri not in known], store)
    return [under(known.get(one.draft.document.uri), one) for one in waiting]


def permitted(
    waiting: Sequence[Waiting], known: Mapping[str, Document], grant: Grant
) -> tuple[list[Waiting], list[tuple[str, str]]]:
    """What somebody with this grant may store, and why not the others.

    Nobody makes what they could not see, or writes over what they cannot see.
    """
    allowed, refused = [], []
    for one in waiting:
        document = one.draft.document
        stored = known.get(document.id)
        if not grant.allows(document.scope):
            why = f"the scope '{document.scope}' is not yours to write; choose one that is"
            refused.append((one.name, why))
        elif stored and not grant.allows(stored.scope):
            why = f"'{document.id}' cannot be stored under this name; choose another"
            refused.append((one.name, why))
        else:
            allowed.append(one)
    return allowed, refused


def is_file(document: Document, sources: Mapping[str, str]) -> bool:
    """Whether the document came from a file in one of the sources."""
    return document.uri.partition(":")[0] in sources


def is_missing(document: Document, sources: Mapping[str, str]) -> bool:
    """Whether its file is not where it was read; what cannot be looked at may well be there."""
    source, _, path = document.uri.partition(":")
    return source in sources and is_gone(Path(sources[source], path))


def was_edited(new: Document, alike: Document, sources: Mapping[str, str]) -> bool:
    """Whether a new file that is like a stored one is that one, renamed and edited."""
    return is_file(new, sources) and alike.number > 0 and is_missing(alike, sources)


def uri_of(path: Path, roots: Mapping[str, Path]) -> str:
    """`source:path` in the innermost source, so that a folder within a folder is stored once."""
    inside = [(name, root) for name, root in roots.items() if path.is_relative_to(root)]
    name, root = max(inside, key=lambda one: len(one[1].parts))
    return f"{name}:{path.relative_to(root).as_posix()}"


def uris_below(name: str, root: Path, folder: Path) -> list[str]:
    """How the uris of a source begin that lie in a folder."""
    if root.is_relative_to(folder):
        return [f"{name}:"]
    if not folder.is_relative_to(root):
        return []
    return [f"{name}:{folder.relative_to(root).as_posix()}/"]


def _moved(
    strangers: Sequence[Waiting], store: Known, sources: Mapping[str, str], claimed: set[str]
) -> dict[str, str]:
    """The documents of the same content whose own file is gone."""
    hashes = {one.draft.document.source_hash for one in strangers}
    same = store.catalogue.with_content(sorted(hashes))
    missing = [d for d in same if d.id not in claimed and is_missing(d, sources)]
    moved = {}
    for one in strangers:
        uri, hash = one.draft.document.uri, one.draft.document.source_hash
        match = next((document for document in missing if document.source_hash == hash), None)
        if match:
            missing.remove(match)
            moved[uri] = match.id
    return moved


def _new(strangers: Sequence[Waiting], store: Known) -> dict[str, str]:
    """An id of its own for each, also where a document that moved away still has the usual one."""
    ids: dict[str, str] = {}
    usual = {one.draft.document.id: one.draft.document.uri for one in strangers}
    taken = {
        id
        for id, document in store.find(list(usual), OWNER).items()
        # one with this uri was not there a moment ago: somebody else is adding the same file
        if document.id == id and document.uri != usual[id]
    }
    for one in strangers:
        id, uri = one.draft.document.id, one.draft.document.uri
        for number in count(2):
            if id not in taken:
                break
            id = document_id(f"{uri}#{number}")
            taken |= {id for found in store.find([id], OWNER).values() if found.id == id}
        ids[uri] = id
    return ids


def under(id: str | None, one: Waiting) -> Waiting:
    """The same draft under the id of a document that there is."""
    if id is None or id == one.draft.document.id:
        return one
    return replace(one, draft=replace(one.draft, document=replace(one.draft.document, id=id)))
