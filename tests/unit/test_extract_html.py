"""HTML pages, chapters of books, and what is made of broken ones."""

from __future__ import annotations

import time

import pytest
from handmade import epub, zipped

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import epub as books
from trivium.ingest.extract import html as pages


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [
        (f"{block.kind}{block.level or ''}", extraction.text[block.start : block.end])
        for block in extraction.blocks
    ]


def read(source: str) -> list[tuple[str, str]]:
    return blocks(pages.extract(source.encode(), "page.html"))


def test_the_content_without_what_surrounds_it() -> None:
    page = """<html lang=en><head><title>Shop - Emberfold</title>
        <meta name=author content="Hedda"><meta property="article:published_time"
        content="2024-05-31"></head><body>
        <header><a href=/>Home</a></header><nav><ul><li>Menu</ul></nav>
        <main><h1>Emberfold</h1><p>The city of <b>smiths</b>
        lies under the mountain.</p><script>track()</script><p hidden>secret</p>
        <div style="display: none">hidden too</div></main>
        <aside>Advertisement</aside><footer>Imprint</footer></body></html>"""
    extraction = pages.extract(page.encode(), "page.html")
    assert blocks(extraction) == [
        ("heading1", "Emberfold"),
        ("paragraph", "The city of smiths lies under the mountain."),
    ]
    assert extraction.title == "Emberfold"
    assert extraction.fields == {
        "author": "Hedda",
        "language": "en",
        "created": "2024-05-31T00:00:00.000000Z",
    }


def test_lists_keep_their_numbers_and_depth() -> None:
    assert read(
        "<ol start=3><li>draw<li>strike<ul><li>twice</ul></ol><dl><dt>Axe<dd>eight</dl>"
    ) == [
        ("list", "3. draw\n4. strike\n  - twice"),
        ("list", "- Axe – eight"),
    ]


def test_tables_keep_rows_and_heads() -> None:
    table = """<table><caption>Arms</caption><tr><th>Arm<th colspan=2>Damage
        <tr><td rowspan=2>Axe<td>one hand<td>6<tr><td>two<br>hands<td>8</table>"""
    assert read(table) == [
        ("paragraph", "Arms"),
        (
            "table",
            "| Arm | Damage | Damage |\n|---|---|---|\n"
            "| Axe | one hand | 6 |\n| Axe | two hands | 8 |",
        ),
    ]


def test_a_table_that_only_arranges_is_taken_apart() -> None:
    assert read("<table role=presentation><tr><td><h2>Left</h2>one<td>two</table>") == [
        ("heading2", "Left"),
        ("paragraph", "one"),
        ("paragraph", "two"),
    ]


def test_code_keeps_its_lines() -> None:
    assert read("<p>See:<pre>if x:\n    y()</pre>end") == [
        ("paragraph", "See:"),
        ("code", "if x:\n    y()"),
        ("paragraph", "end"),
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<p>Grüße".encode(), "Grüße"),
        ('<meta charset="iso-8859-1"><p>Grüße “x”'.encode("cp1252"), "Grüße “x”"),
        ("<p>Grüße".encode("utf-16"), "Grüße"),
        ("<meta charset=shift_jis><p>佐藤太郎".encode("shift_jis"), "佐藤太郎"),
        ("<meta charset=nonsense><p>Grüße".encode(), "Grüße"),
        (b"<p>5 &lt; 6 &amp;&nbsp;7 & 8 &#x2014; &unknown;", "5 < 6 & 7 & 8 — &unknown;"),
    ],
)
def test_characters_are_what_was_meant(data: bytes, text: str) -> None:
    assert pages.extract(data, "page.html").text == text


def test_depth_has_an_end() -> None:
    assert read("<div>" * 1000 + "deep") == [("paragraph", "deep")]
    with pytest.raises(SourceError, match=r"nested more than 2,048 levels deep\. Save it again"):
        read("<div>" * 100_000 + "deep")


def test_a_large_page_takes_linear_time() -> None:
    start = time.process_time()
    read("<ul>" + "<li><b>x</b><i>y</i>" * 20_000 + "</ul>" + "<table>" + "<tr><td>a<td>b" * 20_000)
    assert time.process_time() - start < 10


@pytest.mark.parametrize("source", ["", "   ", "<!-- only -->", "<html></html>", "<p>"])
def test_an_empty_page_is_empty(source: str) -> None:
    assert pages.extract(source.encode(), "page.html").blocks == ()


# --- books ---------------------------------------------------------------------------------------


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    book = epub(
        {
            "z.xhtml": "<html><head><title/></head><body><h1>One</h1><p>a&nbsp;b</p></body></html>",
            "a.xhtml": '<html xmlns:epub="http://www.idpf.org/2007/ops"><body>'
            '<span epub:type="pagebreak" title="12"/><p>without a heading</p></body></html>',
            "m.xhtml": "<html><body><p>broken &nope; <b>markup</p></body></html>",
        },
        contents={"a.xhtml": "The Second Chapter"},
    )
    extraction = books.extract(book, "book.epub")
    assert [
        (*one, block.page) for one, block in zip(blocks(extraction), extraction.blocks, strict=True)
    ] == [
        ("heading1", "One", None),
        ("paragraph", "a b", None),
        ("heading1", "The Second Chapter", None),
        ("paragraph", "without a heading", 12),
        ("paragraph", "broken &nope; markup", 12),
    ]
    assert (extraction.title, extraction.fields["author"]) == ("A Book", "Ysolde Varn")


def test_a_protected_book_is_named_as_such() -> None:
    parts = {
        "META-INF/encryption.xml": '<encryption><EncryptionMethod Algorithm="http://ns.adobe.com/'
        'adept/xmlenc#aes128-cbc"/></encryption>',
        "META-INF/container.xml": "<container/>",
    }
    with pytest.raises(SourceError, match="protected by DRM"):
        books.extract(zipped(parts), "book.epub")


def test_a_book_that_leads_nowhere_is_damaged() -> None:
    with pytest.raises(SourceError, match="no list of its chapters"):
        books.extract(zipped({"META-INF/container.xml": "<container/>"}), "book.epub")


def test_an_old_book_may_name_its_document_types_and_lack_its_contents() -> None:
    doctype = '<!DOCTYPE package PUBLIC "-//OEB 1.2 Package//EN" "http://example.org/oeb.dtd">'
    item = '<item id="{0}" href="{0}" media-type="{1}"/>'
    items = item.format("a.html", "text/html") + item.format("b.ncx", "application/x-dtbncx+xml")
    package = (
        f"{doctype}<package><metadata><title>Old</title></metadata><manifest>{items}</manifest>"
        '<spine><itemref idref="a.html"/></spine></package>'
    )
    parts = {
        "META-INF/container.xml": '<container><rootfile full-path="b.opf"/></container>',
        "b.opf": package,
        "a.html": "<html><body><p>Lamps.</p></body></html>",
        "b.ncx": "<ncx><navPoint>",
    }
    extraction = books.extract(zipped(parts), "book.epub")
    assert (extraction.title, extraction.text) == ("Old", "Lamps.")
    bomb = package.replace('oeb.dtd">', 'oeb.dtd" [<!ENTITY a "aaaa">]>')
    with pytest.raises(SourceError, match="declares a document type"):
        books.extract(zipped({**parts, "b.opf": bomb}), "book.epub")


def test_merged_cells_cannot_make_a_table_of_millions() -> None:
    row = "<tr><td colspan=1000 rowspan=60000>x</td></tr>"
    assert len(pages.extract(f"<table>{row * 100}</table>".encode(), "page.html").text) < 1_000_000
