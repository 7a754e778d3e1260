"""Searching: a request through the pipeline, over one consistent view."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from trivium.checks import require_legs
from trivium.config import Profile, load_profile
from trivium.freshness import freshness
from trivium.graph.names import expand_filter, is_structural
from trivium.library.asking import Asking
from trivium.library.base import Opened
from trivium.pipeline import Search
from trivium.protocols import Reranker, View
from trivium.score import feedback
from trivium.store.record.database import repeatable
from trivium.types import OWNER, Grant, LegState, Result, SearchRequest


class Searching(Opened, Asking):
    """What asks the library something."""

    @repeatable
    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """Search by meaning, words and spelling; the result explains how it came about."""
        with self._asked(request, profile, reranker, grant, now) as (search, request):
            result = search(request)
        sources = self._store.sources()
        subjects = frozenset(h.chunk.subject for h in result.hits if h.chunk.subject)
        disputed = search.disputed(subjects) if search.disputed and subjects else {}
        checked = (
            replace(
                h,
                freshness=freshness(h.document, sources),
                verifications=disputed.get(h.chunk.subject or "", ()),
            )
            for h in result.hits
        )
        # Paths and settings of this machine are for its owner; others learn nothing of them.
        owner = grant.scopes is None
        if not owner:
            result = _for_others(result)
        notices = self._configuration.notices if owner and self._configuration else ()
        result = replace(result, hits=tuple(checked), warnings=(*result.warnings, *notices))
        return self.told_apart(result, grant) if subjects and not request.cursor else result

    @contextmanager
    def searching(self, profile: Profile) -> Iterator[Search]:
        """The pipeline itself over one state of the library, as its owner sees it, unreranked."""
        with self._store.view(OWNER) as view:
            yield self._search(view, profile, None, OWNER, None)

    @contextmanager
    def _asked(
        self,
        request: SearchRequest,
        profile: str | Profile | None,
        reranker: str | None,
        grant: Grant,
        now: datetime | None,
    ) -> Iterator[tuple[Search, SearchRequest]]:
        """The pipeline that a request is for, and the request with all names written out."""
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        profile, reader = self._reader(profile, reranker)
        if is_structural(request.filter):
            named = expand_filter(request.filter, self._store.graph.prefixes(grant))
            request = replace(request, filter=named)
        with self._store.view(grant, request.filter.as_of) as view:
            yield self._search(view, profile, reader, grant, now), request

    def _search(
        self,
        view: View,
        profile: Profile,
        reader: Reranker | None,
        grant: Grant,
        now: datetime | None,
    ) -> Search:
        moment, shift, model = now or self._now(), self._shift(profile, grant), self._at_hand()
        search = Search(view, profile, model, self._threads, moment, grant, shift, reader)
        asked: set[str] = set()
        known: dict[str, tuple[str, ...]] = {}

        def disputed(subjects: Collection[str]) -> Mapping[str, tuple[str, ...]]:
            """Each subject is looked at once, be it to rank its hits or to mark them."""
            new = frozenset(subjects) - asked
            if new:
                asked.update(new)
                known.update(self.disputed(new, profile, grant))
            return {subject: known[subject] for subject in subjects if subject in known}

        return replace(search, disputed=disputed)

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
        reader = self._reranker(wanted.reranker)
        if wanted.time_out is None:
            described = self.configuration.settings.rerankers[wanted.reranker]
            wanted = replace(wanted, time_out=described.time_out)
        return replace(profile, search=replace(profile.search, rerank=wanted)), reader

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

    @repeatable
    def stamp(self, *, grant: Grant = OWNER) -> int:
        """A number that changes when what the grant can see changes, and only then."""
        with self._store.view(grant) as view:
            return view.stamp


def _for_others(result: Result) -> Result:
    """The answer without the reasons of failures: they hold addresses and paths of this machine."""
    why = "failed; the library's owner can see why"
    legs = (replace(leg, note=why) if leg.state is LegState.FAILED else leg for leg in result.legs)
    degraded = (f"{text.partition(':')[0]}: {why}" for text in result.degraded)
    return replace(result, legs=tuple(legs), degraded=tuple(degraded))
