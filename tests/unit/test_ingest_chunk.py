"""Chunking along structure."""

from __future__ import annotations

import pytest

from trivium.errors import InvalidValue
from trivium.ingest.blocks import Block, Extraction, sentences
from trivium.ingest.chunk import Chunking, chunk
from trivium.ingest.markdown import scan
from trivium.types import Passage


def count_words(text: str) -> int:
    return len(text.split())


def cut(text: str, size: int = 20, overlap: int = 0) -> list[str]:
    return [passage.text for passage in passages(text, size, overlap)]


def passages(text: str, size: int = 20, overlap: int = 0) -> tuple[Passage, ...]:
    return chunk(Extraction(text, scan(text)), Chunking(size, overlap), count_words)


def numbered(count: int, word: str = "w") -> str:
    return " ".join(f"{word}{number}" for number in range(count))


# --- sections ------------------------------------------------------------------------------------


def test_a_section_is_a_passage_and_knows_its_path() -> None:
    text = f"# Rules\n\nintro\n\n## Combat\n\n{numbered(9)}\n\n### Weapons\n\n{numbered(9)}\n"
    first, second, third = passages(text)
    assert (first.text, first.heading) == ("# Rules\n\nintro", ("Rules",))
    assert second.heading == ("Rules", "Combat")
    assert third.heading == ("Rules", "Combat", "Weapons")
    assert third.text == f"### Weapons\n\n{numbered(9)}"
    assert text[third.start : third.end] == third.text


def test_small_siblings_share_a_passage_and_their_common_path() -> None:
    text = "# A\n\n## B\n\n### C\n\nx\n\n### D\n\ny\n\n# E\n\nz"
    first, second = passages(text, size=40)
    assert first.text == "# A\n\n## B\n\n### C\n\nx\n\n### D\n\ny"
    assert first.heading == ("A", "B")
    assert (second.text, second.heading) == ("# E\n\nz", ("E",))


def test_small_sections_are_not_put_together_across_the_top_level() -> None:
    assert cut("# Title\n\n## A\n\nx\n\n## B\n\ny", size=100) == [
        "# Title\n\n## A\n\nx",
        "## B\n\ny",
    ]


def test_cousins_are_not_put_together() -> None:
    text = "# A\n\n## B\n\n### C\n\n#### D\n\nx\n\n### E\n\ny\n\n# F\n\nz"
    assert [passage.heading for passage in passages(text, size=40)] == [
        ("A", "B", "C", "D"),
        ("A", "B", "E"),
        ("F",),
    ]


def test_text_before_the_first_heading_has_no_path() -> None:
    assert [passage.heading for passage in passages("before\n\n# A\n\nx")] == [(), ("A",)]


@pytest.mark.parametrize("text", ["", " \n\n\t"])
def test_nothing_gives_nothing(text: str) -> None:
    assert passages(text) == ()


def test_text_outside_all_blocks_is_not_lost() -> None:
    extraction = Extraction("lost # found", (Block("heading", 5, 12, 1),))
    assert [passage.text for passage in chunk(extraction)] == ["lost", "# found"]


def test_pages_are_those_of_the_blocks() -> None:
    text = "one\n\ntwo\n\nthree"
    blocks = (Block("paragraph", 0, 3, page=4), Block("paragraph", 5, 8, page=5))
    assert chunk(Extraction(text, blocks))[0].pages == (4, 5)
    one, two = chunk(
        Extraction("# A\n\n# B", (Block("heading", 0, 3, 1, 7), Block("heading", 5, 8, 1)))
    )
    assert (one.pages, two.pages) == ((7, 7), None)


# --- cutting -------------------------------------------------------------------------------------


def test_long_sections_are_cut_between_blocks_and_evenly() -> None:
    text = "\n\n".join(numbered(8, letter) for letter in "abcd")
    first, second = cut(text, size=30)
    assert first == f"{numbered(8, 'a')}\n\n{numbered(8, 'b')}"
    assert second == f"{numbered(8, 'c')}\n\n{numbered(8, 'd')}"


def test_long_paragraphs_are_cut_at_sentences_then_at_words_then_hard() -> None:
    text = "One two three. Four five six. Seven eight nine."
    assert cut(text, size=7) == ["One two three. Four five six.", "Seven eight nine."]
    assert cut("a b c d e f", size=2) == ["a b", "c d", "e f"]
    letters = chunk(Extraction("abcdefgh"), Chunking(3, 0), len)
    assert [passage.text for passage in letters] == ["abc", "def", "gh"]


def test_a_heading_does_not_stay_behind_alone() -> None:
    assert cut("# Head\n\nOne two three. Four five six.", size=7) == [
        "# Head\n\nOne two three.",
        "Four five six.",
    ]


def test_a_table_that_fits_stays_whole() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"  # eleven words
    assert cut(f"{numbered(10)}\n\n{table}\n\n{numbered(10)}", size=12) == [
        numbered(10),
        table,
        numbered(10),
    ]


def test_a_long_table_is_cut_between_rows() -> None:
    rows = [f"| {number} | x |" for number in range(6)]
    text = "\n".join(["| a | b |", "|---|---|", *rows])
    pieces = cut(text, size=12)
    assert "\n".join(pieces) == text
    assert all(piece.startswith("|") and piece.endswith("|") for piece in pieces)


def test_a_long_list_is_cut_between_items() -> None:
    text = "- a b c\n  - d e\n- f g h\n- i j k"
    assert cut(text, size=8) == ["- a b c\n  - d e", "- f g h\n- i j k"]


def test_code_is_cut_at_blank_lines_and_keeps_its_indentation() -> None:
    text = "    a b c\n      d e\n\n    f g h"
    assert cut(text, size=5) == ["    a b c\n      d e", "    f g h"]


def test_the_overlap_is_whole_sentences_of_the_piece_before() -> None:
    text = "One two three. Four five. Six seven eight. Nine ten eleven."
    assert cut(text, size=8, overlap=3) == [
        "One two three. Four five. Six seven eight.",
        "Six seven eight. Nine ten eleven.",
    ]


def test_there_is_no_overlap_between_sections() -> None:
    assert cut("# A\n\none two\n\n# B\n\nthree", overlap=5) == ["# A\n\none two", "# B\n\nthree"]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_impossible_settings_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidValue, match="Write"):
        Chunking(size, overlap)


def test_the_version_is_known_without_an_instance() -> None:
    assert Chunking.version == Chunking().version == "structure/2"


def test_abbreviations_do_not_end_sentences() -> None:
    text = "Dr. No met J. R. Smith, e.g. at No. 5. “Why?” he asked! 竜は山。山は高い。 End"
    assert [text[start:end] for start, end in sentences(text, 0, len(text))] == [
        "Dr. No met J. R. Smith, e.g. at No. 5.",
        "“Why?” he asked!",
        "竜は山。",
        "山は高い。",
        "End",
    ]
