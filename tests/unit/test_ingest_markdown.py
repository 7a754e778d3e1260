"""Markdown: titles and blocks."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from trivium.ingest.blocks import heading_title
from trivium.ingest.markdown import extract, scan


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in scan(text)]


def kinds(text: str) -> list[str]:
    return [block.kind + str(block.level or "") for block in scan(text)]


# --- titles --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("## Two\n\n# One\n\n# Other", "One"),
        ("Set\next\n===", "Set ext"),
        ("```\n# code\n```\n\ntext", None),
        ("---\ntitle: 1984\n---\n# One", "1984"),
        ("---\ntitle:\n---\n# One", "One"),
        ("#\n\n# Second", None),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_heading(
    source: str, title: str | None
) -> None:
    assert extract(source.encode(), "a.md").title == title


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("## Weapons ##", "Weapons"),
        ("# C#", "C#"),
        ("Two\nlines\n-----", "Two lines"),
        ("### **Bold** and *fine* `code`", "Bold and fine code"),
        ("# [Link](https://x.y) to [[Gravewind|the blade]]", "Link to the blade"),
        ("# snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("## Anchored {#anchor}", "Anchored"),
        (r"# \*not bold\*", "*not bold*"),
        ('# <a id="x"></a>Events', "Events"),
        ("Plain heading of a Word file", "Plain heading of a Word file"),
        ("#", ""),
    ],
)
def test_a_heading_path_has_words_only(heading: str, title: str) -> None:
    assert heading_title(heading) == title


# --- blocks --------------------------------------------------------------------------------------


def test_a_page_with_everything() -> None:
    text = dedent(
        """\
        # Title
        Text right below,
        over two lines.

        Setext
        ------
        - one
          - nested

          still one
        - two
        lazy
        ***
        > quoted
        > more

        | a | b |
        |---|---|
        | 1 | 2 |

            indented

            code
        1. first
        2. second
        ```python
        # not a heading
        ```
        <div>
        # nor here
        </div>

        end
        """
    )
    assert blocks(text) == [
        ("heading", "# Title"),
        ("paragraph", "Text right below,\nover two lines."),
        ("heading", "Setext\n------"),
        ("list", "- one\n  - nested\n\n  still one\n- two\nlazy"),
        ("paragraph", "***"),
        ("paragraph", "> quoted\n> more"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("code", "    indented\n\n    code"),
        ("list", "1. first\n2. second"),
        ("code", "```python\n# not a heading\n```"),
        ("paragraph", "<div>\n# nor here\n</div>"),
        ("paragraph", "end"),
    ]
    assert [block.level for block in scan(text) if block.kind == "heading"] == [1, 2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (
            "# One\n## Two\n###### Six\n####### seven",
            ["heading1", "heading2", "heading6", "paragraph"],
        ),
        ("#tag is text", ["paragraph"]),
        ("```\n# a\n\n# b", ["code"]),
        ("~~~\n```\n# a\n~~~\n# b", ["code", "heading1"]),
        ("- a\n\n  ```\n  # a\n  ```\n# b", ["list", "heading1"]),
        ("- a\n- b\n\n\n- c", ["list"]),
        ("- a\n* b", ["list", "list"]),
        ("- a\n\ntext", ["list", "paragraph"]),
        ("text\n- a", ["paragraph", "list"]),
        ("in the year\n1986. It was", ["paragraph"]),
        ("a | b\n--|--\nc | d\n\ne", ["table", "paragraph"]),
        ("a | b\n--|--|--", ["paragraph"]),
        ("<!--\n# hidden\n\n# hidden\n-->\n# seen", ["paragraph", "heading1"]),
        ("\tcode\n\n\ttext", ["code"]),
        ("text\n    more", ["paragraph"]),
        ("> # quoted", ["paragraph"]),
    ],
)
def test_the_corners_of_commonmark(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


# --- the oracle ----------------------------------------------------------------------------------

ORACLE_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "blockquote_open": "paragraph",
    "html_block": "paragraph",
    "hr": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
}
# Without empty list items: markdown-it ends the list at two blank lines there, CommonMark does not.
LINES = (
    *(
        "# One",
        "## Two ##",
        "####### seven",
        "#",
        "#no",
        "text",
        "more text",
        "   three",
        "    four",
    ),
    *(
        "\tcode",
        "- item",
        "  in item",
        "    deep",
        "* star",
        "+ plus",
        "1. one",
        "2. two",
        "1) paren",
    ),
    *(
        "10. ten",
        "  - nested",
        "    1. nested",
        "> quote",
        "> - quoted",
        ">",
        "> # h",
        "> ```",
        "```",
    ),
    *(
        "~~~ py",
        "````",
        "  ```",
        "---",
        "***",
        "===",
        "| a | b |",
        "|---|---|",
        "|:-:|--|",
        "a | b",
    ),
    *("--|--", "| 1 | 2 |", r"x \| y", "<div>", "</div>", "<!-- c", "-->", "<b>bold</b>", "<b>"),
    *("<pre>", "</pre>", "", "", "", "", " "),
)


def oracle_blocks(text: str) -> list[tuple[str, int, int, int]]:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    lines = text.split("\n")
    found = []
    for token in parser.parse(text):
        if token.level == 0 and token.map and token.type in ORACLE_KINDS:
            first, stop = token.map
            while not lines[stop - 1].strip():
                stop -= 1
            level = int(token.tag[1]) if token.type == "heading_open" else 0
            found.append((ORACLE_KINDS[token.type], first, stop, level))
    return found


@settings(max_examples=400)
@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_the_blocks_are_those_of_markdown_it(lines: list[str]) -> None:
    text = "\n".join(lines)
    ours = [
        (
            block.kind,
            text.count("\n", 0, block.start),
            text.count("\n", 0, block.end) + 1,
            block.level,
        )
        for block in scan(text)
    ]
    assert ours == oracle_blocks(text)


@given(st.text(alphabet=st.sampled_from("#-*+>`~|=<! \t\n1.ab\\:/"), max_size=80))
def test_blocks_hold_every_character_in_order(text: str) -> None:
    position = 0
    for block in scan(text):
        assert not text[position : block.start].strip()
        assert block.start < block.end
        assert not text[block.start : block.end].endswith("\n")
        position = block.end
    assert not text[position:].strip()
