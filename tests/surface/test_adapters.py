"""Sources behind adapters: folder, Obsidian vault, git repository, and one of somebody else."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

import trivium
from trivium.errors import SourceError, UnknownName
from trivium.ingest import adapters
from trivium.library import Library
from trivium.origins import Link, SourceChanges, SourceItem


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "x.trivium", model="none") as made:
        yield made


def uris(library: Library) -> dict[str, str]:
    return {document.uri: document.id for document in library.documents()}


# --- Obsidian ------------------------------------------------------------------------------------


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.md").write_text("settings", encoding="utf-8")
    (folder / "people").mkdir()
    (folder / "people" / "Thora.md").write_text(
        "---\naliases: [The Iron Queen]\n---\nRules [[Deepholm#Gates|the deep city]]. #royal\n"
        "`[[not a link]]`\n",
        encoding="utf-8",
    )
    (folder / "Deepholm.md").write_text(
        "---\ntags: [city]\n---\nSee [[people/Thora]], ![[Map.png]] and [[Nobody]]. "
        "#city #under/deep",
        encoding="utf-8",
    )
    return folder


def test_links_tags_and_aliases_of_a_vault(library: Library, vault: Path) -> None:
    report = library.add(vault, source="obsidian")
    assert len(report.added) == 2
    ids = uris(library)
    thora, deepholm = ids["vault:people/Thora.md"], ids["vault:Deepholm.md"]
    catalogue = library._store.catalogue
    assert catalogue.links(thora) == [Link(deepholm)]
    assert sorted(link.target for link in catalogue.links(deepholm)) == sorted(
        [thora, "Map.png", "Nobody"]
    )
    assert catalogue.links_to(thora) == [(deepholm, "links to")]
    assert library.search("iron queen").hits[0].id == thora
    [reading] = library.get(deepholm)
    assert reading.document.tags == ("city", "under/deep")


def test_a_vault_that_did_not_change_is_left_alone(library: Library, vault: Path) -> None:
    library.add(vault, source="obsidian")
    report = library.add(vault, source="obsidian")
    assert (report.added, report.updated, len(report.unchanged)) == ((), (), 2)
    (vault / "Deepholm.md").unlink()
    assert len(library.add(vault, source="obsidian").removed) == 1


# --- git -----------------------------------------------------------------------------------------


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", "-C", str(root), *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    (root / "axe.md").write_text("A committed axe.", encoding="utf-8")
    (root / "bow.md").write_text("A committed bow.", encoding="utf-8")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    return root


def test_what_is_committed_is_read_and_nothing_else(library: Library, repository: Path) -> None:
    (repository / "rubbish.md").write_text("Not tracked.", encoding="utf-8")
    (repository / "axe.md").write_text("Edited, not committed.", encoding="utf-8")
    library.add(repository, source="git")
    assert sorted(uris(library)) == ["repo:axe.md", "repo:bow.md"]
    assert [one.text for one in library.get("repo:axe.md")] == ["A committed axe."]
    [state] = library._store.catalogue.adapters()
    assert (state.adapter, len(state.watermark)) == ("git", 40)


def test_only_what_a_commit_changed_is_read_again(library: Library, repository: Path) -> None:
    library.add(repository, source="git")
    before = uris(library)
    (repository / "axe.md").write_text("Another axe.", encoding="utf-8")
    (repository / "cup.md").write_text("A cup.", encoding="utf-8")
    git(repository, "mv", "bow.md", "elven bow.md")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "two")
    report = library.add(repository, source="git")
    assert report.updated == (before["repo:axe.md"], before["repo:bow.md"])
    assert report.renamed == (before["repo:bow.md"],)
    assert len(report.added) == 1
    again = library.add(repository, source="git")
    assert (again.added, again.updated, len(again.unchanged)) == ((), (), 3)
    git(repository, "rm", "-q", "cup.md")
    git(repository, "commit", "-qm", "three")
    assert library.add(repository, source="git").removed == report.added


def test_a_folder_that_is_no_repository_is_an_error(library: Library, vault: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read as a git repository"):
        library.add(vault, source="git")


# --- others --------------------------------------------------------------------------------------


class Tape:
    """A source that somebody else wrote."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def sync(self, watermark: str, known: Mapping[str, str]) -> SourceChanges:
        assert watermark in ("", "7")
        if watermark:
            return SourceChanges(skipped=("song.txt",), watermark="7")
        return SourceChanges(created=("song.txt",), errors=(("b side", "is torn"),), watermark="7")

    def read(self, path: str) -> SourceItem:
        return SourceItem(b"La la la.", datetime(1984, 1, 1, tzinfo=UTC), {"tags": ["music"]})


def test_others_are_found_through_their_entry_point(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("tape", f"{__name__}:Tape", adapters.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Tape)
    monkeypatch.setattr(adapters, "entry_points", lambda group: EntryPoints([entry]))
    (tmp_path / "deck").mkdir()
    report = library.add(tmp_path / "deck", source="tape")
    assert report.errors == (("b side", "is torn"),)
    [document] = library.documents()
    assert (document.uri, document.tags, document.created) == (
        "deck:song.txt",
        ("music",),
        datetime(1984, 1, 1, tzinfo=UTC),
    )


def test_an_unknown_kind_of_source_is_named(library: Library, vault: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'obsidian'"):
        library.add(vault, source="obsidain")


def test_a_folder_as_a_source_removes_what_is_gone(library: Library, vault: Path) -> None:
    assert len(library.add(vault, source="folder").added) == 2
    (vault / "Deepholm.md").unlink()
    assert len(library.add(vault, source="folder").removed) == 1
