"""Moving house: whatever a library is, its copy is the same library elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import trivium
from trivium import opening
from trivium.errors import LibraryExists
from trivium.present import result_json
from trivium.protocols import Model
from trivium.store.record import copying

EXAMPLES = Path(__file__).parents[2] / "examples"
FACTS = EXAMPLES / "facts.ttl"


@pytest.fixture
def original(tmp_path: Path) -> Iterator[trivium.Library]:
    """Notes in two versions, facts with a decision, feedback, a memory, a hidden document."""
    (tmp_path / "axe.md").write_text("# The axe\n\nGravewind is an axe.")
    (tmp_path / "sea.md").write_text("---\nscope: dm-only\n---\nShips sail on the sea.")
    with trivium.init(tmp_path / "original.trivium", model="hashing", profile="worlds") as library:
        library.add(tmp_path / "axe.md", tmp_path / "sea.md", FACTS)
        (tmp_path / "axe.md").write_text("# The axe\n\nGravewind is an axe of the dwarf king.")
        library.add(tmp_path / "axe.md")
        library.embed()
        library.remember("The king likes his axe.")
        axe = library.documents()[0].id
        library.feedback("accepted", axe, query="axe")
        yield library


def said(library: trivium.Library) -> object:
    """All that a person sees of a library, but for times and its name."""
    answers = []
    for query in ("axe of the king", "ships", "gravwind"):
        for profile in ("default", "worlds", "omnidata"):
            found = result_json(library.search(query, profile=profile))
            answers.append((found["hits"], found["total"], found["matched"]))
    documents = library.documents()
    return (
        answers,
        documents,
        [library.versions(document.id) for document in documents],
        library.verifications(),
        [library.get(document.id) for document in documents],
    )


def there_and_back(original: trivium.Library, *places: str | Path) -> None:
    before = said(original)
    here: str | Path = original.folder
    for place in places:
        report = opening.copy(here, place)
        assert report["rows"]["versions"] > report["rows"]["documents"] > 3
        with trivium.open(place) as copied:
            assert said(copied) == before
            assert copied.doctor() == []
        here = place


def test_a_folder_into_a_folder(original: trivium.Library, tmp_path: Path) -> None:
    there_and_back(original, tmp_path / "copy.trivium")


def test_a_folder_into_postgresql_and_back(
    original: trivium.Library, tmp_path: Path, postgres: str
) -> None:
    there_and_back(original, postgres, tmp_path / "back.trivium")
    with trivium.open(postgres) as copied:  # numbers go on after those that were copied
        (tmp_path / "new.md").write_text("A new note of a new day.")
        assert len(copied.add(tmp_path / "new.md").added) == 1
        assert copied.rollback("#1", 1)


def test_into_a_library_that_holds_something(original: trivium.Library, tmp_path: Path) -> None:
    with trivium.init(tmp_path / "other.trivium", model="hashing") as other:
        other.add(tmp_path / "sea.md")
    with pytest.raises(LibraryExists, match="choose another place"):
        opening.copy(original.folder, tmp_path / "other.trivium")
    with trivium.open(tmp_path / "other.trivium") as other:
        assert len(other.documents()) == 1


def test_a_copy_that_was_cut_off_goes_on(
    original: trivium.Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH", 3)
    before, target = said(original), tmp_path / "copy.trivium"
    stages = [*copying.TABLES, "words", "verify"]
    resumed = 0
    for stop in stages:

        def cut_off(stage: str, done: int, total: int | None, stop: str = stop) -> None:
            if stage == stop:
                raise KeyboardInterrupt

        try:
            report = opening.copy(original.folder, target, progress=cut_off)
            break
        except KeyboardInterrupt:
            resumed += 1
            with trivium.open(target) as half:
                assert "copy" in half.doctor()[0]
    else:
        report = opening.copy(original.folder, target)
    assert resumed > 8
    assert report["resumed"]
    with trivium.open(target) as copied:
        assert said(copied) == before
        assert copied.doctor() == []


def test_the_beginning_of_another_copy_is_not_gone_on_with(
    original: trivium.Library, tmp_path: Path
) -> None:
    target = tmp_path / "copy.trivium"

    def cut_off(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opening.copy(original.folder, target, progress=cut_off)
    original.remember("A write after the copy began.")
    with pytest.raises(LibraryExists, match="remove it and copy again"):
        opening.copy(original.folder, target)


@pytest.mark.parametrize("where", ["folder", "postgres"])
def test_vectors_of_several_models_in_batches(
    tmp_path: Path, request: pytest.FixtureRequest, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a batch ends with a model, a model has none, and one has few."""
    monkeypatch.setattr(copying, "BATCH", 4)
    place = (
        str(tmp_path / "some.trivium") if where == "folder" else request.getfixturevalue("postgres")
    )
    counts = {"one/2": 4, "none/2": 0, "two/2": 3, "three/2": 6}
    with trivium.init(place, model="hashing") as library:
        for fingerprint, count in counts.items():
            library._store.use_model(Model(fingerprint, fingerprint, 2, False))
            hashes = [f"{n}-{fingerprint}" for n in range(count)]
            vectors = np.array([(n, 1) for n in range(count)], np.float32).reshape(count, 2)
            library._store.save_vectors(fingerprint, hashes, vectors)
        report = opening.copy(place, tmp_path / "copy.trivium")
        assert report["rows"]["vectors"] == 13
        with trivium.open(tmp_path / "copy.trivium") as copied:
            for model in copied._store.models():
                assert model.vectors == counts.get(model.fingerprint, 0)


def test_every_table_and_column_is_copied(original: trivium.Library) -> None:
    """A migration that adds one is told here."""
    own = {"state", "commits", "changes", "keys", "migrations", "fresh_sketches"}
    with closing(sqlite3.connect(Path(original.folder) / "index.db")) as database:
        tables = {
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith(("sqlite_", "words"))
        }
        assert tables - own == set(copying.TABLES)
        for table in copying.TABLES:
            columns = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            statement = copying_statement(table)
            copied = statement.partition("FROM")[0].removeprefix("SELECT ").replace('"', "")
            assert {one.strip() for one in copied.split(",")} - {"rowid"} == columns


def copying_statement(table: str) -> str:
    from trivium.store.record.statements import SHARED, statements

    return statements(SHARED / "copying.sql")[f"rows_of_{table}"]
