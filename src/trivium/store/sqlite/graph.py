"""Statements in the record: streamed in, struck out, matched within a grant.

A document of facts is written in one transaction and a few thousand statements at a time, so a
file of any size costs the same memory, and one with a mistake in it leaves nothing behind.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby

from trivium.clock import parse_time
from trivium.factual import FactReader, FactSource
from trivium.store.sqlite.connection import Connections, in_our_words, statements
from trivium.store.sqlite.facts_writing import (
    NONE,
    batches,
    begin_touching,
    labels_of,
    named,
    quad_values,
    refresh,
    touch,
    touched,
    write_chunks,
)
from trivium.store.sqlite.rows import document_of_row
from trivium.store.sqlite.writing import new_generation, put_draft, select_json
from trivium.text import content_hash
from trivium.types import Document, Draft, Grant, Pattern, Provenance, Quad, Statement

PAGE_CACHE = 128 * 1024
"""Kilobytes of page cache while a file of facts is written."""


class SqliteGraph:
    """The part of a SQLite store that keeps statements.

    `reader` is set by who knows how this library reads facts; without it, labels that change by
    the removal of a document are not followed.
    """

    def __init__(self, connections: Connections, wrote: Callable[[], None]) -> None:
        self._connections = connections
        self._wrote = wrote
        self.reader: Callable[[], FactReader] | None = None

    # --- writing ---------------------------------------------------------------------------------

    def put(
        self, document: Document, source: FactSource, reader: FactReader, now: datetime
    ) -> Document:
        with self._connections.write() as connection, _roomy(connection):
            generation = new_generation(connection, now)
            old = _version(connection, document.id)
            empty = Draft(document, (), (), pipeline=reader.pipeline)
            stored = put_draft(connection, empty, generation, now)
            for quads in batches(source):
                rows = [(stored.number, stored.version, *quad_values(q).values()) for q in quads]
                connection.executemany(named()["insert_quad"], rows)
            connection.execute(named()["forget_prefixes"], (stored.number,))
            kept = [(stored.number, prefix, iri) for prefix, iri in source.prefixes.items()]
            connection.executemany(named()["keep_prefix"], kept)
            place = {"document": stored.number, "version": stored.version}
            connection.execute(named()["drop_repeated"], place)
            connection.execute(named()["drop_struck"], place)
            self._finish(connection, stored, old, reader, generation)
        self._wrote()
        return stored

    def strike(
        self, quads: Iterable[Quad], reader: FactReader, now: datetime, verification: str = ""
    ) -> list[str]:
        struck = list(dict.fromkeys(quads))
        with self._connections.write() as connection:
            stating: dict[int, list[Quad]] = {}
            for quad in struck:
                for row in connection.execute(named()["documents_stating"], quad_values(quad)):
                    stating.setdefault(row["number"], []).append(quad)
                if verification:
                    values = {**quad_values(quad), "verification": verification}
                    connection.execute(named()["strike"], values)
            generation = new_generation(connection, now)
            changed = [
                self._without(connection, number, theirs, reader, generation, now)
                for number, theirs in sorted(stating.items())
            ]
        self._wrote()
        return changed

    def _without(
        self,
        connection: sqlite3.Connection,
        number: int,
        quads: Sequence[Quad],
        reader: FactReader,
        generation: int,
        now: datetime,
    ) -> str:
        """A new version of a document, without these statements."""
        [row] = select_json(connection, "documents_by_number", [number])
        document = document_of_row(row)
        [before] = select_json(connection, "active_pipelines", [document.id])
        draft = Draft(document, (), (), pipeline=before["pipeline"])
        stored = put_draft(connection, draft, generation, now)
        values = {"document": number, "old": document.version, "new": stored.version}
        connection.execute(named()["copy_quads"], values)
        for quad in quads:
            place = {"document": number, "version": stored.version}
            connection.execute(named()["drop_quad"], {**place, **quad_values(quad)})
        self._finish(connection, stored, document.version, reader, generation)
        return document.id

    def _finish(
        self,
        connection: sqlite3.Connection,
        stored: Document,
        old: int,
        reader: FactReader,
        generation: int,
    ) -> None:
        write_chunks(connection, stored, reader, generation)
        begin_touching(connection)
        touch(connection, reader, stored.number, old, stored.version)
        refresh(connection, reader, touched(connection, stored.number), generation)

    @contextmanager
    def following(self, connection: sqlite3.Connection, documents: Sequence[int]) -> Iterator[None]:
        """Around a change of documents: what their labels named is named anew.

        So are their own chunks, since with another scope other labels may be used for them.
        """
        reader = self.reader() if self.reader and _any_facts(connection, documents) else None
        if reader:
            begin_touching(connection)
            for number, version in _versions(connection, documents):
                touch(connection, reader, number, version, NONE)
        yield
        if reader:
            for number, version in _versions(connection, documents):
                touch(connection, reader, number, NONE, version)
            own = connection.execute(named()["own_chunks"], (json.dumps(list(documents)),))
            chunks = sorted({*touched(connection), *(number for (number,) in own)})
            (generation,) = connection.execute(statements()["generation"]).fetchone()
            refresh(connection, reader, chunks, generation)

    # --- reading ---------------------------------------------------------------------------------

    def statements(self, pattern: Pattern, grant: Grant) -> Iterator[Statement]:
        query = named()["statements"].replace("{pattern}", _where(pattern))
        values = {**_given(pattern), "scopes": scopes_of(grant)}
        with in_our_words(self._connections.path):
            yield from _statements(self._connections.reader().execute(query, values))

    def predicates(self) -> list[str]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(named()["predicates"])
            return [row["predicate"] for row in rows]

    def dangling(self, subjects: Collection[str] | None, grant: Grant) -> Iterator[Statement]:
        query, values = "dangling", {"scopes": scopes_of(grant)}
        if subjects is not None:
            query, values = "dangling_of", {**values, "subjects": json.dumps(sorted(subjects))}
        with in_our_words(self._connections.path):
            yield from _statements(self._connections.reader().execute(named()[query], values))

    def labels(self, resources: Sequence[str], reader: FactReader, grant: Grant) -> dict[str, str]:
        with in_our_words(self._connections.path):
            return labels_of(self._connections.reader(), resources, reader, scopes_of(grant))

    def prefixes(self, grant: Grant) -> dict[str, str]:
        with in_our_words(self._connections.path):
            values = {"scopes": scopes_of(grant)}
            rows = self._connections.reader().execute(named()["prefixes"], values)
            return {row["prefix"]: row["iri"] for row in rows}  # the oldest comes last and stays

    def documents_about(self, subject: str, grant: Grant) -> tuple[str, ...]:
        with in_our_words(self._connections.path):
            values = {"subject": subject, "scopes": scopes_of(grant)}
            rows = self._connections.reader().execute(named()["documents_about"], values)
            return tuple(row["uri"] for row in rows)

    def stamp(self, grant: Grant) -> str:
        with in_our_words(self._connections.path):
            values = {"scopes": scopes_of(grant)}
            rows = self._connections.reader().execute(named()["sources_of_facts"], values)
            return content_hash(json.dumps([tuple(row) for row in rows]))


def _statements(rows: Iterable[sqlite3.Row]) -> Iterator[Statement]:
    for parts, stated in groupby(rows, key=_parts):
        sources = (
            Provenance(row["id"], row["uri"], row["version"], parse_time(row["made"]))
            for row in stated
        )
        yield Statement(Quad(*parts), tuple(sources))


def _parts(row: sqlite3.Row) -> tuple[str, ...]:
    return tuple(row)[:6]


@contextmanager
def _roomy(connection: sqlite3.Connection) -> Iterator[None]:
    """A larger page cache: the indexes of a million statements do not fit into SQLite's usual 2 MB,
    and what does not fit is written and read again for every batch.
    """
    (before,) = connection.execute("PRAGMA cache_size").fetchone()
    connection.execute(f"PRAGMA cache_size = {-PAGE_CACHE}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA cache_size = {int(before)}")


def scopes_of(grant: Grant) -> str | None:
    """The bound value of `:scopes`; NULL is everything."""
    return None if grant.scopes is None else json.dumps(sorted(grant.scopes))


def _where(pattern: Pattern) -> str:
    """Pattern → WHERE: names from this list, values bound."""
    columns = {
        "subject": "q.subject",
        "predicate": "q.predicate",
        "object": "q.object",
        "graph": "q.graph",
        "source": "d.id",
    }
    given = [f"{column} = :{name}" for name, column in columns.items() if name in _given(pattern)]
    return " AND ".join(given) or "1"


def _given(pattern: Pattern) -> dict[str, str]:
    names = ("subject", "predicate", "object", "graph", "source")
    return {name: getattr(pattern, name) for name in names if getattr(pattern, name) is not None}


def _version(connection: sqlite3.Connection, document: str) -> int:
    row = connection.execute(statements()["document_by_id"], (document,)).fetchone()
    return row["version"] if row else NONE


def _versions(connection: sqlite3.Connection, documents: Sequence[int]) -> list[tuple[int, int]]:
    rows = select_json(connection, "documents_by_number", documents)
    return [(row["number"], row["version"]) for row in rows]


def _any_facts(connection: sqlite3.Connection, documents: Sequence[int]) -> bool:
    row = connection.execute(named()["any_facts"], (json.dumps(list(documents)),)).fetchone()
    return row is not None
