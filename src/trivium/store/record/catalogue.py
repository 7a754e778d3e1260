"""What a library knows of its sources: files by content, texts alike, adapters, links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from trivium.origins import AdapterState, Link
from trivium.store.record.database import Database, Transaction, listed, repeatable
from trivium.store.record.rows import document_of_row
from trivium.types import Document

MOST_FRESH = 32_768
"""Bands, those of 2,048 texts, that wait for their places: then a page of `sketches` takes several
at once until there are millions, and those that wait are a hundred pages.
"""


class RecordCatalogue:
    """`Catalogue` on the record's own tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def with_content(self, hashes: Sequence[str]) -> list[Document]:
        with self._database.reading() as reader:
            rows = reader.execute("documents_by_source_hash", (listed(hashes),))
            return [document_of_row(row) for row in rows]

    def below(self, uri: str) -> list[Document]:
        end = uri[:-1] + chr(ord(uri[-1]) + 1)  # the first text that does not begin so
        with self._database.reading() as reader:
            rows = reader.execute("documents_below", {"first": uri, "end": end})
            return [document_of_row(row) for row in rows]

    @repeatable
    def keep_sketches(self, sketches: Mapping[str, Sequence[int]]) -> None:
        with self._database.writing() as transaction:
            transaction.executemany(
                "keep_sketch",
                [
                    {"document": document, "bands": listed(bands)}
                    for document, bands in sketches.items()
                ],
            )

            (fresh,) = transaction.execute("count_fresh_sketches").fetchone()
            if fresh > MOST_FRESH:
                _settle(transaction)

    def settle_sketches(self) -> None:
        with self._database.reading() as reader:
            (fresh,) = reader.execute("count_fresh_sketches").fetchone()
        if fresh:
            with self._database.writing() as transaction:
                _settle(transaction)

    def sharing(self, bands: Sequence[int], most: int) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        with self._database.reading() as reader:
            values = {"bands": listed(dict.fromkeys(bands)), "most": most}
            for row in reader.execute("sharing_bands", values):
                sharing = found.setdefault(row["band"], [])
                if len(sharing) < most:
                    sharing.append(row["id"])
        return found

    def adapters(self) -> list[AdapterState]:
        with self._database.reading() as reader:
            rows = reader.execute("adapters")
            return [
                AdapterState(r["source"], r["root"], r["adapter"], r["watermark"]) for r in rows
            ]

    @repeatable
    def keep_adapter(self, source: str, adapter: str, watermark: str) -> None:
        values = {"source": source, "adapter": adapter, "watermark": watermark}
        with self._database.writing() as transaction:
            transaction.execute("keep_adapter", values)

    @repeatable
    def keep_links(self, links: Mapping[str, Iterable[Link]]) -> None:
        with self._database.writing() as transaction:
            for document, targets in links.items():
                transaction.execute("forget_links", {"document": document})
                transaction.executemany(
                    "keep_link",
                    [
                        {"document": document, "target": link.target, "relation": link.relation}
                        for link in targets
                    ],
                )

    def links(self, document: str) -> list[Link]:
        with self._database.reading() as reader:
            rows = reader.execute("links", (document,))
            return [Link(row["target"], row["relation"]) for row in rows]

    def links_to(self, target: str) -> list[tuple[str, str]]:
        with self._database.reading() as reader:
            rows = reader.execute("links_to", (target,))
            return [(row["id"], row["relation"]) for row in rows]


def _settle(transaction: Transaction) -> None:
    transaction.execute("settle_sketches")
    transaction.execute("forget_fresh_sketches")
