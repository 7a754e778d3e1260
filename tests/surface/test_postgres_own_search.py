"""Document 001 on PostgreSQL: words by its text search, spelling by pg_trgm's word similarity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium import opening
from trivium.config import load_profile, profile_text
from trivium.errors import InvalidValue

psycopg = pytest.importorskip("psycopg", reason="the extra 'postgres' is not installed")

Run = Callable[..., CompletedProcess[str]]

TEXTS = {
    "axe": ("Weapons", "A battle axe hangs in the hall of the dwarf king."),
    "sword": ("Weapons", "The short sword of the king is sharp; dwarves forged it."),
    "river": ("Places", "The river floods the crawling marshes each spring."),
    "goblin": ("Foes", "A goblin with a sword, short of temper."),
}


@pytest.fixture
def library(postgres: str) -> Iterator[trivium.Library]:
    with trivium.init(postgres, profile="jicklejime", model="hashing") as made:
        for name, (heading, text) in TEXTS.items():
            made.add_text(f"## {heading}\n\n{text}", title=f"Zebra {name}", id=name, tags=["dull"])
        yield made


def found(library: trivium.Library, query: str, leg: str = "keyword") -> list[str]:
    return [hit.document.id for hit in library.search(query, legs=[leg])]


@pytest.mark.parametrize(
    ("query", "first", "behind"),
    [
        ("crawl", ["river"], []),  # the stemmer's doing
        ("weapon", ["axe", "sword"], []),  # a heading is searched with its content
        ('"short sword"', ["sword"], []),
        ("axe or river", ["axe", "river"], []),
        ("sword -goblin", ["sword"], []),
        ("king sword", ["sword"], ["axe", "goblin"]),
        ("zebra", [], []),  # titles and tags are not in the document's tsvector
        ("dull", [], []),
        ("-goblin", [], []),
        ("the of a", [], []),
        ("shortsword", [], []),  # "won't match": the weakness that the document names
    ],
)
def test_websearch_as_the_document_has_it(
    library: trivium.Library, query: str, first: list[str], behind: list[str]
) -> None:
    ranked = found(library, query)
    assert sorted(ranked[: len(first)]) == first
    assert sorted(ranked[len(first) :]) == behind


def test_a_long_question_is_not_lost_and_the_answer_says_how(library: trivium.Library) -> None:
    result = library.search("which king of the dwarves carried a battle axe", legs=["keyword"])
    assert [hit.document.id for hit in result] == ["axe", "sword"]
    assert result.warnings == (
        "keyword: 0 of 2 passages hold all that was asked for, the others some of it",
    )
    assert result.matched == 2
    assert library.search("battle axe", legs=["keyword"]).warnings == ()


def test_all_words_needed_or_any_of_them(library: trivium.Library) -> None:
    for join, ids in (("and", ["sword"]), ("or", ["axe", "goblin", "sword"])):
        settings = [f"search.keyword.join={join}"]
        profile = load_profile("jicklejime", settings)
        hits = library.search("king sword", profile=profile, legs=["keyword"])
        assert sorted(hit.document.id for hit in hits) == ids


def test_word_similarity_finds_compounds_and_typos(library: trivium.Library) -> None:
    result = library.search("battleaxe", legs=["trigram"])
    assert [hit.document.id for hit in result] == ["axe"]
    [part] = result.hits[0].parts
    assert part.value == pytest.approx(8 / 13)  # 8 of the 13 trigrams of it and of "battle axe"
    assert found(library, "crawlng marsh", "trigram") == ["river"]
    assert found(library, "qqqqqq", "trigram") == []


@pytest.mark.parametrize(
    "query",
    ["Ethan's manager", "C++", "foo:bar", "a & ! | ( <-> :*", "\\", "'", '"', '-"', "x" * 5000,
     "кот 東京都 \U0001f5e1", "a\0b", "or", "%s %(x)s", " or ".join("abcdefgh"), "w " * 500],
)  # fmt: skip
def test_nothing_typed_is_an_error_of_the_server(library: trivium.Library, query: str) -> None:
    for leg in ("keyword", "trigram"):
        [state] = [one.state.value for one in library.search(query, legs=[leg]).legs]
        assert state in ("ok", "empty")


def test_cjk_is_found_by_its_parts(library: trivium.Library) -> None:
    library.add_text("東京都の歴史", title="Tokyo", id="tokyo")
    assert found(library, "京都") == ["tokyo"]
    assert found(library, '"東京都"') == ["tokyo"]


def german(folder: Path, name: str) -> str:
    """A profile as jicklejime, with another configuration."""
    file = folder / "german.toml"
    text = profile_text("jicklejime")
    file.write_text(text.replace('text_search = "english"', f'text_search = "{name}"'))
    return str(file)


def test_words_are_stored_in_the_profiles_configuration(postgres: str, tmp_path: Path) -> None:
    with trivium.init(postgres, profile=german(tmp_path, "german"), model="hashing") as library:
        library.add_text("Die Häuser der Zwerge", title="a", id="a")
        assert found(library, "haus") == ["a"]
    copied = f"{postgres}_copy"
    opening.copy(postgres, copied)
    with trivium.open(copied) as library:
        assert found(library, "haus") == ["a"]
    address, _, schema = postgres.partition("?schema=")
    with psycopg.connect(address, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="german") as refused:
            connection.execute(
                f"SET search_path TO {schema}, public;"
                "UPDATE state SET value = 'english' WHERE key = 'text_search'"
            )
        assert "run: trivium optimize --text-search" in str(refused.value)
        connection.execute(f"DROP SCHEMA {schema}_copy CASCADE")


def test_a_configuration_that_the_server_lacks(postgres: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"no text-search configuration 'germann'.*german"):
        trivium.init(postgres, profile=german(tmp_path, "germann"), model="none")


def stored(postgres: str) -> list[tuple[int, str]]:
    """The tsvectors as they lie in the database."""
    address, _, schema = postgres.partition("?schema=")
    with psycopg.connect(address) as connection:
        rows = connection.execute(f"SELECT chunk, vector::text FROM {schema}.words ORDER BY chunk")
        return [(chunk, vector) for chunk, vector in rows]


def test_words_are_stored_anew_in_another_configuration(
    postgres: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Afterwards they are those of a library that was made with it."""
    monkeypatch.setattr("trivium.store.postgres.own_search._BATCH", 2)
    facts = tmp_path / "facts.ttl"
    facts.write_text('@prefix m: <http://march/> . m:hut m:called "Hütten der Händler im Wald" .')
    right = f"{postgres}_right"
    made = ((postgres, "jicklejime"), (right, german(tmp_path, "german")))
    for place, profile in made:
        with trivium.init(place, profile=profile, model="hashing") as library:
            library.add_text("## Wälder\n\nDie Häuser der Zwerge", title="a", id="a", tags=["Orte"])
            library.add_text("東京都の歴史", title="Tokyo", id="tokyo")
            library.add_text("Früher stand hier anderes", title="b", id="b")
            library.add_text("Die Türme der Städte", title="b", id="b")
            library.import_facts(facts)
    with trivium.open(postgres) as library:
        assert found(library, "haus") == []
        generation = library.status()["generation"]
    assert stored(postgres) != stored(right)

    done = run("optimize", "-L", postgres, "--text-search", "german")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "stored the words of 4 passages in 'german'\n"
    assert stored(postgres) == stored(right)
    with trivium.open(postgres) as library:
        assert (found(library, "haus"), found(library, "turm")) == (["a"], ["b"])
        assert library.settings.text_search == library.status()["text_search"] == "german"
        assert library.status()["generation"] == generation
        assert library.doctor() == []
        library.add_text("Die Bäume", title="c", id="c")
        assert found(library, "baum") == ["c"]
    address, _, schema = right.partition("?schema=")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA {schema} CASCADE")


def test_what_cannot_be_stored_anew_stays_as_it_was(
    library: trivium.Library, postgres: str, run: Run, tmp_path: Path
) -> None:
    before = stored(postgres)
    refused = run("optimize", "-L", postgres, "--text-search", "germann")
    assert (refused.returncode, "Did you mean 'german'?" in refused.stderr) == (1, True)
    address, _, schema = postgres.partition("?schema=")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            f"SET search_path TO {schema}; CREATE FUNCTION stop() RETURNS trigger "
            "LANGUAGE plpgsql AS $$ BEGIN IF new.chunk >= 3 THEN "
            "RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END IF; RETURN new; END $$;"
            "CREATE TRIGGER stop BEFORE UPDATE ON words FOR EACH ROW EXECUTE FUNCTION stop()"
        )
    full = run("optimize", "-L", postgres, "--text-search", "german")
    assert (full.returncode, "free some space" in full.stderr) == (1, True)
    assert stored(postgres) == before
    with trivium.open(postgres) as again:
        assert again.settings.text_search == again.status()["text_search"] == "english"
        assert found(again, "crawl") == ["river"]

    with trivium.init(tmp_path / "folder.trivium", model="none"):
        pass
    refused = run("optimize", "-L", tmp_path / "folder.trivium", "--text-search", "german")
    assert (refused.returncode, "only a library in PostgreSQL" in refused.stderr) == (1, True)
