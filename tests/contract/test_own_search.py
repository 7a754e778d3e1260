"""PostgreSQL's own text search and trigrams, held to what it says of one passage at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest
import worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stores import SLOW, Fresh, _named, apply, units
from worlds import NOW, Operation

from trivium.config import KeywordSettings
from trivium.protocols import PassageLikeness, TextSearch
from trivium.retrieve.keyword import text_query
from trivium.store.postgres.own_search import LETTERS
from trivium.store.record.rows import columns, searchable
from trivium.store.reference import ReferenceStore
from trivium.store.sqlite import SqliteStore
from trivium.types import COLUMNS, Draft, Filter, Grant, Record, Unit

queries = st.lists(
    st.sampled_from([*worlds.WORDS, '"short sword"', "-axe", '-"kings battle"', "or", "OR"]),
    min_size=1,
    max_size=5,
).map(" ".join)
joins = st.sampled_from(["or", "and", "websearch"])
weights = st.fixed_dictionaries({name: st.sampled_from([0.0, 1.0, 2.5]) for name in COLUMNS})

ONE_PASSAGE = """
SELECT CASE WHEN NOT said @@ held THEN NULL
            WHEN said @@ written THEN 1 + ts_rank(%(weights)s::float4[], said, held, 48)
            WHEN %(loosely)s AND NOT coalesce(said @@ unwanted, false)
            THEN ts_rank(%(weights)s::float4[], said, held, 48) END::float8
FROM (SELECT ts_filter(setweight(to_tsvector('english', %(a)s), 'A')
                    || setweight(to_tsvector('english', %(b)s), 'B')
                    || setweight(to_tsvector('english', %(c)s), 'C')
                    || setweight(to_tsvector('english', %(d)s), 'D'),
                       %(letters)s::"char"[]) AS said,
             %(held)s::tsquery AS held, %(unwanted)s::tsquery AS unwanted,
             websearch_to_tsquery('english', %(written)s) AS written) AS all_of_it
"""


def score_of(
    connection: psycopg.Connection[Any], record: Record, query: Any, weighed: dict[str, float]
) -> float | None:
    """The score of one passage, out of its own words."""
    said = searchable(columns(record.document, record.chunk.heading, record.chunk.text))
    text = dict(zip(COLUMNS, said, strict=True))
    highest = max(weighed.values())
    letters = {
        letter: max(weighed[name] for name in names) / highest for letter, names in LETTERS.items()
    }
    values = {
        letter: " ".join(text[name] for name in COLUMNS if name in names)
        for letter, names in LETTERS.items()
    }
    asked = {
        "weights": list(letters.values()),
        "letters": [letter for letter, weight in letters.items() if weight],
        "held": _any(connection, query.pieces),
        "unwanted": _any(connection, query.excluded),
        "written": searchable((query.written,))[0],
        "loosely": query.loosely,
    }
    row = connection.execute(ONE_PASSAGE, values | asked).fetchone()
    assert row
    score: float | None = row[0]
    return score


def _any(connection: psycopg.Connection[Any], pieces: tuple[str, ...]) -> str:
    """Alternatives in the text form of a tsquery, so that no aggregate of ours is needed."""
    found = []
    for piece in searchable(pieces):
        row = connection.execute(
            "SELECT phraseto_tsquery('english', %s)::text", (piece,)
        ).fetchone()
        assert row
        if row[0]:
            found.append(f"({row[0]})")
    return " | ".join(found)


@pytest.fixture(scope="module")
def server(postgres_server: str) -> Any:
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("SET client_min_messages TO warning")
        yield connection


@given(
    drafts=st.lists(worlds.drafts(), min_size=1, max_size=5),
    filter=worlds.filters,
    grant=worlds.grants,
    query=queries,
    join=joins,
    weighed=weights,
    unit=units,
    depth=st.sampled_from([1, 3, 50]),
)
@settings(SLOW, max_examples=25)
def test_text_search_ranks_as_if_every_passage_were_asked(
    fresh_postgres: Fresh,
    server: psycopg.Connection[Any],
    drafts: list[Draft],
    filter: Filter,
    grant: Grant,
    query: str,
    join: Any,
    weighed: dict[str, float],
    unit: Unit,
    depth: int,
) -> None:
    right = ReferenceStore()
    asked = text_query(query, KeywordSettings(join=join))
    with fresh_postgres() as reopen:
        mine = reopen()
        for store in (right, mine):
            store.put(drafts, NOW)
        with right.view(grant) as oracle:
            allowed = [id for id, _ in oracle.browse(filter, "chunk", 100).scored]
            records = oracle.records(allowed)
            scores = (
                {id: score_of(server, records[id], asked, weighed) for id in allowed}
                if any(weighed.values())
                else {}
            )
            named = dict(zip(allowed, oracle.units(allowed, unit), strict=True))
        ranked = sorted(
            ((id, score) for id, score in scores.items() if score is not None),
            key=lambda pair: (-pair[1], pair[0]),
        )
        with mine.view(grant) as view:
            found = view.text_matches(asked, weighed, filter, depth, unit)
        assert found.matched == len({named[id] for id, _ in ranked})
        assert list(found.scored) == ranked[: len(found.scored)]
        shown = [named[id] for id, _ in found.scored]
        assert len(set(shown)) == min(depth, found.matched)
        assert shown == [] or len(set(shown[:-1])) < depth


def own_answers(store: Any, grant: Grant, query: str, weighed: dict[str, float], when: Any) -> Any:
    with store.view(grant, when) as view:
        every = [id for id, _ in view.browse(Filter(), "chunk", 100).scored]
        return (
            view.text_matches(
                text_query(query, KeywordSettings(join="websearch")), weighed, Filter(), 5, "chunk"
            ),
            view.resemblance(query, [*every, "hidden0@1/0", "nobody@1/0"]),
        )


@given(
    visible=st.lists(worlds.drafts(), min_size=1, max_size=4),
    hidden=st.lists(worlds.drafts(), min_size=1, max_size=4),
    query=queries,
    weighed=weights,
)
@settings(SLOW, max_examples=15)
def test_hidden_documents_change_no_byte_of_it(
    fresh_postgres: Fresh,
    visible: list[Draft],
    hidden: list[Draft],
    query: str,
    weighed: dict[str, float],
) -> None:
    open_ones = [_named(d, f"open{i}", "all") for i, d in enumerate(visible)]
    secrets = [_named(d, f"hidden{i}", "dm-only") for i, d in enumerate(hidden)]
    answers = []
    for batches in ([open_ones], [secrets, open_ones]):
        with fresh_postgres() as reopen:
            store = reopen()
            for batch in batches:
                store.put(batch, NOW)
            answers.append(own_answers(store, Grant(frozenset()), query, weighed, None))
    assert answers[0] == answers[1]


_CHANGES = st.one_of(worlds.puts, worlds.amends, worlds.activations)


@given(
    before=st.lists(_CHANGES, min_size=1, max_size=3),
    after=st.lists(_CHANGES, min_size=1, max_size=2),
    grant=worlds.grants,
    query=queries,
    weighed=weights,
)
@settings(SLOW, max_examples=10)
def test_the_past_answers_as_a_library_that_never_saw_what_came_later(
    fresh_postgres: Fresh,
    before: list[Operation],
    after: list[Operation],
    grant: Grant,
    query: str,
    weighed: dict[str, float],
) -> None:
    with fresh_postgres() as reopen, fresh_postgres() as reopen_ignorant:
        mine, ignorant = reopen(), reopen_ignorant()
        for step, operation in enumerate([*before, *after]):
            for store in (mine, ignorant) if step < len(before) else (mine,):
                apply(store, operation, step)
        today = mine.find([f"doc{i}" for i in range(8)], Grant()).values()
        ignorant.remove([one.id for one in today if not grant.allows(one.scope)])
        then = NOW + timedelta(hours=len(before) - 1, minutes=30)
        past = own_answers(mine, grant, query, weighed, then)
        assert past == own_answers(ignorant, grant, query, weighed, None)


def test_what_a_folder_cannot_do_it_does_not_have(fresh_postgres: Fresh, tmp_path: Any) -> None:
    with fresh_postgres() as reopen, reopen().view(Grant()) as view:
        assert isinstance(view, TextSearch)
        assert isinstance(view, PassageLikeness)
    store = SqliteStore(tmp_path, create=True)
    with store.view(Grant()) as view:
        assert not isinstance(view, TextSearch | PassageLikeness)
    store.close()
