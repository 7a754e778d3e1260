"""PDF pages that a test draws: what stands where decides what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from handmade import Rule, Text, pdf, picture_pdf

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import pdf as reader

PROSE = (
    "The road from Hollowgate follows the river for nine",
    "miles before it climbs, and whoever walks it should",
    "carry water, because the wells above the ford have",
    "been dry since the summer of the long drought, and",
    "the ferryman sells what he draws at three coins.",
)


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [
        (f"{block.kind}{block.level or ''}", extraction.text[block.start : block.end])
        for block in extraction.blocks
    ]


def prose(x: float, top: float, lines: tuple[str, ...] = PROSE) -> list[Text]:
    return [Text(x, top - 12 * at, line) for at, line in enumerate(lines)]


def test_headings_by_their_size_and_weight() -> None:
    page = [
        Text(72, 780, "The Book of Roads", 24),
        *prose(72, 740),
        Text(72, 640, "Roads in the north", 16, "F2"),
        *prose(72, 610),
        Text(72, 520, "Tolls and fees", 10, "F2"),
        *prose(72, 500),
    ]
    extraction = reader.extract(pdf([page]), "a.pdf")
    whole = ("paragraph", " ".join(PROSE))
    assert blocks(extraction) == [
        ("heading1", "The Book of Roads"),
        whole,
        ("heading2", "Roads in the north"),
        whole,
        ("heading3", "Tolls and fees"),
        whole,
    ]
    assert extraction.title == "The Book of Roads"
    assert {block.page for block in extraction.blocks} == {1}


def test_the_outline_decides_the_level() -> None:
    pages = [
        [Text(72, 700, "1 Setting out", 12), *prose(72, 660)],
        [Text(72, 700, "2 Coming home", 12), *prose(72, 660)],
    ]
    document = pdf(pages, outline=[("Setting out", 1), ("Coming home", 2)])
    headings = [one for one in blocks(reader.extract(document, "a.pdf")) if one[0] != "paragraph"]
    assert headings == [("heading1", "1 Setting out"), ("heading1", "2 Coming home")]


def test_two_columns_are_read_one_after_the_other() -> None:
    left = tuple(f"left {at} " + "word " * 7 for at in range(8))
    right = tuple(f"right {at} " + "word " * 7 for at in range(8))
    drawn = []
    for at in range(8):  # written line by line across both columns, as some programs do
        drawn += [Text(60, 700 - 12 * at, left[at]), Text(310, 700 - 12 * at, right[at])]
    page = [Text(150, 750, "A title above both of the columns", 18), *drawn]
    text = reader.extract(pdf([page]), "a.pdf").text
    order = [text.index(f"left {at} ") for at in range(8)]
    order += [text.index(f"right {at} ") for at in range(8)]
    assert order == sorted(order)


def test_a_table_with_borders() -> None:
    cells = [["Arm", "Hands", "Damage"], ["Axe", "two", "8"], ["Sword", "one", "6"]]
    page: list[Text | Rule] = [
        Text(80 + 100 * column, 688 - 20 * row, text)
        for row, line in enumerate(cells)
        for column, text in enumerate(line)
    ]
    page += [Rule(72, 700 - 20 * at, 372, 700 - 20 * at) for at in range(4)]
    page += [Rule(72 + 100 * at, 700, 72 + 100 * at, 640) for at in range(4)]
    assert blocks(reader.extract(pdf([[*prose(72, 600), *page]]), "a.pdf"))[0] == (
        "table",
        "| Arm | Hands | Damage |\n|---|---|---|\n| Axe | two | 8 |\n| Sword | one | 6 |",
    )


def test_a_table_without_borders() -> None:
    cells = [["Arm", "Hands", "Damage"], ["Axe", "two", "8"], ["", "", "10"], ["Sword", "one", "6"]]
    page = [
        Text(80 + 100 * column, 688 - 16 * row, text)
        for row, line in enumerate(cells)
        for column, text in enumerate(line)
        if text
    ]
    assert blocks(reader.extract(pdf([[*prose(72, 600), *page]]), "a.pdf"))[0] == (
        "table",
        "| Arm | Hands | Damage |\n|---|---|---|\n"
        "| Axe | two | 8 |\n|  |  | 10 |\n| Sword | one | 6 |",
    )


def test_divided_words_are_made_whole() -> None:
    lines = (
        "whoever wants to cross the river must have permis-",
        "sion of the well-known ferryman",
    )
    assert reader.extract(pdf([prose(72, 700, lines)]), "a.pdf").text == (
        "whoever wants to cross the river must have permission of the well-known ferryman"
    )


def test_lists_and_code() -> None:
    page = [
        *prose(72, 700),
        Text(72, 620, "• bring a rope"),
        Text(72, 608, "• bring a lamp that lasts"),
        Text(84, 596, "for a whole night"),
        Text(72, 570, "def cross(river):", 10, "F3"),
        Text(96, 558, "return river.far_side", 10, "F3"),
    ]
    assert blocks(reader.extract(pdf([page]), "a.pdf"))[1:] == [
        ("list", "- bring a rope\n- bring a lamp that lasts for a whole night"),
        ("code", "def cross(river):\n    return river.far_side"),
    ]


def test_headers_footers_and_page_numbers_are_left_out() -> None:
    pages = [
        [
            Text(72, 810, f"{at + 4} The Book of Roads"),
            Text(72, 700, f"On page {at} there is something else."),
            Text(72, 30, "Printed at Quillhaven"),
            Text(300, 30, str(at + 4)),
        ]
        for at in range(4)
    ]
    extraction = reader.extract(pdf(pages), "a.pdf")
    assert [
        (text, block.page)
        for (_, text), block in zip(blocks(extraction), extraction.blocks, strict=True)
    ] == [(f"On page {at} there is something else.", at + 1) for at in range(4)]


def test_a_page_that_is_turned_is_read_as_it_is_seen() -> None:
    upright = reader.extract(pdf([prose(72, 700)]), "a.pdf").text
    assert reader.extract(pdf([prose(72, 700)], turned=90), "a.pdf").text == upright


def test_what_the_file_says_about_itself() -> None:
    info = "/Title (Roads) /Author (Maren) /Keywords (road, toll)"
    info += " /CreationDate (D:20240531183000+02'00')"
    extraction = reader.extract(pdf([prose(72, 700)], info=info), "a.pdf")
    assert extraction.title == "Roads"
    assert extraction.fields == {
        "author": "Maren",
        "keywords": ["road", "toll"],
        "created": "2024-05-31T16:30:00.000000Z",
    }
    for nobody in ("untitled", "(anonymous)", "Microsoft Word - roads.docx"):
        extraction = reader.extract(pdf([prose(72, 700)], info=f"/Title ({nobody})"), "a.pdf")
        assert extraction.title is None


@pytest.mark.parametrize("length", [9, 200, 600])
def test_a_file_that_was_cut_short(length: int) -> None:
    with pytest.raises(SourceError, match=r"damaged PDF file|no text|0 pages"):
        reader.extract(pdf([prose(72, 700)])[:length], "a.pdf")


# --- pictures ------------------------------------------------------------------------------------


def test_a_scan_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SourceError, match=r"no text in 2 pages: scanned\? install tesseract"):
        reader.extract(picture_pdf(2), "scan.pdf")


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of that name which, like the real one, takes a picture and prints what it says."""
    program = tmp_path / "tesseract"
    program.write_text(
        "#!/bin/sh\n"
        'test "$1 $2" = "stdin stdout" || exit 1\n'
        "head -c 2 | grep -q P5 || exit 1\n"
        "cat > /dev/null\n"
        'printf "REPORT of\\nthe clinic\\n\\nAll is well.\\n"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.mark.usefixtures("tesseract")
def test_tesseract_reads_pictures_where_it_is_installed() -> None:
    extraction = reader.extract(picture_pdf(2), "scan.pdf")
    assert [
        (text, block.page)
        for (_, text), block in zip(blocks(extraction), extraction.blocks, strict=True)
    ] == [
        ("REPORT of the clinic", 1),
        ("All is well.", 1),
        ("REPORT of the clinic", 2),
        ("All is well.", 2),
    ]
    assert extraction.extractor == "pdf+tesseract/1"


@pytest.mark.usefixtures("tesseract")
def test_tesseract_has_its_time() -> None:
    with pytest.raises(SourceError, match="no text in 1 page"):
        reader.extract(picture_pdf(), "scan.pdf", ocr_seconds=0)
