"""What of a model's answer is believed: claims, and the passages it says it rests on."""

from __future__ import annotations

import json

import pytest

from trivium.answering import answer_of, contradictions
from trivium.context import Context, pack
from trivium.types import Chunk, Document, Hit


def hit(rank: int, text: str) -> Hit:
    document = Document(f"d{rank}", f"notes:d{rank}.md", "Note", number=rank)
    chunk = Chunk(f"d{rank}@1/0", f"d{rank}", 1, 0, text)
    return Hit(rank, f"d{rank}", 1.0 / rank, document, chunk, (), text, (), 1)


def context() -> Context:
    texts = ("the first forge", "a bridge of chains", "nine wolves")
    return pack("p", [hit(rank, text) for rank, text in enumerate(texts, 1)], 500)


@pytest.mark.parametrize("number", [[1], {"a": 1}, None, "1", True, 1.0, 9])
def test_a_claim_about_no_passage_is_dropped(number: object) -> None:
    claim = {"note": "the second forge", "quote": "the first forge", "why": "", "passage": 1}
    assert len(contradictions(json.dumps([claim]), "the second forge", context())[0]) == 1
    wrong = json.dumps([{**claim, "passage": number}])
    assert contradictions(wrong, "the second forge", context()) == ([], 1)


@pytest.mark.parametrize(
    ("text", "cited", "unknown"),
    [
        ("so [1] and [2, 3]", (1, 2, 3), ()),
        ("so [1-3]", (1, 2, 3), ()),
        ("so [2–5]", (2, 3), (4, 5)),
        ("so [1, 2-3; 7]", (1, 2, 3), (7,)),
        ("so [12345]", (), (12345,)),
        ("so [3-1]", (1, 3), ()),
    ],
)
def test_citations_are_read_in_every_spelling(
    text: str, cited: tuple[int, ...], unknown: tuple[int, ...]
) -> None:
    answer = answer_of("q", text, context())
    assert (answer.cited, answer.unknown) == (cited, unknown)


def test_no_range_and_no_number_is_too_long_to_read() -> None:
    answer = answer_of("q", f"so [1-999999999] and [{'9' * 10_000}]", context())
    assert answer.cited == (1, 2, 3)
    assert answer.unknown[-1] == 999_999_999
    assert len(answer.unknown) < 200
