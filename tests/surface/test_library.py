"""The library from Python: what the design's section 5 promises to programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import trivium
from trivium.config import load_profile
from trivium.embed.hashing import Hashing
from trivium.errors import LibraryCorrupt
from trivium.types import LegState


@pytest.fixture
def library(tmp_path: Path) -> Iterator[trivium.Library]:
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        yield library


def words(library: trivium.Library, query: str, **options: Any) -> list[str]:
    """The ids that hold the words, best first."""
    return [hit.id for hit in library.search(query, legs=["keyword"], **options)]


def test_the_example_of_the_design_works(
    tmp_path: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trivium.init("notes.trivium", model="hashing").close()
    notes.rename("docs")

    with trivium.open("notes.trivium") as library:
        library.add("docs/")
        result = library.search("dwarves battle axe", limit=5)
        for hit in result:
            print(hit.rank, hit.score, hit.title, hit.snippet)

    first, *rest = capsys.readouterr().out.splitlines()
    best = result.hits[0]
    assert first == f"1 {best.score} Emberfold {best.snippet}"
    assert len(rest) == 4
    assert "Gravewind" in best.snippet


def test_the_public_names_are_these() -> None:
    assert sorted(trivium.__all__) == [
        *("Filter", "Grant", "Hit", "Library", "Part", "Result", "SearchRequest"),
        *("TriviumError", "__version__", "connect", "init", "open"),
    ]


class TestAdding:
    def test_text_is_found_at_once(self, library: trivium.Library) -> None:
        report = library.add_text("A zebra crossed the bridge.", title="Zoo", tags=["animal"])
        assert (report.added, report.updated, report.errors) == (("Zoo",), (), ())
        assert words(library, "zebra") == ["Zoo"]
        assert words(library, "animal") == ["Zoo"]

    def test_the_same_id_again_makes_a_version(self, library: trivium.Library) -> None:
        library.add_text("A zebra.", title="Zoo", id="z")
        report = library.add_text("A heron.", title="Zoo", id="z")
        assert (report.added, report.updated) == ((), ("z",))
        assert [(v.version, v.active) for v in library.versions("z")] == [(1, False), (2, True)]
        assert words(library, "zebra") == []
        assert words(library, "heron") == ["z"]
        assert library.get("z")[0].text == "A heron."

    def test_the_same_text_again_makes_none(self, library: trivium.Library) -> None:
        library.add_text("A zebra.", title="Zoo", id="z")
        assert library.add_text("A zebra.", title="Zoo", id="z").unchanged == ("z",)
        assert len(library.versions("z")) == 1

    def test_tags_alone_change_at_once_and_make_no_version(
        self, library: trivium.Library, notes: Path
    ) -> None:
        combat = notes / "rules" / "combat.md"
        [combat_id] = library.add(combat).added
        assert words(library, "axe", filter=trivium.Filter(tags=("core",))) == []

        assert library.add(combat, tags=["core"]).updated == (combat_id,)
        assert words(library, "axe", filter=trivium.Filter(tags=("core",))) == [combat_id]
        assert words(library, "core") == [combat_id]  # a tag is also a word
        assert len(library.versions(combat_id)) == 1
        assert library.waiting() == 0

    def test_scope_and_category_change_the_same_way(
        self, library: trivium.Library, notes: Path
    ) -> None:
        combat = notes / "rules" / "combat.md"
        [combat_id] = library.add(combat).added
        public = trivium.Grant(frozenset())
        assert words(library, "axe", grant=public) == [combat_id]

        library.add(combat, scope="dm-only", category="secrets")
        assert words(library, "axe", grant=public) == []
        assert words(library, "axe", filter=trivium.Filter(category=("secrets",))) == [combat_id]
        assert len(library.versions(combat_id)) == 1

    def test_a_new_title_is_embedded_anew(self, library: trivium.Library) -> None:
        library.add_text("It stands in the hall.", title="The samovar", id="x")
        before = library.search("samovar", legs=["vector"]).hits[0].score
        library.add_text("It stands in the hall.", title="The lantern", id="x")
        assert library.waiting() == 0
        assert len(library.versions("x")) == 1
        assert library.search("samovar", legs=["vector"]).hits[0].score < before
        assert words(library, "samovar") == []

    def test_entries_may_come_from_a_generator(self, library: trivium.Library) -> None:
        report = library.add_entries(
            {"id": f"e{number}", "title": f"Rule {number}", "description": "Be brief."}
            for number in range(3)
        )
        assert report.added == ("e0", "e1", "e2")

    def test_a_bad_entry_refuses_the_call_and_stores_nothing(
        self, library: trivium.Library
    ) -> None:
        with pytest.raises(trivium.TriviumError, match="entries, entry 2 has no id"):
            library.add_entries([{"id": "a", "title": "A"}, {"title": "B"}])
        assert library.documents() == []

    def test_a_lone_surrogate_does_not_break_anything(self, library: trivium.Library) -> None:
        library.add_text("half a \udcff character", title="Odd")
        assert words(library, "character") == ["Odd"]


class TestVersions:
    def test_rollback_brings_the_old_text_back_without_a_model(
        self, library: trivium.Library
    ) -> None:
        library.add_text("A zebra.", title="Zoo", id="z")
        library.add_text("A heron.", title="Zoo", id="z")
        library.rollback("z", 1)
        assert [(v.version, v.active) for v in library.versions("z")] == [(1, True), (2, False)]
        assert words(library, "heron") == []
        assert words(library, "zebra") == ["z"]
        assert library.waiting() == 0
        assert library.search("zebra", legs=["vector"]).hits[0].chunk.id == "z@1/0"
        assert library.get("z")[0].text == "A zebra."

    def test_after_a_rollback_the_next_change_counts_on(self, library: trivium.Library) -> None:
        for text in ("one", "two"):
            library.add_text(text, title="Zoo", id="z")
        library.rollback("#1", 1)
        library.add_text("three", title="Zoo", id="z")
        assert [(v.version, v.active) for v in library.versions("z")] == [
            (1, False),
            (2, False),
            (3, True),
        ]

    def test_as_of_shows_what_was_active_then(self, library: trivium.Library) -> None:
        library.add_text("A zebra.", title="Zoo", id="z")
        then = datetime.now(UTC)
        library.add_text("A heron.", title="Zoo", id="z")
        assert words(library, "zebra", filter=trivium.Filter(as_of=then)) == ["z"]
        assert words(library, "heron", filter=trivium.Filter(as_of=then)) == []
        before_all = trivium.Filter(as_of=then - timedelta(days=1))
        assert words(library, "zebra", filter=before_all) == []

    def test_remove_takes_all_versions_and_the_number_is_not_used_again(
        self, library: trivium.Library
    ) -> None:
        library.add_text("one", title="Zoo")
        assert library.remove("Zoo") == 1
        library.add_text("two", title="Park")
        assert library.get("#2")[0].document.id == "Park"
        with pytest.raises(trivium.TriviumError, match="there is no document '#1'"):
            library.get("#1")


class TestResults:
    def test_a_result_is_a_sequence_of_hits(self, library: trivium.Library) -> None:
        library.add_entries(
            {"id": id, "title": "Axe", "description": "An axe."} for id in ("c", "a", "b")
        )
        result = library.search("axe")
        assert [hit.rank for hit in result] == [1, 2, 3]
        assert [hit.id for hit in result] == ["a", "b", "c"]  # equal scores: by id
        assert len(result) == 3
        assert list(result) == list(result.hits)

    def test_a_hit_carries_its_document_chunk_and_parts(self, library: trivium.Library) -> None:
        library.add_text("An axe hangs on the wall.", title="Hall", category="places")
        [hit] = library.search("axe", mode="full")
        assert (hit.title, hit.heading, hit.text) == ("Hall", "", "An axe hangs on the wall.")
        assert (hit.document.category, hit.document.number) == ("places", 1)
        assert (hit.chunk.id, hit.tokens) == ("Hall@1/0", 7)
        names = [part.name for part in hit.parts]
        assert names == ["keyword", "vector", "trigram", "likeness"]
        assert hit.score == pytest.approx(sum(part.contribution for part in hit.parts))

    def test_every_leg_says_how_it_went(self, library: trivium.Library) -> None:
        library.add_text("An axe hangs on the wall.", title="Hall")
        states = {leg.name: leg.state for leg in library.search("xylophone").legs}
        assert states == {
            "keyword": LegState.EMPTY,
            "vector": LegState.OK,
            "trigram": LegState.EMPTY,
        }

    def test_a_request_object_asks_the_same(self, library: trivium.Library) -> None:
        library.add_text("An axe hangs on the wall.", title="Hall")
        request = trivium.SearchRequest("axe", limit=3)
        assert library.answer(request).hits == library.search("axe", limit=3).hits

    def test_two_chunks_of_a_document_are_one_hit(
        self, library: trivium.Library, tmp_path: Path
    ) -> None:
        (tmp_path / "two.md").write_text("# One\n\nAn axe.\n\n# Two\n\nAnother axe, an old axe.")
        library.add(tmp_path / "two.md")
        result = library.search("axe")
        assert (len(result), result.total, result.matched) == (1, 1, 1)
        chunks = trivium.config.load_profile("default", ["search.unit=chunk"])
        assert len(library.search("axe", profile=chunks)) == 2


class TestOpening:
    def test_create_makes_a_library_where_there_is_none(self, tmp_path: Path) -> None:
        path = tmp_path / "deep" / "new.trivium"
        with trivium.open(path, create=True) as library:
            assert library.documents() == []
        with trivium.open(path, create=True) as library:
            assert library.status()["documents"] == 0

    def test_what_was_written_is_there_after_closing(self, library: trivium.Library) -> None:
        library.add_text("A zebra.", title="Zoo")
        library.close()
        with trivium.open(library.folder) as again:
            assert words(again, "zebra") == ["Zoo"]
            assert again.search("zebra").warnings == ()

    def test_one_without_a_model_finds_by_words_and_spelling(self, tmp_path: Path) -> None:
        with trivium.init(tmp_path / "n.trivium", model="none") as library:
            report = library.add_text("The battle axe Gravewind.", title="Axe")
            assert (report.waiting, report.model_problem) == (0, "")
            assert [hit.id for hit in library.search("gravewnd")] == ["Axe"]
            assert [hit.id for hit in library.search("battleaxe")] == ["Axe"]


def test_what_was_added_as_a_secret_does_not_become_public_by_adding_it_again(
    tmp_path: Path,
) -> None:
    note = tmp_path / "plot.md"
    note.write_text("The butler did it.")
    with trivium.init(tmp_path / "w.trivium", model="none") as library:
        library.add(note, scope="dm-only", category="plots", tags=["twist"])
        note.write_text("The gardener did it.")
        library.add(note, tags=["new"])
        [document] = library.documents()
        assert (document.scope, document.category) == ("dm-only", "plots")
        assert document.tags == ("twist", "new")
        assert library.add(note).unchanged == (document.id,)
        library.add(note, scope="all")
        assert library.documents()[0].scope == "all"


def test_a_library_without_a_single_word_can_be_searched(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="none") as library:
        for text in ("???", "!!!", "…"):
            library.add_text(text, title="-", id=text)
        assert library.search("axe").hits == ()
        assert len(library.documents()) == 3


def test_after_a_rollback_the_vector_fits_the_text_and_the_title(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        library.add_text("one", title="Alpha", id="x", embed=False)
        library.add_text("two", title="Zebra", id="x", embed=False)
        library.rollback("x", 1)
        library.embed()
        wanted = Hashing().query("Alpha\none")
        with library._store.view(trivium.Grant()) as view:
            [(_, cosine)] = view.nearest(wanted, trivium.Filter(), 1, "chunk").scored
        assert cosine == pytest.approx(1.0)


@pytest.mark.parametrize("answer", [[float("nan")] * 64, [0.0] * 64, RuntimeError("out of order")])
def test_a_model_that_fails_costs_only_its_own_road(tmp_path: Path, answer: object) -> None:
    class Broken(Hashing):
        def query(self, text: str) -> NDArray[np.float32]:
            if isinstance(answer, Exception):
                raise answer
            return np.array(answer, np.float32)

    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        library.add_text("An axe.", title="axe")
        library._embedder = Broken()
        result = library.search("axe")
        assert [hit.title for hit in result] == ["axe"]
        assert result.degraded or result.warnings


def test_an_unknown_category_is_more_likely_a_slip(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="none") as library:
        library.add_text("An axe.", title="axe", category="items")
        result = library.search("axe", filter=trivium.Filter(category=("itmes",)))
        assert result.warnings == ("no document has the category 'itmes'. Did you mean 'items'?",)


def test_an_unknown_tag_is_more_likely_a_slip(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="none") as library:
        library.add_text("An axe.", title="axe", tags=("weapon", "iron"))
        result = library.search("axe", filter=trivium.Filter(tags=("weapn", "iron")))
        assert [hit.title for hit in result] == ["axe"]
        assert result.warnings == ("no document has the tag 'weapn'. Did you mean 'weapon'?",)


def test_a_setting_that_changes_nothing_says_so(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="none") as library:
        library.add_text("An axe.", title="axe")
        idle = load_profile("default", ["search.fuse.k=30"])
        [warning] = library.search("axe", profile=idle).warnings
        assert warning.startswith("search.fuse.k counts ranks in rrf, and here the method is blend")
        used = load_profile("default", ["search.fuse.k=30", "search.fuse.method='rrf'"])
        assert library.search("axe", profile=used).warnings == ()


def test_a_library_that_lost_its_record_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "n.trivium"
    trivium.init(folder, model="none").close()
    (folder / "index.db").unlink()
    with pytest.raises(LibraryCorrupt, match=r"index\.db is missing; restore it from a copy"):
        trivium.open(folder)
