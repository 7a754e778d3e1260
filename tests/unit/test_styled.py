"""Styled lines: what rich would print, without loading it."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from trivium.cli.styled import Screen, Styled, columns, harmless, wrapped

STYLES = st.sampled_from(["", "bold", "dim", "bold yellow"])
TEXTS = st.lists(st.tuples(st.text("ab,. \n漢字é█", max_size=40), STYLES), max_size=4)


def plain(lines: Iterable[Styled]) -> list[str]:
    return ["".join(piece for piece, _ in line) for line in lines]


WORDS = st.text("ab,.漢é█", min_size=1, max_size=4)  # at most eight columns
BETWEEN = st.sampled_from([" ", " ", "  ", "\n", "\n\n"])


@given(st.lists(st.tuples(WORDS, BETWEEN, STYLES), max_size=20), st.integers(8, 30))
def test_lines_break_where_rich_breaks_them(words: list[tuple[str, str, str]], width: int) -> None:
    text = [(word + between, style) for word, between, style in words]
    console = Console(width=width, file=io.StringIO())
    whole = Text("".join(piece for piece, _ in text))
    theirs = [line.plain.rstrip() for line in whole.wrap(console, width, overflow="fold")]
    assert plain(wrapped(text, width)) == (theirs or [""])


@given(TEXTS, st.integers(2, 30))
def test_no_line_is_too_wide_and_nothing_is_lost(text: list[tuple[str, str]], width: int) -> None:
    lines = plain(wrapped(text, width))
    assert all(columns(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join("".join(piece for piece, _ in text).split())


def test_a_style_goes_on_in_the_next_line() -> None:
    text = [("the salt ", ""), ("road to the", "bold cyan"), (" sea", "")]
    assert list(wrapped(text, 12)) == [
        [("the salt", "")],
        [("road to the", "bold cyan")],
        [("sea", "")],
    ]


def test_a_word_that_is_wider_than_a_line_is_broken() -> None:
    assert [line[0][0] for line in wrapped([("an axe-and-shield", "")], 6)] == [
        "an",
        "axe-an",
        "d-shie",
        "ld",
    ]


@pytest.mark.parametrize(
    ("screen", "shown"),
    [
        (Screen(80, styles=True, colours=True), "\x1b[1;33maxe\x1b[0m, old\n"),
        (Screen(80, styles=True, colours=False), "\x1b[1maxe\x1b[0m, old\n"),
        (Screen(80, styles=False, colours=False), "axe, old\n"),
    ],
)
def test_a_screen_shows_what_it_can(
    screen: Screen, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout", out := Terminal())
    screen.write([("axe", "bold yellow"), (", old  ", "")])
    assert out.getvalue() == shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return -1  # nobody knows how wide it is


@pytest.mark.parametrize(
    ("environment", "screen"),
    [
        ({"TERM": "xterm", "COLUMNS": "72"}, Screen(72, styles=True, colours=True)),
        ({"TERM": "xterm"}, Screen(80, styles=True, colours=True)),
        ({"TERM": "xterm", "NO_COLOR": "1"}, Screen(80, styles=True, colours=False)),
        ({"TERM": "xterm", "NO_COLOR": ""}, Screen(80, styles=True, colours=True)),
        ({"TERM": "dumb"}, Screen(80, styles=False, colours=False)),
    ],
)
def test_a_terminal_says_what_it_can(
    environment: dict[str, str], screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TERM", "COLUMNS", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert Screen.of() == screen


def test_a_pipe_is_wide_and_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert Screen.of() == Screen(120, styles=False, colours=False)


def test_no_document_steers_the_terminal() -> None:
    assert harmless("a\x1b[31mb\rc\td\n") == "a\ufffd[31mb\ufffdc\td\n"
