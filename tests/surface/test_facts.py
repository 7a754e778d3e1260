"""Facts in and out: files of RDF as documents, their literals as chunks, their labels as names."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.cli.reports import counted
from trivium.errors import InvalidValue, MissingExtra
from trivium.library import Library
from trivium.types import PUBLIC, Filter, Grant, Pattern, Quad

EXAMPLES = Path(__file__).parents[2] / "examples"
EX = "https://example.org/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"
STRING = "http://www.w3.org/2001/XMLSchema#string"
HEAD = f"""@prefix ex: <{EX}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
MINE = (
    HEAD
    + """ex:GreywickMine a ex:Mine ;
    rdfs:label "Old Greywick" ;
    ex:hasManager ex:Wenna ;
    ex:description "The only known source of moonglass." ;
    ex:damage "2d6" ;
    ex:depth 400 ; ex:opened "0120-01-01"^^xsd:date .
"""
)

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "w.trivium", profile="worlds", model="hashing") as made:
        yield made


def file(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / "facts" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def take_in(library: Library, path: Path, **given: str) -> None:
    report = library.import_facts(path, **given)  # type: ignore[arg-type]
    assert report.errors == ()


def quads(library: Library, grant: Grant = Grant()) -> set[Quad]:  # noqa: B008
    return {statement.quad for statement in library.statements(grant=grant)}


def found(library: Library, query: str, filter: Filter = Filter()) -> list[str]:  # noqa: B008
    return [hit.id for hit in library.search(query, filter=filter, legs=["keyword"])]


def headings(library: Library) -> set[tuple[str, ...]]:
    documents = library.documents(Filter(kind=("facts",)))
    chunks = (reading.chunks for reading in library.get(*(d.id for d in documents)))
    return {chunk.heading for some in chunks for chunk in some}


# --- in and out ----------------------------------------------------------------------------------


def test_a_file_is_a_document_and_its_string_literals_are_chunks(
    library: Library, tmp_path: Path
) -> None:
    take_in(library, file(tmp_path, "mine.ttl", MINE))
    [document] = library.documents()
    assert (document.kind, document.uri, document.media_type) == (
        "facts",
        "facts:mine.ttl",
        "text/turtle",
    )
    [reading] = library.get(document.id)
    assert {(c.text, c.subject, c.predicate, c.heading) for c in reading.chunks} == {
        (
            "Old Greywick",
            EX + "GreywickMine",
            LABEL,
            ("Old Greywick (Greywick Mine)", "label"),
        ),
        (
            "The only known source of moonglass.",
            EX + "GreywickMine",
            EX + "description",
            ("Old Greywick (Greywick Mine)", "description"),
        ),
        ("2d6", EX + "GreywickMine", EX + "damage", ("Old Greywick (Greywick Mine)", "damage")),
    }
    assert Quad(EX + "GreywickMine", EX + "hasManager", EX + "Wenna") in quads(library)
    assert {q.object for q in quads(library) if q.datatype.endswith(("integer", "date"))} == {
        "400",
        "0120-01-01",
    }


def test_labels_and_literals_of_four_words_are_embedded_and_no_others(
    library: Library, tmp_path: Path
) -> None:
    report = library.import_facts(file(tmp_path, "mine.ttl", MINE), embed=False)
    assert report.waiting == 0
    library.embed()
    [model] = library.status()["models"]
    assert model["vectors"] == 2  # the label and the description, not "2d6"
    result = library.search("moonglass")
    assert result.warnings == ()  # nothing is said to wait for a vector that is never made


@pytest.mark.parametrize("suffix", [".ttl", ".nt", ".nq", ".trig", ".jsonld", ".rdf"])
def test_every_format_goes_out_and_comes_back(
    library: Library, tmp_path: Path, suffix: str
) -> None:
    take_in(library, EXAMPLES / "facts.ttl")
    report = library.export_facts(tmp_path / f"out{suffix}")
    assert report.statements == 397
    with trivium.init(tmp_path / "b.trivium", model="none") as other:
        take_in(other, tmp_path / f"out{suffix}")
        assert quads(other) == quads(library)


def test_graphs_languages_directions_and_triple_terms_come_back(
    library: Library, tmp_path: Path
) -> None:
    path = file(
        tmp_path,
        "all.trig",
        HEAD
        + """ex:g { ex:a ex:says "hello"@en, "shalom"@he--rtl, 3.5, "x"^^ex:own . }
ex:a ex:rules ex:b {| ex:source ex:Chronicle ; ex:since 61 |} .
""",
    )
    take_in(library, path)
    term = f"<<( <{EX}a> <{EX}rules> <{EX}b> )>>"
    [reified] = library.statements(Pattern(predicate=REIFIES))
    assert reified.quad.object == term
    [source] = reified.sources
    assert (source.uri, source.version) == ("facts:all.trig", 1)
    about = {s.quad.predicate for s in library.statements(Pattern(subject=reified.quad.subject))}
    assert about == {REIFIES, EX + "source", EX + "since"}
    library.export_facts(tmp_path / "out.nq")
    with trivium.init(tmp_path / "b.trivium", model="none") as other:
        take_in(other, tmp_path / "out.nq")
        named = {q for q in quads(other) if not q.subject.startswith("_:")}
        assert named == {q for q in quads(library) if not q.subject.startswith("_:")}
        assert {(q.object, q.language, q.graph) for q in named if q.language} == {
            ("hello", "en", EX + "g"),
            ("shalom", "he--rtl", EX + "g"),
        }
        assert len(quads(other)) == len(quads(library)) == 8


def test_a_format_without_graphs_says_that_it_lost_them(library: Library, tmp_path: Path) -> None:
    take_in(library, file(tmp_path, "g.nq", f'<{EX}a> <{EX}b> "c" <{EX}g> .\n'))
    assert library.export_facts(tmp_path / "out.ttl").flattened == 1
    with pytest.raises(InvalidValue, match="choose one of"):
        library.export_facts(tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


def test_importing_again_changes_nothing_and_a_change_is_a_version(
    library: Library, tmp_path: Path
) -> None:
    path = file(tmp_path, "mine.ttl", MINE)
    take_in(library, path)
    before = {c.text: c.ordinal for r in library.get("#1") for c in r.chunks}
    assert library.import_facts(path).unchanged != ()
    path.write_text(MINE.replace("2d6", "3d6"))
    assert library.import_facts(path).updated != ()
    assert [v.version for v in library.versions("#1")] == [1, 2]
    after = {c.text: c.ordinal for r in library.get("#1") for c in r.chunks}
    same = ("Old Greywick", "The only known source of moonglass.")
    assert [before[text] for text in same] == [after[text] for text in same]
    library.rollback("#1", 1)
    assert {q.object for q in quads(library) if q.predicate == EX + "damage"} == {"2d6"}
    assert library.doctor() == []


def test_a_statement_twice_in_a_file_is_one(library: Library, tmp_path: Path) -> None:
    take_in(library, file(tmp_path, "t.nt", f'<{EX}a> <{EX}b> "c" .\n' * 3))
    assert len(list(library.statements())) == 1


def test_blank_nodes_keep_their_names_when_a_file_grows(library: Library, tmp_path: Path) -> None:
    text = HEAD + 'ex:a ex:at [ ex:name "first" ], [ ex:name "second" ] . _:x ex:name "third" .\n'
    path = file(tmp_path, "blank.ttl", text)
    take_in(library, path)
    before = quads(library)
    path.write_text(text + 'ex:a ex:at [ ex:name "last" ] .\n')
    take_in(library, path)
    assert before < quads(library)
    assert len(quads(library)) == 7


# --- names ---------------------------------------------------------------------------------------


def test_a_subject_is_found_by_label_local_name_and_predicate(
    library: Library, tmp_path: Path
) -> None:
    take_in(library, file(tmp_path, "mine.ttl", MINE))
    for query in ("greywick", "old greywick damage", "mine", "2d6"):
        assert found(library, query) == [EX + "GreywickMine"], query
    wenna = HEAD + 'ex:Wenna ex:hasNickname "Copper" .'
    take_in(library, file(tmp_path, "wenna.ttl", wenna))
    assert found(library, "nickname") == [EX + "Wenna"]


def test_a_changed_label_renames_what_it_touches_in_other_documents(
    library: Library, tmp_path: Path
) -> None:
    take_in(library, file(tmp_path, "data.ttl", HEAD + 'ex:q7 ex:p1 "a story of a lost mine" .'))
    assert headings(library) == {("q7", "p1")}
    names = file(tmp_path, "names.ttl", HEAD + 'ex:q7 rdfs:label "Greywick" .')
    take_in(library, names)
    assert ("Greywick (q7)", "p1") in headings(library)
    assert found(library, "greywick story") == [EX + "q7"]
    names.write_text(HEAD + 'ex:q7 rdfs:label "Saltmere" . ex:p1 rdfs:label "history" .')
    take_in(library, names)
    assert ("Saltmere (q7)", "history (p1)") in headings(library)
    assert found(library, "greywick") == []
    library.rollback("facts:names.ttl", 1)
    assert ("Greywick (q7)", "p1") in headings(library)
    library.remove("facts:names.ttl")
    assert headings(library) == {("q7", "p1")}
    assert library.waiting() == 0 or library.embed().embedded > 0
    assert library.doctor() == []


def test_a_secret_label_names_nothing_public(library: Library, tmp_path: Path) -> None:
    take_in(library, file(tmp_path, "data.ttl", HEAD + 'ex:q7 ex:p1 "a man with a mask" .'))
    before = library.search("man", grant=PUBLIC, legs=["keyword"])
    secret = file(tmp_path, "secret.ttl", HEAD + 'ex:q7 rdfs:label "Lucan" .')
    take_in(library, secret, scope="dm-only")
    assert ("q7", "p1") in headings(library)
    after = library.search("man", grant=PUBLIC, legs=["keyword"])
    assert after.hits == before.hits
    assert library.search("lucan", grant=PUBLIC, legs=["keyword"]).hits == ()
    assert {q.object for q in quads(library, PUBLIC)} == {"a man with a mask"}
    with trivium.open(library.folder) as owner:  # what was said public becomes public everywhere
        owner.import_facts(secret, scope="all")
        assert ("Lucan (q7)", "p1") in headings(owner)


def test_a_secret_text_that_becomes_public_loses_its_secret_name(
    library: Library, tmp_path: Path
) -> None:
    secret = file(tmp_path, "secret.ttl", HEAD + 'ex:q7 rdfs:label "Lucan" .')
    data = file(tmp_path, "data.ttl", HEAD + 'ex:q7 ex:p1 "a man with a mask" .')
    take_in(library, secret, scope="dm-only")
    take_in(library, data, scope="dm-only")
    assert ("Lucan (q7)", "p1") in headings(library)
    take_in(library, data, scope="all")
    assert ("q7", "p1") in headings(library)
    assert library.search("lucan", grant=PUBLIC, legs=["keyword"]).hits == ()


def test_a_note_about_a_subject_stands_beside_its_facts(library: Library, tmp_path: Path) -> None:
    take_in(library, file(tmp_path, "mine.ttl", MINE))
    note = tmp_path / "notes" / "mine.md"
    note.parent.mkdir()
    note.write_text("---\nabout: ex:GreywickMine\n---\nThe pumps are failing.\n")
    assert library.add(note).notes == ()
    assert found(library, "pumps", Filter(subjects=("ex:GreywickMine",))) == [EX + "GreywickMine"]
    assert found(library, "pumps", Filter(rdf_types=("ex:Mine",))) == [EX + "GreywickMine"]
    note.write_text("---\nabout: exx:GreywickMine\n---\nThe pumps are failing.\n")
    [(_, problem)] = library.add(note).notes
    assert "Did you mean 'ex'?" in problem


# --- removal -------------------------------------------------------------------------------------


def test_facts_are_removed_by_pattern_and_brought_back(library: Library, tmp_path: Path) -> None:
    path = file(tmp_path, "mine.ttl", MINE)
    take_in(library, path)
    assert library.remove_facts(Pattern(predicate="ex:damage")) == (1, [library.documents()[0].id])
    assert found(library, "2d6") == []
    assert library.import_facts(path).unchanged != ()  # the file says nothing new
    assert found(library, "2d6") == []
    library.rollback("#1", 1)
    assert found(library, "2d6") == [EX + "GreywickMine"]
    with pytest.raises(InvalidValue):
        library.remove_facts(Pattern())


# --- what is wrong -------------------------------------------------------------------------------

WRONG = {
    "ends.ttl": (HEAD + 'ex:a ex:b "c" .\nex:a ex:b', ["line 5, column 1", "nothing of the file"]),
    "prefix.ttl": (HEAD + "ex:a ex:b nope:c .", ["line 4, column 11", "prefix nope: ", "@prefix"]),
    "relative.ttl": (HEAD + "ex:a ex:b <c> .", ["line 4, column 11", "--base"]),
    "relative.jsonld": ('{"@id": "b", "http://x/c": "x"}', ["'b' is relative", "--base"]),
    "remote.jsonld": ('{"@context": "https://schema.org/"}', ["nothing is fetched"]),
    "broken.rdf": ("<rdf:RDF", ["nothing of the file was taken in"]),
    "bomb.rdf": ('<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r/>', ["entity"]),
    "lines.nt": (f'<{EX}a> <{EX}b> "c" .\n<{EX}a> <{EX}b> .', ["line 2, column 49"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named_and_nothing_of_its_file_is_taken_in(
    library: Library, tmp_path: Path, name: str
) -> None:
    text, expected = WRONG[name]
    take_in(library, file(tmp_path, "mine.ttl", MINE))
    before = quads(library)
    [(_, message)] = library.import_facts(file(tmp_path, name, text)).errors
    assert name in message
    for part in expected:
        assert part in message
    assert quads(library) == before
    assert len(library.documents()) == 1
    assert library.doctor() == []


def test_a_mistake_in_a_new_version_leaves_the_old_one(library: Library, tmp_path: Path) -> None:
    path = file(tmp_path, "mine.ttl", MINE)
    take_in(library, path)
    path.write_text(MINE + "oops")
    assert library.import_facts(path).errors != ()
    assert found(library, "moonglass") == [EX + "GreywickMine"]
    assert len(library.versions("#1")) == 1


def test_a_base_and_a_byte_order_mark_are_understood(library: Library, tmp_path: Path) -> None:
    path = file(tmp_path, "bom.ttl", '\ufeff<a> <b> "c" .')
    assert library.import_facts(path, base="https://example.org/x/").errors == ()
    assert quads(library) == {Quad(EX + "x/a", EX + "x/b", "c", STRING)}


def test_without_pyoxigraph_the_message_says_what_to_install(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path, "mine.ttl", MINE)
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    [(_, message)] = library.import_facts(path).errors
    assert "pip install '.[graph]'" in message
    photo = path.with_name("photo.jpg")
    photo.write_bytes(b"\xff\xd8")
    report = library.add(path.parent)  # in a folder it is passed over, and named
    assert (report.errors, report.skipped) == ((), (str(path), str(photo)))
    assert report.notes == ((str(path), f"skipped: {message}"),)
    assert counted(report) == "1 skipped (no text format), 1 skipped (an extra is missing)"
    with pytest.raises(MissingExtra):
        library.export_facts(tmp_path / "x.ttl")


# --- the terminal --------------------------------------------------------------------------------


def test_the_commands(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "w.trivium"
    facts = EXAMPLES / "facts.ttl"
    done = run("import", facts, "-L", folder, "--model", "none")
    assert (done.returncode, done.stdout) == (0, "1 added\n")
    assert run("import", facts, "-L", folder).stdout == "1 unchanged\n"
    assert "march:Emberfold" not in run("search", "-L", folder, "forges").stdout
    one = run("search", "-L", folder, "--subject", "march:Emberfold", "forges", "--json").stdout
    assert '"id": "https://example.org/march/Emberfold"' in one
    none = run("search", "-L", folder, "--rdf-type", "march:Place", "forges")
    assert "Nothing found" in none.stdout
    wide = ("search", "-L", folder, "--rdf-type", "march:Place", "--subclasses", "forges")
    assert "Emberfold" in run(*wide).stdout
    assert "Emberfold" not in run(*wide, "--not", "subject=march:Emberfold").stdout
    slip = run("search", "-L", folder, "--subject", "mrch:Emberfold", "forges")
    assert slip.returncode == 1
    assert "Did you mean 'march'?" in slip.stderr
    out = run("export", "-L", folder, "--to", tmp_path / "o.nq", "--subject", "march:Emberfold")
    assert out.stdout == f"wrote {tmp_path / 'o.nq'}: 5 statements\n"
    assert run("export", "-L", folder, "--to", tmp_path / "o.nq").returncode == 1
    gone = run("remove", "-L", folder, "--predicate", "march:motto")
    assert "removed 5 facts of 1 documents" in gone.stdout
    assert run("remove", "-L", folder).returncode == 1
    assert run("import", tmp_path / "none.ttl", "-L", folder).returncode == 1
