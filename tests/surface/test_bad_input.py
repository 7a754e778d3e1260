"""Bad input gets a clear error and loses nothing; odd queries get an answer."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess
from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trivium
from trivium.errors import (
    EmptyQuery,
    InvalidValue,
    LibraryBusy,
    LibraryCorrupt,
    LibraryExists,
    LibraryReadOnly,
    ModelMismatch,
    NotALibrary,
    StorageFull,
    TriviumError,
    UnknownDocument,
    UnknownName,
)
from trivium.index.folder import FORMAT
from trivium.store.sqlite import SqliteStore, connection
from trivium.types import Result

Run = Callable[..., CompletedProcess[str]]
Answer = list[tuple[str, float]]

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def refused(answer: CompletedProcess[str], *pieces: str) -> None:
    """An error in one line on stderr, exit 1, and nothing that looks like a program's innards."""
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("error: ")
    assert answer.stderr.count("\n") == 1
    assert "Traceback" not in answer.stderr
    for piece in pieces:
        assert piece in answer.stderr


def ranked(result: Result) -> Answer:
    return [(hit.id, hit.score) for hit in result]


class TestRequests:
    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ([""], "the query is empty; write some words, or browse by a filter"),
            ([" \t\n "], "the query is empty"),
            (["axe", "-n", "0"], "0 hits cannot be asked for; choose a number from 1 to 1000"),
            (["axe", "-n", "1001"], "1001 hits cannot be asked for"),
            (["axe", "-n", "-3"], "-3 hits cannot be asked for"),
            (["axe", "--scope", "dm-onyl"], "the scope 'dm-onyl'. Did you mean 'dm-only'?"),
            (["axe", "--leg", "smell"], "has no leg 'smell'. It has: keyword, vector, trigram."),
            (["axe", "--profile", "defualt"], "no profile named 'defualt'. Did you mean 'default'"),
            (["axe", "--profile", "none.toml"], "cannot read the profile none.toml"),
            (["axe", "--set", "search.fuse.kk=3"], "unknown setting 'search.fuse.kk'. Did you"),
            (["axe", "--set", "search.fuse.k=many"], "'search.fuse.k' must be a number"),
            (["axe", "--set", "search.fuse.weights.vector=nan"], "must be within 1,000,000,000"),
            (["axe", "--set", "search.fuse.k"], "write an override as section.key=value"),
            (["axe", "--set", "index.model=static"], "can only --set what begins with 'search.'"),
            (["axe", "--meta", "region"], "write metadata as key=value, not 'region'"),
            (["axe", "--not", "colour=red"], "nothing named 'colour' to leave out"),
            (["axe", "--not", "rules"], "write what to leave out as name=value, not 'rules'"),
            (["axe", "--created-from", "soon"], "'soon' is not a date or time. Write a date as"),
            (["axe", "--cursor", "garbage"], "cursor"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_a_search_that_cannot_be_answered_says_why(
        self, run: Run, world: Path, command: list[str], message: str
    ) -> None:
        refused(run("search", *command), message)

    @pytest.mark.parametrize(
        ("command", "message"),
        [
            ("get nothing", "there is no document 'nothing'; 'trivium list' shows them"),
            ("get #99", "there is no document '#99'"),
            ("get #3 nothing", "there is no document 'nothing'"),
            ("versions nothing", "there is no document 'nothing'"),
            ("rollback #3 7", "has no version 7; 'trivium versions"),
            ("rollback nothing 1", "there is no document 'nothing'"),
            ("remove nothing", "there is no document 'nothing'"),
            ("list -n 0", "0 documents cannot be listed"),
            ("init new.trivium --model gpt", "no model 'gpt'. Choose one of: minilm, static"),
            ("embed --model none", "'none' is a library without a model; name one that makes"),
            ("init new.trivium --model nome", "There is no model 'nome'. Did you mean 'none'?"),
            ("init new.trivium --profile defualt", "no profile named 'defualt'"),
            ("init world.trivium", "there is a library at world.trivium already"),
            ("init notes", "notes is not an empty folder; choose another path"),
            ("search axe -L notes", "notes holds no library; make one with 'trivium init notes'"),
            ("search axe -L nowhere", "nowhere holds no library"),
            ("status -L notes/entries.json", "holds no library"),
            ("add notes -L nowhere", "nowhere holds no library"),
        ],
    )
    def test_a_command_that_cannot_be_done_says_why(
        self, run: Run, world: Path, command: str, message: str
    ) -> None:
        refused(run(*command.split()), message)
        assert not Path("new.trivium").exists()
        assert not Path("nowhere").exists()

    def test_if_one_of_several_is_unknown_none_is_removed(self, run: Run, world: Path) -> None:
        refused(run("remove", "#1", "nothing", "#2"), "there is no document 'nothing'")
        assert len(json.loads(run("list", "--json").stdout)) == 6

    def test_python_gets_the_same_as_errors_of_its_own(self, world: Path) -> None:
        with trivium.open(world) as library:
            with pytest.raises(EmptyQuery):
                library.search(" ")
            with pytest.raises(InvalidValue):
                library.search("axe", limit=0)
            with pytest.raises(UnknownName):
                library.search("axe", legs=["smell"])
            with pytest.raises(UnknownDocument):
                library.get("nothing")
        with pytest.raises(NotALibrary):
            trivium.open("nowhere")
        with pytest.raises(LibraryExists):
            trivium.init(world)
        assert issubclass(EmptyQuery, TriviumError)

    def test_a_chunk_that_does_not_exist_is_unknown(self, run: Run, world: Path) -> None:
        refused(run("get", "clock-01@1/7"), "there is no document 'clock-01@1/7'")

    def test_a_chunk_cannot_be_removed(self, run: Run, world: Path) -> None:
        refused(run("remove", "clock-01@1/0"), "clock-01@1/0")

    def test_a_scope_that_no_document_has_cannot_be_listed(self, run: Run, world: Path) -> None:
        refused(run("list", "--scope", "dm-onyl"), "Did you mean 'dm-only'?")


class TestSources:
    """What cannot be taken in is named; the rest of the batch goes in."""

    @pytest.fixture
    def empty(self, tmp_path: Path) -> Path:
        trivium.init(tmp_path / "w.trivium", model="none").close()
        folder = tmp_path / "in"
        folder.mkdir()
        (folder / "a-good.md").write_text("# Good\n\nA good note.")
        (folder / "z-also.md").write_text("# Also\n\nAnother good note.")
        return folder

    def test_what_is_no_file_and_no_folder_is_called_that(self, run: Run, empty: Path) -> None:
        os.mkfifo(empty / "pipe.md")
        named = run("add", str(empty / "pipe.md"))
        assert (named.returncode, named.stdout) == (1, "1 failed\n")
        assert "this is neither a file nor a folder" in named.stderr
        assert run("add", str(empty)).stdout == "2 added\n"  # found in a folder, it is passed over

    def test_an_empty_folder_has_nothing_to_add(self, run: Run, empty: Path) -> None:
        (empty / "deep").mkdir()
        added = run("add", str(empty / "deep"))
        assert (added.returncode, added.stdout) == (0, "found nothing to add\n")

    @pytest.mark.parametrize(
        ("name", "data", "message"),
        [
            (
                "m.md",
                b"---\ntitle: [\n---\ntext",
                "m.md, line 3: the front matter is not valid YAML",
            ),
            ("m.md", b"---\n- one\n- two\n---\ntext", "m.md, line 2: the front matter is a list"),
            ("m.md", b"---\njust words\n---\ntext", "m.md, line 2: the front matter is text"),
            ("m.md", b"---\nvalid_until: soon\n---\n", "field 'valid_until': 'soon' is not a date"),
            ("m.md", b"---\nseverity: hot\n---\n", "field 'severity' is 'hot', which is unknown"),
            ("m.md", b"---\ntags: {a: b}\n---\n", "field 'tags' must be a list, not a mapping"),
            ("m.md", b"PNG\x00\x01\x02", "m.md is not a text file: it holds NUL bytes"),
            ("m.txt", bytes(range(128, 256)), "m.txt is not valid UTF-8"),
            ("m.json", b'[{"id":"a","title":"A"},{"title":"B"}]', "m.json, entry 2 has no id"),
            (
                "m.json",
                b'[{"id":"a","title":"A"},{"id":"a","title":"B"}]',
                "m.json, entry 2: the id 'a' is taken by entry 1",
            ),
        ],
    )
    def test_a_bad_file_is_named_and_the_rest_goes_in(
        self, run: Run, empty: Path, name: str, data: bytes, message: str
    ) -> None:
        (empty / name).write_bytes(data)
        added = run("add", empty)
        assert (added.returncode, added.stdout) == (1, "2 added, 1 failed\n")
        assert message in added.stderr
        assert added.stderr.count("\n") == 1
        listed = json.loads(run("list", "--json").stdout)
        assert sorted(one["title"] for one in listed) == ["Also", "Good"]

    def test_a_file_that_is_not_json_is_named_when_it_was_asked_for(
        self, run: Run, empty: Path
    ) -> None:
        (empty / "m.json").write_text('[{"id": "a",')
        added = run("add", empty / "m.json", empty / "a-good.md")
        assert (added.returncode, added.stdout) == (1, "1 added, 1 failed\n")
        assert "m.json, line 1, column 13: not valid JSON" in added.stderr

    def test_json_of_another_kind_is_passed_over_in_a_folder(self, run: Run, empty: Path) -> None:
        (empty / "package.json").write_text('{"name": "other"}')
        (empty / "photo.jpg").write_bytes(b"\xff\xd8")
        added = run("add", empty)
        assert (added.returncode, added.stdout) == (0, "2 added, 2 skipped (no text format)\n")

    def test_a_file_that_is_not_there_is_named(self, run: Run, empty: Path) -> None:
        added = run("add", empty / "gone.md", empty / "a-good.md")
        assert (added.returncode, added.stdout) == (1, "1 added, 1 failed\n")
        assert "gone.md: there is no such file or folder; check the path" in added.stderr

    def test_a_format_nobody_reads_is_named_when_it_was_asked_for(
        self, run: Run, empty: Path
    ) -> None:
        (empty / "photo.jpg").write_bytes(b"\xff\xd8")
        added = run("add", empty / "photo.jpg")
        assert (added.returncode, added.stdout) == (1, "1 failed\n")
        assert "photo.jpg: .jpg is not a format that can be read" in added.stderr

    @pytest.mark.skipif(sys.platform != "linux", reason="needs a file that nobody can read")
    def test_a_file_that_cannot_be_read_is_named(self, run: Run, empty: Path) -> None:
        (empty / "mem.md").symlink_to("/proc/self/mem")  # not even root can read its beginning
        added = run("add", empty / "mem.md", empty / "a-good.md")
        assert (added.returncode, added.stdout) == (1, "1 added, 1 failed\n")
        assert "mem.md: cannot be read: Input/output error; check its permissions" in added.stderr

    @pytest.mark.skipif(IS_ROOT, reason="root may read everything")
    def test_a_file_without_permission_is_named(self, run: Run, empty: Path) -> None:
        (empty / "m.md").write_text("secret")
        (empty / "m.md").chmod(0)
        added = run("add", empty)
        assert (added.returncode, added.stdout) == (1, "2 added, 1 failed\n")
        assert "m.md: cannot be read: Permission denied" in added.stderr

    def test_a_library_is_no_source(self, run: Run, empty: Path) -> None:
        added = run("add", "w.trivium")
        assert added.returncode == 1
        assert "this is a library, not a source; add the originals" in added.stderr

    @pytest.mark.parametrize(
        ("codec", "text", "query"),
        [
            ("latin-1", "El niño comió una piña en la montaña.", "montaña"),
            ("cp1251", "Дракон живёт высоко в горах.", "дракон"),
            ("utf-16", "Дракон живёт высоко в горах.", "горах"),
        ],
    )
    def test_other_encodings_are_converted(
        self, run: Run, empty: Path, codec: str, text: str, query: str
    ) -> None:
        (empty / "m.txt").write_bytes(text.encode(codec))
        assert run("add", empty).stdout == "3 added\n"
        found = json.loads(run("search", query, "--json").stdout)["hits"][0]
        assert found["snippet"] == text

    def test_a_note_without_a_body_is_found_by_its_title(self, run: Run, empty: Path) -> None:
        (empty / "m.md").write_text("---\ntitle: The Hollow Crown\n---\n")
        (empty / "blank.txt").write_text(" \n")
        assert run("add", empty).stdout == "4 added\n"
        found = json.loads(run("search", "hollow", "--json").stdout)["hits"]
        assert [hit["title"] for hit in found] == ["The Hollow Crown"]
        assert len(json.loads(run("list", "--json").stdout)) == 4

    def test_a_link_to_elsewhere_may_be_asked_for(
        self, run: Run, empty: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "elsewhere.md").write_text("# Elsewhere")
        (empty / "link.md").symlink_to(tmp_path / "elsewhere.md")
        assert run("add", empty / "link.md").stdout == "1 added\n"
        assert json.loads(run("get", "in:link.md", "--json").stdout)[0]["title"] == "Elsewhere"


class TestModels:
    def test_vectors_of_the_wrong_length_are_refused(self, world: Path) -> None:
        with trivium.open(world) as library:
            [model] = library._store.models()
            hashes = [chunk.embedding_hash for chunk in library._store.chunks("clock-01")]
            with pytest.raises(ModelMismatch, match="have 3 dimensions, the model 64; embed again"):
                library._store.save_vectors(model.fingerprint, hashes, np.ones((1, 3), np.float32))
            assert library.doctor() == []
            assert library.search("axe").degraded == ()

    def test_a_library_of_another_model_answers_by_words_and_says_so(
        self, run: Run, world: Path
    ) -> None:
        words = json.loads(
            run("search", "gravewind", "--leg", "keyword", "--leg", "trigram", "--json").stdout
        )
        with closing(sqlite3.connect(world / "index.db")) as record, record:
            record.execute("UPDATE models SET fingerprint = 'hashing:an-older-one'")

        answer = json.loads(run("search", "gravewind", "--json").stdout)
        assert answer["hits"] == words["hits"]
        assert {leg["name"]: leg["state"] for leg in answer["legs"]}["vector"] == "failed"
        [missing] = answer["degraded"]
        assert missing.startswith("vector: the library's vectors are of hashing:")
        assert missing.endswith("run 'trivium embed' to make new ones")
        assert "! without vector: " in run("search", "gravewind").stderr

        assert run("embed").stdout == "embedded 8 texts\n"
        answer = json.loads(run("search", "gravewind", "--json").stdout)
        assert answer["degraded"] == []
        models = json.loads(run("status", "--json").stdout)["models"]
        assert [(one["active"], one["vectors"]) for one in models] == [(False, 8), (True, 8)]

    def test_a_library_without_a_model_says_so(self, run: Run, tmp_path: Path) -> None:
        trivium.init(tmp_path / "w.trivium", model="none").close()
        refused(run("embed"), "this library has no embedding model; it was made with 'none'")
        answer = json.loads(run("search", "axe", "--json").stdout)
        [vector] = [leg for leg in answer["legs"] if leg["name"] == "vector"]
        assert vector["state"] == "skipped"
        assert vector["note"] == "this library has no embedding model"

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("profile = ", "library.toml is not valid TOML"),
            (
                '[index]\nmodell = "hashing"',
                "unknown setting 'index.modell'. Did you mean 'model'?",
            ),
            ('profile = "gone"', "no profile named 'gone'"),
            ("index = 3", "'index' must be a table of settings, not 3"),
        ],
    )
    def test_a_library_toml_that_makes_no_sense_is_named(
        self, run: Run, world: Path, text: str, message: str
    ) -> None:
        (world / "library.toml").write_text(text)
        refused(run("search", "axe"), message)


class TestStorage:
    @pytest.fixture
    def read_only(self, world: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
        """The library in a folder that cannot be written."""
        files = [world, *world.rglob("*")]
        for file in files:
            file.chmod(0o555 if file.is_dir() else 0o444)
        if IS_ROOT:  # who may write everything; so the answer of the system is given here
            allowed = os.access
            monkeypatch.setattr(
                "os.access", lambda path, mode: mode != os.W_OK and allowed(path, mode)
            )
        before = {file: file.stat().st_mtime_ns for file in files}
        yield world
        assert {file: file.stat().st_mtime_ns for file in world.rglob("*")} | {
            world: world.stat().st_mtime_ns
        } == before
        for file in files:
            file.chmod(0o755)

    def test_a_read_only_library_answers(self, run: Run, read_only: Path) -> None:
        found = json.loads(run("search", "gravewind", "--json").stdout)["hits"]
        assert found[0]["title"] == "Emberfold"
        assert len(json.loads(run("list", "--json").stdout)) == 6
        assert run("get", "#1").returncode == 0
        assert json.loads(run("status", "--json").stdout)["writable"] is False
        assert run("doctor").returncode == 0

    def test_a_read_only_library_refuses_writes(
        self, run: Run, read_only: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "new.md").write_text("new")
        for command in ("add new.md", "remove #1", "rollback #1 1"):
            refused(run(*command.split()), "index.db cannot be written; change its permissions")
        with trivium.open(read_only) as library, pytest.raises(LibraryReadOnly):
            library.add_text("words", title="New")

    def test_a_full_disk_undoes_the_write_as_a_whole(self, world: Path, notes: Path) -> None:
        with trivium.open(world) as library:
            before = ranked(library.search("axe"))
            counts = library.status()
            fill_up(library)
            with pytest.raises(StorageFull, match="is full; the last write was undone, free some"):
                library.add_text("axe " * 200_000, title="Huge")
            assert ranked(library.search("axe")) == before
            assert library.doctor() == []
            assert library.status() == counts
        with trivium.open(world) as library:
            assert ranked(library.search("axe")) == before
            assert library.add_text("axe", title="Small").added == ("Small",)

    def test_a_disk_that_fills_up_between_batches_is_not_blamed_on_a_file(
        self, world: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "many"
        folder.mkdir()
        for number in range(64):  # exactly one batch
            (folder / f"{number}.txt").write_text(f"long{number} " * 500)
        with trivium.open(world) as library:
            fill_up(library)
            with pytest.raises(StorageFull):
                library.add(folder)
            assert library.status()["documents"] == 6

    def test_a_library_that_is_being_written_says_so(
        self, world: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connection, "WAIT_SECONDS", 0.05)
        with trivium.open(world) as one, trivium.open(world) as other:
            before = ranked(other.search("axe"))
            with (
                cast(SqliteStore, one._store)._connections.write(),
                pytest.raises(LibraryBusy, match="written by another process; try again when"),
            ):
                other.add_text("words", title="Second")
            assert ranked(other.search("axe")) == before
            assert other.add_text("words", title="Second").added == ("Second",)


def fill_up(library: trivium.Library) -> None:
    """From here on the library's file may grow by a few pages only, as on a full disk."""
    connections = cast(SqliteStore, library._store)._connections
    with connections.write() as writer:
        (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages + 4}")


# --- a damaged cache -----------------------------------------------------------------------------


def one_file(world: Path, kind: str) -> Path:
    [file] = (world / "cache").glob(f"{kind}-*.arrays")
    return file


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def cut_to_nothing(file: Path) -> None:
    file.write_bytes(b"")


def flip_header(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[40:44] = b"\xff\xff\xff\xff"
    file.write_bytes(data)


def flip_every_array(file: Path) -> None:
    """One wrong byte in the middle of each array; sizes and the header stay right."""
    flip(file, "")


def flip(file: Path, *names: str) -> None:
    data = bytearray(file.read_bytes())
    for name, (place, size) in arrays_in(file).items():
        if name.startswith(names):
            data[place + size // 2] ^= 0x55
    file.write_bytes(data)


def arrays_in(file: Path) -> dict[str, tuple[int, int]]:
    """Where each array that is not empty lies in the file, and how long it is."""
    data = file.read_bytes()
    length = int.from_bytes(data[8:16], "little")
    header = json.loads(data[16 : 16 + length])
    start = -(-(16 + length) // 64) * 64
    sizes = {
        name: int(np.prod(entry["shape"], dtype=np.int64)) * np.dtype(entry["dtype"]).itemsize
        for name, entry in header["arrays"].items()
    }
    return {
        name: (start + entry["offset"], sizes[name])
        for name, entry in header["arrays"].items()
        if sizes[name]
    }


class TestDamagedCache:
    """The cache is derived: whatever happens to it, the answer stays, and damage is reported."""

    @pytest.fixture
    def before(self, world: Path) -> Answer:
        with trivium.open(world) as library:
            return ranked(library.search("battle axe"))

    @pytest.mark.parametrize("kind", ["words", "vectors", "alive"])
    @pytest.mark.parametrize(
        "damage", [cut_short, cut_to_nothing, flip_header, flip_every_array, Path.unlink]
    )
    def test_a_damaged_file_is_noticed_and_made_anew(
        self, world: Path, before: Answer, kind: str, damage: Callable[[Path], None]
    ) -> None:
        damage(one_file(world, kind))
        with trivium.open(world) as library:
            result = library.search("battle axe")
        assert ranked(result) == before
        assert "the search cache was damaged" in result.warnings[0]
        assert "and has been rebuilt" in result.warnings[0]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "garbage",
            "[]",
            "{}",
            "null",
            f'{{"format": {FORMAT}}}',
            '{"format": 1, "library": 7',
        ],
    )
    def test_a_manifest_of_garbage_is_noticed(self, world: Path, before: Answer, text: str) -> None:
        (world / "cache" / "manifest.json").write_text(text)
        with trivium.open(world) as library:
            result = library.search("battle axe")
        assert ranked(result) == before
        assert "the search cache was damaged (the manifest cannot be read" in result.warnings[0]

    def test_a_cache_that_is_gone_is_no_damage(self, world: Path, before: Answer) -> None:
        shutil.rmtree(world / "cache")
        with trivium.open(world) as library:
            result = library.search("battle axe")
            assert (ranked(result), result.warnings) == (before, ())

    def test_a_cache_that_is_gone_is_made_anew_by_the_first_who_reads(
        self, world: Path, before: Answer
    ) -> None:
        shutil.rmtree(world / "cache")
        with trivium.open(world) as library:
            library.search("battle axe")
        assert (world / "cache" / "manifest.json").is_file()

    def test_a_cache_of_another_library_is_not_used(
        self, world: Path, before: Answer, tmp_path: Path
    ) -> None:
        with trivium.init(tmp_path / "other.trivium", model="hashing") as other:
            other.add_text("The battle axe of another world.", title="Stranger")
        shutil.rmtree(world / "cache")
        shutil.copytree(tmp_path / "other.trivium" / "cache", world / "cache")
        with trivium.open(world) as library:
            assert ranked(library.search("battle axe")) == before

    def test_a_cache_of_a_copy_that_went_another_way_is_not_used(
        self, world: Path, tmp_path: Path
    ) -> None:
        copy = tmp_path / "copy.trivium"
        shutil.copytree(world, copy)
        for folder, title in ((world, "Mine"), (copy, "Yours")):
            with trivium.open(folder) as library:
                library.add_text("zebra", title=title)
        shutil.rmtree(world / "cache")
        shutil.copytree(copy / "cache", world / "cache")
        with trivium.open(world) as library:
            result = library.search("zebra", legs=["keyword"])
            assert [hit.title for hit in result] == ["Mine"]
            assert "belonged to another copy of this library" in result.warnings[0]

    @pytest.mark.parametrize("grant", ["owner", "public"])
    def test_one_wrong_byte_in_any_array_changes_no_answer(
        self, world: Path, tmp_path: Path, grant: str
    ) -> None:
        who = trivium.Grant() if grant == "owner" else trivium.Grant(frozenset())
        filter = trivium.Filter(tags=("forge",), source=("*.md",), metadata=(("floors", 9),))

        def answers(folder: Path) -> list[object]:
            with trivium.open(folder) as library:
                return [
                    ranked(library.search("battle axe", grant=who)),
                    ranked(library.search("gravewnd", filter=filter, grant=who)),
                ]

        before = answers(world)
        troubles, cache, sound = [], world / "cache", tmp_path / "sound"
        shutil.copytree(cache, sound)
        for kind in ("words", "vectors"):
            file = one_file(world, kind)
            for name, (place, size) in arrays_in(file).items():
                data = bytearray(file.read_bytes())
                data[place + size // 2] ^= 0x55
                file.write_bytes(data)
                try:
                    if answers(world) != before:
                        troubles.append(f"{name}: another answer")
                except Exception as error:
                    troubles.append(f"{name}: {type(error).__name__}")
                shutil.rmtree(cache)
                shutil.copytree(sound, cache)
        assert troubles == []

    @pytest.mark.parametrize(
        "names",
        [
            ("",),
            ("posting", "matrix"),
            ("row.by_number",),
        ],
        ids=str,
    )
    def test_a_write_over_a_damaged_cache_goes_through(
        self, world: Path, names: tuple[str, ...]
    ) -> None:
        for kind in ("words", "vectors"):
            flip(one_file(world, kind), *names)
        with trivium.open(world) as library:
            library.add_text("A zebra.", title="New")
            library.remove("#6")
        with trivium.open(world) as library:
            assert [hit.title for hit in library.search("zebra", legs=["keyword"])] == ["New"]
            assert library.doctor() == []

    @pytest.mark.parametrize("name", ["document.kind", "posting.rows", "row.version"])
    def test_what_only_the_legs_read_is_checked_when_they_do_and_reported_once(
        self, world: Path, before: Answer, name: str
    ) -> None:
        flip(one_file(world, "words"), name)
        with trivium.open(world) as library:
            result = library.search("battle axe")
            assert ranked(result) == before
            [warning] = result.warnings
            assert f"'{name}' has changed on the disk) and has been rebuilt" in warning
            assert library.search("battle axe").warnings == ()

    def test_what_was_rebuilt_is_written_down(self, world: Path, before: Answer) -> None:
        cut_short(one_file(world, "words"))
        with trivium.open(world) as library:
            assert len(library.search("battle axe").warnings) == 1
        with trivium.open(world) as library:
            result = library.search("battle axe")
            assert (ranked(result), result.warnings) == (before, ())

    def test_a_cache_that_cannot_be_written_loses_no_document(self, world: Path) -> None:
        shutil.rmtree(world / "cache")
        (world / "cache").write_text("a file where a folder should be")
        with trivium.open(world) as library:
            assert library.add_text("A zebra.", title="New").added == ("New",)
        with trivium.open(world) as library:
            assert [hit.title for hit in library.search("zebra", legs=["keyword"])] == ["New"]


# --- a damaged record ----------------------------------------------------------------------------


def overwrite(world: Path, first: int, last: int) -> None:
    file = world / "index.db"
    data = bytearray(file.read_bytes())
    data[first:last] = bytes(255 - place % 7 for place in range(last - first))
    file.write_bytes(data)


class TestDamagedRecord:
    @pytest.fixture
    def pages(self, world: Path) -> int:
        return (world / "index.db").stat().st_size // 4096

    def test_a_damaged_header_is_refused(self, run: Run, world: Path) -> None:
        overwrite(world, 0, 100)
        for command in ("search axe", "list", "get #1", "status", "add notes"):
            refused(run(*command.split()), "index.db is damaged", "run 'trivium doctor'")
        with pytest.raises(LibraryCorrupt):
            trivium.open(world)

    def test_doctor_names_a_damaged_header_without_sending_to_itself(
        self, run: Run, world: Path
    ) -> None:
        overwrite(world, 0, 100)
        checked = run("doctor")
        assert checked.returncode == 1
        assert "index.db is damaged" in checked.stdout
        assert "run 'trivium doctor'" not in checked.stdout

    def test_doctor_says_what_is_left_of_a_damaged_record(
        self, run: Run, world: Path, pages: int
    ) -> None:
        sound = (world / "index.db").read_bytes()
        for first in range(2, pages, 2):  # whichever page is hit: no traceback, always a word
            overwrite(world, first * 4096, (first + 1) * 4096)
            checked = run("doctor")
            assert (checked.returncode, checked.stderr) == (1, "")
            assert checked.stdout.startswith("! ")
            lines = checked.stdout.splitlines()
            assert any(line.startswith("! documents: ") for line in lines), lines
            searched = run("search", "axe")
            assert searched.returncode == 0 or searched.stderr.startswith("error: ")
            assert "Traceback" not in searched.stderr
            (world / "index.db").write_bytes(sound)
        assert run("doctor").returncode == 0

    def test_half_a_record_is_refused(self, run: Run, world: Path, pages: int) -> None:
        data = (world / "index.db").read_bytes()
        (world / "index.db").write_bytes(data[: pages // 2 * 4096])
        refused(run("search", "axe"), "index.db is damaged")
        assert run("doctor").returncode == 1

    def test_an_empty_record_is_not_taken_for_a_new_library(self, run: Run, world: Path) -> None:
        (world / "index.db").write_bytes(b"")
        assert run("doctor").returncode == 1
        assert run("search", "axe").returncode == 1
        assert (world / "index.db").read_bytes() == b""

    def test_a_missing_record_is_told(self, run: Run, world: Path) -> None:
        (world / "index.db").unlink()
        refused(run("search", "axe", "-L", world), "index.db is missing; restore it from a copy")
        found = run("doctor", "-L", world)
        assert found.returncode == 1
        assert "index.db is missing; restore it from a copy" in found.stdout + found.stderr

    def test_a_text_file_is_no_record(self, run: Run, world: Path) -> None:
        (world / "index.db").write_text("Dear diary, today I lost my database.\n" * 50)
        refused(run("search", "axe"), "index.db is damaged (file is not a database)")


# --- queries -------------------------------------------------------------------------------------

ODD = {
    "apostrophe": "Ethan's manager",
    "plus signs": "C++",
    "hyphen": "node-js",
    "colon": "foo:bar",
    "quote": '"',
    "star": "*",
    "brackets": "NEAR(axe, 3) AND (NOT sword) OR ^title",
    "backslash": "\\",
    "percent": "100% _axe_",
    "sql": "'; DROP TABLE documents; --",
    "long": "axe and sword " * 358,
    "one long word": "a" * 5_000,
    "control": "axe\x00\x01\x07\x1b[31m\x7f sword",
    "lone surrogate": "axe \udcff sword",
    "cyrillic": "тролль в горах",
    "cjk": "竜は山に住む",
    "hangul": "용은 산에 산다",
    "arabic": "التنين في الجبل",
    "emoji": "🐉🪓",
    "combining": "cafe\u0301",
    "direction": "\u202eexa\u202c",
    "blank-like": "\u00a0\u2003axe",
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[trivium.Library]:
    folder = tmp_path_factory.mktemp("odd") / "odd.trivium"
    with trivium.init(folder, model="hashing") as library:
        library.add_entries(
            {"id": id, "title": id, "description": text}
            for id, text in {
                "ethan": "Ethan's manager is Priya.",
                "cpp": "The renderer is written in C++ for speed.",
                "node": "The server runs on node-js behind a proxy.",
                "plain": "An axe and a sword hang on the wall.",
                "foobar": "Write foo:bar to select a column.",
                "troll": "Тролль живёт в горах и ест пироги.",
                "dragon": "竜は山に住んでいる。",
                "korean": "용은 산에 산다.",
                "cafe": "The Café Vespérine opens at dusk.",
                "other": "Nothing of the kind.",
            }.items()
        )
        yield library


class TestOddQueries:
    @pytest.mark.parametrize("query", ODD.values(), ids=ODD.keys())
    @pytest.mark.parametrize("join", ["or", "and", "websearch"])
    def test_each_gets_an_answer(self, odd: trivium.Library, query: str, join: str) -> None:
        profile = trivium.config.load_profile("default", [f"search.keyword.join={join}"])
        result = odd.search(query, profile=profile, limit=100)
        assert {leg.state.value for leg in result.legs} <= {"ok", "empty"}
        assert result.degraded == ()
        json.dumps(trivium.present.result_json(result)).encode()

    @pytest.mark.parametrize("query", ODD.values(), ids=ODD.keys())
    def test_each_gets_an_answer_on_the_command_line(
        self, run: Run, odd: trivium.Library, query: str
    ) -> None:
        answer = run("search", "-L", odd.folder, "--json", "--", query)
        assert (answer.returncode, answer.stderr) == (0, "")
        assert json.loads(answer.stdout)["hits"]
        assert run("search", "-L", odd.folder, "--", query).returncode == 0

    @pytest.mark.parametrize("leg", [["keyword"], ["keyword", "vector", "trigram"]], ids=len)
    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("Ethan's manager", "ethan"),
            ("C++", "cpp"),
            ("node-js", "node"),
            ("foo:bar", "foobar"),
            ("ТРОЛЛЬ", "troll"),
            ("пироги", "troll"),
            ("山に住む", "dragon"),
            ("竜は山", "dragon"),
            ("산에 산다", "korean"),
            ("cafe", "cafe"),
            ("café vesperine", "cafe"),
            ("CAFE\u0301", "cafe"),
        ],
    )
    def test_the_document_that_holds_the_words_comes_first(
        self, odd: trivium.Library, query: str, first: str, leg: list[str]
    ) -> None:
        assert odd.search(query, legs=leg).hits[0].id == first

    def test_one_character_of_chinese_finds_the_run_it_stands_in(
        self, odd: trivium.Library
    ) -> None:
        assert odd.search("竜", legs=["keyword", "trigram"]).hits[0].id == "dragon"

    @given(query=st.text(min_size=1, max_size=40))
    @settings(
        max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    def test_whatever_is_typed_is_answered_or_found_empty(
        self, odd: trivium.Library, query: str
    ) -> None:
        try:
            result = odd.search(query)
        except EmptyQuery:
            assert not query.strip()
        else:
            json.dumps(trivium.present.result_json(result)).encode()
            for hit in result:
                assert all(0 <= m.start < m.end <= len(hit.snippet) for m in hit.highlights)
