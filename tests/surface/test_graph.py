"""The graph around a hit, SPARQL within limits, and the search as one statement."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trivium
from trivium.config import FuseSettings, load_profile
from trivium.errors import InvalidValue, UnknownName
from trivium.fuse import rrf
from trivium.library import Library
from trivium.store.sqlite import SqliteStore
from trivium.types import PUBLIC, Candidate, Filter, Pattern, Quad, Ranking

EXAMPLES = Path(__file__).parents[2] / "examples"
EX = "https://example.org/"
MARCH = EX + "march/"
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with trivium.init(tmp_path / "w.trivium", profile="worlds", model="hashing") as made:
        assert made.import_facts(EXAMPLES / "facts.ttl").errors == ()
        yield made


def secret(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "secret.nt"
    path.write_text(f"<{MARCH}Heron> <{MARCH}cursedBy> <{MARCH}GreyFactor> .\n")
    assert library.import_facts(path, scope="dm-only").errors == ()


# --- around --------------------------------------------------------------------------------------


def test_facts_around_a_subject_with_where_they_were_read(library: Library) -> None:
    found = library.facts("march:Heron")
    assert found.labels[MARCH + "Heron"] == "Heron"
    said = {(s.quad.predicate.removeprefix(MARCH), s.quad.object) for s in found.statements}
    assert {("forgedBy", MARCH + "IlvarenSael"), ("damage", "1d10")} <= said
    assert {p.uri for s in found.statements for p in s.sources} == {"examples:facts.ttl"}
    assert len(found.statements) == 6


def test_depth_leads_further_and_size_stops(library: Library) -> None:
    near, far = library.facts("march:Heron"), library.facts("march:Heron", depth=2)
    assert set(near.statements) < set(far.statements)
    assert any(s.quad.subject == MARCH + "ThreeBoughs" for s in far.statements) is False
    assert any(s.quad.subject == MARCH + "IlvarenSael" for s in far.statements)
    cut = library.facts("march:Heron", depth=5, limit=10)
    assert (len(cut.statements), cut.cut) == (10, True)
    assert cut.statements[:6] == near.statements


def test_what_points_to_a_subject_is_shown_too(library: Library) -> None:
    found = library.facts("march:HeddaFenn")
    assert Quad(MARCH + "Gravewind", MARCH + "forgedBy", MARCH + "HeddaFenn") in {
        s.quad for s in found.statements
    }


def test_hidden_facts_are_not_around(library: Library, tmp_path: Path) -> None:
    before = library.facts("march:Heron", grant=PUBLIC)
    secret(library, tmp_path)
    assert library.facts("march:Heron", grant=PUBLIC) == before
    assert len(library.facts("march:Heron").statements) == 7
    with pytest.raises(UnknownName):
        library.facts("march:Nobody")


def test_namesakes_are_told_apart(library: Library) -> None:
    result = library.search("Varn", legs=["keyword"])
    house, river = MARCH + "HouseVarn", MARCH + "RiverVarn"
    assert {house, river} <= set(result.ambiguous)
    told = {one["id"]: one for one in result.told_apart}
    assert (told[house]["label"], told[house]["types"]) == ("Varn", (MARCH + "House",))
    assert (told[river]["label"], told[river]["types"]) == ("Varn", (MARCH + "Place",))
    assert told[river]["facts"][0][0] == MARCH + "description"  # both have one, and it differs
    assert library.search("Quillhaven monastery", legs=["keyword"]).told_apart == ()


# --- SPARQL --------------------------------------------------------------------------------------


def test_sparql_knows_the_prefixes_and_sees_every_write(library: Library, tmp_path: Path) -> None:
    query = "SELECT ?w WHERE { ?w march:ownedBy march:SeraNinefold } ORDER BY ?w"
    answer = library.sparql(query)
    assert answer.columns == ("w",)
    assert answer.rows == ((f"<{MARCH}CrownOfReeds>",), (f"<{MARCH}Heron>",))
    library.remove_facts(Pattern(subject="march:Heron", predicate="march:ownedBy"))
    assert library.sparql(query).rows == ((f"<{MARCH}CrownOfReeds>",),)
    secret(library, tmp_path)
    hidden = "ASK { march:Heron march:cursedBy ?who }"
    assert library.sparql(hidden).truth is True
    assert library.sparql(hidden, grant=PUBLIC).truth is False


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "updates are refused"),
        ("PREFIX x: <urn:x> DELETE WHERE { ?s ?p ?o }", "updates are refused"),
        ("SELECT * WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", "SERVICE is refused"),
        ("SELEC ?x", "cannot be read"),
        ("SELECT * WHERE { nope:a ?p ?o }", "cannot be read"),
    ],
)
def test_what_sparql_refuses(library: Library, query: str, message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        library.sparql(query)


def test_a_query_that_explodes_is_stopped(library: Library) -> None:
    query = "SELECT (count(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    started = time.monotonic()
    with pytest.raises(InvalidValue, match="stopped"):
        library.sparql(query, seconds=1)
    assert time.monotonic() - started < 30
    many = library.sparql("SELECT * WHERE { ?a ?b ?c . ?d ?e ?f }", rows=7)
    assert (len(many.rows), many.cut) == (7, True)


# --- one statement -------------------------------------------------------------------------------

WORDS = ("salt", "axe", "hedge", "moon", "king", "bridge", "the", "варн", "東京")
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("one")
    with trivium.init(folder / "w.trivium", profile="worlds", model="hashing") as made:
        assert made.import_facts(EXAMPLES / "facts.ttl").errors == ()
        made.add(EXAMPLES / "march" / "places")
        yield made


@given(
    query=queries,
    limit=st.sampled_from([1, 5, 300]),
    filter=st.sampled_from(
        [
            Filter(),
            Filter(kind=("facts",)),
            Filter(rdf_types=("march:Place",), subclasses=True),
            Filter(exclude=(Filter(predicates=("march:description",)),)),
        ]
    ),
)
@settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
def test_one_statement_gives_what_the_fusion_gives_on_the_same_legs(
    shared: Library, query: str, limit: int, filter: Filter
) -> None:
    statement = shared.statement(query, limit=limit, filter=filter)
    rows = shared.run_statement(statement)
    everything = {**statement.parameters, "limit": 100_000}
    pool = cast(SqliteStore, shared._store).fused.run(everything)
    legs = {
        name: Ranking(
            tuple(
                Candidate(row["id"], 0.0)
                for row in sorted(pool, key=lambda row: row[f"{name}_rank"] or 0)
                if row[f"{name}_rank"]
            )
        )
        for name in ("keyword", "vector")
    }
    right = rrf(legs, FuseSettings(k=60)).cut(limit)
    found = [(row["id"], row["combined_rank"]) for row in rows]
    assert found == [(one.id, one.score) for one in right.candidates]
    # And its legs are the pipeline's: the same chunks, and what both rank they rank alike.
    result = shared.search(
        query, limit=300, filter=filter, profile=trivium_profile(), legs=["keyword"]
    )
    if limit == 300:
        assert {hit.chunk.id for hit in result} == {c.id for c in legs["keyword"].candidates}


def trivium_profile() -> trivium.config.Profile:
    from trivium.config import load_profile

    return load_profile("worlds", ['search.unit="chunk"', "search.keyword.depth=300"])


def test_the_statement_is_printed_with_its_parameters(library: Library, run: Run) -> None:
    library.close()
    out = run("search", "-L", library.folder, "--sql", "it's", '"salt"', "lake").stdout
    assert "WITH vec_matches AS (" in out
    assert '-- :match = \'"salt" OR "lake"\'' in out
    assert "-- :k = 60.0" in out
    other = run("search", "-L", library.folder, "--profile", "default", "--sql", "salt")
    assert other.returncode == 1
    assert "only that is one statement" in other.stderr


def test_the_commands(library: Library, run: Run) -> None:
    library.close()
    shown = run("facts", "march:Heron", "-L", library.folder).stdout
    assert "march:forgedBy march:IlvarenSael (Ilvaren Sael)  [examples:facts.ttl@1]" in shown
    assert run("facts", "march:Nobody", "-L", library.folder).returncode == 1
    assert '"cut": false' in run("facts", "march:Heron", "-L", library.folder, "--json").stdout
    asked = run("sparql", "ASK { march:Heron a march:Weapon }", "-L", library.folder)
    assert asked.stdout == "yes\n"
    table = "SELECT ?l WHERE { march:Heron rdfs:label ?l }"
    assert run("sparql", table, "-L", library.folder).stdout == 'l\n"Heron"\n'


@pytest.mark.parametrize("where", ["folder", "server"])
def test_a_label_in_another_file_makes_no_second_document(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """What it renames is indexed anew, apart from the rest of its document."""
    stated, labels = tmp_path / "axes.nt", tmp_path / "labels.nt"
    lines = [f'<{EX}{n}> <{EX}is> "an axe of the year {n}" .' for n in range(200)]
    stated.write_text("\n".join(lines))
    labels.write_text(f'<{EX}7> <http://www.w3.org/2000/01/rdf-schema#label> "Seven" .\n')
    place = request.getfixturevalue("postgres") if where == "server" else tmp_path / "l.trivium"
    with trivium.init(place, model="none") as library:
        by_document = load_profile("default", ["search.unit=document"])
        for path in (stated, labels):
            assert library.import_facts(path).errors == ()
            assert library.search("axe", profile=by_document).matched == 1
