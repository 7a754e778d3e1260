"""Formats that are text underneath: CSV, source code, RTF, e-mail."""

from __future__ import annotations

import pytest
from handmade import compound

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import code, email, msg, rtf, table


def blocks(extraction: Extraction) -> list[tuple[str, str]]:
    return [
        (f"{block.kind}{block.level or ''}", extraction.text[block.start : block.end])
        for block in extraction.blocks
    ]


# --- CSV -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "a,b\n1,2\n",
        "a;b\r\n1;2\r\n",
        "a\tb\n1\t2",
        "a|b\n1|2",
        "\ufeffa,b\n1,2",
        '"a","b"\n"1","2"',
    ],
)
def test_the_separator_is_found_out(source: str) -> None:
    assert table.extract(source.encode(), "x.csv").text == "| a | b |\n|---|---|\n| 1 | 2 |"


def test_cells_may_hold_separators_and_lines() -> None:
    source = b'name;note\n"Tull; Brannoc";"first\nsecond"\n'
    assert table.extract(source, "x.csv").text == (
        "| name | note |\n|---|---|\n| Tull; Brannoc | first second |"
    )


def test_a_list_of_one_column_is_no_table() -> None:
    assert blocks(table.extract(b"one\ntwo\n", "x.csv")) == [
        ("paragraph", "one"),
        ("paragraph", "two"),
    ]


def test_a_cell_beyond_reason_is_named() -> None:
    source = 'a,b\n1,"' + "x" * 2_000_000
    with pytest.raises(SourceError, match="row 2 cannot be read"):
        table.extract(source.encode(), "x.csv")


# --- source code ---------------------------------------------------------------------------------

PYTHON = '''"""Roads."""

import math


@cache
def length(road):
    """How long."""

    return math.dist(*road)


class Bridge:
    toll = 3

    def cross(self):
        pass
'''

GO = """package march

// Toll is what a crossing costs.
func Toll(n int) int {

\treturn 3 * n
}

type Road struct {
\tName string
}
"""


def test_every_definition_is_a_block() -> None:
    extraction = code.extract(PYTHON.encode(), "src/roads.py")
    assert extraction.title == "roads.py"
    assert extraction.text == PYTHON
    assert [text.split("\n")[0] for _, text in blocks(extraction)] == [
        '"""Roads."""',
        "import math",
        "@cache",
        "class Bridge:",
    ]
    assert {kind for kind, _ in blocks(extraction)} == {"code"}


def test_a_brace_at_the_margin_closes_and_does_not_begin() -> None:
    assert [text.split("\n")[0] for _, text in blocks(code.extract(GO.encode(), "a.go"))] == [
        "package march",
        "// Toll is what a crossing costs.",
        "type Road struct {",
    ]


# --- RTF -----------------------------------------------------------------------------------------

RTF = rb"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Cyr;}}
{\stylesheet{\s0 Normal;}{\s1\b heading 1;}}
{\info{\title The March}{\author Maren}{\creatim\yr2024\mo5\dy31\hr8\min30}}
{\*\unknown secret}{\header running head}
\pard\s1 Roads\par
\pard\plain By the Varn\'fc {\f1\'cf\'e5\'f2\'fc} \u8212? or {\b not}.\line Two \{lines\}.\par
\pard{\listtext\'b7\tab}\ilvl0 pack\par{\listtext 1.\tab}\ilvl1 rope\par
\trowd\pard\intbl Arm\cell Damage\cell\row\trowd\intbl Axe\cell 8\cell\row
\pard\outlinelevel1 Bridges\par
\pard Emoji \u-10179?\u-8704?\par}"""


def test_rtf_has_headings_lists_and_tables() -> None:
    extraction = rtf.extract(RTF, "a.rtf")
    assert blocks(extraction) == [
        ("heading1", "Roads"),
        ("paragraph", "By the Varnü Петь — or not.\nTwo {lines}."),
        ("list", "- pack\n  1. rope"),
        ("table", "| Arm | Damage |\n|---|---|\n| Axe | 8 |"),
        ("heading2", "Bridges"),
        ("paragraph", "Emoji 😀"),
    ]
    assert extraction.title == "The March"
    assert extraction.fields == {"author": "Maren", "created": "2024-05-31T08:30:00.000000Z"}


def test_rtf_beyond_reason() -> None:
    assert rtf.extract(b"{\\rtf1 cut short {\\b in the mid", "a.rtf").text == "cut short in the mid"
    assert rtf.extract(b"{\\rtf1 }}}}} x\\", "a.rtf").text == "x"
    assert rtf.extract(b"{\\rtf1 a\\bin5 {{{{{b}", "a.rtf").text == "ab"
    assert rtf.extract(b"{\\rtf1 a\\bin5 {}xyzb{\\b c}}", "a.rtf").text == "abc"
    with pytest.raises(SourceError, match="nested more than 10,000 deep"):
        rtf.extract(b"{\\rtf1 " + b"{" * 20_000, "a.rtf")
    with pytest.raises(SourceError, match="it is not RTF"):
        rtf.extract(b"plain", "a.rtf")


# --- e-mail --------------------------------------------------------------------------------------

MAIL = """From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
To: pip@example.org
Subject: =?utf-8?b?RGllIEJyw7xja2U=?=
Date: Fri, 31 May 2024 18:30:00 +0200
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain

plain
--c
Content-Type: text/html; charset=utf-8

<h1>Toll</h1><p>Three coins.</p>
--c--
--b
Content-Type: application/pdf
Content-Disposition: attachment; filename="map.pdf"

JVBERi0=
--b
Content-Type: message/rfc822

From: odrick@example.org
Subject: Before

Is it open?

Yours
--b--
"""


def test_an_e_mail_with_what_is_attached() -> None:
    extraction = email.extract(MAIL.encode(), "a.eml")
    assert blocks(extraction) == [
        ("heading1", "Die Brücke"),
        (
            "paragraph",
            "From: Jürgen <j@example.org>\nTo: pip@example.org\n"
            "Date: Fri, 31 May 2024 18:30:00 +0200\nAttachments: map.pdf",
        ),
        ("heading2", "Toll"),
        ("paragraph", "Three coins."),
        ("heading2", "Before"),
        ("paragraph", "From: odrick@example.org"),
        ("paragraph", "Is it open?"),
        ("paragraph", "Yours"),
    ]
    assert extraction.title == "Die Brücke"
    assert extraction.fields["created"] == "2024-05-31T16:30:00.000000Z"


def test_rtf_keeps_signs_of_two_halves_and_closes_footnotes() -> None:
    smile = rb"\u-10179?\u-8694?"
    source = (
        rb"{\rtf1{\info{\title Feast " + smile + rb"}}A note{\footnote see {\b here}} goes on.}"
    )
    extraction = rtf.extract(source, "a.rtf")
    assert extraction.title == "Feast \N{SMILING FACE WITH SMILING EYES}"
    assert extraction.text == "A note [see here] goes on."


@pytest.mark.parametrize(
    ("charset", "said", "read"),
    [
        ("utf-8", "Café, crème, brûlée ".encode() + b"\xc3", "Café, crème, brûlée \ufffd"),
        ("us-ascii", b"\x81 and \xe9 and \x8d", "\ufffd and \ufffd and \ufffd"),
    ],
)
def test_a_mail_with_a_broken_byte_is_read(charset: str, said: bytes, read: str) -> None:
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n".encode()
    assert email.extract(head + said, "a.eml").text == f"x\n\n{read}"


def test_broken_mail() -> None:
    with pytest.raises(SourceError, match="it is no e-mail"):
        email.extract(b"just text\n\nwithout a header", "a.eml")
    odd = b"Subject: x\nDate: never\nContent-Type: text/plain; charset=nonsense\n\nGr\xfc\xdfe"
    assert email.extract(odd, "a.eml").text == "x\n\nDate: never\n\nGrüße"
    endless = b"Subject: x\nContent-Type: multipart/mixed; boundary=a\n\n" + b"--a\n" * 1000
    assert email.extract(endless, "a.eml").text == "x"


def test_an_outlook_message_that_is_none() -> None:
    with pytest.raises(SourceError, match="it is no Outlook message"):
        msg.extract(compound({"Something": b"x"}), "a.msg")
    with pytest.raises(SourceError, match="damaged Outlook message"):
        msg.extract(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), "a.msg")
