"""Answers that once misled a new user: each says what is, and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.errors import command

Run = Callable[..., CompletedProcess[str]]
FACTS = '@prefix ex: <https://example.org/> . ex:a ex:hasManager "Ysolde" .'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "lamps.md").write_text("# Lamps\n\nThe lamps went out.\n")
    (notes / "facts.ttl").write_text(FACTS)
    with trivium.init(tmp_path / "n.trivium", model="none") as library:
        library.add(notes)
    return tmp_path


def test_check_reads_its_note_before_it_speaks_of_a_context(place: Path, run: Run) -> None:
    answer = run("check", place / "nothing.md", "-L", place / "n.trivium")
    assert answer.returncode == 1
    assert "would have been sent" not in answer.stderr


def test_check_with_a_server_that_is_down_counts_nothing(place: Path, run: Run) -> None:
    settings = place / "config" / "trivium" / "trivium.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[chat]\nurl = "http://127.0.0.1:9/v1"\nmodel = "m"\ntime_out = 5\n')
    (place / "new.md").write_text("# News\n\nThe lamps burn brightly in the dark.\n")
    answer = run("check", place / "new.md", "-L", place / "n.trivium")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "http://127.0.0.1:9/v1" in answer.stderr


def test_removing_facts_that_nobody_states_is_an_error_with_a_hint(place: Path, run: Run) -> None:
    wrong = ("--predicate", "https://example.org/hasManger")
    answer = run("remove", *wrong, "-L", place / "n.trivium")
    assert answer.returncode == 1
    assert "Did you mean 'https://example.org/hasManager'?" in answer.stderr


def test_import_and_export_name_what_they_can_do(place: Path, run: Run) -> None:
    answer = run("import", place / "notes" / "lamps.md", "-L", place / "n.trivium")
    assert answer.returncode == 1
    assert "'trivium add' takes in documents" in answer.stderr
    answer = run("export", "--to", place / "x.xyz", "-L", place / "n.trivium")
    assert answer.returncode == 1
    assert "--to NAME.omnidata is a bundle, and .ttl" in answer.stderr


def test_most_memories_needs_memories(place: Path, run: Run) -> None:
    answer = run("search", "lamps", "--most-memories", "3", "-L", place / "n.trivium")
    assert answer.returncode == 1
    assert "--include-memories" in answer.stderr


def test_feedback_says_that_a_profile_has_no_signals(place: Path, run: Run) -> None:
    told = run("feedback", "stats", "-L", place / "n.trivium").stdout
    assert "profile 'default' has no signals" in told
    assert (
        "no signals"
        not in run("feedback", "stats", "--profile", "vault", "-L", place / "n.trivium").stdout
    )


def test_a_renamed_file_is_counted_once(place: Path, run: Run) -> None:
    (place / "notes" / "lamps.md").rename(place / "notes" / "lanterns.md")
    told = run("add", place / "notes", "-L", place / "n.trivium").stdout
    assert "1 renamed" in told
    assert "updated" not in told


def test_a_key_for_a_scope_that_nothing_has_is_doubted(place: Path, run: Run) -> None:
    (place / "notes" / "plot.md").write_text("---\nscope: dm-only\n---\n# Plot\n\nA trapdoor.\n")
    run("add", place / "notes", "-L", place / "n.trivium")
    create = ("key", "create", "-L", place / "n.trivium")
    slip = run(*create, "--name", "a", "--grant", "dm-onyl")
    assert slip.returncode == 0  # what has the scope may come later
    assert "no document has the scope 'dm-onyl' yet. Did you mean 'dm-only'?" in slip.stderr
    meant = run(*create, "--name", "b", "--grant", "dm-only", "--grant", "all")
    assert "no document" not in meant.stderr


def test_advice_can_be_pasted_into_a_shell() -> None:
    assert command("init", "notes.trivium") == "'trivium init notes.trivium'"
    assert command("init", "my notes.trivium") == "trivium init 'my notes.trivium'"
    address = "postgresql://host/db?schema=a&user=b"
    assert command("init", address) == f"trivium init '{address}'"
