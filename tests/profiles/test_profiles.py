"""Each profile reproduces its document, in numbers worked out by hand on a small library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import trivium
from trivium.config import load_profile, profile_names, profile_text
from trivium.errors import MissingLeg
from trivium.library import Library
from trivium.types import Result

TEXTS = {
    "axe": "A battle axe hangs over the fire of the king.",
    "sword": "A short sword lies on the table of the king.",
    "road": "The road to the north is long and cold.",
}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "t.trivium", model="hashing") as made:
        for id, text in TEXTS.items():
            made.add_text(text, title=id, id=id)
        yield made


def parts(result: Result, id: str) -> Any:
    hit = next(hit for hit in result if hit.document.id == id)
    return {part.name: (part.rank, part.contribution) for part in hit.parts}


def test_jicklejime_first_in_all_three_lists_scores_three_elevenths(library: Library) -> None:
    result = library.search("battle axe", profile="jicklejime")
    best = result.hits[0]
    assert best.document.id == "axe"
    assert [part.rank for part in best.parts] == [1, 1, 1]
    assert best.score == pytest.approx(3 / 11)
    assert result.score_kind == "rrf"
    assert best.id == "axe@1/0"  # the unit is the chunk


def test_jicklejime_reads_the_query_as_websearch(library: Library) -> None:
    found = library.search('king -"short sword"', profile="jicklejime", legs=["keyword"])
    assert [hit.document.id for hit in found] == ["axe"]


def test_jicklejime_keyword_knows_no_compounds_but_trigram_does(library: Library) -> None:
    result = library.search("battleaxe", profile="jicklejime")
    states = {leg.name: leg.state.value for leg in result.legs}
    assert states == {"vector": "ok", "keyword": "empty", "trigram": "ok"}
    assert parts(result, "axe")["trigram"] == (1, pytest.approx(1 / 11))


def test_omnidata_weighs_meaning_six_and_words_four_tenths(library: Library) -> None:
    result = library.search("battle axe", profile="omnidata")
    assert parts(result, "axe") == {
        "vector": (1, pytest.approx(0.6 / 61)),
        "keyword": (1, pytest.approx(0.4 / 61)),
    }
    assert result.hits[0].score == pytest.approx(1 / 61)


def test_omnidata_looks_at_the_body_only(library: Library) -> None:
    library.add_text("Nothing to see.", title="An axe in the title", id="titled")
    found = library.search("axe", profile="omnidata", legs=["keyword"])
    assert [hit.document.id for hit in found] == ["axe"]


def test_allcodex_sums_equal_reciprocal_ranks_of_documents(library: Library) -> None:
    result = library.search("battle axe", profile="allcodex")
    best = result.hits[0]
    assert (best.id, best.chunk.id) == ("axe", "axe@1/0")  # the unit is the document
    assert best.score == pytest.approx(2 / 61)


def test_default_scores_are_shares_of_one(library: Library) -> None:
    result = library.search("battle axe")
    assert result.score_kind == "blend"
    assert all(0 <= hit.score <= 1 for hit in result)
    assert result.hits[0].score > 0.5


@pytest.mark.parametrize("name", profile_names())
def test_contributions_sum_to_the_score(library: Library, name: str) -> None:
    for query in ("king", "battleaxe of the king", "cold north", "xyzzy"):
        for hit in library.search(query, profile=name):
            assert hit.score == pytest.approx(sum(p.contribution for p in hit.parts), abs=1e-9)


@pytest.mark.parametrize("name", profile_names())
def test_each_profile_begins_with_what_it_reproduces_and_gives_reasons(name: str) -> None:
    lines = profile_text(name).splitlines()
    assert lines[0].startswith(f"# {name}: ")
    bare = [line for line in lines if "k = " in line and "#" not in line]
    assert bare == []


def test_a_profile_that_needs_a_leg_the_library_lacks_is_refused(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "words.trivium", model="none") as library:
        library.add_text("An axe.", title="axe")
        with pytest.raises(MissingLeg, match="'omnidata' needs the vector leg"):
            library.search("axe", profile="omnidata")
        with pytest.raises(MissingLeg, match="'jicklejime' needs the vector leg"):
            library.check_profile(load_profile("jicklejime"))
        assert [hit.title for hit in library.search("axe")] == ["axe"]
