"""Searching: a request through the pipeline, over one consistent view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from trivium.config import Profile, load_profile
from trivium.freshness import freshness
from trivium.library.base import Opened
from trivium.pipeline import Search, require_legs
from trivium.score import feedback
from trivium.types import NO_FILTER, OWNER, Filter, Grant, Mode, Result, SearchRequest


class Searching(Opened):
    """What asks the library something."""

    def search(
        self,
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
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """Search by meaning, words and spelling; the result explains how it came about.

        `prefer_tags` and `prefer_domain` are wishes that a profile with signals ranks by; what
        does not have them is found all the same. `budget` is in tokens: hits that would cost more
        together are left out, and the warnings name them.
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
        return self.answer(request, profile=profile, grant=grant, now=now)

    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """The same for a request object."""
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        with self._store.view(grant, request.filter.as_of) as view:
            moment, shift = now or self._now(), self._shift(profile, grant)
            search = Search(view, profile, self._at_hand(), self._pool, moment, grant, shift)
            result = search(request)
        sources = self._store.sources()
        checked = (replace(h, freshness=freshness(h.document, sources)) for h in result.hits)
        notices = self._configuration.notices if self._configuration else ()
        return replace(result, hits=tuple(checked), warnings=(*result.warnings, *notices))

    def _shift(self, profile: Profile, grant: Grant) -> float:
        """How far feedback within the grant has moved this profile's weights."""
        settings = profile.search.score
        if settings.method == "none":
            return 0.0
        return feedback.shift(self._store.feedback.counts(grant), settings)

    def check_profile(self, profile: Profile) -> None:
        """An error if this library lacks a leg that the profile needs."""
        with self._store.view(OWNER) as view:
            require_legs(view, profile, self._at_hand())
