"""Books (EPUB): the chapters in reading order."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from lxml.etree import _Element as Element

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import html, html_blocks
from trivium.ingest.extract.package import Package, parse_xml
from trivium.ingest.extract.trees import attribute, child, children, local
from trivium.ingest.extract.writer import Writer, known_fields, one_line

EXTRACTOR = "epub/2"
MEDIA_TYPE = "application/epub+zip"

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_DOCUMENT_TYPE = re.compile(rb"<!DOCTYPE[^>\[]*>")
_OBFUSCATED_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def extract(data: bytes, name: str) -> Extraction:
    """The chapters of the spine. One without a heading gets its name in the table of contents.

    Page numbers are those of the printed book where the EPUB marks them.
    """
    package = Package(data)
    _refuse_protected(package)
    container = _xml(package, "META-INF/container.xml")
    part = next((attribute(one, "full-path") for one in container.iter("{*}rootfile")), None)
    if not part or part not in package:
        raise SourceError("it holds no list of its chapters. It is damaged; get it again.")
    book = _xml(package, part)
    manifest = {
        one.get("id") or "": one for one in children(child(book, "manifest")) if one.get("id")
    }
    labels = _contents(package, part, book, manifest)
    writer = Writer()
    for reference in children(child(book, "spine"), "itemref"):
        item = manifest.get(reference.get("idref") or "")
        if item is None or item.get("media-type") not in _PAGES:
            continue
        if "nav" in (item.get("properties") or "").split():
            continue
        target = _resolved(part, item.get("href") or "")
        if target in package:
            _chapter(package.read(target), target, labels.get(target, ""), writer)
    metadata = child(book, "metadata")
    title = next(iter(_texts(metadata, "title")), None)
    return writer.extraction(title, _fields(metadata), MEDIA_TYPE, EXTRACTOR)


def _chapter(data: bytes, part: str, label: str, writer: Writer) -> None:
    root = html.parse_xhtml(html.decode_html(data, part))
    body = root.find("body") if root is not None else None
    if body is None:
        return
    headed = next(body.iter("h1", "h2", "h3", "h4", "h5", "h6"), None)
    if label and headed is None and html_blocks.flat_text(body):
        writer.heading(label, 1)
    html_blocks.write(body, writer, surroundings=True)


def _refuse_protected(package: Package) -> None:
    """Books under digital rights management have their chapters encrypted, not only fonts."""
    encryption = package.optional("META-INF/encryption.xml")
    methods = encryption.iter("{*}EncryptionMethod") if encryption is not None else ()
    if any(attribute(method, "Algorithm") not in _OBFUSCATED_FONTS for method in methods):
        raise SourceError("it is protected by DRM. Add a copy without protection.")


def _resolved(part: str, reference: str) -> str:
    path = unquote(reference.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(part), path)).lstrip("/")


def _contents(
    package: Package, part: str, book: Element, manifest: dict[str, Element]
) -> dict[str, str]:
    """Chapter → its first label in the table of contents (EPUB 3's nav, else EPUB 2's NCX)."""
    labels: dict[str, str] = {}
    for item in manifest.values():
        target = _resolved(part, item.get("href") or "")
        if target not in package:
            continue
        if "nav" in (item.get("properties") or "").split():
            root = html.parse_xhtml(html.decode_html(package.read(target), target))
            for link in root.iter("a") if root is not None else ():
                chapter = _resolved(target, link.get("href") or "")
                labels.setdefault(chapter, html_blocks.flat_text(link))
        elif item.get("media-type") == "application/x-dtbncx+xml":
            for point in _points(package, target):
                source = attribute(child(point, "content"), "src") or ""
                text = child(point, "navLabel", "text")
                label = one_line(text.text or "") if text is not None else ""
                labels.setdefault(_resolved(target, source), label)
    return labels


def _points(package: Package, part: str) -> list[Element]:
    """The entries of a table of contents, none if it is damaged: the chapters are there."""
    try:
        return [one for one in _xml(package, part).iter() if local(one) == "navPoint"]
    except SourceError:
        return []


def _xml(package: Package, part: str) -> Element:
    """A part of the book; EPUB 2 asks for a document type, which may declare nothing itself."""
    return parse_xml(_DOCUMENT_TYPE.sub(b"", package.read(part), count=1), part)


def _texts(metadata: Element | None, name: str) -> list[str]:
    return [one_line(one.text or "") for one in children(metadata, name)]


def _fields(metadata: Element | None) -> dict[str, object]:
    modified = (
        one.text for one in children(metadata, "meta") if one.get("property") == "dcterms:modified"
    )
    return known_fields(
        author=", ".join(_texts(metadata, "creator")),
        language=next(iter(_texts(metadata, "language")), None),
        description=next(iter(_texts(metadata, "description")), None),
        keywords=_texts(metadata, "subject"),
        created=next(iter(_texts(metadata, "date")), None),
        updated=next(modified, None),
    )
