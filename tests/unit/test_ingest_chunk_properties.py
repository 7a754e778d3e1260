"""What holds for the passages of every text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.embed.minilm import MiniLM
from trivium.ingest.blocks import Block, Extraction, blank_free
from trivium.ingest.chunk import Chunking, chunk, estimate_tokens
from trivium.ingest.markdown import scan

# --- the estimate --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("the quick fox", 3),
        ("internationalisation", 3),
        ("1986, 12", 4),
        ("гном", 2),
        ("竜は山。", 4),
    ],
)
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(), st.text())
def test_the_whole_is_never_more_than_its_parts(one: str, other: str) -> None:
    assert estimate_tokens(one + other) <= estimate_tokens(one) + estimate_tokens(other)


# --- what always holds ---------------------------------------------------------------------------

MODEL = MiniLM()
PIECES = st.sampled_from(
    [
        *(
            "# A\n",
            "## B\n",
            "### C\n",
            "#### D\n",
            "\n\n",
            "\n",
            "\n\n",
            "word ",
            "Sentence here. ",
        ),
        *("- item one\n", "  - nested item\n", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n"),
        *(
            "```\ncode = 1\n\nmore()\n```\n",
            "longwordwithoutanend" * 3,
            "竜は山。",
            "    indented\n",
        ),
        *("> quote\n", "Set\n===\n", "---\n", " ", "гном ", "\u3000", "1. one\n"),
    ]
)
TEXTS = st.lists(PIECES, max_size=60).map("".join)
SIZES = st.integers(1, 40).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


def is_only_headings(text: str, blocks: tuple[Block, ...], start: int, end: int) -> bool:
    headings = [block for block in blocks if block.kind == "heading"]
    inside = {at for block in headings for at in range(block.start, block.end)}
    return all(at in inside or text[at].isspace() for at in range(start, end))


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_what_holds_for_every_text(text: str, limits: tuple[int, int]) -> None:
    extraction = Extraction(text, scan(text))
    chunking = Chunking(*limits)
    found = chunk(extraction, chunking)
    assert found == chunk(extraction, chunking)
    for passage in found:
        assert text[passage.start : passage.end] == passage.text
        assert passage.text.strip()
        assert estimate_tokens(passage.text) <= chunking.size
    for before, after in pairwise(found):
        assert before.start < after.start
        assert before.end < after.end
    covered = {at for passage in found for at in range(passage.start, passage.end)}
    assert all(at in covered for at, character in enumerate(text) if not character.isspace())


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_no_passage_crosses_a_heading_of_the_top_level(text: str, limits: tuple[int, int]) -> None:
    blocks = scan(text)
    levels = [block.level for block in blocks if block.kind == "heading"]
    top = min([level for level in levels if levels.count(level) > 1] or levels, default=0)
    borders = [block.start for block in blocks if 0 < block.level <= top]
    for passage in chunk(Extraction(text, blocks), Chunking(*limits)):
        for border in borders:
            if passage.start < border < passage.end:
                assert is_only_headings(text, blocks, passage.start, border)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_what_fits_stays_whole(text: str, limits: tuple[int, int]) -> None:
    blocks = scan(text)
    found = chunk(Extraction(text, blocks), Chunking(*limits))
    for block in blocks:
        start, end = blank_free(text, block.start, block.end)
        if (
            block.kind in ("table", "list", "code")
            and estimate_tokens(text[start:end]) <= limits[0]
        ):
            assert any(one.start <= start and end <= one.end for one in found)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SIZES)
def test_the_overlap_is_applied_once(text: str, limits: tuple[int, int]) -> None:
    found = chunk(Extraction(text, scan(text)), Chunking(*limits))
    for before, after in pairwise(found):
        assert estimate_tokens(text[after.start : before.end]) <= limits[1]
    for before, after in zip(found, found[2:], strict=False):
        assert before.end <= after.start  # no passage repeats what the last one repeated


@settings(max_examples=50, deadline=None)
@given(TEXTS, SIZES)
def test_the_same_holds_in_tokens_of_a_model(text: str, limits: tuple[int, int]) -> None:
    found = chunk(Extraction(text, scan(text)), Chunking(*limits), MODEL.count_tokens)
    for one in found:
        assert text[one.start : one.end] == one.text
        # Two halves of a word may have a token more than the word: no tokenizer promises less.
        inside_a_word = not f"{text} "[one.end].isspace() or not f" {text}"[one.start].isspace()
        assert MODEL.count_tokens(one.text) <= limits[0] or inside_a_word or len(one.text) == 1
    covered = {at for one in found for at in range(one.start, one.end)}
    assert all(at in covered for at, character in enumerate(text) if not character.isspace())


@settings(deadline=None)
@given(TEXTS, SIZES)
def test_a_strange_counter_does_no_harm(text: str, limits: tuple[int, int]) -> None:
    def bytes_and_marks(piece: str) -> int:
        return len("".join(piece.split()).encode()) + 2

    found = chunk(Extraction(text, scan(text)), Chunking(*limits), bytes_and_marks)
    assert all(text[one.start : one.end] == one.text and one.text.strip() for one in found)
    assert all(bytes_and_marks(one.text) <= limits[0] or len(one.text) == 1 for one in found)


@pytest.mark.parametrize(
    "text",
    [
        "Words go here. " * 4_000,
        "word " * 12_000,
        "x" * 60_000,
        "# H\n" * 15_000,
        "- item\n" * 9_000,
    ],
)
def test_the_counter_sees_each_character_a_few_times_only(text: str) -> None:
    seen = 0

    def counting(piece: str) -> int:
        nonlocal seen
        seen += len(piece)
        return estimate_tokens(piece)

    chunk(Extraction(text, scan(text)), count=counting)
    assert seen <= 6 * len(text)
