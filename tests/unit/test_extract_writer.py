"""What extractors write to: spans that are exact, tables that keep their heads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import writer as writing
from trivium.ingest.extract.grid import Cell, spread
from trivium.ingest.extract.writer import Writer, clean, known_fields, table_text


def done(writer: Writer, title: str | None = None) -> Extraction:
    return writer.extraction(title, {}, "text/x", "x/1")


def test_blocks_are_the_text_between_their_ends() -> None:
    writer = Writer()
    writer.heading("  Chapter\none ", 1)
    writer.page = 3
    writer.paragraph("First line \n\n second   line")
    writer.list(["- one", "  - two"])
    writer.code("def f():\n\treturn 1\n")
    extraction = done(writer)
    assert [
        (block.kind, block.level, block.page, extraction.text[block.start : block.end])
        for block in extraction.blocks
    ] == [
        ("heading", 1, None, "Chapter one"),
        ("paragraph", 0, 3, "First line\nsecond line"),
        ("list", 0, 3, "- one\n  - two"),
        ("code", 0, 3, "def f():\n    return 1"),
    ]
    assert extraction.title == "Chapter one"


@pytest.mark.parametrize("heading", ["1 Introduction", "2.3. Method", "Contents", "Inhalt"])
def test_a_numbered_heading_is_no_title(heading: str) -> None:
    writer = Writer()
    writer.heading(heading, 1)
    assert done(writer).title is None
    assert done(writer, "Given").title == "Given"


def test_what_cannot_be_stored_or_found_is_mended() -> None:
    assert (
        clean("a\x00b\x07\r\nc\u2028d\ud800 o\ufb03ce ha\u00adrd") == "ab\nc\nd\ufffd office hard"
    )
    assert clean("cafe\u0301") == "café"


def test_a_table_keeps_its_heads() -> None:
    rows = [["Name", "", "Note"], ["Gravewind", "", "an axe | a gift"], ["", "", ""]]
    assert table_text(rows) == ["| Name | Note |\n|---|---|\n| Gravewind | an axe \\| a gift |"]


def test_every_part_of_a_long_table_begins_with_the_head() -> None:
    rows = [["Number", "Square"], *([str(n), str(n * n)] for n in range(1000))]
    parts = table_text(rows)
    assert len(parts) > 10
    assert all(part.startswith("| Number | Square |\n|---|---|\n| ") for part in parts)
    assert sum(part.count("\n") - 1 for part in parts) == 1000


def test_what_stands_alone_above_a_table_is_a_paragraph() -> None:
    writer = Writer()
    writer.table([["Report of May", "", ""], ["Name", "Sum", ""], ["Maren", "3", ""]])
    extraction = done(writer)
    assert [block.kind for block in extraction.blocks] == ["paragraph", "table"]
    assert extraction.text == "Report of May\n\n| Name | Sum |\n|---|---|\n| Maren | 3 |"


def test_merged_cells_stand_in_every_place_that_they_cover() -> None:
    rows = [
        [Cell("Weapons of the March", columns=3)],
        [Cell("Axe", rows=2), Cell("heavy"), Cell("8")],
        [Cell("light", columns=2)],
    ]
    assert spread(rows) == [
        ["Weapons of the March", "", ""],
        ["Axe", "heavy", "8"],
        ["Axe", "light", "light"],
    ]


def test_a_span_beyond_reason_is_cut() -> None:
    assert spread([[Cell("x", columns=10**9, rows=10**9)]]) == [["x"] * 1000]
    grid = spread([[Cell("a" * 300, columns=3), Cell("b")]])
    assert grid == [["a" * 300, "", "", "b"]]  # long texts are not repeated


def test_a_text_beyond_reason_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LONGEST_TEXT", 100)
    writer = Writer()
    writer.paragraph("x" * 90)
    with pytest.raises(SourceError, match="Split it"):
        writer.paragraph("y" * 20)


def test_only_dates_that_are_dates_are_fields() -> None:
    assert known_fields(created="2024-05-31T18:30:00+02:00", updated="soon", author=" A  B ") == {
        "created": "2024-05-31T16:30:00.000000Z",
        "author": "A B",
    }
    assert known_fields(created="0001-01-01", keywords=["a", " "], subject="") == {
        "keywords": ["a"]
    }


texts = st.text(max_size=60)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("heading"), texts),
            st.tuples(st.just("paragraph"), texts),
            st.tuples(st.just("code"), texts),
            st.tuples(st.just("list"), st.lists(texts, max_size=4)),
            st.tuples(st.just("table"), st.lists(st.lists(texts, max_size=4), max_size=4)),
        ),
        max_size=8,
    )
)
def test_spans_are_exact_whatever_is_written(parts: list[tuple[str, object]]) -> None:
    writer = Writer()
    for kind, content in parts:
        if kind == "heading":
            writer.heading(str(content), 1)
        else:
            getattr(writer, kind)(content)
    extraction = done(writer)
    position = 0
    for block in extraction.blocks:
        assert extraction.text[position : block.start].strip() == ""
        piece = extraction.text[block.start : block.end]
        assert piece.strip()
        assert not piece.endswith("\n")
        position = block.end
    assert extraction.text[position:] == ""
