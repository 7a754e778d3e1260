"""Archive, diff, prune and rollback, as a user of a library meets them."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from multiprocessing.synchronize import Event
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.errors import InvalidValue, UnknownDocument
from trivium.types import Filter, Grant

Run = Callable[..., CompletedProcess[str]]
TEXTS = (
    "# Axe\n\nThe old axe.\n",
    "# Axe\n\nThe old axe.\n\nA new sword.\n",
    "# Axe\n\nA spear.\n",
)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[trivium.Library]:
    """A library that has read axe.md three times; each time it said something else."""
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        for text in TEXTS:
            (tmp_path / "axe.md").write_text(text)
            library.add(tmp_path / "axe.md")
        yield library


def archived(library: trivium.Library) -> set[str]:
    return {file.name for file in (Path(library.folder) / "archive").glob("??/*")}


class TestTheArchive:
    def test_every_version_has_its_source(self, library: trivium.Library) -> None:
        hashes = [sha256(text.encode()).hexdigest() for text in TEXTS]
        assert archived(library) == set(hashes)
        versions = library.versions("#1")
        assert [one.source_hash for one in versions] == hashes
        assert all(one.archived for one in versions)
        assert [library.source("#1", number) for number in (1, 2, 3)] == [
            text.encode() for text in TEXTS
        ]

    def test_a_damaged_copy_is_not_given_out_and_mended_by_the_next_add(
        self, library: trivium.Library, tmp_path: Path
    ) -> None:
        [last] = [one for one in library.versions("#1") if one.active]
        path = Path(library.folder) / "archive" / last.source_hash[:2] / last.source_hash
        path.write_bytes(b"")
        with pytest.raises(UnknownDocument, match="is not kept"):
            library.source("#1")
        library.add(tmp_path / "axe.md")
        assert library.source("#1") == TEXTS[2].encode()

    def test_removing_a_document_removes_its_sources(self, library: trivium.Library) -> None:
        library.remove("#1")
        assert archived(library) == set()

    def test_a_source_of_two_documents_stays_until_both_are_gone(
        self, library: trivium.Library, tmp_path: Path
    ) -> None:
        (tmp_path / "copy.md").write_text(TEXTS[2])
        library.add(tmp_path / "copy.md")
        library.remove("#1")
        assert library.source("#2") == TEXTS[2].encode()

    def test_it_can_be_turned_off(self, tmp_path: Path) -> None:
        (tmp_path / "lean.toml").write_text("[index]\nmodel = 'none'\nkeep_sources = false\n")
        (tmp_path / "axe.md").write_text(TEXTS[0])
        with trivium.init(
            tmp_path / "lean.trivium", profile=str(tmp_path / "lean.toml")
        ) as library:
            library.add(tmp_path / "axe.md")
            assert archived(library) == set()
            assert not library.versions("#1")[0].archived


class TestDiff:
    def test_shows_lines_and_chunks(self, library: trivium.Library) -> None:
        told = library.diff("#1", 1, 2).comparison
        assert [line for line in told.diff if line.startswith(("+", "-"))][2:] == [
            "+",
            "+A new sword.",
        ]
        assert (told.old, told.new) == (1, 2)

    def test_shows_what_a_query_would_find_with_either(self, library: trivium.Library) -> None:
        library.add_text("Another sword entirely.", title="Other", id="other")
        found = library.diff("#1", 1, 2, query="sword").found
        assert found is not None
        words = [{h.document.id for h in result if h.chunk.text.count("sword")} for result in found]
        axe = library.documents(Filter(source=("#1",)))[0].id
        assert words == [{"other"}, {"other", axe}]
        assert [one.active for one in library.versions("#1")] == [False, False, True]

    def test_unknown_versions_are_named(self, library: trivium.Library) -> None:
        with pytest.raises(UnknownDocument, match="no version 9"):
            library.diff("#1", 1, 9)

    def test_in_the_terminal(self, library: trivium.Library, run: Run) -> None:
        said = run("diff", "#1", "1", "2", "--query", "sword", "-L", library.folder)
        assert "+A new sword." in said.stdout
        assert "with version 1 'sword' finds:" in said.stdout
        as_json = json.loads(run("diff", "#1", "1", "2", "-L", library.folder, "--json").stdout)
        assert (as_json["old"], as_json["new"]) == (1, 2)


class TestPrune:
    def age(self, library: trivium.Library) -> None:
        """Make the archived files old enough to be let go."""
        for file in (Path(library.folder) / "archive").glob("??/*"):
            os.utime(file, (1, 1))

    def test_lets_nothing_go_that_something_refers_to(self, library: trivium.Library) -> None:
        self.age(library)
        pruned = library.prune()
        assert (pruned.versions, pruned.vectors, pruned.files, pruned.bytes) == ((), 0, 0, 0)

    def test_keep_leaves_the_newest_and_the_active(self, library: trivium.Library) -> None:
        self.age(library)
        library.rollback("#1", 1)
        id = library.documents()[0].id
        shown = library.prune(keep=1, dry_run=True)
        assert [one.version for one in library.versions("#1")] == [1, 2, 3]
        done = library.prune(keep=1)
        assert done == shown
        assert done.versions == ((id, 2),)
        assert (done.files, done.vectors) == (1, 1)
        assert done.bytes > len(TEXTS[1])
        assert [one.version for one in library.versions("#1")] == [1, 3]
        assert library.doctor() == []
        library.rollback("#1", 3)
        assert library.waiting() == 0
        with pytest.raises(UnknownDocument, match="no version 2"):
            library.rollback("#1", 2)

    def test_a_version_let_go_is_a_hole_in_the_past_and_not_another_version(
        self, library: trivium.Library
    ) -> None:
        then = library.moment("#1@2")
        library.prune(keep=1)
        past = Filter(as_of=then)
        assert library.search("axe", filter=past, legs=["keyword"]).hits == ()

    def test_older_than_spares_what_was_active_since(self, library: trivium.Library) -> None:
        second, third = library.moment("#1@2"), library.moment("#1@3")
        assert library.prune(before=second, dry_run=True).versions == ()
        [(_, version)] = library.prune(before=third).versions
        assert version == 1

    def test_halves_of_a_killed_process_go_but_fresh_ones_stay(
        self, library: trivium.Library
    ) -> None:
        folder = next((Path(library.folder) / "archive").glob("??"))
        (folder / "tmpold").write_bytes(b"half")
        os.utime(folder / "tmpold", (1, 1))
        (folder / "tmpnew").write_bytes(b"under way")
        assert library.prune().files == 1
        assert (folder / "tmpnew").exists()
        assert not (folder / "tmpold").exists()

    def test_in_the_terminal(self, library: trivium.Library, run: Run) -> None:
        folder = library.folder
        said = run("prune", "--keep", "1", "--older-than", "0d", "--dry-run", "-L", folder)
        assert said.stdout.startswith("2 versions, 2 vectors and 0 archived files would go: ")
        assert run("prune", "--older-than", "soon", "-L", folder).returncode == 1
        assert run("prune", "--keep", "-1", "-L", folder).returncode == 2
        done = json.loads(run("prune", "--keep", "1", "-L", folder, "--json").stdout)
        assert [version for _, version in done["versions"]] == [1, 2]

    def test_a_reader_in_between_is_not_disturbed_and_does_not_hold_it_up(
        self, library: trivium.Library
    ) -> None:
        with trivium.open(library.folder) as other, other._store.view(Grant()) as view:
            started = time.monotonic()
            assert len(library.prune(keep=1).versions) == 2
            assert time.monotonic() - started < 20
            assert len(view.browse(Filter(), "document", 5).scored) == 1
        assert library.doctor() == []

    def test_a_negative_number_is_refused(self, library: trivium.Library) -> None:
        with pytest.raises(InvalidValue, match="-1 versions"):
            library.prune(keep=-1)


def turning(folder: Path, id: str, stop: Event) -> None:
    """Another process that makes one version active after the other."""
    with trivium.open(folder) as library:
        while not stop.is_set():
            for version in (1, 2):
                library.rollback(id, version)


def test_readers_see_the_old_or_the_new_never_a_hole_or_a_mix(tmp_path: Path) -> None:
    folder = tmp_path / "w.trivium"
    with trivium.init(folder, model="hashing") as library:
        for word in ("alpha", "omega"):
            text = "\n\n".join(f"# {word} {i}\n\nThe axe of {word} {'x ' * 400}" for i in range(4))
            (tmp_path / "two.md").write_text(f"---\ntitle: {word}\ntags: [{word}]\n---\n{text}")
            library.add(tmp_path / "two.md")
        id = library.documents()[0].id
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    with trivium.open(folder) as library:
        library.search("axe")
    mover = context.Process(target=turning, args=(folder, id, stop))
    mover.start()
    seen: set[str] = set()
    wrong: list[object] = []

    def read(seconds: float) -> None:
        end = time.monotonic() + seconds
        with trivium.open(folder) as library:
            while time.monotonic() < end and not wrong:
                hits = library.search("axe", profile="omnidata", limit=20).hits
                words = {word for hit in hits for word in ("alpha", "omega") if word in hit.text}
                titles = {hit.title for hit in hits}
                tags = {tag for hit in hits for tag in hit.document.tags}
                if len(words) != 1 or words != titles or titles != tags:
                    wrong.append((words, titles, tags))
                seen.update(words)

    try:
        threads = [threading.Thread(target=read, args=(3.0,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        stop.set()
        mover.join()
    assert wrong == []
    assert seen == {"alpha", "omega"}
    with trivium.open(folder) as library:
        assert library.doctor() == []


def test_a_secret_of_today_is_no_answer_about_the_past(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        library.add_text("The axe lies in the cellar.", title="Axe", id="a")
        then = library.moment("a@1")
        library.add_text("The axe lies in the cellar.", title="Axe", id="a", scope="dm-only")
        past = Filter(as_of=then)
        public = Grant(frozenset())
        assert [hit.id for hit in library.search("axe", filter=past)] == ["a"]
        assert library.search("axe", filter=past, grant=public).hits == ()
        assert library.search("axe", filter=past, grant=public).matched == 0
