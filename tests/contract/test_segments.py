"""The index in PostgreSQL's tables: many small segments and one large one say the same."""

from __future__ import annotations

from typing import Any

import worlds
from test_stores import Fresh
from worlds import NOW

from trivium.types import Bm25, Clause, Document, Draft, Filter, Grant, Passage, Phrase, WordQuery

QUERY = WordQuery.any_of([Clause((Phrase(("sword",)),)), Clause((Phrase(("short", "sword")),))])


def draft(number: int, text: str) -> Draft:
    document = Document(id=f"doc{number:02}", uri=f"march:{number}", title=f"the {number}th")
    return worlds.with_hashes(Draft(document, (Passage(text),), ("",)))


def asked(store: Any) -> Any:
    """Words, phrases, spelling, and all that is listed."""
    with store.view(Grant()) as view:
        return (
            view.words(QUERY, Bm25(), Filter(), 50, "chunk"),
            view.similar("swrod", (1, 9), 5),
            view.starting("sh", 5),
            view.frequency(["short", "sword"]),
            view.browse(Filter(), "chunk", 50),
            view.stamp,
        )


def segments(store: Any) -> int:
    with store._connections.reading() as reader:
        row = reader.connection.execute("SELECT count(*) FROM segments").fetchone()
    return int(row[0])


def test_merging_changes_no_answer_for_anybody(fresh_postgres: Fresh) -> None:
    """Neither for who merged, nor for a process that looked before, nor in a view that is open."""
    with fresh_postgres() as reopen:
        store = reopen()
        for number in range(12):
            store.put([draft(number, f"a short sword and {number} axes")], NOW)
        store.put([draft(3, "the sword was too short")], NOW)
        store.remove(["doc05"])
        before, count = asked(store), segments(store)
        other = type(store)(store.address)
        assert asked(other) == before
        with other.view(Grant()) as open_view:
            store.settle()
            assert segments(store) < count
            assert open_view.words(QUERY, Bm25(), Filter(), 50, "chunk") == before[0]
        assert asked(store) == before
        assert asked(other) == before
        other.close()
        assert store.check() == []


def test_what_is_mostly_dead_is_written_anew(fresh_postgres: Fresh) -> None:
    with fresh_postgres() as reopen:
        store = reopen()
        store.put([draft(number, "a short sword") for number in range(8)], NOW)
        store.remove([f"doc{number:02}" for number in range(6)])
        before = asked(store)
        store.settle()
        with store._connections.reading() as reader:
            rows = reader.connection.execute("SELECT chunks FROM segments").fetchall()
            dead = reader.connection.execute("SELECT count(*) FROM dead").fetchone()
        assert ([row[0] for row in rows], dead[0]) == ([2], 0)
        assert asked(store) == before
