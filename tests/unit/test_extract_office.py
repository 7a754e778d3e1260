"""Word, PowerPoint and Excel, from XML that a test writes down."""

from __future__ import annotations

import io
import zipfile

import pytest
from handmade import STYLES, docx, pptx, shape, words, xlsx, zipped

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import docx as word
from trivium.ingest.extract import package
from trivium.ingest.extract import pptx as slides
from trivium.ingest.extract import sheet as sheets


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [
        (f"{block.kind}{block.level or ''}", extraction.text[block.start : block.end])
        for block in extraction.blocks
    ]


# --- Word ----------------------------------------------------------------------------------------


def test_styles_make_headings_lists_and_code() -> None:
    numbering = """<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/>
        <w:lvlText w:val="%1."/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/>
        <w:lvlText w:val="%2)"/></w:lvl></w:abstractNum>
        <w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>"""
    document = docx(
        words("The March", style="Title")
        + words("Travel", style="H1")
        + words("By foot.")
        + words("pack", numbered=("1", 0))
        + words("food", numbered=("1", 1))
        + words("rope", numbered=("1", 1))
        + words("walk", numbered=("1", 0))
        + words("x = 1", style="C")
        + words("y = 2", style="C"),
        styles=STYLES,
        numbering=numbering,
        core="<dc:creator>Maren</dc:creator><dcterms:created>2024-05-31T08:00:00Z</dcterms:created>",
    )
    extraction = word.extract(document, "a.docx")
    assert blocks(extraction) == [
        ("heading1", "The March"),
        ("heading1", "Travel"),
        ("paragraph", "By foot."),
        ("list", "1. pack\n  a) food\n  b) rope\n2. walk"),
        ("code", "x = 1\ny = 2"),
    ]
    assert extraction.title == "The March"
    assert extraction.fields == {"author": "Maren", "created": "2024-05-31T08:00:00.000000Z"}


def test_styles_take_over_from_the_style_they_stand_on() -> None:
    styles = """<w:style w:styleId="A"><w:name w:val="heading 2"/></w:style>
        <w:style w:styleId="B"><w:name w:val="Mine"/><w:basedOn w:val="A"/></w:style>
        <w:style w:styleId="X"><w:name w:val="x"/><w:basedOn w:val="Y"/></w:style>
        <w:style w:styleId="Y"><w:name w:val="y"/><w:basedOn w:val="X"/></w:style>"""
    document = docx(words("In", style="B") + words("Circle", style="X"), styles=styles)
    assert blocks(word.extract(document, "a.docx")) == [("heading2", "In"), ("paragraph", "Circle")]


def test_tracked_changes_are_read_as_accepted() -> None:
    body = """<w:p><w:r><w:t>The </w:t></w:r><w:del><w:r><w:delText>old </w:delText></w:r></w:del>
        <w:ins><w:r><w:t>new </w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>no</w:t></w:r>
        <w:r><w:t>king</w:t></w:r></w:p>"""
    assert word.extract(docx(body), "a.docx").text == "The new king"


def test_notes_and_comments_follow_their_paragraph() -> None:
    body = """<w:p><w:r><w:t>The axe</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>
        <w:r><w:commentReference w:id="0"/></w:r></w:p>""" + words("Next.")
    document = docx(
        body,
        footnotes=f'<w:footnote w:id="2">{words("Lost since 1204.")}</w:footnote>',
        comments=f'<w:comment w:id="0" w:author="Pip">{words("Really?")}</w:comment>',
    )
    assert blocks(word.extract(document, "a.docx")) == [
        ("paragraph", "The axe"),
        ("paragraph", "[1] Lost since 1204."),
        ("paragraph", "Comment by Pip: Really?"),
        ("paragraph", "Next."),
    ]


def test_merged_cells_of_a_table() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<w:tc><w:tcPr>{more}</w:tcPr>{words(text)}</w:tc>"

    span, start, down = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        cell("Arm") + cell("Damage", span),
        cell("Axe", start) + cell("one hand") + cell("6"),
        cell("", down) + cell("two hands") + cell("8"),
    )
    table = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    assert blocks(word.extract(docx(table), "a.docx")) == [
        (
            "table",
            "| Arm | Damage | Damage |\n|---|---|---|\n"
            "| Axe | one hand | 6 |\n| Axe | two hands | 8 |",
        )
    ]


def test_formulas_are_words_too() -> None:
    body = """<w:p><m:oMath><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r><m:t>c</m:t></m:r></m:e>
        <m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup><m:r><m:t>, </m:t></m:r><m:f><m:num><m:r>
        <m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></w:p>"""
    assert word.extract(docx(body), "a.docx").text == "E=mc^2, (a+b)/2"


def test_pages_are_those_that_word_counted() -> None:
    turn = "<w:p><w:r><w:lastRenderedPageBreak/><w:t>second</w:t></w:r></w:p>"
    plain = docx(words("first") + turn)
    assert [block.page for block in word.extract(plain, "a.docx").blocks] == [None, None]
    parts = {"docProps/app.xml": "<Properties><Pages>2</Pages></Properties>"}
    with_count = _with_parts(plain, parts)
    assert [block.page for block in word.extract(with_count, "a.docx").blocks] == [1, 2]


def _with_parts(data: bytes, more: dict[str, str]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts: dict[str, str | bytes] = {name: packed.read(name) for name in packed.namelist()}
    return zipped({**parts, **more})


# --- PowerPoint ----------------------------------------------------------------------------------


def test_slides_are_pages_and_their_titles_headings() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<a:tc {more}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    head = cell("Arm") + cell("Damage", 'gridSpan="2"') + cell("", 'hMerge="1"')
    row = cell("Axe") + cell("6") + cell("8")
    table = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="t"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData><a:tbl><a:tr>{head}</a:tr><a:tr>{row}</a:tr></a:tbl>"
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )
    deck = pptx(
        [
            shape("The March", "ctrTitle") + shape("A talk"),
            shape("first\nsecond", "body") + shape("Roads", "title") + shape("3", "sldNum"),
            f"<p:grpSp>{shape('inside')}</p:grpSp>{table}",
        ],
        notes={2: "Do not forget the bridge."},
    )
    extraction = slides.extract(deck, "a.pptx")
    pages = [block.page for block in extraction.blocks]
    assert list(zip(blocks(extraction), pages, strict=True)) == [
        (("heading1", "The March"), 1),
        (("paragraph", "A talk"), 1),
        (("heading2", "Roads"), 2),
        (("list", "- first\n- second"), 2),
        (("paragraph", "Notes: Do not forget the bridge."), 2),
        (("heading2", "Slide 3"), 3),
        (("paragraph", "inside"), 3),
        (("table", "| Arm | Damage | Damage |\n|---|---|---|\n| Axe | 6 | 8 |"), 3),
    ]


# --- Excel ---------------------------------------------------------------------------------------

_STYLES = """<numFmts><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/></numFmts><cellXfs>
    <xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="164"/><xf numFmtId="22"/>
    </cellXfs>"""


def test_cells_show_what_a_person_sees() -> None:
    values = {
        "date": '<c r="B2" s="1"><v>45443</v></c>',
        "own date": '<c r="B3" s="3"><v>45443</v></c>',
        "time": '<c r="B4" s="4"><v>45443.75</v></c>',
        "share": '<c r="B5" s="2"><v>0.102</v></c>',
        "whole": '<c r="B6"><v>3.0</v></c>',
        "float": '<c r="B7"><v>0.30000000000000004</v></c>',
        "yes": '<c r="B8" t="b"><v>1</v></c>',
        "error": '<c r="B9" t="e"><v>#DIV/0!</v></c>',
    }
    head = '<c r="A1" t="inlineStr"><is><t>Kind</t></is></c><c r="B1" t="s"><v>0</v></c>'
    rows = f'<sheetData><row r="1">{head}</row>'
    for at, (name, cell) in enumerate(values.items(), start=2):
        label = f'<c r="A{at}" t="inlineStr"><is><t>{name}</t></is></c>'
        rows += f'<row r="{at}">{label}{cell}</row>'
    rows += '<row r="10" hidden="1"><c r="A10"><v>1</v></c></row></sheetData>'
    extraction = sheets.extract(
        xlsx({"Kinds": rows, "Empty": ""}, styles=_STYLES, strings=["Value"]), "a.xlsx"
    )
    assert blocks(extraction) == [
        ("heading1", "Kinds"),
        (
            "table",
            "| Kind | Value |\n|---|---|\n| date | 2024-05-31 |\n| own date | 2024-05-31 |\n"
            "| time | 2024-05-31 18:00:00 |\n| share | 10.2% |\n| whole | 3 |\n| float | 0.3 |\n"
            "| yes | TRUE |\n| error | #DIV/0! |",
        ),
    ]
    assert extraction.title is None  # the file's name says more than "Kinds"


def test_merged_heads_stand_over_all_their_columns() -> None:
    rows = """<sheetData><row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>2024</v></c></row>
        <row r="2"><c r="A2"><v>5</v></c><c r="B2"><v>6</v></c><c r="C2"><v>7</v></c></row>
        </sheetData><mergeCells><mergeCell ref="B1:C1"/></mergeCells>"""
    assert blocks(sheets.extract(xlsx({"S": rows}), "a.xlsx"))[1] == (
        "table",
        "| 1 | 2024 | 2024 |\n|---|---|---|\n| 5 | 6 | 7 |",
    )


def test_cells_without_a_place_follow_the_one_before_also_if_that_is_empty() -> None:
    rows = """<sheetData><row><c><v>1</v></c><c><v>2</v></c><c><v>3</v></c></row>
        <row><c><v>4</v></c><c/><c><v>6</v></c></row>
        <row><c r="B3"><v>8</v></c><c><v>9</v></c></row></sheetData>"""
    assert blocks(sheets.extract(xlsx({"S": rows}), "a.xlsx"))[1] == (
        "table",
        "| 1 | 2 | 3 |\n|---|---|---|\n| 4 |  | 6 |\n|  | 8 | 9 |",
    )


def test_what_is_no_number_is_shown_as_it_stands_and_loses_no_sheet() -> None:
    rows = """<sheetData><row><c><v>NaN</v></c><c><v>1e999</v></c></row>
        <row><c><v>-INF</v></c><c><v>2.50</v></c></row></sheetData>"""
    assert blocks(sheets.extract(xlsx({"S": rows}), "a.xlsx"))[1] == (
        "table",
        "| NaN | 1e999 |\n|---|---|\n| -INF | 2.5 |",
    )


def test_signs_that_xml_cannot_hold_are_read_in_their_spelling() -> None:
    rows = """<sheetData><row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row></sheetData>"""
    strings = ["one_x000D_two", "a_x005F_x000D_b"]
    assert blocks(sheets.extract(xlsx({"S": rows}, strings=strings), "a.xlsx"))[1] == (
        "table",
        "| one two | a_x000D_b |\n|---|---|",
    )


def test_a_banner_over_the_whole_sheet_is_said_once() -> None:
    rows = """<sheetData><row r="1"><c r="A1"><v>2024</v></c></row>
        <row r="2"><c r="A2"><v>5</v></c><c r="B2"><v>6</v></c><c r="C2"><v>7</v></c></row>
        <row r="3"><c r="A3"><v>8</v></c></row></sheetData>
        <mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A3:B3"/></mergeCells>"""
    text = sheets.extract(xlsx({"S": rows}), "a.xlsx").text
    assert text.count("2024") == 1
    assert "| 8 | 8 |" in text  # two of three columns: not the whole


# --- bombs and ruins -----------------------------------------------------------------------------


def test_a_part_that_unpacks_beyond_reason_is_a_bomb() -> None:
    bomb = docx(words("x") + " " * 20_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(
        SourceError, match=r"document\.xml unpacks to .* times its size: a zip bomb"
    ):
        word.extract(bomb, "bomb.docx")


def test_all_parts_together_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "LARGEST_PART", 1000)
    with pytest.raises(SourceError, match="unpacks to more than"):
        word.extract(docx(words("x" * 5000)), "a.docx")


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]><w:document><w:body>&l9;</w:body></w:document>'
    parts = {"_rels/.rels": "<Relationships/>", "word/document.xml": bomb}
    with pytest.raises(SourceError, match="XML"):
        word.extract(zipped(parts), "bomb.docx")
    sheet = {"S": "<sheetData/>"}
    mined = _with_parts(xlsx(sheet), {"xl/worksheets/sheet1.xml": bomb})
    with pytest.raises(SourceError, match="XML"):
        sheets.extract(mined, "bomb.xlsx")


@pytest.mark.parametrize("length", [0, 10, 100, -100, -1])
def test_a_file_that_was_cut_short_is_damaged(length: int) -> None:
    whole = docx(words("text"))
    with pytest.raises(SourceError, match="damaged"):
        word.extract(whole[:length], "a.docx")


def test_a_package_without_its_document_says_so() -> None:
    for reader, what in ((word, "Word document"), (slides, "presentation"), (sheets, "workbook")):
        with pytest.raises(SourceError, match=f"holds no {what}"):
            reader.extract(zipped({"a.txt": "x"}), "a.zip")
