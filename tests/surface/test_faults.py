"""Processes that die, write at once or read meanwhile; and who is shown what, and when."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.errors import UnknownDocument
from trivium.types import PUBLIC

Run = Callable[..., CompletedProcess[str]]


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "trivium", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def make_notes(folder: Path, count: int, words: str = "axe") -> Path:
    folder.mkdir()
    for number in range(count):
        text = f"# {folder.name} {number}\n\nThe {words} number{number} hangs in hall {number}.\n"
        (folder / f"{number:03}.md").write_text(text)
    return folder


ADD_AND_DIE = """
import os, signal, sys, time, trivium, trivium.ingest.add, trivium.embed.hashing
for line in sys.stdin:
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        with trivium.open(sys.argv[1]) as library:
            library.add(sys.argv[2], reprocess=True)
        os._exit(0)
    if line.strip() != "never":
        time.sleep(float(line))
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(time.monotonic() - began, flush=True)
"""
"""For each line a process that adds a folder and is killed after so many seconds, or never."""


class TestKilled:
    def test_killed_at_any_moment_it_can_be_opened_and_adding_again_completes(
        self, tmp_path: Path
    ) -> None:
        notes = make_notes(tmp_path / "notes", 200)
        rehearsal, library = tmp_path / "r.trivium", tmp_path / "w.trivium"
        for folder in (rehearsal, library):
            trivium.init(folder, model="hashing").close()
        with killer(rehearsal, notes) as add_for:
            undisturbed = add_for("never")
        moments = random.Random(4)
        stored = []
        with killer(library, notes) as add_for:
            for kill in range(8):
                add_for(str(undisturbed * moments.uniform(0.05, 1.0)))
                with trivium.open(library) as opened:
                    assert opened.doctor() == []
                    count = opened.status()["documents"]
                    assert len(opened.documents()) == count
                    found = opened.search("axe", limit=1000, legs=["keyword"])
                    assert (found.total, found.warnings) == (count, ()), f"after kill {kill + 1}"
                    stored.append(count)
        assert stored == sorted(stored)  # nothing that was stored is lost again
        assert set(stored) <= {0, 64, 128, 192, 200}  # a batch is stored as a whole

        with trivium.open(library) as opened:
            opened.add(notes)
            assert opened.status()["documents"] == 200
            assert opened.waiting() == 0
            assert opened.doctor() == []
            assert opened.search("number199").hits[0].title == "notes 199"

    def test_a_write_that_was_not_finished_is_undone(self, world: Path) -> None:
        """The process dies inside a transaction, with its pages already in the log."""
        script = f"""
import os, signal, trivium
library = trivium.open({str(world)!r})
with library._store._connections.write() as writer:
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("DELETE FROM documents")
    writer.execute("CREATE TABLE junk AS WITH RECURSIVE n(i) AS "
                   "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n")
    os.kill(os.getpid(), signal.SIGKILL)
"""
        died = subprocess.run([sys.executable, "-c", script], check=False)
        assert died.returncode == -signal.SIGKILL
        with trivium.open(world) as library:
            assert library.doctor() == []
            assert len(library.documents()) == 6
            assert library.search("gravewind").hits[0].title == "Emberfold"

    def test_interrupted_by_hand_it_says_that_nothing_is_lost(self, tmp_path: Path) -> None:
        notes = make_notes(tmp_path / "notes", 600)
        library = tmp_path / "w.trivium"
        trivium.init(library, model="none").close()
        adding = start("add", notes, "-L", library)
        with trivium.open(library) as opened:
            while adding.poll() is None and opened.status()["documents"] == 0:
                time.sleep(0.005)
        adding.send_signal(signal.SIGINT)
        _, said = adding.communicate()
        if adding.returncode:  # it may have been done already
            assert (
                said == "stopped; everything stored so far is kept, run the same command to go on\n"
            )
            assert adding.returncode == 130
        with trivium.open(library) as opened:
            assert opened.doctor() == []
            assert opened.status()["documents"] >= 64


@contextmanager
def killer(library: Path, notes: Path) -> Iterator[Callable[[str], float]]:
    """Adds the notes for so many seconds; gives the seconds that it took."""
    command = [sys.executable, "-c", ADD_AND_DIE, str(library), str(notes)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        asked, told = process.stdin, process.stdout

        def add_for(seconds: str) -> float:
            asked.write(f"{seconds}\n")
            asked.flush()
            return float(told.readline())

        yield add_for


class TestTogether:
    def test_two_processes_that_add_at_once_lose_nothing(self, tmp_path: Path) -> None:
        library = tmp_path / "w.trivium"
        trivium.init(library, model="hashing").close()
        folders = [make_notes(tmp_path / name, 70) for name in ("north", "south")]
        both = [start("add", folder, "-L", library) for folder in folders]
        for process in both:
            out, err = process.communicate()
            assert (process.returncode, out) == (0, "70 added\n")
            notes = [line for line in err.splitlines() if "both are kept" not in line]
            assert [line for line in notes if not line.startswith("  … and ")] == []
        with trivium.open(library) as opened:
            assert opened.status()["documents"] == 140
            assert opened.status()["sources"].keys() == {"north", "south"}
            assert opened.waiting() == 0
            assert opened.doctor() == []
            result = opened.search("axe", limit=1000)
            assert (result.total, result.matched, result.degraded) == (140, 140, ())

    def test_two_that_add_folders_of_the_same_name_at_once_lose_nothing(
        self, tmp_path: Path
    ) -> None:
        library = tmp_path / "w.trivium"
        trivium.init(library, model="none").close()
        troubles: list[BaseException] = []
        for round in range(10):
            together = threading.Barrier(2)

            def add(side: str, round: int = round, together: threading.Barrier = together) -> None:
                (tmp_path / side).mkdir(exist_ok=True)
                folder = make_notes(tmp_path / side / f"notes{round}", 1)
                with trivium.open(library) as opened:
                    together.wait()
                    try:
                        opened.add(folder)
                    except BaseException as error:
                        troubles.append(error)

            sides = [threading.Thread(target=add, args=(side,)) for side in ("left", "right")]
            for side in sides:
                side.start()
            for side in sides:
                side.join()
        assert troubles == []
        with trivium.open(library) as opened:
            assert opened.status()["documents"] == 20

    def test_readers_see_the_old_or_the_new_and_never_fail(self, tmp_path: Path) -> None:
        """A document says the same number in two chunks; no reader ever sees two numbers."""
        library = tmp_path / "w.trivium"
        note = tmp_path / "note.md"

        def write(number: int) -> None:
            note.write_text(f"# One\n\nzebra state{number}\n\n# Two\n\nzebra state{number}\n")

        write(0)
        with trivium.init(library, model="hashing") as writer:
            writer.add(note)
            stop = threading.Event()
            troubles: list[BaseException] = []
            seen: set[int] = set()

            def read() -> None:
                profile = trivium.config.load_profile("default", ["search.unit=chunk"])
                last = 0
                try:
                    with trivium.open(library) as reader:
                        while not stop.is_set():
                            result = reader.search("zebra", profile=profile)
                            texts = {hit.text.split()[-1] for hit in result}
                            assert len(result) == 2
                            assert len(texts) == 1, texts
                            state = int(texts.pop().removeprefix("state"))
                            assert state >= last
                            last = state
                            seen.add(state)
                except BaseException as error:
                    troubles.append(error)

            readers = [threading.Thread(target=read) for _ in range(3)]
            for reader in readers:
                reader.start()
            for number in range(1, 21):
                write(number)
                assert writer.add(note).updated
            stop.set()
            for reader in readers:
                reader.join()
        assert troubles == []
        assert len(seen) > 3

    def test_a_reader_process_never_fails_while_another_writes(self, tmp_path: Path) -> None:
        library = tmp_path / "w.trivium"
        notes = make_notes(tmp_path / "notes", 130)
        with trivium.init(library, model="hashing") as opened:
            opened.add_text("The first axe.", title="first")
        adding = start("add", notes, "-L", library)
        totals = []
        with trivium.open(library) as reader:
            while adding.poll() is None:
                totals.append(reader.search("axe", limit=1000, legs=["keyword"]).total)
            adding.communicate()
            totals.append(reader.search("axe", limit=1000, legs=["keyword"]).total)
        assert totals[0] >= 1
        assert totals == sorted(totals)
        assert totals[-1] == 131

    def test_an_edit_elsewhere_is_seen_by_the_next_search(self, world: Path, notes: Path) -> None:
        with trivium.open(world) as library:
            assert library.search("zebra", legs=["keyword"]).total == 0
            (notes / "rules" / "combat.md").write_text("---\ntitle: Combat\n---\nRide a zebra.")
            done = start("add", notes, "-L", world)
            assert done.communicate() == ("1 updated, 5 unchanged\n", "")
            assert [hit.title for hit in library.search("zebra", legs=["keyword"])] == ["Combat"]
            assert library.search("damage", legs=["keyword"]).total == 0

    def test_an_edit_is_seen_by_a_reader_who_may_not_write(
        self, world: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as reader_only:
            reader_only.setattr("os.access", lambda path, mode: mode != os.W_OK)
            reader = trivium.open(world)
        with reader:
            assert reader.search("zebra", legs=["keyword"]).total == 0
            with trivium.open(world) as writer:
                writer.add_text("A zebra.", title="Zoo")
                assert [hit.title for hit in reader.search("zebra", legs=["keyword"])] == ["Zoo"]
            assert [hit.title for hit in reader.search("zebra", legs=["keyword"])] == ["Zoo"]
            assert reader.doctor() == []

    def test_threads_share_one_library(self, world: Path) -> None:
        troubles: list[BaseException] = []
        with trivium.open(world) as library:
            expected = [(hit.id, hit.score) for hit in library.search("battle axe")]

            def ask() -> None:
                try:
                    for _ in range(10):
                        result = library.search("battle axe")
                        assert [(hit.id, hit.score) for hit in result] == expected
                        assert library.get("#3")[0].document.title == "Emberfold"
                except BaseException as error:
                    troubles.append(error)

            threads = [threading.Thread(target=ask) for _ in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert troubles == []


class TestTime:
    @pytest.fixture
    def dated(self, tmp_path: Path) -> Path:
        with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
            library.add_entries(
                [
                    {"id": "always", "title": "Toll", "description": "The toll is two."},
                    {
                        "id": "old",
                        "title": "Toll",
                        "description": "The toll is one.",
                        "valid_until": "2020-01-01",
                    },
                    {
                        "id": "next",
                        "title": "Toll",
                        "description": "The toll is three.",
                        "valid_from": "2999-01-01",
                    },
                ]
            )
        return tmp_path / "w.trivium"

    @pytest.mark.parametrize(
        ("flags", "expected"),
        [
            ("", ["always"]),
            ("--include-expired", ["always", "next", "old"]),
            ("--valid-at 2019-06-01", ["always", "old"]),
            ("--valid-at 2020-01-01", ["always"]),
            ("--valid-at 2999-01-01", ["always", "next"]),
            ("--valid-at 2019-06-01 --include-expired", ["always", "next", "old"]),
        ],
    )
    def test_what_is_not_valid_is_hidden_until_asked_for(
        self, run: Run, dated: Path, flags: str, expected: list[str]
    ) -> None:
        for leg in ("keyword", "vector", "trigram"):
            answer = json.loads(
                run("search", "toll", "--leg", leg, "--json", *flags.split()).stdout
            )
            assert sorted(hit["id"] for hit in answer["hits"]) == expected
            assert answer["total"] == len(expected)

    def test_python_passes_the_time_in(self, dated: Path) -> None:
        with trivium.open(dated) as library:
            then = datetime(2019, 6, 1, tzinfo=UTC)
            found = library.search("toll", now=then)
            assert sorted(hit.id for hit in found) == ["always", "old"]

    def test_memories_are_left_out_unless_asked_for(self, run: Run, world: Path) -> None:
        with trivium.open(world) as library:
            library.add_text("Remember the zebra.", title="zebra", kind="memory")
        everything = ("search", "zebra", "--json", "--leg", "keyword")
        assert json.loads(run(*everything).stdout)["total"] == 0
        for flags in (["--include-memories"], ["--kind", "memory"]):
            [hit] = json.loads(run(*everything, *flags).stdout)["hits"]
            assert (hit["title"], hit["kind"]) == ("zebra", "memory")


class TestGrants:
    """The owner sees all; whoever lacks `dm-only` cannot tell that Vole's cellar exists."""

    @pytest.fixture
    def library(self, world: Path) -> Iterator[trivium.Library]:
        with trivium.open(world) as library:
            yield library

    @pytest.mark.parametrize("leg", ["keyword", "vector", "trigram"])
    def test_a_search_does_not_find_it(self, library: trivium.Library, leg: str) -> None:
        result = library.search("poisoned axe", legs=[leg], limit=100, grant=PUBLIC)
        assert result.total == len(result)
        assert {hit.document.scope for hit in result} <= {"all"}
        owner = library.search("poisoned axe", legs=[leg], limit=100)
        assert "Vole's cellar" in {hit.title for hit in owner}

    def test_its_scope_is_as_unknown_as_any_other(self, library: trivium.Library) -> None:
        for scope in ("dm-only", "no-such-scope"):
            result = library.search("axe", filter=trivium.Filter(scope=(scope,)), grant=PUBLIC)
            assert (result.hits, result.total, result.matched) == ((), 0, 0)

    def test_neither_get_nor_versions_nor_list_show_it(self, library: trivium.Library) -> None:
        [vole] = library.documents(trivium.Filter(scope=("dm-only",)))
        for name in (vole.id, f"#{vole.number}", vole.uri, f"{vole.id}@1/0"):
            with pytest.raises(UnknownDocument, match="there is no document"):
                library.get(name, grant=PUBLIC)
            with pytest.raises(UnknownDocument):
                library.versions(name, grant=PUBLIC)
            assert library.get(name)[0].document == vole
        titles = [document.title for document in library.documents(grant=PUBLIC)]
        assert len(titles) == 5
        assert "Vole's cellar" not in titles

    def test_the_grant_shows_it(self, library: trivium.Library) -> None:
        master = trivium.Grant(frozenset({"dm-only"}))
        assert library.search("poisoned", legs=["keyword"], grant=master).hits[0].title == (
            "Vole's cellar"
        )
        assert len(library.documents(grant=master)) == 6

    def test_not_a_byte_of_the_answer_tells_that_it_is_there(
        self, library: trivium.Library
    ) -> None:
        def answer() -> list[object]:
            result = library.search("axe stills behind", limit=100, grant=PUBLIC)
            counts = [result.total, result.matched, [len(leg.ranking) for leg in result.legs]]
            return [counts, [(hit.id, hit.score, hit.parts, hit.snippet) for hit in result]]

        before = answer()
        [vole] = library.documents(trivium.Filter(scope=("dm-only",)))
        library.remove(vole.id)
        assert answer() == before


def test_the_clock_is_not_part_of_the_answer(world: Path) -> None:
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    with trivium.open(world) as library:
        one = library.search("axe", now=moment)
        other = library.search("axe", now=moment)
    assert one.hits == other.hits


def test_a_library_can_be_copied_while_it_lies_still(world: Path, tmp_path: Path) -> None:
    """One folder is the library: a copy of it is another one, with the same answers."""
    copy = tmp_path / "elsewhere" / "copy.trivium"
    copy.parent.mkdir()
    world.rename(copy)
    with trivium.open(copy) as library:
        result = library.search("gravewind")
        assert (result.hits[0].title, result.warnings) == ("Emberfold", ())


def test_the_order_of_hashes_changes_nothing(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with another seed for `hash()` gives the same bytes."""
    with trivium.open(world) as library:
        mine = trivium.present.result_json(library.search("battle axe library"))
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    out, _ = start("search", "battle axe library", "-L", world, "--json").communicate()
    other = json.loads(out)
    for name in ("hits", "total", "matched", "score_kind", "next_cursor"):
        assert other[name] == mine[name]
