"""Front matter: YAML at the head of Markdown files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import SourceError
from trivium.ingest import fields
from trivium.ingest.markdown import extract


def test_front_matter_is_read_and_the_body_stays_as_it_is() -> None:
    source = "\ufeff---\ntitle: Gravewind\ncreated: 2023-08-19\n---\n\n# Blade\n\nCold.\n"
    source = source.replace("\n", "\r\n")
    extraction = extract(source.encode(), "gravewind.md")
    assert extraction.fields == {"title": "Gravewind", "created": date(2023, 8, 19)}
    assert extraction.text == "\n# Blade\n\nCold.\n"
    assert extraction.title == "Gravewind"
    assert (extraction.media_type, extraction.extractor) == ("text/markdown", "markdown/1")
    heading, paragraph = extraction.blocks
    assert extraction.text[heading.start : heading.end] == "# Blade"
    assert extraction.text[paragraph.start : paragraph.end] == "Cold."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("---\na: 1\n...\nbody", "body"),
        ("---  \na: 1\n---", ""),
        ("---\n---\nbody", "body"),
        ("---\n# only a comment\n---\nbody", "body"),
        ("---\n\nnever closed", "---\n\nnever closed"),
        ("\n---\na: 1\n---\n", "\n---\na: 1\n---\n"),
        ("----\na: 1\n---\n", "----\na: 1\n---\n"),
    ],
)
def test_front_matter_begins_in_the_first_line_and_is_closed(source: str, text: str) -> None:
    assert extract(source.encode(), "a.md").text == text


@pytest.mark.parametrize(
    ("front", "message"),
    [
        ("title: a\ntags: [x\n", r"^a\.md, line 4: the front matter is not valid YAML"),
        ("title: Part 1: Fire\n", r"^a\.md, line 2: .*in quotes"),
        ("title: a\ndate: 2024-02-30\n", r"^a\.md, line 3: .*day is out of range"),
        ("title: a\nx: \x07\n", r"^a\.md, line 3: .*special characters"),
        ("- a\n- b\n", r"^a\.md, line 2: the front matter is a list, not fields"),
        ("just words\n", r"^a\.md, line 2: the front matter is text, not fields"),
        ("x: !!python/object:os.system {}\n", r"^a\.md, line 2: .*could not determine"),
        ("- " * 2_000 + "\n", r"^a\.md, line 2: .*nested too deeply"),
        ("x: &a [*a]\n", r"^a\.md, line 2: .*aliases stand for more"),
        ("x: " + "y" * 65_536 + "\n", r"^a\.md: the front matter is longer than 64 KB"),
    ],
)
def test_bad_front_matter_is_refused_with_file_and_line(front: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        extract(f"---\n{front}---\nbody".encode(), "a.md")


@pytest.mark.parametrize("form", ["[{0}, {0}]", "{{<<: [{0}, {0}], k{1}: 1}}"])
def test_a_yaml_bomb_does_not_go_off(form: str) -> None:
    lines = ["a0: &a0 {k: 1}"]
    lines += [f"a{n}: &a{n} " + form.format(f"*a{n - 1}", n) for n in range(1, 40)]
    with pytest.raises(SourceError, match="aliases stand for more than 100,000 values"):
        extract(("---\n" + "\n".join(lines) + "\n---\n").encode(), "bomb.md")


def test_a_few_aliases_are_fine() -> None:
    source = b"---\nbase: &b {x: 1}\nother: *b\nmore: {<<: *b, y: 2}\n---\n"
    assert extract(source, "a.md").fields["more"] == {"x": 1, "y": 2}


PIECES = ["title", ": ", ":", "\n", "- ", "-", "[", "]", ", ", '"', "'", " ", "  ", "#", "# c"]
PIECES += ["2024-05-31", "2024-13-99", "true", "no", "~", "null", "1.5", "0x1f", "1_000", ".inf"]
PIECES += ["dm-only", "...", "---", "=", "12:30:45", "08", "(", "/", "+", "@", "tags: [a, b]\n"]


@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join))
@settings(deadline=None, max_examples=400)
def test_the_loader_in_c_reads_plain_fields_as_the_one_in_python_does(source: str) -> None:
    def outcome(read: Callable[[], Any]) -> str:
        try:
            return repr(read())
        except yaml.YAMLError as error:
            return str(error)

    assert fields._PLAIN.fullmatch(source)
    quick, slow = lambda: fields._quickly_read(source), lambda: fields._read(source, "x.md")
    assert outcome(quick) == outcome(slow)
