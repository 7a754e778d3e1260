"""`trivium why-not`: the stage that lost a document, told in words and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.config import load_profile
from trivium.errors import UnknownDocument
from trivium.types import PUBLIC, Filter
from trivium.why_not import Remedy, why_not_json

Run = Callable[..., CompletedProcess[str]]
COMBAT, VOLE = "notes:rules/combat.md", "notes:places/hidden/vole.md"


def test_a_filter_is_named_with_what_dropping_it_gives(world: Path) -> None:
    with trivium.open(world) as library:
        found = library.why_not(COMBAT, "axe", filter=Filter(category=("places",)))
    assert (found.stage, found.filters) == ("filter", ("category",))
    assert found.why == "its category is rules, which --category does not allow"
    [remedy] = found.remedies
    assert (remedy.change, remedy.shown) == ("without --category", True)


def test_all_filters_that_stand_in_the_way_are_named_together(world: Path) -> None:
    filter = Filter(
        category=("places",), tags=("poison",), created_from=datetime(2024, 1, 1, tzinfo=UTC)
    )
    with trivium.open(world) as library:
        found = library.why_not(COMBAT, "axe", filter=filter)
    assert found.filters == ("category", "tags", "created_from")


def test_what_was_outranked_says_by_how_much_and_which_n_would_show_it(world: Path) -> None:
    with trivium.open(world) as library:
        hits = library.search("axe damage", limit=3).hits
        found = library.why_not(hits[2].id, "axe damage", limit=1)
        assert library.why_not(hits[2].id, "axe damage", limit=3).stage == "shown"
    assert (found.stage, found.rank, found.score) == ("rank", 3, hits[2].score)
    assert found.needed == hits[0].score
    assert found.remedies == (Remedy("-n 3", 3, True),)


def test_a_document_in_no_pool_says_how_each_leg_sees_it(world: Path) -> None:
    shallow = [f"search.{leg}.depth=1" for leg in ("keyword", "vector", "trigram")]
    profile = load_profile("default", shallow)
    with trivium.open(world) as library:
        found = library.why_not("tie-02", "axe damage", limit=1, profile=profile)
    assert found.stage == "pool"
    ranks = {leg.leg: leg.rank for leg in found.legs}
    assert ranks["keyword"] is None
    assert ranks["vector"] is not None
    assert "does not hold the words" in found.legs[0].why


def test_a_text_that_waits_for_its_vector_is_told_so(world: Path) -> None:
    with trivium.open(world) as library:
        library.add_text("Nothing of the kind.", title="late", id="late", embed=False)
        found = library.why_not("late", "axe")
    assert found.stage == "pool"
    assert "'trivium embed'" in found.why


def test_a_document_without_text_is_not_said_to_wait(world: Path, tmp_path: Path) -> None:
    (tmp_path / "hollow.md").write_bytes(b"")
    with trivium.open(world) as library:
        library.add(tmp_path / "hollow.md")
        [hollow] = [one for one in library.documents() if one.title == "hollow"]
        assert library.embed().embedded == 0
        found = library.why_not(hollow.id, "axe")
        assert library.why_not(hollow.id, "hollow").stage == "shown"  # its title is searched
    assert [leg.why for leg in found.legs] == [
        "it has no text, and its fields do not hold the words of the query",
        "it has no text, and so no vector",
        "it has no text, and its fields do not hold words that look like those",
    ]


def test_all_legs_that_could_find_it_are_named(world: Path) -> None:
    """A word with a typo: its meaning and its spelling find it, the word itself does not."""
    with trivium.open(world) as library:
        library.add_text("Tocilizumab against fever.", title="drug", id="drug")
        found = library.why_not("drug", "tocilizumb", legs=("keyword",))
        vector = library.why_not("tie-02", "zzz", legs=("keyword",))
    assert [leg.leg for leg in found.legs if leg.rank is not None] == ["vector", "trigram"]
    assert found.why == "only the vector and trigram legs can find it, which were not asked"
    assert vector.why == "only the vector leg can find it, which was not asked"


def test_what_has_expired_and_what_is_a_memory_is_told_so(world: Path, tmp_path: Path) -> None:
    (tmp_path / "ancient.md").write_text("---\nvalid_until: 2020-01-01\n---\nAn axe of old.\n")
    with trivium.open(world) as library:
        library.add(tmp_path / "ancient.md")
        library.remember("The axe is cursed.", id="cursed")
        old = next(one for one in library.documents() if one.uri.endswith("ancient.md"))
        expired = library.why_not(old.id, "axe")
        forgotten = library.why_not("cursed", "axe")
    assert (expired.stage, expired.filters) == ("filter", ("valid",))
    assert expired.why.startswith("it expired on 2020-01-01")
    assert expired.remedies[0].change == "--include-expired"
    assert (forgotten.filters, forgotten.remedies[0].change) == (
        ("memories",),
        "--include-memories",
    )


def test_a_chunk_behind_another_of_its_document_is_grouped(world: Path) -> None:
    with trivium.open(world) as library:
        best = library.search("battle axe Gravewind").hits[0]
        others = [c.id for c in library.get(best.id)[0].chunks if c.id != best.chunk.id]
        found = library.why_not(others[0], "battle axe Gravewind")
    assert found.stage == "group"
    assert best.chunk.id in found.why


def test_what_may_not_be_seen_does_not_exist(world: Path) -> None:
    """The same words for a secret as for nothing, and the same numbers as without any secret."""
    with trivium.open(world) as library:
        messages = []
        for name in (VOLE, "notes:places/hidden/none.md"):
            with pytest.raises(UnknownDocument) as refused:
                library.why_not(name, "axe", grant=PUBLIC)
            messages.append(str(refused.value).replace(name, ""))
        assert messages[0] == messages[1]
        names = [one.id for one in library.documents(grant=PUBLIC)]
        with_secret = [
            why_not_json(library.why_not(name, "axe of the bridge", limit=1, grant=PUBLIC))
            for name in names
        ]
        library.remove(VOLE)
        without = [
            why_not_json(library.why_not(name, "axe of the bridge", limit=1, grant=PUBLIC))
            for name in names
        ]
    assert with_secret == without


def test_the_command_prints_words_or_json(world: Path, run: Run) -> None:
    told = run("why-not", "-L", world, COMBAT, "axe", "--category", "places")
    assert told.returncode == 0
    assert "its category is rules" in told.stdout
    assert "without --category: number" in told.stdout
    data = json.loads(run("why-not", "-L", world, COMBAT, "axe", "-n", "9", "--json").stdout)
    assert (data["stage"], data["remedies"]) == ("shown", [])
    missing = run("why-not", "-L", world, "nowhere", "axe")
    assert missing.returncode == 1
    assert "there is no document 'nowhere'" in missing.stderr
