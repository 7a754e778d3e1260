"""The whole fusion as one SQL statement: document 003's, for SQLite as it comes.

The pipeline is what answers; this is the same answer by another way, for those who want to read it,
run it in a shell, or take it elsewhere. A property test pins it to `fuse.rrf` on the same legs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from trivium.config import Profile, load_profile
from trivium.errors import InvalidValue
from trivium.graph.names import expand_filter
from trivium.library.base import Opened
from trivium.pipeline import Search
from trivium.retrieve import vector
from trivium.store.sqlite import SqliteStore
from trivium.store.sqlite.fused import allowed, places
from trivium.text import content, spans
from trivium.types import NO_FILTER, OWNER, Filter, LegState, SearchRequest
from trivium.values import dataclass

MOST_WORDS = 64
"""As many as the keyword leg looks up."""


@dataclass(frozen=True, slots=True)
class SqlStatement:
    """A statement with its parameters, all of them bound by name."""

    sql: str
    parameters: Mapping[str, Any]


class Stating(Opened):
    """What puts a search as one statement."""

    def statement(
        self,
        query: str,
        *,
        limit: int = 10,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        now: datetime | None = None,
    ) -> SqlStatement:
        """The search as one SQL statement over chunks, as the owner may run it.

        Both rankings hold `depth` chunks, the profile's; units are grouped by nobody. The vector
        candidates come as a list, since SQLite has no vectors of its own.
        """
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        settings = profile.search
        if settings.fuse.method != "rrf" or settings.keyword.join == "websearch":
            raise InvalidValue(
                f"profile '{profile.name}' is not RRF over plain words, and only that is one "
                "statement; use --profile worlds, allcodex or omnidata"
            )
        if not isinstance(self._store, SqliteStore):
            raise InvalidValue("the one statement is SQLite's; use a library in a folder")
        if not query.strip():
            raise InvalidValue("one statement needs a query; write some words")
        filter = expand_filter(filter, self._store.graph.prefixes(OWNER))
        with self._store.view(OWNER) as view:
            search = Search(view, profile, self._at_hand(), self._threads, now or self._now())
            wanted = search.filter_of(SearchRequest(query, limit, filter))
            depth = max(settings.vector.depth, limit)
            ids: list[str] = []
            if "vector" in settings.legs:
                leg = vector.search(view, query, search.embedder, wanted, depth, "chunk")
                if leg.state is LegState.OK:
                    ids = [candidate.id for candidate in leg.ranking.candidates]
            parameters = {
                "vector": places(ids),
                "match": _match(query, profile) if "keyword" in settings.legs else '""',
                "allowed": allowed(view, wanted),
                "depth": max(settings.keyword.depth, limit),
                "k": float(settings.fuse.k),
                "keyword_weight": float(settings.fuse.weight("keyword")),
                "vector_weight": float(settings.fuse.weight("vector")),
                "limit": limit,
                **settings.keyword.bm25().weights,
            }
        return SqlStatement(self._store.fused.sql, parameters)

    def run_statement(self, statement: SqlStatement) -> list[dict[str, Any]]:
        """Its rows, best first: chunk id, score and the rank in each list."""
        assert isinstance(self._store, SqliteStore)  # it made the statement
        return self._store.fused.run(statement.parameters)


def _match(query: str, profile: Profile) -> str:
    """The words of a query as FTS5 reads them: each one quoted, so that none is an operator."""
    keyword = profile.search.keyword
    kept = content(list(spans(query)), keyword.stop_words, keyword.minimum_length)[:MOST_WORDS]
    joined = " AND " if keyword.join == "and" else " OR "
    words = dict.fromkeys(span.word.replace('"', '""') for span in kept)
    return joined.join(f'"{word}"' for word in words) or '""'
