"""Plain text."""

from __future__ import annotations

from trivium.ingest.blocks import Block
from trivium.ingest.plain import extract


def test_paragraphs_are_split_at_blank_lines() -> None:
    extraction = extract(b"\r\n  First\r\nline\r\n \t\r\n\r\nSecond  \n", "a.txt")
    assert extraction.text == "\n  First\nline\n \t\n\nSecond  \n"
    assert extraction.blocks == (Block("paragraph", 1, 13), Block("paragraph", 18, 24))
    assert [extraction.text[b.start : b.end] for b in extraction.blocks] == [
        "  First\nline",
        "Second",
    ]
    assert extraction.title is None
    assert (extraction.media_type, extraction.extractor) == ("text/plain", "plain/1")


def test_an_empty_file_has_no_blocks() -> None:
    assert extract(b"", "a.txt").blocks == ()
    assert extract(b" \n\n ", "a.txt").blocks == ()


def test_marks_of_markdown_mean_nothing() -> None:
    assert [block.kind for block in extract(b"# not\n\n- a\n- b", "a.rst").blocks] == [
        "paragraph",
        "paragraph",
    ]
