"""Statements in the record: streamed in, struck out, matched within a grant.

A document of facts is written in one transaction and a few thousand statements at a time, so a
file of any size costs the same memory, and one with a mistake in it leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from typing import Any

from trivium.clock import parse_time
from trivium.factual import FactReader, FactSource
from trivium.store.record.database import Database, Transaction, listed, repeatable, select
from trivium.store.record.facts_writing import (
    NONE,
    batches,
    begin_touching,
    labels_of,
    quad_values,
    refresh,
    touch,
    touched,
    write_chunks,
)
from trivium.store.record.ledger import add_to_ledger
from trivium.store.record.rows import document_of_row
from trivium.store.record.writing import new_generation, put_draft
from trivium.text import content_hash
from trivium.types import Document, Draft, Grant, Pattern, Provenance, Quad, Statement


class RecordGraph:
    """The part of a store that keeps statements.

    `reader` is set by who knows how this library reads facts; without it, labels that change by
    the removal of a document are not followed.
    """

    def __init__(self, database: Database, wrote: Callable[[], None]) -> None:
        self._database = database
        self._wrote = wrote
        self.reader: Callable[[], FactReader] | None = None

    # --- writing ---------------------------------------------------------------------------------

    @repeatable
    def put(
        self, document: Document, source: FactSource, reader: FactReader, now: datetime
    ) -> Document:
        with self._database.writing() as transaction, transaction.roomy():
            generation = new_generation(transaction, now)
            old = _version(transaction, document.id)
            empty = Draft(document, (), (), pipeline=reader.pipeline)
            stored = put_draft(transaction, empty, generation, now)
            for quads in batches(source):
                rows = [(stored.number, stored.version, *quad_values(q).values()) for q in quads]
                transaction.executemany("insert_quad", rows)
            transaction.execute("forget_prefixes", (stored.number,))
            kept = [(stored.number, prefix, iri) for prefix, iri in source.prefixes.items()]
            transaction.executemany("keep_prefix", kept)
            place = {"document": stored.number, "version": stored.version}
            transaction.execute("drop_repeated", place)
            transaction.execute("drop_struck", place)
            self._finish(transaction, stored, old, reader, generation)
        self._wrote()
        return stored

    @repeatable
    def strike(
        self,
        quads: Sequence[Quad],
        reader: FactReader,
        now: datetime,
        decision: Mapping[str, Any] | None = None,
    ) -> list[str]:
        struck = list(dict.fromkeys(quads))
        with self._database.writing() as transaction:
            if decision:
                add_to_ledger(transaction, [decision], now)
            stating: dict[int, list[Quad]] = {}
            for quad in struck:
                for row in transaction.execute("documents_stating", quad_values(quad)):
                    stating.setdefault(row["number"], []).append(quad)
                if decision:
                    values = {**quad_values(quad), "verification": decision["verification"]}
                    transaction.execute("strike", values)
            generation = new_generation(transaction, now)
            changed = [
                self._without(transaction, number, theirs, reader, generation, now)
                for number, theirs in sorted(stating.items())
            ]
        self._wrote()
        return changed

    def _without(
        self,
        transaction: Transaction,
        number: int,
        quads: Sequence[Quad],
        reader: FactReader,
        generation: int,
        now: datetime,
    ) -> str:
        """A new version of a document, without these statements."""
        [row] = select(transaction, "documents_by_number", [number])
        document = document_of_row(row)
        [before] = select(transaction, "active_pipelines", [document.id])
        draft = Draft(document, (), (), pipeline=before["pipeline"])
        stored = put_draft(transaction, draft, generation, now)
        values = {"document": number, "old": document.version, "new": stored.version}
        transaction.execute("copy_quads", values)
        for quad in quads:
            place = {"document": number, "version": stored.version}
            transaction.execute("drop_quad", {**place, **quad_values(quad)})
        self._finish(transaction, stored, document.version, reader, generation)
        return document.id

    def _finish(
        self,
        transaction: Transaction,
        stored: Document,
        old: int,
        reader: FactReader,
        generation: int,
    ) -> None:
        write_chunks(transaction, stored, reader, generation)
        begin_touching(transaction)
        touch(transaction, reader, stored.number, old, stored.version)
        refresh(transaction, reader, touched(transaction, stored.number), generation)

    @contextmanager
    def following(self, transaction: Transaction, documents: Sequence[int]) -> Iterator[None]:
        """Around a change of documents: what their labels named is named anew.

        So are their own chunks, since with another scope other labels may be used for them.
        """
        reader = self.reader() if self.reader and _any_facts(transaction, documents) else None
        if reader:
            begin_touching(transaction)
            for number, version in _versions(transaction, documents):
                touch(transaction, reader, number, version, NONE)
        yield
        if reader:
            for number, version in _versions(transaction, documents):
                touch(transaction, reader, number, NONE, version)
            own = transaction.execute("own_chunks", (listed(documents),))
            chunks = sorted({*touched(transaction), *(number for (number,) in own)})
            (generation,) = transaction.execute("generation").fetchone()
            refresh(transaction, reader, chunks, generation)

    # --- reading ---------------------------------------------------------------------------------

    def statements(self, pattern: Pattern, grant: Grant) -> Iterator[Statement]:
        values = {**_given(pattern), "scopes": scopes_of(grant)}
        yield from _statements(self._database.streaming("statements", values, _where(pattern)))

    def predicates(self) -> list[str]:
        with self._database.reading() as reader:
            rows = reader.execute("predicates")
            return [row["predicate"] for row in rows]

    def dangling(self, subjects: Collection[str] | None, grant: Grant) -> Iterator[Statement]:
        query, values = "dangling", {"scopes": scopes_of(grant)}
        if subjects is not None:
            query, values = "dangling_of", {**values, "subjects": listed(sorted(subjects))}
        yield from _statements(self._database.streaming(query, values))

    def labels(self, resources: Sequence[str], reader: FactReader, grant: Grant) -> dict[str, str]:
        with self._database.reading() as transaction:
            return labels_of(transaction, resources, reader, scopes_of(grant))

    def prefixes(self, grant: Grant) -> dict[str, str]:
        with self._database.reading() as reader:
            values = {"scopes": scopes_of(grant)}
            rows = reader.execute("prefixes", values)
            return {row["prefix"]: row["iri"] for row in rows}  # the oldest comes last and stays

    def documents_about(self, subject: str, grant: Grant) -> tuple[str, ...]:
        with self._database.reading() as reader:
            values = {"subject": subject, "scopes": scopes_of(grant)}
            rows = reader.execute("documents_about", values)
            return tuple(row["uri"] for row in rows)

    def stamp(self, grant: Grant) -> str:
        with self._database.reading() as reader:
            values = {"scopes": scopes_of(grant)}
            rows = reader.execute("sources_of_facts", values)
            return content_hash(json.dumps([tuple(row) for row in rows]))


def _statements(rows: Iterable[Any]) -> Iterator[Statement]:
    for parts, stated in groupby(rows, key=_parts):
        sources = (
            Provenance(row["id"], row["uri"], row["version"], parse_time(row["made"]))
            for row in stated
        )
        yield Statement(Quad(*parts), tuple(sources))


def _parts(row: Any) -> tuple[str, ...]:
    return tuple(row)[:6]


def scopes_of(grant: Grant) -> str | None:
    """The bound value of `:scopes`; NULL is everything."""
    return None if grant.scopes is None else listed(sorted(grant.scopes))


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
    return " AND ".join(given) or "1 = 1"


def _given(pattern: Pattern) -> dict[str, str]:
    names = ("subject", "predicate", "object", "graph", "source")
    return {name: getattr(pattern, name) for name in names if getattr(pattern, name) is not None}


def _version(transaction: Transaction, document: str) -> int:
    row = transaction.execute("document_by_id", (document,)).fetchone()
    return row["version"] if row else NONE


def _versions(transaction: Transaction, documents: Sequence[int]) -> list[tuple[int, int]]:
    rows = select(transaction, "documents_by_number", documents)
    return [(row["number"], row["version"]) for row in rows]


def _any_facts(transaction: Transaction, documents: Sequence[int]) -> bool:
    row = transaction.execute("any_facts", (listed(documents),)).fetchone()
    return row is not None
