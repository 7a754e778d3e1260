"""HTML: the content of a page in blocks, without what surrounds it.

The parser stops at 2,048 levels, and a page beyond that is refused.
"""

from __future__ import annotations

import codecs
import re
from html.entities import html5

from lxml import etree
from lxml.etree import _Element as Element

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.html_blocks import flat_text, write
from trivium.ingest.extract.trees import reason
from trivium.ingest.extract.writer import Writer, known_fields
from trivium.ingest.files import decode

EXTRACTOR = "html/1"

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})""", re.I)
_XML_CHARSET = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([a-z0-9_:.-]{1,40})""", re.I)
_CHARSET_WITHIN = 2_048

_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*>", re.I)
_XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([a-zA-Z][a-zA-Z0-9]{1,30};)")
_TOO_DEEP = "nested more than 2,048 levels deep. Save it again from a browser, or as text."


def extract(data: bytes, name: str) -> Extraction:
    """The content of the page: `<main>` or the only `<article>` where there is one.

    Navigation, scripts, forms and whatever is not shown are left out. Raises `SourceError` when
    it cannot be decoded or is nested beyond reason.
    """
    root = parse(decode_html(data, name))
    writer = Writer()
    if root is None:
        return writer.extraction(None, {}, "text/html", EXTRACTOR)
    content = _content(root)
    write(content, writer, surroundings=content.tag != "body")
    if not len(writer):  # nothing but navigation: better all of it than nothing
        write(root, writer, surroundings=True)
    return writer.extraction(_title(root, content), _fields(root), "text/html", EXTRACTOR)


def decode_html(data: bytes, name: str) -> str:
    """The text by its byte order mark, its declared charset, or what `decode` finds out."""
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        start = data[:_CHARSET_WITHIN]
        declared = _CHARSET.search(start) or _XML_CHARSET.search(start)
        if declared:
            charset = declared[1].decode("ascii").lower()
            # What calls itself Latin-1 is Windows-1252 in truth; browsers read it so.
            charset = {"iso-8859-1": "cp1252", "latin-1": "cp1252"}.get(charset, charset)
            try:
                return data.decode(charset)
            except (LookupError, UnicodeError, ValueError):
                pass
    return decode(data, name)


def parse(text: str) -> Element | None:
    """The tree without comments, or None for a page without an element."""
    parser = etree.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    source = text.encode("utf-8", "replace").replace(b"\0", b"")
    try:
        root = etree.fromstring(source, parser) if source.strip() else None
    except etree.XMLSyntaxError as error:
        raise SourceError(f"the HTML cannot be read: {reason(error)}. Save it again.") from error
    if any("depth" in (entry.message or "").lower() for entry in parser.error_log):
        raise SourceError(f"the HTML is {_TOO_DEEP}")
    return root


def parse_xhtml(text: str) -> Element | None:
    """The same for XHTML, where `<title/>` is whole and does not swallow what follows.

    What is not well-formed, or declares entities of its own, is read as HTML.
    """
    source = _ENTITY.sub(lambda name: html5.get(name[1], name[0]), _DOCTYPE.sub("", text, count=1))
    source = _XML_DECLARATION.sub("", source, count=1)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(source.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return parse(text)
    if root.getroottree().docinfo.internalDTD is not None:
        return parse(text)
    for element in root.iter("{*}*"):
        element.tag = str(element.tag).rpartition("}")[2].lower()
    return root


# --- the page as a whole -------------------------------------------------------------------------


def _content(root: Element) -> Element:
    body = root.find("body")
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = root.findall(path)
        if len(found) == 1 and flat_text(found[0]):
            return found[0]
    return root if body is None else body


def _title(root: Element, content: Element) -> str | None:
    """The only `<h1>` of the content, else what the page calls itself."""
    headings = [flat_text(heading) for heading in content.iter("h1")]
    if len(headings) == 1 and headings[0]:
        return headings[0]
    return _meta(root, "og:title") or root.findtext(".//title") or None


def _meta(root: Element, *names: str) -> str | None:
    for name in names:
        for element in root.iter("meta"):
            given = element.get("name") or element.get("property") or element.get("itemprop") or ""
            if given.lower() == name and (element.get("content") or "").strip():
                return element.get("content")
    return None


def _fields(root: Element) -> dict[str, object]:
    created = ("article:published_time", "datepublished", "dc.date", "dcterms.created", "date")
    keywords = _meta(root, "keywords")
    return known_fields(
        author=_meta(root, "author", "article:author", "dc.creator"),
        description=_meta(root, "description", "og:description"),
        keywords=keywords.split(",") if keywords else None,
        language=root.get("lang"),
        created=_meta(root, *created),
        updated=_meta(root, "article:modified_time", "datemodified", "dcterms.modified"),
    )
