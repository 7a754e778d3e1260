"""Snippets: what is highlighted in one is what stands in it, wherever it was cut out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.kernels.spans import places_of
from trivium.present import snippet_of
from trivium.text import terms

WORDS = (
    "axe",
    "axes",
    "battle",
    "the",
    "king",
    "running",
    "naïve",
    "# head",
    "\n",
    "東京都",
    "a|b",
)
texts = st.lists(st.sampled_from([*WORDS, "x" * 70]), min_size=1, max_size=90).map(" ".join)


@settings(deadline=None)
@given(texts, st.lists(st.sampled_from(WORDS), max_size=3), st.integers(50, 240))
def test_the_highlights_are_the_words_of_the_snippet(
    text: str, asked: list[str], length: int
) -> None:
    wanted = frozenset(term for word in asked for term in terms(word))
    snippet, highlights = snippet_of(text, {"keyword": wanted}, length)
    shift = 2 if snippet.startswith("… ") else 0
    piece = snippet[shift:].removesuffix(" …")
    expected = [range(start + shift, end + shift) for _, start, end in places_of(piece, wanted)]
    assert {place for one in highlights for place in range(one.start, one.end)} == {
        place for one in expected for place in one
    }
