"""Small files of many formats, made by hand: what a test says stands in them, and nothing else."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
SLIDES = "http://schemas.openxmlformats.org/presentationml/2006/main"
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE_LINKS = "http://schemas.openxmlformats.org/package/2006/relationships"
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return buffer.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    """Links of a part: (id, kind, target)."""
    links = "".join(
        f'<Relationship Id="{id}" Type="{LINKS}/{kind}" Target="{target}"/>'
        for id, kind, target in targets
    )
    return f'<Relationships xmlns="{PACKAGE_LINKS}">{links}</Relationships>'


_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:dcterms="http://purl.org/dc/terms/">{}</cp:coreProperties>'
)


def docx(body: str, *, core: str = "", **parts: str) -> bytes:
    """A Word document; further parts such as `styles` and `numbering` are linked to it."""
    names = {name: f"word/{name}.xml" for name in parts}
    space = f'xmlns:w="{WORD}" xmlns:m="{MATH}"'
    links = [(f"r{at}", name, f"{name}.xml") for at, name in enumerate(parts)]
    return zipped(
        {
            "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
            "word/document.xml": f"<w:document {space}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(*links),
            "docProps/core.xml": _CORE.format(core),
            **{
                names[name]: f"<w:{name} {space}>{content}</w:{name}>"
                for name, content in parts.items()
            },
        }
    )


def words(text: str, *, style: str = "", numbered: tuple[str, int] | None = None) -> str:
    """A paragraph of a Word document."""
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if numbered:
        number, depth = numbered
        properties += f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


STYLES = "".join(
    f'<w:style w:styleId="{id}"><w:name w:val="{name}"/></w:style>'
    for id, name in (("Title", "Title"), ("H1", "heading 1"), ("H2", "heading 2"), ("C", "Code"))
)


def pptx(slides: Sequence[str], notes: Mapping[int, str] | None = None) -> bytes:
    """A presentation of slides that are given as the XML of their shapes."""
    space = f'xmlns:p="{SLIDES}" xmlns:a="{DRAWING}" xmlns:r="{LINKS}"'
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + at}" r:id="r{at}"/>' for at in numbers)
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {space}><p:sldIdLst>{ids}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"r{at}", "slide", f"slides/slide{at}.xml") for at in numbers)
        ),
    }
    for at, shapes in zip(numbers, slides, strict=True):
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        parts[f"ppt/slides/slide{at}.xml"] = f"<p:sld {space}>{tree}</p:sld>"
        if notes and at in notes:
            parts[f"ppt/slides/_rels/slide{at}.xml.rels"] = relations(
                ("n", "notesSlide", f"../notesSlides/n{at}.xml")
            )
            body = shape(notes[at], "body")
            tree = f"<p:cSld><p:spTree>{body}</p:spTree></p:cSld>"
            parts[f"ppt/notesSlides/n{at}.xml"] = f"<p:notes {space}>{tree}</p:notes>"
    return zipped(parts)


def shape(text: str, kind: str = "") -> str:
    """A shape of a slide, one paragraph a line."""
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/><p:cNvSpPr/>{place}</p:nvSpPr>'
        f"<p:txBody>{paragraphs}</p:txBody></p:sp>"
    )


def xlsx(sheets: Mapping[str, str], *, styles: str = "", strings: Sequence[str] = ()) -> bytes:
    """A workbook of sheets that are given as the XML inside `worksheet`."""
    space = f'xmlns="{SHEETS}" xmlns:r="{LINKS}"'
    named = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>'
        for at, name in enumerate(sheets, start=1)
    )
    links = [
        (f"r{at}", "worksheet", f"worksheets/sheet{at}.xml") for at, _ in enumerate(sheets, start=1)
    ]
    links += [("s", "styles", "styles.xml"), ("t", "sharedStrings", "sharedStrings.xml")]
    items = "".join(f"<si><t>{text}</t></si>" for text in strings)
    return zipped(
        {
            "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f"<workbook {space}><sheets>{named}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(*links),
            "xl/styles.xml": f"<styleSheet {space}>{styles}</styleSheet>",
            "xl/sharedStrings.xml": f"<sst {space}>{items}</sst>",
            **{
                f"xl/worksheets/sheet{at}.xml": f"<worksheet {space}>{content}</worksheet>"
                for at, content in enumerate(sheets.values(), start=1)
            },
        }
    )


def epub(chapters: Mapping[str, str], *, contents: Mapping[str, str] | None = None) -> bytes:
    """A book of XHTML files in this order; `contents` names them in the table of contents."""
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at, _ in enumerate(chapters))
    links = "".join(f'<a href="{name}">{label}</a>' for name, label in (contents or {}).items())
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="O/b.opf"/>'
            "</rootfiles></container>",
            "O/b.opf": '<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
            "<dc:title>A Book</dc:title><dc:creator>Ysolde Varn</dc:creator></metadata>"
            f'<manifest>{items}<item id="n" href="nav.xhtml" properties="nav" '
            f'media-type="application/xhtml+xml"/></manifest><spine>{spine}</spine></package>',
            "O/nav.xhtml": f"<html><body><nav>{links}</nav></body></html>",
            **{f"O/{name}": text for name, text in chapters.items()},
        }
    )


def compound(streams: Mapping[str, bytes]) -> bytes:
    """An OLE container, as old Office files and encrypted new ones are."""
    sectors: list[bytes] = []
    table: list[int] = []
    entries = [_entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1)]
    for at, (name, content) in enumerate(streams.items(), start=1):
        data = content.ljust(4096, b"\0")  # as short ones would lie in a container of their own
        first = len(sectors)
        pieces = [data[start : start + 512] for start in range(0, len(data), 512)]
        sectors += [piece.ljust(512, b"\0") for piece in pieces]
        table += [*range(first + 1, first + len(pieces)), 0xFFFFFFFE]
        following = at + 1 if at < len(streams) else 0xFFFFFFFF
        entries.append(_entry(name, 2, first, len(data), right=following))
    directory = b"".join(entries)
    first_directory = len(sectors)
    pieces = [directory[start : start + 512] for start in range(0, len(directory), 512)]
    sectors += [piece.ljust(512, b"\0") for piece in pieces]
    table += [*range(first_directory + 1, first_directory + len(pieces)), 0xFFFFFFFE]
    table.append(0xFFFFFFFD)
    assert len(table) <= 128
    sectors.append(struct.pack("<128I", *table, *[0xFFFFFFFF] * (128 - len(table))))
    head = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(16)
    head += struct.pack("<HHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, first_directory, 0, 4096,
                        0xFFFFFFFE, 0, 0xFFFFFFFE, 0)  # fmt: skip
    head += struct.pack("<109I", len(sectors) - 1, *[0xFFFFFFFF] * 108)
    return head + b"".join(sectors)


def _entry(
    name: str, kind: int, start: int, size: int, *, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF
) -> bytes:
    text = name.encode("utf-16-le")
    return (
        (text + b"\0\0").ljust(64, b"\0")
        + struct.pack("<HBBIII", len(text) + 2, kind, 1, 0xFFFFFFFF, right, child)
        + bytes(36)
        + struct.pack("<IQ", start, size)
    )


# --- PDF -----------------------------------------------------------------------------------------


_LETTERS = b"/Encoding /WinAnsiEncoding"


class Text(NamedTuple):
    """A line of text on a page; `y` counts from the bottom, as PDF does."""

    x: float
    y: float
    text: str
    size: float = 10
    font: str = "F1"  # F1 Helvetica, F2 bold, F3 Courier


class Rule(NamedTuple):
    """A drawn line."""

    x0: float
    y0: float
    x1: float
    y1: float


def pdf(
    pages: Sequence[Sequence[Text | Rule]],
    *,
    info: str = "",
    turned: int = 0,
    outline: Sequence[tuple[str, int]] = (),
) -> bytes:
    """A PDF of A4 pages. `outline` are (title, page from 1 on)."""
    objects: list[bytes] = [b""] * 6
    objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica %s >>" % _LETTERS
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold %s >>" % _LETTERS
    objects[4] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier %s >>" % _LETTERS
    objects[5] = f"<< {info} >>".encode()
    numbers = []
    for page in pages:
        content = "\n".join(map(_drawn, page)).encode("cp1252")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate %d /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> >>"
            % (turned, len(objects))
        )
        numbers.append(len(objects))
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {len(numbers)} >>".encode()
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    if outline:
        root = len(objects) + 1
        objects[0] = f"<< /Type /Catalog /Pages 2 0 R /Outlines {root} 0 R >>".encode()
        objects.append(f"<< /First {root + 1} 0 R /Last {root + len(outline)} 0 R >>".encode())
        for at, (title, target_page) in enumerate(outline, start=1):
            following = f"/Next {root + at + 1} 0 R" if at < len(outline) else ""
            target = f"/Dest [{numbers[target_page - 1]} 0 R /Fit]"
            entry = f"<< /Title ({title}) /Parent {root} 0 R {target} {following} >>"
            objects.append(entry.encode())
    return _assembled(objects)


def _drawn(item: Text | Rule) -> str:
    if isinstance(item, Rule):
        return f"{item.x0} {item.y0} m {item.x1} {item.y1} l S"
    escaped = item.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /{item.font} {item.size} Tf 1 0 0 1 {item.x} {item.y} Tm ({escaped}) Tj ET"


def _assembled(objects: Sequence[bytes]) -> bytes:
    data = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer << /Size %d /Root 1 0 R /Info 6 0 R >>\n" % (len(objects) + 1)
    data += b"startxref\n%d\n%%%%EOF\n" % start
    return bytes(data)


def picture_pdf(pages: int = 1) -> bytes:
    """A PDF whose pages are pictures, as a scanner makes them."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray "
        b"/BitsPerComponent 8 /Length 4 >>\nstream\n\x00\xff\xff\x00\nendstream",
        b"<< /Length 34 >>\nstream\nq 595 0 0 842 0 0 cm /I Do Q      \nendstream",
        b"<< >>",
        b"<< >>",
    ]
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /XObject << /I 3 0 R >> >> >>"
    )
    kids = " ".join(f"{7 + at} 0 R" for at in range(pages))
    objects[1] = f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode()
    return _assembled([*objects, *[page] * pages])
