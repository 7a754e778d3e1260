"""What of a model's answer is believed: claims, and the passages it says it rests on."""

from __future__ import annotations

import json

import pytest

from trivium.answering import contradictions
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
