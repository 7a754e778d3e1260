"""Statements → chunks, inside the transaction that the graph has begun; and new labels for old
chunks.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import Any, TypeVar

from trivium.factual import FactReader
from trivium.store.sqlite.connection import statements
from trivium.store.sqlite.rows import chunk_values, columns, document_of_row, searchable
from trivium.store.sqlite.writing import select_json
from trivium.types import PUBLIC_SCOPE, Document, Passage, Quad

Item = TypeVar("Item")

BATCH = 5_000
"""Statements in memory at a time."""

ORDINALS = 1_000_000_000
"""Chunk ids have room for nine digits."""

NONE = -1
"""A document or a version that does not exist."""


def named() -> dict[str, str]:
    """The statements of `graph.sql`."""
    return statements(Path(__file__).parent / "graph.sql")


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    source = iter(items)
    while batch := list(islice(source, BATCH)):
        yield batch


def quad_values(quad: Quad) -> dict[str, str]:
    return {
        "subject": quad.subject,
        "predicate": quad.predicate,
        "object": quad.object,
        "datatype": quad.datatype,
        "language": quad.language,
        "graph": quad.graph,
    }


def scopes_for(document: Document) -> str:
    """Who sees a document sees what is public too, and nothing more is certain."""
    return json.dumps([document.scope, PUBLIC_SCOPE])


def labels_of(
    connection: sqlite3.Connection,
    resources: Sequence[str],
    reader: FactReader,
    scopes: str | None,
) -> dict[str, str]:
    """What resources are called by what lies in these scopes."""
    values = {
        "resources": json.dumps(sorted(set(resources))),
        "labels": json.dumps(list(reader.labels)),
        "scopes": scopes,
    }
    rows = connection.execute(named()["label_statements"], values)
    quads = sorted((Quad(*row) for row in rows), key=lambda quad: quad.subject)
    grouped = groupby(quads, key=lambda quad: quad.subject)
    return {subject: reader.label(list(found)) for subject, found in grouped}


def write_chunks(
    connection: sqlite3.Connection, document: Document, reader: FactReader, generation: int
) -> int:
    """Make the string literals of a version searchable; how many there are."""
    place = {"document": document.number, "version": document.version}
    (number,) = connection.execute(named()["last_chunk"]).fetchone()
    after, count = 0, 0
    while True:
        values = {**place, "after": after, "limit": BATCH}
        rows = connection.execute(named()["strings_of_version"], values).fetchall()
        if not rows:
            break
        after = rows[-1]["number"]
        quads = [Quad(*row[1:]) for row in map(tuple, rows)]
        resources = [name for quad in quads for name in (quad.subject, quad.predicate)]
        labels = labels_of(connection, resources, reader, scopes_for(document))
        passages = [reader.passage(quad, labels) for quad in quads]
        ordinals = _ordinals(connection, place, quads)
        _insert(connection, document, reader, passages, ordinals, number, generation)
        number, count = number + len(quads), count + len(quads)
    if not count:  # its title can still be found, and it can be listed
        _insert(connection, document, reader, [Passage("")], [0], number, generation)
    connection.execute(statements()["wait_for_vectors"], (document.number, document.version))
    return count


def _ordinals(
    connection: sqlite3.Connection, place: dict[str, int], quads: Sequence[Quad]
) -> list[int]:
    """A number for each statement that it alone decides, but for the rare clash: the next free."""
    wanted = [_ordinal(quad) for quad in quads]
    values = {**place, "ordinals": json.dumps(wanted)}
    taken = {row[0] for row in connection.execute(named()["taken_ordinals"], values)}
    if not taken and len(set(wanted)) == len(wanted):
        return wanted
    given = []
    for ordinal in wanted:
        while ordinal in taken:
            ordinal = (ordinal + 1) % ORDINALS
            values = {**place, "ordinals": json.dumps([ordinal])}
            taken |= {row[0] for row in connection.execute(named()["taken_ordinals"], values)}
        taken.add(ordinal)
        given.append(ordinal)
    return given


def _ordinal(quad: Quad) -> int:
    said = "\x1f".join(quad_values(quad).values()).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "big") % ORDINALS


def _insert(
    connection: sqlite3.Connection,
    document: Document,
    reader: FactReader,
    passages: Sequence[Passage],
    ordinals: Sequence[int],
    last: int,
    generation: int,
) -> None:
    rows = [
        (
            last + nth,
            *chunk_values(
                document.number, document.version, ordinal, passage, reader.hash(document, passage)
            ),
        )
        for nth, (passage, ordinal) in enumerate(zip(passages, ordinals, strict=True), start=1)
    ]
    connection.executemany(named()["insert_chunk"], rows)
    words = [
        (last + nth, *searchable(columns(document, passage.heading, passage.text)))
        for nth, passage in enumerate(passages, start=1)
    ]
    connection.executemany(statements()["index_words"], words)
    changes = [(generation, row[0], what) for row in rows for what in ("w", "v")]
    connection.executemany(named()["note_change"], changes)


# --- labels --------------------------------------------------------------------------------------


def begin_touching(connection: sqlite3.Connection) -> None:
    connection.execute(named()["make_touched"])
    connection.execute(named()["clear_touched"])


def touch(
    connection: sqlite3.Connection, reader: FactReader, document: int, old: int, new: int
) -> None:
    """Remember the resources whose labels differ between two versions of a document."""
    labels = json.dumps(list(reader.labels))
    values = {"document": document, "old": old, "new": new, "labels": labels}
    connection.execute(named()["touch_differing_labels"], values)


def touched(connection: sqlite3.Connection, besides: int = NONE) -> list[int]:
    """The active chunks that are called by what was touched."""
    found = connection.execute(named()["touched_chunks"], {"document": besides})
    return [number for (number,) in found]


def refresh(
    connection: sqlite3.Connection, reader: FactReader, chunks: Iterable[int], generation: int
) -> int:
    """New headings for these chunks, where they are called otherwise now; how many are."""
    documents: dict[int, Document] = {}
    renamed = 0
    for numbers in batches(chunks):
        rows = select_json_named(connection, "chunks_to_rename", numbers)
        for number in {row["document"] for row in rows} - set(documents):
            [row] = select_json(connection, "documents_by_number", [number])
            documents[number] = document_of_row(row)
        for scope in sorted({documents[row["document"]].scope for row in rows}):
            same = [row for row in rows if documents[row["document"]].scope == scope]
            resources = [name for row in same for name in (row["subject"], row["predicate"])]
            scopes = json.dumps([scope, PUBLIC_SCOPE])
            labels = labels_of(connection, resources, reader, scopes)
            for row in same:
                document = documents[row["document"]]
                renamed += _rename(connection, reader, document, row, labels, generation)
    return renamed


def _rename(
    connection: sqlite3.Connection,
    reader: FactReader,
    document: Document,
    row: sqlite3.Row,
    labels: dict[str, str],
    generation: int,
) -> bool:
    quad = Quad(row["subject"], row["predicate"], row["text"], graph=row["graph"] or "")
    passage = reader.passage(quad, labels)
    if list(passage.heading) == json.loads(row["heading"]):
        return False
    hash, old = reader.hash(document, passage), row["embedding_hash"]
    heading = json.dumps(list(passage.heading), ensure_ascii=False)
    connection.execute(named()["rename_chunk"], (heading, hash, row["number"]))
    connection.execute(named()["forget_words"], (row["number"],))
    words = searchable(columns(document, passage.heading, passage.text))
    connection.execute(statements()["index_words"], (row["number"], *words))
    connection.execute(named()["wait_for_chunk"], {"hash": hash})
    connection.execute(named()["stop_waiting_in_vain"], {"hash": old})
    for what in ("w", "v"):
        connection.execute(named()["note_change"], (generation, row["number"], what))
    return True


def select_json_named(
    connection: sqlite3.Connection, query: str, values: Iterable[Any]
) -> list[sqlite3.Row]:
    return connection.execute(named()[query], (json.dumps(list(values)),)).fetchall()
