"""Conflicts among facts: all found and none invented, decided by people, proved by the ledger."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trivium
from trivium.config import load_profile
from trivium.errors import InvalidValue
from trivium.graph.anomalies import rings
from trivium.graph.names import STRINGS
from trivium.graph.rdf import line, quad_of
from trivium.library import Library
from trivium.types import OWNER, PUBLIC, Grant, Quad

EXAMPLES = Path(__file__).parents[2] / "examples"
EX = "https://example.org/"
MARCH = EX + "march/"
HEAD = f"""@prefix ex: <{EX}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "w.trivium", profile="worlds", model="none") as made:
        yield made


def take_in(library: Library, tmp_path: Path, text: str, name: str = "f.ttl", **given: str) -> None:
    path = tmp_path / name
    path.write_text(HEAD + text, encoding="utf-8")
    assert library.import_facts(path, **given).errors == ()  # type: ignore[arg-type]


def found(library: Library, **given: object) -> list[tuple[str, str]]:
    verifications = library.verifications(**given)  # type: ignore[arg-type]
    return sorted((v.anomaly.kind, v.anomaly.about.removeprefix(EX)) for v in verifications)


# --- finding -------------------------------------------------------------------------------------


def test_the_planted_conflicts_are_found_and_no_others(library: Library) -> None:
    library.import_facts(EXAMPLES / "facts.ttl")
    assert found(library) == [
        ("broken", "march/ContraryCompass"),
        ("cycle", "march/GreywickMine"),
        ("disjoint", "march/HethuMoss"),
        ("functional", "march/SunderedMarch"),
        ("overlap", "march/AldithTheLast"),
    ]
    [overlap] = [v for v in library.verifications() if v.anomaly.kind == "overlap"]
    assert {s.quad.object for s in overlap.anomaly.statements} == {
        MARCH + "Aldermoor",
        "0061",
        "0088",
        "0084",
        "0091",
    }
    whole = {v.id for v in library.verifications()}
    subjects = {s for v in library.verifications() for s in v.anomaly.touches}
    assert {v.id for v in library.verifications(subjects=subjects)} == whole
    assert library.verifications(subjects=[MARCH + "Heron"]) == []


CASES = {
    "functional": 'ex:p a owl:FunctionalProperty . ex:a ex:p "1", "2" .',
    "cardinality": "ex:C rdfs:subClassOf [ owl:onProperty ex:p ; owl:maxCardinality 1 ] . "
    'ex:D rdfs:subClassOf ex:C . ex:a a ex:D ; ex:p "1", "2" .',
    "disjoint": "[] a owl:AllDisjointClasses ; owl:members (ex:A ex:B ex:C) . ex:a a ex:B, ex:C .",
    "broken": "ex:a ex:knows ex:nobody .",
    "contradiction": "ex:p a owl:AsymmetricProperty . ex:a ex:p ex:b . ex:b ex:p ex:a .",
    "cycle": "ex:p a owl:TransitiveProperty, owl:IrreflexiveProperty . "
    "ex:a ex:p ex:b . ex:b ex:p ex:a .",
}
FINE = {
    "same": "ex:p a owl:FunctionalProperty . ex:a ex:p ex:b, ex:c . ex:b owl:sameAs ex:c . "
    'ex:c rdfs:label "c" .',
    "another class": "ex:C rdfs:subClassOf [ owl:onProperty ex:p ; owl:maxCardinality 1 ] . "
    'ex:a a ex:Other ; ex:p "1", "2" .',
    "elsewhere": "ex:a ex:seeAlso <https://elsewhere.example/x> .",
    "chain": 'ex:a ex:partOf ex:b . ex:b ex:partOf ex:c . ex:c rdfs:label "c" .',
    "successors": 'ex:a ex:rules ex:c ; ex:reignUntil "88" . ex:b ex:rules ex:c ; '
    'ex:reignFrom "88" . ex:c rdfs:label "c" .',
    "no dates": 'ex:a ex:rules ex:c . ex:b ex:rules ex:c . ex:c rdfs:label "c" .',
}


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_of_conflict(library: Library, tmp_path: Path, kind: str) -> None:
    take_in(library, tmp_path, CASES[kind])
    assert (kind, "a") in found(library)
    assert {k for k, _ in found(library)} == {kind}


@pytest.mark.parametrize("name", FINE)
def test_what_is_no_conflict(library: Library, tmp_path: Path, name: str) -> None:
    take_in(library, tmp_path, FINE[name])
    assert found(library) == []


def test_statements_about_statements_say_when_they_hold(library: Library, tmp_path: Path) -> None:
    take_in(
        library,
        tmp_path,
        'ex:a ex:rules ex:c {| ex:reignFrom "61" ; ex:reignUntil "88" |} . '
        'ex:b ex:rules ex:c {| ex:reignFrom "84" |} . ex:c rdfs:label "c" .',
    )
    assert found(library) == [("overlap", "a")]


ways = st.dictionaries(
    st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), unique=True, max_size=3)
)


@settings(deadline=None)
@given(ways)
def test_rings_are_what_can_reach_itself(ways: dict[str, list[str]]) -> None:
    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = list(ways.get(start, ()))
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += ways.get(one, ())
        return seen

    right = {frozenset(b for b in reach(a) if a in reach(b)) for a in ways if a in reach(a)}
    assert {frozenset(ring) for ring in rings(ways)} == right


def test_a_long_ring_is_looked_through_once() -> None:
    """Whether a name is in the ring so far was asked of a list, link by link."""
    size, started = 60_000, process_time()
    ways = {str(n): [str((n + 1) % size), str((n - 1) % size)] for n in range(size)}
    [ring] = rings(ways)
    assert len(ring) == size
    assert process_time() - started < 3


def test_values_are_compared_until_there_are_too_many(library: Library, tmp_path: Path) -> None:
    """Each was compared with all before it, in every look at the conflicts."""
    values = ", ".join(f'"{number}"' for number in range(10_000))
    take_in(library, tmp_path, f"ex:p a owl:FunctionalProperty . ex:a ex:p {values} .")
    started = process_time()
    [conflict] = library.verifications()
    assert conflict.anomaly.what == "p has 10000 values and may have one"
    assert process_time() - started < 1


# --- grants --------------------------------------------------------------------------------------


def test_a_conflict_with_a_secret_is_a_secret(library: Library, tmp_path: Path) -> None:
    take_in(library, tmp_path, 'ex:p a owl:FunctionalProperty . ex:a ex:p "1" . ex:a ex:q ex:z .')
    before = library.verifications(grant=PUBLIC)
    assert [v.anomaly.kind for v in before] == ["broken"]
    take_in(library, tmp_path, 'ex:a ex:p "2" . ex:z ex:p "3" .', "s.ttl", scope="dm-only")
    assert found(library) == [("functional", "a")]
    seen = library.verifications(grant=PUBLIC)
    assert [(v.id, v.anomaly) for v in seen] == [(v.id, v.anomaly) for v in before]
    result = library.search("2", grant=PUBLIC)
    assert result.hits == ()


# --- deciding ------------------------------------------------------------------------------------


def test_who_adds_facts_is_told_of_no_conflict_with_a_secret(
    library: Library, tmp_path: Path
) -> None:
    """Nor is one kept from them because the same statements conflict in a secret place as well."""
    take_in(library, tmp_path, "ex:has a owl:FunctionalProperty .", "rules.ttl")
    take_in(library, tmp_path, 'ex:a ex:has "1" .', "a.ttl", scope="dm-only")
    take_in(library, tmp_path, 'ex:b ex:has "1", "2" .', "b.ttl", scope="dm-only")

    def told(text: str, grant: Grant) -> list[str]:
        path = tmp_path / f"{grant.scopes is None}.ttl"
        path.write_text(HEAD + text, encoding="utf-8")
        return [message for _, message in library.upload(path, grant=grant).notes]

    assert told('ex:a ex:has "2" .', PUBLIC) == []
    one = ["1 conflict was found among the facts; 'trivium verify list'"]
    assert told('ex:a ex:has "2" . ex:b ex:has "1", "2" .', PUBLIC) == one
    assert told('ex:a ex:has "3" .', OWNER) == one  # those of before are known


def quads(library: Library) -> set[Quad]:
    return {statement.quad for statement in library.statements()}


def test_a_rejected_statement_goes_and_stays_away(library: Library, tmp_path: Path) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    assert (one.status, [e.entry["action"] for e in one.history]) == ("open", ["opened"])
    library.decide(one.id, "rejected", by="ann", why="a slip", statements=[2])
    assert library.verifications() == []
    assert {q.object for q in quads(library) if q.predicate == EX + "p"} == {"1"}
    assert library.search("2").hits == ()
    library.import_facts(tmp_path / "f.ttl", reprocess=True)
    assert {q.object for q in quads(library) if q.predicate == EX + "p"} == {"1"}
    [_, last] = library._store.ledger.entries()
    assert (last.entry["action"], last.entry["by"], last.entry["why"]) == (
        "rejected",
        "ann",
        "a slip",
    )
    assert last.entry["effect"] == [f'struck <{EX}a> <{EX}p> "2" .']


def test_one_statement_supersedes_the_others(library: Library, tmp_path: Path) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    library.decide(one.id, "superseded", by="ann", why="newer", statements=[2])
    assert {q.object for q in quads(library) if q.predicate == EX + "p"} == {"2"}


def test_an_accepted_conflict_stays_accepted(library: Library, tmp_path: Path) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    library.decide(one.id, "accepted", by="ann", why="both are used")
    [after] = library.verifications()
    assert after.status == "accepted"
    assert library.search("1").hits[0].verifications == ()
    with pytest.raises(InvalidValue, match="not rewritten"):
        library.decide(one.id, "rejected", by="ann", why="no", statements=[1])


def test_what_was_decided_can_still_be_looked_up(
    library: Library, tmp_path: Path, run: Run
) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    library.decide(one.id, "rejected", by="ann", why="a slip", statements=[2])
    [settled] = library.settled()
    assert (settled.id, settled.status) == (one.id, "rejected")
    assert [s.quad for s in settled.anomaly.statements] == [s.quad for s in one.anomaly.statements]
    assert library.settled(grant=PUBLIC) == []
    with pytest.raises(InvalidValue, match="is rejected already"):
        library.decide(one.id, "accepted", by="ann", why="no")
    place = ("-L", library.folder)
    assert run("verify", "list", *place).stdout == "no conflicts\n"
    assert f"{one.id}  " in run("verify", "list", "--all", *place).stdout
    shown = run("verify", "show", one.id, *place).stdout
    assert f'2. <{EX}a> <{EX}p> "2" .' in shown
    assert "rejected by ann: a slip" in shown


def test_a_rollback_that_brings_a_conflict_back_says_so(
    library: Library, tmp_path: Path, run: Run
) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    library.decide(one.id, "rejected", by="ann", why="a slip", statements=[2])
    [document] = library.documents()
    told = run("rollback", document.id, "-L", library.folder).stdout
    assert "1 conflicts among facts are open again: 'trivium verify list'" in told
    [again] = library.verifications()
    assert (again.id, again.status) == (one.id, "open")
    assert [e.entry["action"] for e in again.history] == ["opened", "rejected", "opened"]
    assert library.audit().problems == ()
    library.decide(one.id, "rejected", by="ann", why="still a slip", statements=[2])
    assert library.verifications() == []


def test_a_decision_that_cannot_be_carried_out_is_not_in_the_ledger(
    library: Library, tmp_path: Path
) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    with (
        closing(sqlite3.connect(tmp_path / "w.trivium" / "index.db")) as connection,
        connection,
    ):
        connection.execute(
            "CREATE TRIGGER no BEFORE INSERT ON struck BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(sqlite3.IntegrityError, match="full"):
        library.decide(one.id, "rejected", by="ann", why="a slip", statements=[2])
    assert [e.entry["action"] for e in library._store.ledger.entries()] == ["opened"]
    assert library.verifications() == [one]


TERMS = st.text(st.characters(codec="utf-8", exclude_characters="<>"), max_size=8)
IRIS = st.sampled_from([EX + "a", "urn:b", "_:n1"])


@settings(deadline=None, max_examples=60)
@given(
    IRIS,
    st.one_of(
        IRIS.map(lambda iri: (iri, "", "")),
        TERMS.map(lambda text: (text, STRINGS[0], "")),
        TERMS.map(lambda text: (text, STRINGS[1], "en")),
        TERMS.map(lambda text: (text, STRINGS[2], "ar--rtl")),
        TERMS.map(lambda text: (text, "urn:type", "")),
        TERMS.map(lambda text: (f'<<( <urn:s> <urn:p> "{text}" )>>', "", "")),
    ),
    st.sampled_from(["", "urn:g", "_:g"]),
)
def test_a_line_of_the_ledger_is_read_as_it_was_written(
    subject: str, object: tuple[str, str, str], graph: str
) -> None:
    quad = Quad(subject, EX + "p", *object, graph)
    assert quad_of(line(quad)) == quad


@pytest.mark.parametrize(
    ("decision", "statements", "why"),
    [("rejected", [], "x"), ("rejected", [3], "x"), ("superseded", [1, 2], "x"),
     ("accepted", [1], "x"), ("accepted", [], " ")],
)  # fmt: skip
def test_a_decision_must_say_what_and_why(
    library: Library, tmp_path: Path, decision: str, statements: list[int], why: str
) -> None:
    take_in(library, tmp_path, CASES["functional"])
    [one] = library.verifications()
    with pytest.raises(InvalidValue):
        library.decide(one.id, decision, by="ann", why=why, statements=statements)  # type: ignore[arg-type]
    assert library.audit().entries == 1


# --- hits ----------------------------------------------------------------------------------------


def test_open_conflicts_mark_lower_or_drop_hits(library: Library, tmp_path: Path) -> None:
    text = 'ex:p a owl:FunctionalProperty . ex:a ex:p "old axe", "new axe" . ex:b ex:q "an axe" .'
    take_in(library, tmp_path, text)
    [one] = library.verifications()
    marks = {hit.id: hit.verifications for hit in library.search("axe")}
    assert marks == {EX + "a": (one.id,), EX + "b": ()}
    plain = {hit.id: hit.score for hit in library.search("axe")}
    lower = load_profile("worlds", ['search.verify.effect="lower"'])
    hits = {hit.id: hit for hit in library.search("axe", profile=lower)}
    assert hits[EX + "a"].score == plain[EX + "a"] / 2
    assert hits[EX + "a"].parts[-1].name == "disputed"
    assert hits[EX + "b"].score == plain[EX + "b"]
    drop = load_profile("worlds", ['search.verify.effect="drop"'])
    assert [hit.id for hit in library.search("axe", profile=drop)] == [EX + "b"]


# --- the ledger ----------------------------------------------------------------------------------


def fill(library: Library) -> None:
    library.import_facts(EXAMPLES / "facts.ttl")
    [one] = [v for v in library.verifications() if v.anomaly.kind == "functional"]
    library.decide(one.id, "rejected", by="ann", why="it fell", statements=[1])


def test_the_same_inputs_give_the_same_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = datetime(2026, 6, 1, tzinfo=UTC)
    monkeypatch.setattr(Library, "_now", lambda self: moment)
    heads = []
    for name in ("a", "b"):
        with trivium.init(tmp_path / f"{name}.trivium", profile="worlds", model="none") as made:
            fill(made)
            heads.append(made.audit())
    assert heads[0] == heads[1]
    assert (heads[0].entries, heads[0].problems) == (6, ())


TAMPERING = {
    "changed": ("UPDATE ledger SET entry = replace(entry, 'ann', 'bob')", "entry 6 was changed"),
    "cut out": ("DELETE FROM ledger WHERE number = 3", "entry 3 is missing"),
    "cut off": ("DELETE FROM ledger WHERE number = 6", "missing at the end"),
    "dated": ("UPDATE ledger SET at = '2020' WHERE number = 1", "entry 1 was changed"),
}


@pytest.mark.parametrize("how", TAMPERING)
def test_tampering_is_found_out(library: Library, how: str) -> None:
    fill(library)
    assert library.audit().problems == ()
    statement, problem = TAMPERING[how]
    with closing(sqlite3.connect(Path(library.folder) / "index.db")) as record:
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            record.execute(statement)
        for trigger in ("ledger_is_not_changed", "ledger_is_not_shortened"):
            record.execute(f"DROP TRIGGER {trigger}")
        record.execute(statement)
        record.commit()
    assert problem in " ".join(library.audit().problems)


def test_a_rewritten_chain_does_not_hold_the_head_that_was_noted(library: Library) -> None:
    fill(library)
    head = library.audit().head
    assert library.audit(expect=head).problems == ()
    assert library.audit(expect="0" * 64).problems != ()


def test_the_commands(library: Library, run: Run) -> None:
    library.import_facts(EXAMPLES / "facts.ttl")
    library.close()
    place = ("-L", library.folder)
    listed = json.loads(run("verify", "list", *place, "--json").stdout)
    assert len(listed) == 5
    [one] = [v["id"] for v in listed if v["kind"] == "functional"]
    shown = run("verify", "show", one[:6], *place).stdout
    assert f"1. <{MARCH}SunderedMarch> <{MARCH}capital> <{MARCH}Aldermoor> ." in shown
    assert "[examples:facts.ttl@1]" in shown
    assert run("verify", "reject", one, "--why", "x", *place).returncode == 1
    done = run("verify", "supersede", one, "--statement", "2", "--why", "x", "--by", "ann", *place)
    assert done.stdout == f"{one} is superseded\n"
    assert len(run("verify", "list", *place).stdout.splitlines()) == 4
    assert "unbroken: 6 entries" in run("verify", "audit", *place).stdout
    assert run("verify", "show", "nothing", *place).returncode == 1
