"""Folders that change: what moved, what is gone, what folders say about their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import trivium
from trivium.ingest.add import AddReport
from trivium.library import Library
from trivium.types import PUBLIC, Document

AXE = "The battle axe of the dwarf king lies at the bottom of the cold river, they say."
BOW = "An elven bow is strung with moonlight and never misses what its owner truly hates."


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "axe.md").write_text(AXE, encoding="utf-8")
    (folder / "bow.md").write_text(BOW, encoding="utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "x.trivium", model="none") as made:
        yield made


def by_uri(library: Library) -> dict[str, Document]:
    return {document.uri: document for document in library.documents()}


def add(library: Library, *paths: Path, sync: bool = False, force: bool = False) -> AddReport:
    return library.add(*paths, sync=sync, force=force, embed=False)


def test_an_empty_note_is_taken_in_and_told_once(library: Library, notes: Path) -> None:
    (notes / "empty.md").write_bytes(b"")
    (notes / "__init__.py").write_bytes(b"")  # as every package has one
    report = add(library, notes)
    assert (len(report.added), report.errors) == (4, ())
    assert report.notes == (
        (str(notes / "empty.md"), "it is empty: 0 bytes; only its title is searched."),
    )
    assert add(library, notes).notes == ()


# --- moving and removing -------------------------------------------------------------------------


def test_a_renamed_file_stays_the_same_document(library: Library, notes: Path) -> None:
    library.add(notes / "axe.md", scope="dm-only")
    before = by_uri(library)["notes:axe.md"]
    (notes / "items").mkdir()
    (notes / "axe.md").rename(notes / "items" / "battle axe.md")
    report = add(library, notes)
    after = by_uri(library)["notes:items/battle axe.md"]
    assert report.renamed == (before.id,)
    assert report.missing == ()
    assert (after.id, after.number, after.scope) == (before.id, before.number, "dm-only")
    assert (after.title, after.key) == ("battle axe", "items/battle axe")
    assert len(library.versions(before.id)) == 1
    assert library.search("battle").hits[0].id == before.id


def test_a_file_that_was_renamed_and_edited_is_a_new_version(library: Library, notes: Path) -> None:
    text = " ".join(f"word{number}" for number in range(100))
    (notes / "long.md").write_text(text, encoding="utf-8")
    add(library, notes)
    id = by_uri(library)["notes:long.md"].id
    (notes / "long.md").unlink()
    (notes / "longer.md").write_text(text + " and more", encoding="utf-8")
    report = add(library, notes)
    assert report.renamed == report.updated == (id,)
    assert [version.active for version in library.versions(id)] == [False, True]


def test_a_new_file_in_the_old_place_is_another_document(library: Library, notes: Path) -> None:
    add(library, notes)
    id = by_uri(library)["notes:axe.md"].id
    (notes / "axe.md").rename(notes / "old.md")
    add(library, notes)
    (notes / "axe.md").write_text("A new axe, made of ice.", encoding="utf-8")
    add(library, notes)
    documents = by_uri(library)
    assert documents["notes:old.md"].id == id
    assert documents["notes:axe.md"].id != id
    assert add(library, notes).updated == ()


def test_a_copy_is_not_a_rename(library: Library, notes: Path) -> None:
    add(library, notes)
    id = by_uri(library)["notes:axe.md"].id
    (notes / "copy.md").write_text(AXE, encoding="utf-8")
    report = add(library, notes)
    assert by_uri(library)["notes:axe.md"].id == id
    assert report.renamed == ()
    assert report.notes == (
        (str(notes / "copy.md"), "word for word the same as 'axe' (notes:axe.md); both are kept."),
    )


def test_a_moved_folder_keeps_its_documents(library: Library, notes: Path) -> None:
    add(library, notes)
    before = {document.title: document.id for document in library.documents()}
    moved = notes.rename(notes.with_name("moved"))
    add(library, moved)
    assert {document.title: document.id for document in library.documents()} == before
    assert sorted(by_uri(library)) == ["moved:axe.md", "moved:bow.md"]


def test_deleted_files_are_named_and_removed_on_request(library: Library, notes: Path) -> None:
    add(library, notes)
    id = by_uri(library)["notes:axe.md"].id
    (notes / "axe.md").unlink()
    assert add(library, notes).missing == (id,)
    assert add(library, notes, sync=True).removed == (id,)
    assert sorted(by_uri(library)) == ["notes:bow.md"]


def test_only_what_lies_below_the_folder_is_removed(library: Library, notes: Path) -> None:
    (notes / "sub").mkdir()
    (notes / "sub" / "one.md").write_text("One.", encoding="utf-8")
    (notes / "sub" / "two.md").write_text("Two.", encoding="utf-8")
    add(library, notes)
    (notes / "sub" / "one.md").unlink()
    (notes / "axe.md").unlink()
    assert len(add(library, notes / "sub", sync=True).removed) == 1
    assert sorted(by_uri(library)) == ["notes:axe.md", "notes:bow.md", "notes:sub/two.md"]


def test_an_empty_folder_removes_nothing(library: Library, notes: Path) -> None:
    """A drive that is not mounted looks like this."""
    add(library, notes)
    for file in notes.iterdir():
        file.unlink()
    report = add(library, notes, sync=True)
    assert len(report.missing) == 2
    assert "nothing was removed" in report.notes[0][1]
    assert len(add(library, notes, sync=True, force=True).removed) == 2


# --- what folders say ----------------------------------------------------------------------------


def test_scope_comes_from_flag_then_front_matter_then_folder(library: Library, notes: Path) -> None:
    (notes / ".trivium.toml").write_text('scope = "dm-only"\ntags = ["world"]\n', encoding="utf-8")
    inner = notes / "inner"
    inner.mkdir()
    (inner / ".trivium.toml").write_text('category = "rules"\n', encoding="utf-8")
    (inner / "own.md").write_text("---\nscope: party\n---\nOwn words.", encoding="utf-8")
    (inner / "none.md").write_text("No words of its own.", encoding="utf-8")
    add(library, notes)
    found = by_uri(library)
    assert found["notes:axe.md"].scope == "dm-only"
    assert found["notes:inner/own.md"].scope == "party"
    none = found["notes:inner/none.md"]
    assert (none.scope, none.category, none.tags) == ("dm-only", "rules", ("world",))
    library.add(inner, scope="all", embed=False)
    assert by_uri(library)["notes:inner/own.md"].scope == "all"


def test_a_folder_file_that_changes_takes_effect(library: Library, notes: Path) -> None:
    add(library, notes)
    assert library.search("battle", grant=PUBLIC).total == 1
    (notes / ".trivium.toml").write_text('scope = "dm-only"', encoding="utf-8")
    add(library, notes)
    assert library.search("battle", grant=PUBLIC).total == 0


def test_a_folder_may_set_harmless_things_only(library: Library, notes: Path) -> None:
    file = notes / ".trivium.toml"
    file.write_text('scopes = "x"\nmodel = "http://evil"\nkind = "lore"\n', encoding="utf-8")
    report = add(library, notes)
    assert report.notes == (
        (
            str(file),
            "a folder may not set 'model': ignored. It may set scope, category, tags, kind.",
        ),
        (str(file), "a folder may not set 'scopes': ignored. Did you mean 'scope'?"),
    )
    assert {document.kind for document in library.documents()} == {"lore"}


@pytest.mark.parametrize("broken", [b"scope = ", b"\xff", b"scope = ['dm-only']"])
def test_nothing_below_a_broken_folder_file_is_taken_in(
    library: Library, notes: Path, broken: bytes
) -> None:
    """It may have said that all of it is secret."""
    (notes / ".trivium.toml").write_bytes(broken)
    report = add(library, notes)
    assert len(report.errors) == 2
    assert all(".trivium.toml" in message for _, message in report.errors)
    assert library.documents() == []


def test_the_folder_file_counts_for_entries_too(library: Library, notes: Path) -> None:
    (notes / ".trivium.toml").write_text('scope = "dm-only"', encoding="utf-8")
    (notes / "entries.json").write_text('[{"id": "e1", "title": "Entry"}]', encoding="utf-8")
    add(library, notes)
    assert by_uri(library)["entry:e1"].scope == "dm-only"


def test_front_matter_that_is_never_closed_is_not_taken_for_text(
    library: Library, notes: Path
) -> None:
    (notes / "open.md").write_text("---\nscope: dm-only\n\nA secret.", encoding="utf-8")
    (notes / "rule.md").write_text("---\n\nBelow a line across the page.", encoding="utf-8")
    report = add(library, notes)
    [(name, message)] = report.errors
    assert name == str(notes / "open.md")
    assert "never closed" in message
    assert "notes:rule.md" in by_uri(library)


# --- nearly the same -----------------------------------------------------------------------------

ENTRY = {"id": "jwt", "title": "JWT", "description": " ".join(f"word{n}" for n in range(60))}


def test_an_entry_that_is_nearly_another_is_refused(library: Library) -> None:
    assert library.add_entries([ENTRY]).added == ("jwt",)
    copy = {**ENTRY, "id": "jwt-2", "description": ENTRY["description"] + " more"}
    report = library.add_entries([copy])
    [(name, message)] = report.errors
    assert name == "entries, entry 'jwt-2'"
    assert message == (
        "98% the same as 'JWT' (entry:jwt). Left out; add it with --force if it is meant."
    )
    assert library.add_entries([copy], force=True).added == ("jwt-2",)
    assert library.add_entries([copy]).unchanged == ("jwt-2",)  # it is there, and stays


def test_entries_of_one_file_are_compared_with_each_other(library: Library) -> None:
    report = library.add_entries([ENTRY, {**ENTRY, "id": "again"}])
    assert report.added == ("jwt",)
    assert len(report.errors) == 1


def test_what_is_like_another_but_not_the_same_is_noted(library: Library) -> None:
    words = ENTRY["description"].split()
    other = {**ENTRY, "id": "other", "description": " ".join([*words[:50], *"abcdefghij"])}
    library.add_entries([ENTRY])
    report = library.add_entries([other])  # 49 runs of 3 words in common, 10 more on either side
    assert report.added == ("other",)
    assert report.notes == (
        ("entries, entry 'other'", "71% the same as 'JWT' (entry:jwt); both are kept."),
    )


def test_a_new_version_is_not_like_itself(library: Library) -> None:
    library.add_entries([ENTRY])
    report = library.add_entries([{**ENTRY, "description": ENTRY["description"] + " more"}])
    assert (report.updated, report.errors, report.notes) == (("jwt",), (), ())


def test_what_the_caller_may_not_see_is_not_mentioned(library: Library) -> None:
    library.add_entries([{**ENTRY, "scope": "dm-only"}])
    report = library.add_entries([{**ENTRY, "id": "public"}], grant=PUBLIC)
    assert (report.added, report.errors, report.notes) == (("public",), (), ())


def test_a_file_named_by_itself_is_refused_and_one_in_a_folder_is_not(
    library: Library, notes: Path
) -> None:
    (notes / "copy.md").write_text(AXE, encoding="utf-8")
    add(library, notes / "axe.md")
    assert len(add(library, notes / "copy.md").errors) == 1
    assert len(add(library, notes).added) == 2


def test_long_texts_from_python_are_cut_like_files(library: Library) -> None:
    text = "# One\n\n" + "Words of the first part. " * 80 + "\n\n# Two\n\nThe second part."
    library.add_text(text, title="Long", id="long")
    [reading] = library.get("long")
    assert reading.text == text
    assert reading.chunks[-1].heading == ("Two",)
    assert len(reading.chunks) > 2
