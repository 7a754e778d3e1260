"""Statements → chunks, inside the transaction that the graph has begun; and new labels for old
chunks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, islice
from typing import TypeVar

from trivium.factual import FactReader
from trivium.store.record.database import Row, Transaction, listed, select
from trivium.store.record.rows import chunk_values, columns, document_of_row, searchable
from trivium.types import PUBLIC_SCOPE, Document, Passage, Quad

Item = TypeVar("Item")

BATCH = 5_000
"""Statements in memory at a time."""

ORDINALS = 1_000_000_000
"""Chunk ids have room for nine digits."""

NONE = -1
"""A document or a version that does not exist."""


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
    return listed([document.scope, PUBLIC_SCOPE])


def labels_of(
    transaction: Transaction,
    resources: Sequence[str],
    reader: FactReader,
    scopes: str | None,
) -> dict[str, str]:
    """What resources are called by what lies in these scopes."""
    values = {
        "resources": listed(sorted(set(resources))),
        "labels": listed(reader.labels),
        "scopes": scopes,
    }
    rows = transaction.execute("label_statements", values)
    quads = sorted((Quad(*row) for row in rows), key=lambda quad: quad.subject)
    grouped = groupby(quads, key=lambda quad: quad.subject)
    return {subject: reader.label(list(found)) for subject, found in grouped}


def write_chunks(
    transaction: Transaction, document: Document, reader: FactReader, generation: int
) -> int:
    """Make the string literals of a version searchable; how many there are."""
    place = {"document": document.number, "version": document.version}
    after, count = 0, 0
    while True:
        values = {**place, "after": after, "limit": BATCH}
        rows = transaction.execute("strings_of_version", values).fetchall()
        if not rows:
            break
        after = rows[-1]["number"]
        quads = [Quad(*row[1:]) for row in map(tuple, rows)]
        resources = [name for quad in quads for name in (quad.subject, quad.predicate)]
        labels = labels_of(transaction, resources, reader, scopes_for(document))
        passages = [reader.passage(quad, labels) for quad in quads]
        ordinals = _ordinals(transaction, place, quads)
        _insert(transaction, document, reader, passages, ordinals, generation)
        count += len(quads)
    if not count:  # its title can still be found, and it can be listed
        _insert(transaction, document, reader, [Passage("")], [0], generation)
    transaction.execute("wait_for_vectors", (document.number, document.version))
    return count


def _ordinals(transaction: Transaction, place: dict[str, int], quads: Sequence[Quad]) -> list[int]:
    """A number for each statement that it alone decides, but for the rare clash: the next free."""
    wanted = [_ordinal(quad) for quad in quads]
    values = {**place, "ordinals": listed(wanted)}
    taken = {row[0] for row in transaction.execute("taken_ordinals", values)}
    if not taken and len(set(wanted)) == len(wanted):
        return wanted
    given = []
    for ordinal in wanted:
        while ordinal in taken:
            ordinal = (ordinal + 1) % ORDINALS
            values = {**place, "ordinals": listed([ordinal])}
            taken |= {row[0] for row in transaction.execute("taken_ordinals", values)}
        taken.add(ordinal)
        given.append(ordinal)
    return given


def _ordinal(quad: Quad) -> int:
    said = "\x1f".join(quad_values(quad).values()).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "big") % ORDINALS


def _insert(
    transaction: Transaction,
    document: Document,
    reader: FactReader,
    passages: Sequence[Passage],
    ordinals: Sequence[int],
    generation: int,
) -> None:
    (last,) = transaction.execute("last_chunk", {"count": len(passages)}).fetchone()
    rows = [
        (
            last + nth,
            *chunk_values(
                document.number, document.version, ordinal, passage, reader.hash(document, passage)
            ),
        )
        for nth, (passage, ordinal) in enumerate(zip(passages, ordinals, strict=True), start=1)
    ]
    transaction.executemany("insert_numbered_chunk", rows)
    words = [
        (last + nth, *searchable(columns(document, passage.heading, passage.text)))
        for nth, passage in enumerate(passages, start=1)
    ]
    transaction.executemany("index_words", words)
    changes = [(generation, row[0], what) for row in rows for what in ("w", "v")]
    transaction.executemany("note_change", changes)


# --- labels --------------------------------------------------------------------------------------


def begin_touching(transaction: Transaction) -> None:
    transaction.execute("make_touched")
    transaction.execute("clear_touched")


def touch(transaction: Transaction, reader: FactReader, document: int, old: int, new: int) -> None:
    """Remember the resources whose labels differ between two versions of a document."""
    labels = listed(reader.labels)
    values = {"document": document, "old": old, "new": new, "labels": labels}
    transaction.execute("touch_differing_labels", values)


def touched(transaction: Transaction, besides: int = NONE) -> list[int]:
    """The active chunks that are called by what was touched."""
    found = transaction.execute("touched_chunks", {"document": besides})
    return [number for (number,) in found]


def refresh(
    transaction: Transaction, reader: FactReader, chunks: Iterable[int], generation: int
) -> int:
    """New headings for these chunks, where they are called otherwise now; how many are."""
    documents: dict[int, Document] = {}
    renamed = 0
    for numbers in batches(chunks):
        rows = select(transaction, "chunks_to_rename", numbers)
        for number in {row["document"] for row in rows} - set(documents):
            [row] = select(transaction, "documents_by_number", [number])
            documents[number] = document_of_row(row)
        for scope in sorted({documents[row["document"]].scope for row in rows}):
            same = [row for row in rows if documents[row["document"]].scope == scope]
            resources = [name for row in same for name in (row["subject"], row["predicate"])]
            scopes = listed([scope, PUBLIC_SCOPE])
            labels = labels_of(transaction, resources, reader, scopes)
            for row in same:
                document = documents[row["document"]]
                renamed += _rename(transaction, reader, document, row, labels, generation)
    return renamed


def _rename(
    transaction: Transaction,
    reader: FactReader,
    document: Document,
    row: Row,
    labels: dict[str, str],
    generation: int,
) -> bool:
    quad = Quad(row["subject"], row["predicate"], row["text"], graph=row["graph"] or "")
    passage = reader.passage(quad, labels)
    if list(passage.heading) == json.loads(row["heading"]):
        return False
    hash, old = reader.hash(document, passage), row["embedding_hash"]
    heading = json.dumps(list(passage.heading), ensure_ascii=False)
    transaction.execute("rename_chunk", (heading, hash, row["number"]))
    transaction.execute("forget_words", (row["number"],))
    words = searchable(columns(document, passage.heading, passage.text))
    transaction.execute("index_words", (row["number"], *words))
    transaction.execute("wait_for_chunk", {"hash": hash})
    transaction.execute("stop_waiting_in_vain", {"hash": old})
    for what in ("w", "v"):
        transaction.execute("note_change", (generation, row["number"], what))
    return True
