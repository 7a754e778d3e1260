"""Word documents (DOCX), read from their XML.

The libraries that were tried lose formulas, comments, footnotes, text boxes, tracked insertions or
the numbers of headings; all of it is plain to see in the XML.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml.etree import _Element as Element

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.docx_parts import Inline, Numbering, Styles, inline
from trivium.ingest.extract.grid import Cell, spread
from trivium.ingest.extract.package import Package, core_properties
from trivium.ingest.extract.trees import attribute, child, children, chosen, local, whole_number
from trivium.ingest.extract.writer import Writer, known_fields, one_line

EXTRACTOR = "docx/1"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

_WRAPPERS = frozenset(
    ["sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo", "body", "AlternateContent"]
)


def extract(data: bytes, name: str) -> Extraction:
    """The document's text in its order. Notes and comments follow the block that they belong to.

    Pages are given when Word has written down where they begin and how many there are.
    """
    package = Package(data)
    part = next(
        (one.target for one in package.relations("").values() if one.kind == "officeDocument"),
        "word/document.xml",
    )
    if part not in package:
        raise SourceError("it holds no Word document. Check what it is and rename it.")
    relations = {one.kind: one.target for one in package.relations(part).values()}
    body = child(package.xml(part), "body")
    writer = Writer()
    if body is not None:
        reader = _Reader(
            writer,
            Styles(_part(package, relations.get("styles"))),
            Numbering(_part(package, relations.get("numbering"))),
            {
                kind: _notes(_part(package, relations.get(kind)))
                for kind in ("footnotes", "endnotes", "comments")
            },
        )
        writer.page = 1 if _knows_pages(package, body) else None
        reader.read(body)
        reader.finish()
    properties = core_properties(package)
    title = properties.pop("title", None)
    return writer.extraction(title, known_fields(**properties), MEDIA_TYPE, EXTRACTOR)


def _part(package: Package, name: str | None) -> Element | None:
    return package.optional(name) if name else None


def _notes(root: Element | None) -> dict[str, Element]:
    return {attribute(note, "id") or "": note for note in children(root)}


def _knows_pages(package: Package, body: Element) -> bool:
    """Whether Word's marks of where pages begin add up to the number of pages it counted."""
    pages = child(package.properties("docProps/app.xml"), "Pages")
    counted = whole_number(pages.text) if pages is not None else 0
    marks = sum(1 for one in body.iter() if local(one) == "lastRenderedPageBreak")
    return counted == marks + 1


@dataclass(slots=True)
class _Reader:
    """Walks a body and writes its blocks; items of a list are held back until it ends."""

    writer: Writer
    styles: Styles
    numbering: Numbering
    notes: dict[str, dict[str, Element]]
    _items: list[str] = field(default_factory=list)
    _code: list[str] = field(default_factory=list)
    _noted: int = 0

    def read(self, element: Element) -> None:
        for part in element:
            name = local(part)
            if name == "p":
                self._paragraph(part)
            elif name == "tbl":
                self._table(part)
            elif name == "AlternateContent":
                self.read(chosen(part))
            elif name in _WRAPPERS:
                self.read(part)

    def finish(self) -> None:
        self._end_list()
        self._end_code()

    def _end_list(self) -> None:
        self.writer.list(self._items)
        self._items = []

    def _end_code(self) -> None:
        self.writer.code("\n".join(self._code))
        self._code = []

    def _paragraph(self, paragraph: Element) -> None:
        properties = child(paragraph, "pPr")
        style = self.styles[attribute(child(properties, "pStyle"), "val") or "Normal"]
        found = inline(paragraph)
        self._turn(found.pages_before)
        if style.is_contents:  # the headings themselves follow
            self._turn(found.pages_within)
            return
        outline = whole_number(attribute(child(properties, "outlineLvl"), "val"), -1) + 1
        level = style.level or (outline if 0 < outline < 10 else 0)
        numbered = self._numbered(properties) or style.numbering
        if child(properties, "numPr") is not None and self._numbered(properties) is None:
            numbered = None  # taken out of the list by hand
        text = one_line(found.text)
        mark = self.numbering.mark(*numbered) if numbered and text else ""
        if style.is_code and not level:
            self._end_list()
            self._code.append(found.text)
        elif numbered and not level and text:
            self._end_code()
            self._items.append(f"{'  ' * min(numbered[1], 8)}{mark or '-'} {text}")
        elif text or found.boxes or found.notes:
            self.finish()
            if level:
                self.writer.heading(text if mark in ("", "-") else f"{mark} {text}", level)
            else:
                self.writer.paragraph(found.text)
        self._turn(found.pages_within)
        self._attached(found)

    def _numbered(self, properties: Element | None) -> tuple[str, int] | None:
        numbering = child(properties, "numPr")
        number = attribute(child(numbering, "numId"), "val")
        if not number or number == "0":
            return None
        return number, whole_number(attribute(child(numbering, "ilvl"), "val"))

    def _turn(self, pages: int) -> None:
        if self.writer.page is not None and pages:
            self.finish()
            self.writer.page += pages

    def _attached(self, found: Inline) -> None:
        """Text boxes, notes and comments, behind the block at which they hang."""
        if found.boxes or found.notes:
            self.finish()
        for box in found.boxes:
            self.read(box)
            self.finish()
        for kind, id in found.notes:
            note = self.notes[kind].get(id)
            text = _note_text(note) if note is not None else ""
            if not text:
                continue
            if kind == "comments":
                author = attribute(note, "author") or "unknown"
                self.writer.paragraph(f"Comment by {author}: {text}")
            else:
                self._noted += 1
                self.writer.paragraph(f"[{self._noted}] {text}")

    def _table(self, table: Element) -> None:
        self.finish()
        attached: list[Inline] = []
        rows = [_row(row, attached) for row in _within(table, "tr")]
        cells = [cell for row in rows for cell in row]
        if len(cells) == 1:  # a box around text
            for cell in _within(next(_within(table, "tr")), "tc"):
                self.read(cell)
            self.finish()
            return
        self.writer.table(spread(_joined(rows)))
        self._turn(sum(one.pages_before + one.pages_within for one in attached))
        for one in attached:
            self._attached(Inline(notes=one.notes))


def _within(element: Element, name: str) -> Iterator[Element]:
    """Rows of a table, cells of a row: also where content controls are wrapped around them."""
    for part in element:
        if local(part) == name:
            yield part
        elif local(part) in _WRAPPERS:
            yield from _within(part, name)


def _row(row: Element, attached: list[Inline]) -> list[Cell]:
    cells = []
    skipped = whole_number(attribute(child(row, "trPr", "gridBefore"), "val"))
    if 0 < skipped < 64:
        cells.append(Cell("", skipped))
    for cell in _within(row, "tc"):
        properties = child(cell, "tcPr")
        columns = whole_number(attribute(child(properties, "gridSpan"), "val"), 1)
        merged = child(properties, "vMerge")
        continues = merged is not None and attribute(merged, "val") in (None, "continue")
        # A cell that goes on from the row above is counted as no row; `_joined` puts it there.
        cells.append(Cell(_cell_text(cell, attached), columns, 0 if continues else 1))
    return cells


def _cell_text(cell: Element, attached: list[Inline]) -> str:
    texts = []
    for paragraph in cell.iter():
        if local(paragraph) == "p":
            found = inline(paragraph)
            attached.append(found)
            texts.append(found.text)
    return one_line(" ".join(texts))


def _joined(rows: list[list[Cell]]) -> list[list[Cell]]:
    """The rows with cells that go on downwards counted in the cell they began in."""
    above: dict[int, tuple[int, int]] = {}
    result: list[list[Cell]] = []
    for at, row in enumerate(rows):
        column = 0
        kept: list[Cell] = []
        for cell in row:
            start = above.get(column)
            if cell.rows == 0 and start:
                first, place = start
                whole = result[first][place]
                result[first][place] = whole._replace(rows=at - first + 1)
            else:
                above[column] = (at, len(kept))
                kept.append(cell._replace(rows=1))
            column += max(cell.columns, 1)
        result.append(kept)
    return result


def _note_text(note: Element) -> str:
    paragraphs = (one for one in note.iter() if local(one) == "p")
    return " ".join(filter(None, (one_line(inline(one).text) for one in paragraphs)))
