"""The blocks of an HTML tree: used for pages, chapters of books and e-mails.

The tree is walked without recursion, so depth costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element as Element

from trivium.ingest.extract.grid import Cell, spread
from trivium.ingest.extract.writer import Writer, one_line

_SKIPPED = frozenset(
    (
        *("script", "style", "noscript", "template", "head", "svg", "canvas", "iframe", "object"),
        *("embed", "audio", "video", "map", "input", "button", "select", "option", "textarea"),
        *("dialog", "nav", "annotation", "annotation-xml"),
    )
)
_SURROUNDINGS = frozenset(("header", "footer", "aside"))
_SKIPPED_ROLES = frozenset(
    ("navigation", "search", "banner", "contentinfo", "complementary", "menu")
)
# Words in `class` by which widely used software marks what is not content.
_SKIPPED_CLASSES = frozenset(
    (
        *("noprint", "navbox", "vertical-navbox", "mw-editsection", "mw-jump-link", "mw-empty-elt"),
        *("mw-portlet", "interlanguage-link", "catlinks", "printfooter", "reference", "sidebar"),
        *("breadcrumb", "breadcrumbs", "skip-link", "hash-link", "visually-hidden", "sr-only"),
    )
)
_BLOCKS = frozenset(
    (
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "caption",
            "center",
            "dd",
            "details",
        ),
        *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
        *("hgroup", "hr", "html", "legend", "li", "main", "menu", "ol", "p", "section", "summary"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "pre"),
    )
)
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LISTS = frozenset(("ul", "ol", "menu", "dl"))
_NO_DISPLAY = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_FILE_NAME = re.compile(r"\.(?:jpe?g|png|gif|svg|webp)$", re.I)
_PAGE_BREAK = "{http://www.idpf.org/2007/ops}type"


def write(root: Element, writer: Writer, *, surroundings: bool, below: int = 0) -> None:
    """Write the blocks below an element; headers, footers and asides only with `surroundings`.

    `below` is the level of the heading under which they stand.
    """
    walk = _Walk(writer, surroundings, below)
    events = etree.iterwalk(root, events=("start", "end"))
    for event, element in events:
        if event == "start":
            if walk.opens(element):
                walk.take(element.text)
            else:
                events.skip_subtree()
                walk.skipped.append(element)
        elif walk.skipped and walk.skipped[-1] is element:
            walk.skipped.pop()
        else:
            walk.closes(element)
        if event == "end" and element is not root:
            walk.take(element.tail)
    walk.flush()
    walk.flush_list()


@dataclass(slots=True)
class _List:
    ordered: bool
    count: int = 0


@dataclass(slots=True)
class _Walk:
    """Where the walk stands: the text of the open paragraph, the items of the open list."""

    writer: Writer
    surroundings: bool
    below: int
    skipped: list[Element] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _lists: list[_List] = field(default_factory=list)
    _items: list[tuple[str, list[str]]] = field(default_factory=list)
    _preformatted: int = 0

    def opens(self, element: Element) -> bool:
        """Take note of an element; False says that what it holds is dealt with."""
        tag = _tag(element)
        if _is_unwanted(element, tag) or (tag in _SURROUNDINGS and self._surrounds(element, tag)):
            return False
        self._turn_page(element)
        if tag in _HEADINGS:
            self._stand_alone()
            self.writer.heading(flat_text(element), self.below + _HEADINGS[tag])
            return False
        if tag == "pre" and not self._preformatted:
            self._stand_alone()
            self.writer.code("".join(map(str, element.itertext())))
            return False
        if tag == "table" and not _is_layout(element):
            self._stand_alone()
            self._table(element)
            return False
        if tag == "br":
            self._text.append("\n")
        elif tag == "img":
            self._text.append(_spoken(element))
        elif tag in _BLOCKS:
            self.flush()
            if tag in _LISTS:
                self._lists.append(_List(tag == "ol", _number(element.get("start"), 1) - 1))
            elif tag in ("li", "dt", "dd"):
                self._item(tag)
        return True

    def take(self, text: str | None) -> None:
        if text:
            self._text.append(text.replace("\n", " "))

    def closes(self, element: Element) -> None:
        tag = _tag(element)
        if tag in _BLOCKS:
            self.flush()
            if tag in _LISTS and self._lists:
                self._lists.pop()
                if not self._lists:
                    self.flush_list()

    def flush(self) -> None:
        """Close the open paragraph, or the open part of a list item."""
        text = "".join(self._text)
        self._text.clear()
        if not text.strip():
            return
        if self._lists:
            if not self._items:
                self._items.append((self._indent(), []))
            self._items[-1][1].append(one_line(text))
        else:
            self.writer.paragraph(text)

    def flush_list(self) -> None:
        lines = [mark + " ".join(texts) for mark, texts in self._items if texts]
        self._items.clear()
        self.writer.list(lines)

    def _stand_alone(self) -> None:
        self.flush()
        self.flush_list()

    def _indent(self) -> str:
        return "  " * (min(len(self._lists), 9) - 1)

    def _item(self, tag: str) -> None:
        if not self._lists:
            self._lists.append(_List(False))  # an item outside a list: browsers show it as one
        lists = self._lists[-1]
        lists.count += 1
        if tag == "dd" and self._items:
            self._items[-1][1].append("–")
            return
        mark = f"{lists.count}. " if lists.ordered else "- "
        self._items.append((self._indent() + mark, []))

    def _surrounds(self, element: Element, tag: str) -> bool:
        return not self.surroundings and not (tag == "header" and element.find(".//h1") is not None)

    def _table(self, element: Element) -> None:
        for caption in element.iterchildren("caption"):
            self.writer.paragraph(flat_text(caption))
        rows = [
            [
                Cell(
                    flat_text(cell),
                    _number(cell.get("colspan"), 1),
                    _number(cell.get("rowspan"), 1),
                )
                for cell in row.iterchildren("td", "th")
                if not _is_hidden(cell)
            ]
            for row in element.iter("tr")
            if not _is_hidden(row)
        ]
        self.writer.table(spread(rows))

    def _turn_page(self, element: Element) -> None:
        """EPUB marks where the pages of the printed book begin."""
        kind = element.get(_PAGE_BREAK) or element.get("epub:type") or element.get("role") or ""
        if kind in ("pagebreak", "doc-pagebreak"):
            label = element.get("title") or element.get("aria-label") or ""
            if label.strip().isdecimal():
                self.flush()
                self.writer.page = _number(label, 0) or self.writer.page


def flat_text(element: Element) -> str:
    """All that is shown in an element, on one line."""
    if not len(element):
        return one_line(element.text or "")
    parts: list[str] = []
    events = etree.iterwalk(element, events=("start", "end"))
    skipped: Element | None = None
    for event, part in events:
        tag = _tag(part)
        if event == "start":
            if part is not element and _is_unwanted(part, tag):
                events.skip_subtree()
                skipped = part
                continue
            separates = ", " if tag == "li" and part.getprevious() is not None else " "
            if tag == "br" or (tag in _BLOCKS and part is not element):
                parts.append(separates)
            parts.append(_spoken(part) if tag == "img" else part.text or "")
            continue
        if part is skipped:
            skipped = None
        elif tag in _BLOCKS and part is not element:
            parts.append(" ")
        if part is not element:
            parts.append(part.tail or "")
    return one_line("".join(parts)).replace(" , ", ", ")


def _tag(element: Element) -> str:
    tag = element.tag
    return tag.lower() if isinstance(tag, str) else ""


def _is_unwanted(element: Element, tag: str) -> bool:
    if tag in _SKIPPED or not tag or element.get("role") in _SKIPPED_ROLES:
        return True
    classes = element.get("class")
    if classes and not _SKIPPED_CLASSES.isdisjoint(classes.split()):
        return True
    return _is_hidden(element)


def _is_hidden(element: Element) -> bool:
    if element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    style = element.get("style")
    return bool(style) and bool(_NO_DISPLAY.search(style or ""))


def _is_layout(table: Element) -> bool:
    """Whether a table only puts things side by side."""
    if table.get("role") in ("presentation", "none"):
        return True
    return any(True for _ in table.iterdescendants("table", "pre", *_HEADINGS))


def _spoken(image: Element) -> str:
    """What stands for an image, unless it is a mere label such as "icon" or a file's name."""
    text = one_line(image.get("alt") or "")
    return f" {text} " if " " in text and not _FILE_NAME.search(text) else " "


def _number(value: str | None, otherwise: int) -> int:
    digits = (value or "").strip()
    return int(digits) if digits.isdecimal() and len(digits) < 9 else otherwise
