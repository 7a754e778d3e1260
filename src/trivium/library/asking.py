"""The one way to put a question, for a library and for several of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from trivium.config import Profile
from trivium.types import NO_FILTER, OWNER, Filter, Grant, Mode, Result, SearchRequest


class Answering(Protocol):
    """What can answer a request."""

    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result: ...


class Asking:
    """Turns arguments into a request."""

    def search(
        self: Answering,
        query: str,
        *,
        limit: int = 10,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        mode: Mode = "scan",
        legs: Sequence[str] = (),
        include_memories: bool = False,
        facets: bool = False,
        cursor: str | None = None,
        prefer_tags: Sequence[str] = (),
        prefer_domain: str | None = None,
        most_memories: int | None = None,
        budget: int | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """Search by meaning, words and spelling; the result explains how it came about.

        `prefer_tags` and `prefer_domain` are wishes that a profile with signals ranks by; what
        does not have them is found all the same. `budget` is in tokens: hits that would cost more
        together are left out, and the warnings name them. `reranker` names one of your settings to
        read the first hits again; "" asks none; without it the profile decides.
        """
        request = SearchRequest(
            query,
            limit,
            filter,
            mode,
            tuple(legs),
            include_memories,
            facets,
            cursor,
            tuple(prefer_tags),
            prefer_domain,
            most_memories,
            budget,
        )
        return self.answer(request, profile=profile, reranker=reranker, grant=grant, now=now)
