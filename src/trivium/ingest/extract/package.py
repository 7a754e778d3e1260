"""Zip files of XML parts (DOCX, PPTX, XLSX, EPUB), read with an eye on bombs.

Only the parts that are asked for are unpacked, and never more than `LARGEST_PART` and
`LARGEST_TOTAL` bytes. No part may declare entities: these formats have no use for them.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from trivium.errors import SourceError
from trivium.ingest.extract.trees import reason

LARGEST_PART = 256 * 1024 * 1024
LARGEST_TOTAL = 512 * 1024 * 1024
_HIGHEST_RATIO = 200  # text packs 5 to 30 times, repetitive sheets 100; bombs 1,000 times
_RATIO_FROM = 8 * 1024 * 1024  # below that, no ratio does harm
_MOST_NAMES = 50_000
_HEAD = 4_096  # bytes in which a document type is declared, if it is

RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_STRICT_RELATION = "{http://purl.oclc.org/ooxml/officeDocument/relationships}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_CORE = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"

PASSWORD = "it is protected by a password. Save a copy without one and add that."
_DAMAGED = "It is damaged or cut short; save it again in the program that made it"


class Relation(NamedTuple):
    """A link from one part to another, or to somewhere outside."""

    kind: str
    target: str
    external: bool


class Package:
    """The parts of a zip file by name; a name is found whatever its case and leading slash."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            raise SourceError(f"it is not a whole zip file ({error}). {_DAMAGED}.") from error
        if len(entries) > _MOST_NAMES:
            raise SourceError(f"it packs more than {_MOST_NAMES:,} files. Take out what matters.")
        self._entries = {_plain(entry.filename): entry for entry in entries}
        self._left = LARGEST_TOTAL

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._entries

    def names(self) -> list[str]:
        """All names, in lower case and in their order in the file."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """The bytes of a part; `SourceError` when it is missing, damaged, encrypted or a bomb."""
        entry = self._entries.get(_plain(name))
        if entry is None:
            raise SourceError(f"its part {name} is missing. {_DAMAGED}.")
        if entry.flag_bits & 1:
            raise SourceError(
                "it is protected by a password. Save it without one and add it again."
            )
        self._weigh(entry)
        try:
            return self._zip.read(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise SourceError(f"its part {name} cannot be unpacked. {_DAMAGED}.") from error
        except (NotImplementedError, RuntimeError) as error:
            raise SourceError(
                f"its part {name} is packed in a way unknown here: {error}."
            ) from error

    def xml(self, name: str) -> Element:
        """The tree of a part, without comments."""
        return parse_xml(self.read(name), name)

    def optional(self, name: str) -> Element | None:
        """The tree of a part that need not be there."""
        return self.xml(name) if name in self else None

    def properties(self, name: str) -> Element | None:
        """The tree of a part that says something about the rest, or None when it is not whole."""
        try:
            return self.optional(name)
        except SourceError:
            return None

    def relations(self, name: str) -> dict[str, Relation]:
        """The links of a part by their id, with targets as names of parts."""
        folder, base = posixpath.split(name)
        root = self.optional(posixpath.join(folder, "_rels", f"{base}.rels"))
        found: dict[str, Relation] = {}
        for element in root if root is not None else ():
            target, external = element.get("Target") or "", element.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            kind = posixpath.basename(element.get("Type") or "")
            found[element.get("Id") or ""] = Relation(kind, target, external)
        return found

    def _weigh(self, entry: zipfile.ZipInfo) -> None:
        """Refuse what would unpack to too much; zipfile reads no more than is declared."""
        size, packed = entry.file_size, max(entry.compress_size, 1)
        self._left -= size
        if size > _RATIO_FROM and size > _HIGHEST_RATIO * packed:
            raise SourceError(
                f"its part {entry.filename} unpacks to {size // packed:,} times its size: a zip "
                "bomb. Leave it out."
            )
        if size > LARGEST_PART or self._left < 0:
            raise SourceError(
                f"it unpacks to more than {LARGEST_PART // 1024**2} MB. Split it into smaller ones."
            )


def _plain(name: str) -> str:
    return name.lstrip("/").lower()


def parse_xml(data: bytes, name: str) -> Element:
    """The tree of an XML document that declares no entities and fetches nothing."""
    if b"<!DOCTYPE" in data[:_HEAD]:
        raise _declared(name)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise SourceError(
            f"its part {name} is no valid XML ({reason(error)}). {_DAMAGED}."
        ) from error
    if root.getroottree().docinfo.internalDTD is not None:  # in UTF-16, or far from the start
        raise _declared(name)
    return root


def _declared(name: str) -> SourceError:
    return SourceError(
        f"its part {name} declares a document type, as XML bombs do. Leave it out, or save it "
        "again in the program that made it."
    )


def stream_xml(data: bytes, name: str, *tags: str) -> Iterator[Element]:
    """The elements with these tags as they end; each is emptied when the next is asked for."""
    if b"<!DOCTYPE" in data[:_HEAD]:
        raise _declared(name)
    events = etree.iterparse(
        io.BytesIO(data), tag=tags, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        for _, element in events:
            yield element
            element.clear()
            while element.getprevious() is not None:
                parent = element.getparent()
                if parent is None:
                    break
                del parent[0]
    except etree.XMLSyntaxError as error:
        raise SourceError(
            f"its part {name} is no valid XML ({reason(error)}). {_DAMAGED}."
        ) from error


def related(element: Element, name: str = "id") -> str:
    """The relation's id in an attribute such as `r:id`; "" when there is none."""
    return element.get(RELATION + name) or element.get(_STRICT_RELATION + name) or ""


def core_properties(package: Package) -> dict[str, str]:
    """Title, author, keywords and times as Office writes them down; missing ones are missing."""
    root = package.properties("docProps/core.xml")
    if root is None:
        return {}
    names = {
        "title": f"{_DUBLIN_CORE}title",
        "author": f"{_DUBLIN_CORE}creator",
        "subject": f"{_DUBLIN_CORE}subject",
        "keywords": f"{_CORE}keywords",
        "created": f"{_TERMS}created",
        "updated": f"{_TERMS}modified",
    }
    texts = {key: (root.findtext(tag) or "").strip() for key, tag in names.items()}
    return {key: text for key, text in texts.items() if text}
