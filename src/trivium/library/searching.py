"""Searching: a request through the pipeline, over one consistent view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from trivium.config import Profile, load_profile
from trivium.freshness import freshness
from trivium.library.base import Opened
from trivium.pipeline import Search, require_legs
from trivium.protocols import Reranker
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

    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """The same for a request object."""
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        profile, reader = self._reader(profile, reranker)
        with self._store.view(grant, request.filter.as_of) as view:
            moment, shift, model = now or self._now(), self._shift(profile, grant), self._at_hand()
            search = Search(view, profile, model, self._pool, moment, grant, shift, reader)
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

    def _reader(self, profile: Profile, name: str | None) -> tuple[Profile, Reranker | None]:
        """The profile with the reranker that was asked for, and that reranker.

        One that only the profile names is optional: it is used if the user's settings describe it.
        """
        wanted = profile.search.rerank
        if name == "":
            return profile, None
        if name is None:
            chosen = wanted.reranker and wanted.when != "never"
            if not chosen or not self.configuration.chose("rerankers", wanted.reranker):
                return profile, None
        else:
            wanted = replace(wanted, reranker=name, when="always")
            profile = replace(profile, search=replace(profile.search, rerank=wanted))
        return profile, self._reranker(wanted.reranker)

    def can_rerank(self, profile: Profile) -> bool:
        """Whether the profile names a reranker that the user's settings describe."""
        name = profile.search.rerank.reranker
        return bool(name) and self.configuration.chose("rerankers", name)

    def _reranker(self, name: str) -> Reranker:
        """One reranker for each name, so that it is loaded once."""
        if name not in self._rerankers:
            from trivium.rerank import reranker

            self._rerankers[name] = reranker(name, self.configuration.settings.rerankers)
        return self._rerankers[name]

    def check_profile(self, profile: Profile) -> None:
        """An error if this library lacks a leg that the profile needs."""
        with self._store.view(OWNER) as view:
            require_legs(view, profile, self._at_hand())
