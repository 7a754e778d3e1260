"""The library as it was at a moment: a snapshot built for one question, and what was said then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from trivium.clock import format_time
from trivium.index.building import Row, build
from trivium.index.matrix import Block
from trivium.index.snapshot import LivingBlock, LivingSegment, Snapshot
from trivium.store.record.database import Row as Said
from trivium.store.record.database import Transaction, listed
from trivium.store.record.graph import scopes_of
from trivium.store.record.rows import document_of_row, index_row
from trivium.types import Document, Grant


@dataclass(frozen=True)
class Past:
    """What was active at a moment and may be seen today: documents by id, hashes by chunk id.

    A grant must allow both the scope of today and the one of then. What was made a secret later
    does not leak through the past, and what was a secret then was not for everybody then.
    """

    moment: dict[str, str | int]
    grant: Grant
    snapshot: Snapshot
    documents: dict[str, Document]
    hashes: dict[str, str]

    @classmethod
    def read(
        cls,
        transaction: Transaction,
        grant: Grant,
        at: datetime | None,
        instead: tuple[str, int] | None = None,
    ) -> Past:
        """A moment, or now; `instead` puts one document at another version.

        Built anew each time: seconds for a large library.
        """
        name, version = instead or ("", 0)
        then = format_time(at) if at else "9999"
        values: dict[str, str | int] = {"at": then, "document": name, "version": version}
        rows: list[Row] = []
        hashes: dict[int, str] = {}
        seen: dict[str, Document] = {}
        for row, document, hash in _rows(transaction, grant, values):
            rows.append(row)
            hashes[row.number] = hash
            seen[document.id] = document
        snapshot = _snapshot(transaction, rows, hashes)
        return cls(values, grant, snapshot, seen, {row.id: hashes[row.number] for row in rows})

    def rows(self, transaction: Transaction) -> Iterator[Row]:
        """What was active, with all that it said; read once more, because only words are kept."""
        for row, _, _ in _rows(transaction, self.grant, self.moment):
            yield row

    def subjects_of_types(
        self, transaction: Transaction, types: tuple[str, ...], subclasses: bool
    ) -> frozenset[str]:
        """What visibly had one of these RDF types then."""
        values = self.moment | {
            "types": listed(types),
            "subclasses": subclasses,
            "scopes": scopes_of(self.grant),
        }
        rows = transaction.execute("subjects_of_types_as_of", values)
        return frozenset(row["subject"] for row in rows)


def _rows(
    transaction: Transaction, grant: Grant, moment: dict[str, str | int]
) -> Iterator[tuple[Row, Document, str]]:
    """What was active at a moment and may be seen, with the hashes of embedding inputs."""
    documents: dict[int, Document] = {}
    for row in transaction.execute("rows_as_of", moment):
        if not grant.allows(row["scope"]):  # today's
            continue
        if row["number"] not in documents:
            documents[row["number"]] = _document(row)
        document = documents[row["number"]]
        if grant.allows(document.scope):
            yield index_row(row, document), document, row["embedding_hash"]


def _document(row: Said) -> Document:
    said = json.loads(row["fields"]) if row["fields"] else row
    return replace(document_of_row(said), version=row["chunk_version"])


def _snapshot(transaction: Transaction, rows: list[Row], hashes: dict[int, str]) -> Snapshot:
    active = transaction.execute("active_model").fetchone()
    model = active["fingerprint"] if active else ""
    values = {"fingerprint": model, "hashes": listed(sorted(set(hashes.values())))}
    found = transaction.execute("vectors_by_hash", values)
    vectors = {row["hash"]: transaction.floats(row["vector"]) for row in found}
    numbers = sorted(number for number, hash in hashes.items() if hash in vectors)
    blocks: tuple[LivingBlock, ...] = ()
    if numbers:
        matrix = np.stack([vectors[hashes[number]] for number in numbers])
        block = Block.of(np.array(numbers, np.int64), matrix)
        blocks = (LivingBlock(block, np.ones(len(block), bool)),)
    segment = build(rows)
    return Snapshot(0, model, (LivingSegment(segment, np.ones(len(segment), bool)),), blocks)
