"""What a library knows of its sources: files by content, texts alike, adapters, links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trivium.protocols import AdapterState, Link
from trivium.store.sqlite.connection import Connections, in_our_words, statements
from trivium.store.sqlite.rows import document_of_row
from trivium.types import Document

_STATEMENTS = Path(__file__).with_name("catalogue.sql")


class SqliteCatalogue:
    """`Catalogue` on the record's own tables."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def with_content(self, hashes: Sequence[str]) -> list[Document]:
        query = statements(_STATEMENTS)["documents_by_source_hash"]
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(query, (json.dumps(list(hashes)),))
            return [document_of_row(row) for row in rows]

    def below(self, uri: str) -> list[Document]:
        end = uri[:-1] + chr(ord(uri[-1]) + 1)  # the first text that does not begin so
        query = statements(_STATEMENTS)["documents_below"]
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(query, {"first": uri, "end": end})
            return [document_of_row(row) for row in rows]

    def keep_sketches(self, sketches: Mapping[str, Sequence[int]]) -> None:
        with self._connections.write() as connection:
            connection.executemany(
                statements(_STATEMENTS)["keep_sketch"],
                [
                    {"document": document, "bands": json.dumps(list(bands))}
                    for document, bands in sketches.items()
                ],
            )

    def sharing(self, band: int, most: int) -> list[str]:
        query = statements(_STATEMENTS)["sharing_band"]
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(query, {"band": band, "most": most})
            return [row["id"] for row in rows]

    def adapters(self) -> list[AdapterState]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(statements(_STATEMENTS)["adapters"])
            return [
                AdapterState(r["source"], r["root"], r["adapter"], r["watermark"]) for r in rows
            ]

    def keep_adapter(self, source: str, adapter: str, watermark: str) -> None:
        values = {"source": source, "adapter": adapter, "watermark": watermark}
        with self._connections.write() as connection:
            connection.execute(statements(_STATEMENTS)["keep_adapter"], values)

    def keep_links(self, links: Mapping[str, Iterable[Link]]) -> None:
        with self._connections.write() as connection:
            for document, targets in links.items():
                connection.execute(statements(_STATEMENTS)["forget_links"], {"document": document})
                connection.executemany(
                    statements(_STATEMENTS)["keep_link"],
                    [
                        {"document": document, "target": link.target, "relation": link.relation}
                        for link in targets
                    ],
                )

    def links(self, document: str) -> list[Link]:
        query = statements(_STATEMENTS)["links"]
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(query, (document,))
            return [Link(row["target"], row["relation"]) for row in rows]

    def links_to(self, target: str) -> list[tuple[str, str]]:
        query = statements(_STATEMENTS)["links_to"]
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(query, (target,))
            return [(row["id"], row["relation"]) for row in rows]
