"""Explaining what a search did not show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from trivium.config import Profile
from trivium.library.searching import Searching
from trivium.store.record.database import repeatable
from trivium.types import NO_FILTER, OWNER, Filter, Grant, SearchRequest

if TYPE_CHECKING:
    from trivium.why_not import WhyNot


class Explaining(Searching):
    """What looks for the stage that lost a document."""

    @repeatable
    def why_not(
        self,
        name: str,
        query: str,
        *,
        limit: int = 10,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        legs: Sequence[str] = (),
        include_memories: bool = False,
        most_memories: int | None = None,
        budget: int | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> WhyNot:
        """Why a search does not show a document or chunk, and what would.

        A document that the caller may not see is one that does not exist: an error.
        """
        from trivium.why_not import why_not

        document = self._found([name], grant)[name]
        request = SearchRequest(
            query,
            limit,
            filter,
            legs=tuple(legs),
            include_memories=include_memories,
            most_memories=most_memories,
            budget=budget,
        )
        with self._asked(request, profile, reranker, grant, now) as (search, asked):
            return why_not(search, asked, document, name)
