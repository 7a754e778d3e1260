"""Presentations (PPTX): slides as pages, titles as headings, tables, charts and notes."""

from __future__ import annotations

from dataclasses import dataclass

from lxml.etree import _Element as Element

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.docx_parts import math_text
from trivium.ingest.extract.grid import Cell, spread
from trivium.ingest.extract.package import Package, Relation, core_properties, related
from trivium.ingest.extract.trees import attribute, child, children, chosen, local, whole_number
from trivium.ingest.extract.writer import Writer, known_fields, one_line

EXTRACTOR = "pptx/1"
MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"

_TITLES = {"ctrTitle": 1, "title": 2}  # the title of the talk, the title of a slide
_FURNITURE = frozenset(("dt", "ftr", "sldNum", "hdr"))
_DEFAULT_NAMES = ("PowerPoint Presentation", "PowerPoint-Präsentation", "Présentation PowerPoint")


def extract(data: bytes, name: str) -> Extraction:
    """Slide by slide: the title, then the shapes in the order in which they are read aloud.

    A slide without a title gets the heading "Slide 3", so that its text does not seem to belong
    to the slide before it. Notes stand at the end of their slide.
    """
    package = Package(data)
    part = next(
        (one.target for one in package.relations("").values() if one.kind == "officeDocument"),
        "ppt/presentation.xml",
    )
    if part not in package:
        raise SourceError("it holds no presentation. Check what it is and rename it.")
    relations = package.relations(part)
    writer = Writer()
    number = 0
    for slide in children(child(package.xml(part), "sldIdLst")):
        relation = relations.get(related(slide))
        if relation is None or relation.target not in package:
            continue
        number += 1
        writer.page = number
        _Slide(package, relation.target, package.relations(relation.target), writer).read(number)
    properties = core_properties(package)
    title = properties.pop("title", "")
    title = "" if title in _DEFAULT_NAMES else title
    return writer.extraction(title, known_fields(**properties), MEDIA_TYPE, EXTRACTOR)


@dataclass(frozen=True, slots=True)
class _Slide:
    package: Package
    part: str
    relations: dict[str, Relation]
    writer: Writer

    def read(self, number: int) -> None:
        shapes = list(_shapes(child(self.package.xml(self.part), "cSld", "spTree")))
        title = next((shape for shape in shapes if _placeholder(shape) in _TITLES), None)
        text = one_line(" ".join(_paragraphs(title))) if title is not None else ""
        level = _TITLES[_placeholder(title)] if title is not None else 2
        self.writer.heading(text or f"Slide {number}", level)
        for shape in shapes:
            if shape is not title:
                self._shape(shape)
        for relation in self.relations.values():
            if relation.kind == "notesSlide" and relation.target in self.package:
                self._notes(self.package.xml(relation.target))

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _FURNITURE:
            return
        if local(shape) == "graphicFrame":
            self._graphic(shape)
            return
        paragraphs = children(child(shape, "txBody"), "p")
        texts = [(_text(one), _depth(one)) for one in paragraphs]
        texts = [(text, depth) for text, depth in texts if text]
        bulleted = kind in ("body", "obj", "content") or any(map(_has_bullet, paragraphs))
        if bulleted and len(texts) > 1:
            self.writer.list([f"{'  ' * depth}- {text}" for text, depth in texts])
        else:
            for text, _ in texts:
                self.writer.paragraph(text)
        if local(shape) == "pic":
            described = attribute(child(shape, "nvPicPr", "cNvPr"), "descr") or ""
            self.writer.paragraph(described if " " in described else "")

    def _graphic(self, frame: Element) -> None:
        data = child(frame, "graphic", "graphicData")
        table = child(data, "tbl")
        if table is not None:
            self.writer.table(spread([_cells(row) for row in children(table, "tr")]))
        for element in children(data):
            name, target = local(element), None
            if name == "chart":
                target = self.relations.get(related(element))
            elif name == "relIds":  # SmartArt
                target = self.relations.get(related(element, "dm"))
            if target is None or target.external or target.target not in self.package:
                continue
            tree = self.package.xml(target.target)
            if name == "chart":
                _write_chart(tree, self.writer)
            else:
                points = [_point(one) for one in tree.iter() if local(one) == "pt"]
                self.writer.list([f"- {text}" for text in points if text])

    def _notes(self, notes: Element) -> None:
        for shape in _shapes(child(notes, "cSld", "spTree")):
            if _placeholder(shape) == "body":
                text = "\n".join(_paragraphs(shape))
                self.writer.paragraph(f"Notes: {text}" if text else "")


def _shapes(tree: Element | None) -> list[Element]:
    """The shapes of a slide in order, groups taken apart, nothing that is hidden."""
    found: list[Element] = []
    waiting = list(reversed(tree)) if tree is not None else []
    while waiting:
        shape = waiting.pop()
        name = local(shape)
        if name == "grpSp":
            waiting.extend(reversed(shape))
        elif name == "AlternateContent":
            waiting.extend(reversed(chosen(shape)))
        elif name in ("sp", "pic", "graphicFrame", "cxnSp"):
            properties = child(next(iter(shape), None), "cNvPr")
            if attribute(properties, "hidden") not in ("1", "true"):
                found.append(shape)
    return found


def _placeholder(shape: Element | None) -> str:
    """What a shape stands for in its layout; "" for one of its own, "content" for no type."""
    properties = child(next(iter(shape), None) if shape is not None else None, "nvPr", "ph")
    return "" if properties is None else properties.get("type") or "content"


def _paragraphs(shape: Element) -> list[str]:
    texts = (_text(one) for one in children(child(shape, "txBody"), "p"))
    return [text for text in texts if text]


def _text(paragraph: Element) -> str:
    parts: list[str] = []
    waiting = list(reversed(paragraph))
    while waiting:
        part = waiting.pop()
        name = local(part)
        if name == "t":
            parts.append(part.text or "")
        elif name == "br":
            parts.append(" ")
        elif name == "oMath":
            parts.append(math_text(part))
        elif name == "AlternateContent":
            waiting.extend(reversed(chosen(part)))
        elif not name.endswith("Pr"):
            waiting.extend(reversed(part))
    return one_line("".join(parts))


def _depth(paragraph: Element) -> int:
    return max(0, min(whole_number(attribute(child(paragraph, "pPr"), "lvl")), 8))


def _has_bullet(paragraph: Element) -> bool:
    return bool(children(child(paragraph, "pPr"), "buChar", "buAutoNum", "buBlip"))


def _cells(row: Element) -> list[Cell]:
    cells = []
    for cell in children(row, "tc"):
        if "1" in (cell.get("hMerge"), cell.get("vMerge")):  # covered by another one
            continue
        columns = whole_number(cell.get("gridSpan"), 1)
        cells.append(
            Cell(" ".join(_paragraphs(cell)), columns, whole_number(cell.get("rowSpan"), 1))
        )
    return cells


def _point(point: Element) -> str:
    return one_line(" ".join(_text(one) for one in children(child(point, "t"), "p")))


def _write_chart(chart: Element, writer: Writer) -> None:
    """The numbers a chart was drawn from: a row for each category, a column for each series."""
    title = child(chart, "chart", "title", "tx", "rich")
    if title is not None:
        writer.paragraph(" ".join(_text(one) for one in children(title, "p")))
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in (one for one in chart.iter() if local(one) == "ser"):
        names.append(" ".join(_points(child(series, "tx")).values()))
        heads = child(series, "cat")
        categories.update(_points(heads if heads is not None else child(series, "xVal")))
        values = child(series, "val")
        columns.append(_points(values if values is not None else child(series, "yVal")))
    places = sorted({*categories, *(place for column in columns for place in column)})
    rows = [["Category", *names]]
    rows += [[categories.get(at, ""), *(column.get(at, "") for column in columns)] for at in places]
    writer.table(rows if len(rows) > 1 else [])


def _points(element: Element | None) -> dict[int, str]:
    found: dict[int, str] = {}
    for point in element.iter() if element is not None else ():
        if local(point) == "pt":
            value = child(point, "v")
            text = (value.text or "") if value is not None else ""
            found[whole_number(point.get("idx"))] = text.removesuffix(".0")
        elif local(point) == "v" and point.getparent() is element:
            found[0] = point.text or ""
    return found
