"""Tiers: several libraries searched as one, each with its priority (document 004's vault manager).

Each tier is searched by itself and all of them at once; scores are multiplied by the tier's
priority and the hits merged. Of a document that several tiers have, the copy of the highest
priority that the caller may see and that is valid is *the* document: copies below it are dropped,
also where that copy no longer matches the query. A tier that cannot be opened or searched is named
in `degraded`, and the others answer.

Every tier gives its best `pool` hits, as many as the first page decides. `total`, facets and pages
count the documents of the merged pool, each once; `matched` is the sum over the tiers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Self

from trivium import opening
from trivium.checks import MOST_HITS, check_numbers
from trivium.config import Profile, load_profile
from trivium.embed.once import AskedOnce
from trivium.errors import (
    InvalidValue,
    LibraryError,
    MissingLeg,
    NotALibrary,
    TriviumError,
    UnknownDocument,
    UnknownName,
    nearest,
)
from trivium.federation.merging import (
    Order,
    is_small,
    is_valid,
    kind_of,
    legs_of,
    missing,
    place_of,
    said,
    scaled,
    sources_of,
    with_few_memories,
    with_weights_moved,
)
from trivium.federation.tiers import Tier, configured, in_order
from trivium.library import Library
from trivium.library.asking import Asking
from trivium.library.homes import is_served
from trivium.pages import ALL_SHOWN, Cursor, by_words, digest_of
from trivium.present import afforded, facets
from trivium.types import (
    OWNER,
    Filter,
    Grant,
    Hit,
    Reading,
    Result,
    SearchRequest,
)

if TYPE_CHECKING:
    from trivium.remote import RemoteLibrary

OVER_FETCH, FEWEST = 3, 30
"""Hits that a tier is asked for, for each one shown, and at least: some will turn out stale."""


CHANGED = "a tier was changed since the first page: a hit may be missing or come twice"

__all__ = ["Federation", "Tier", "configured"]


class Federation(Asking):
    """Several open libraries. Use it as a context manager, or call `close`."""

    profile_name = "vault"

    def __init__(self, tiers: Sequence[Tier]) -> None:
        self.tiers = in_order(tiers)
        self._libraries: dict[str, Library | RemoteLibrary] = {}
        self._models: dict[str, AskedOnce] = {}
        self._closed_ones: dict[str, str] = {}
        for tier in self.tiers:
            try:
                self._libraries[tier.name] = library = _opened(tier)
                library.share_model(self._models)
            except TriviumError as error:
                self._closed_ones[tier.name] = str(error)
            except (OSError, ValueError) as error:  # no file could have this name
                self._closed_ones[tier.name] = (
                    f"{str(tier.library)!r} cannot be opened ({error}); "
                    f"correct tiers.{tier.name}.library"
                )
        if not self._libraries:
            problems = "; ".join(self._closed_ones.values()) or "there are none"
            raise NotALibrary(f"no tier can be opened: {problems}")
        self._pool = ThreadPoolExecutor(len(self._libraries), thread_name_prefix="tier")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all libraries; one that is damaged by now was reported when it was asked."""
        self._pool.shutdown()
        for library in self._libraries.values():
            with suppress(LibraryError):
                library.close()

    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """All tiers as one answer; every hit says which tier it came from.

        No reranker is asked: what it says of one tier is not to be weighed against another.
        """
        if reranker:
            raise InvalidValue("tiers are not reranked; leave the reranker out, or ask one tier")
        started = perf_counter()
        check_numbers(request)
        self._refuse_numbers(sources_of(request.filter))
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        cursor = self._cursor(request, profile)
        now = (cursor.now if cursor else None) or now or datetime.now(UTC)
        pool = cursor.depths["pool"] if cursor else _pool_size(request.limit, profile)
        before = cursor.read if cursor else {}
        answers, shifts, failed = self._ask(request, pool, profile, grant, now, before)
        order = Order.of(self.tiers, request)
        kept = self._merged(answers, failed, request, profile, grant, now, order)
        alive = [tier for tier in self._opened() if tier.name not in failed]
        answers = {name: one for name, one in answers.items() if name not in failed}
        left, shown = (order.rest(kept, cursor), cursor.shown) if cursor else (kept, 0)
        small = cursor is None and is_small(answers.values(), kept, profile, request.limit)
        cut = left[: request.limit]
        if small:
            cut += [hit for hit in left[request.limit :] if by_words(hit.parts)]
        page = tuple(replace(hit, rank=shown + rank) for rank, hit in enumerate(cut, start=1))
        stamp = sum(self._libraries[tier.name].stamp(grant=grant) for tier in alive) % (1 << 53)
        hits, left_out = afforded(page, request.mode, request.budget)
        warnings = [*said(answers), *left_out]
        if small:
            warnings.append(ALL_SHOWN.format(count=len(page), limit=request.limit))
        warnings += [CHANGED] if cursor and cursor.stamp != stamp else []
        return Result(
            query=request.query,
            profile=profile.name,
            score_kind=kind_of(answers.values()),
            hits=hits,
            legs=tuple(legs_of(answers)),
            total=len(kept),
            matched=sum(one.matched for one in answers.values()),
            took_ms=(perf_counter() - started) * 1000,
            mode=request.mode,
            degraded=tuple(missing({**self._closed_ones, **failed}, answers)),
            warnings=tuple(warnings),
            facets=facets(hit.document for hit in kept) if request.facets else None,
            next_cursor=self._next(request, profile, stamp, pool, page, now, {**before, **shifts})
            if len(page) < len(left) and not small
            else None,
        )

    def get(self, *names: str, grant: Grant = OWNER, now: datetime | None = None) -> list[Reading]:
        """Documents by name, each from the highest tier that has a valid copy, else any copy."""
        self._refuse_numbers(names)
        moment = now or datetime.now(UTC)
        readings = []
        for name in names:
            copies = list(self._copies(name, grant))
            if not copies:
                raise UnknownDocument(f"no tier has a document '{name}'; search for it first")
            valid = (one for one in copies if is_valid(one.document, moment))
            readings.append(next(valid, copies[0]))
        return readings

    def moment(self, text: str, *, grant: Grant = OWNER) -> datetime:
        """What `--as-of` means: a date or time, or `DOC@N` of the highest tier that has it."""
        self._refuse_numbers([text.rpartition("@")[0]])
        unknown: UnknownDocument | None = None
        for tier in self._opened():
            try:
                return self._libraries[tier.name].moment(text, grant=grant)
            except UnknownDocument as error:
                unknown = unknown or error
        raise unknown or UnknownDocument(f"no tier has a document '{text}'; search for it first")

    def _copies(self, name: str, grant: Grant) -> Iterator[Reading]:
        for tier in self._opened():
            try:
                [reading] = self._libraries[tier.name].get(name, grant=grant)
            except UnknownDocument:
                continue
            by_number = name.isdecimal() and name not in (reading.document.id, reading.document.uri)
            if not by_number or len(self.tiers) == 1:
                yield replace(reading, tier=tier.name)

    def _refuse_numbers(self, names: Iterable[str]) -> None:
        """An error if a name is a document's number, which is another document in each tier."""
        for name in names:
            if len(self.tiers) > 1 and re.fullmatch("#[0-9]+", name):
                raise InvalidValue(
                    f"{name} is another document in each tier; write its id, or ask one tier"
                )

    def _opened(self) -> list[Tier]:
        return [tier for tier in self.tiers if tier.name in self._libraries]

    def _ask(
        self,
        request: SearchRequest,
        pool: int,
        profile: Profile,
        grant: Grant,
        now: datetime,
        before: Mapping[str, float],
    ) -> tuple[dict[str, Result], dict[str, float], dict[str, str]]:
        """Every tier's own answer, how far feedback moved its weights, and why others gave none.

        The weights are moved as far as they were `before`, where that is known. It is an error if
        no tier can answer.
        """
        for model in self._models.values():
            model.forget()
        filters = self._filters(request.filter, grant)
        runs = {}
        for name, filter in filters.items():
            asked = replace(
                request, limit=pool, filter=filter, cursor=None, budget=None, facets=False
            )
            library, shift = self._libraries[name], before.get(name)
            runs[name] = self._pool.submit(_answer, library, asked, profile, grant, now, shift)
        answers: dict[str, Result] = {}
        shifts: dict[str, float] = {}
        failed: dict[str, str] = {}
        first: TriviumError | None = None
        for name, run in runs.items():
            try:
                answers[name], shifts[name] = run.result()
            except (LibraryError, MissingLeg) as error:  # the tier is at fault, not the query
                failed[name] = str(error)
                first = first or error
        if first and not answers:
            raise first
        return answers, shifts, failed

    def _filters(self, filter: Filter, grant: Grant) -> dict[str, Filter]:
        """The filter for each tier to be asked: one without the scope has nothing to say."""
        if grant.scopes is not None or not filter.scope:
            return {tier.name: filter for tier in self._opened()}
        known = {tier.name: self._scopes(tier) for tier in self._opened()}
        everywhere = frozenset().union(*(scopes for scopes in known.values() if scopes))
        for scope in filter.scope:
            if scope not in everywhere:
                hint = nearest(scope, everywhere) or f" There are: {', '.join(sorted(everywhere))}."
                raise UnknownName(f"no document of any tier has the scope '{scope}'.{hint}")
        filters = {}
        for name, scopes in known.items():
            wanted = tuple(s for s in filter.scope if scopes is None or s in scopes)
            if wanted:
                filters[name] = replace(filter, scope=wanted)
        return filters

    def _scopes(self, tier: Tier) -> frozenset[str] | None:
        """The scopes of a tier; None if it cannot tell, and then it says why when it is asked."""
        try:
            return self._libraries[tier.name].values("scope")
        except LibraryError:
            return None

    def _merged(
        self,
        answers: Mapping[str, Result],
        failed: dict[str, str],
        request: SearchRequest,
        profile: Profile,
        grant: Grant,
        now: datetime,
        order: Order,
    ) -> list[Hit]:
        """The hits of all tiers in order, each document from the tier that it belongs to.

        A tier that fails now, though it answered before, is put to the `failed` ones.
        """
        alive = [tier for tier in self._opened() if tier.name not in failed]
        hits = [
            scaled(hit, tier)
            for tier in alive
            if tier.name in answers
            for hit in answers[tier.name].hits
        ]
        moment = request.filter.valid_at or request.filter.as_of or now
        ids = {hit.document.id for hit in hits}
        owners = self._owners(alive, failed, ids, moment, request.filter, grant)
        kept = [hit for hit in hits if owners.get(hit.document.id) == hit.tier]
        return with_few_memories(sorted(kept, key=order.of_hit), request, profile)

    def _owners(
        self,
        alive: Sequence[Tier],
        failed: dict[str, str],
        ids: Collection[str],
        moment: datetime,
        filter: Filter,
        grant: Grant,
    ) -> dict[str, str]:
        """The tier whose copy counts, for each document."""
        valid: dict[str, str] = {}
        any_copy: dict[str, str] = {}
        for tier in alive:
            library = self._libraries[tier.name]
            try:
                known = library.known(ids, grant=grant, as_of=filter.as_of)
            except LibraryError as error:
                failed[tier.name] = str(error)
                continue
            for id, document in known.items():
                any_copy.setdefault(id, tier.name)
                if is_valid(document, moment):
                    valid.setdefault(id, tier.name)
        return any_copy | valid if filter.include_expired else valid

    def _cursor(self, request: SearchRequest, profile: Profile) -> Cursor | None:
        if request.cursor is None:
            return None
        cursor = Cursor.decode(request.cursor, request, self._asked_of(profile))
        if set(cursor.depths) != {"pool"} or cursor.depths["pool"] > MOST_HITS:
            raise InvalidValue("this cursor was made without tiers; begin again without one")
        return cursor

    def _next(
        self,
        request: SearchRequest,
        profile: Profile,
        stamp: int,
        pool: int,
        page: Sequence[Hit],
        now: datetime,
        shifts: Mapping[str, float],
    ) -> str:
        """The cursor; no reranker reads tiers, so `read` holds how far each one's weights moved."""
        last, digest = page[-1], digest_of(request, self._asked_of(profile))
        depths = {"pool": pool}
        place = place_of(last)
        return Cursor(
            digest, stamp, depths, last.rank, last.score, place, now, read=shifts
        ).encode()

    def _asked_of(self, profile: Profile) -> str:
        return repr((profile, [(tier.name, tier.factor) for tier in self._opened()]))


def _pool_size(limit: int, profile: Profile) -> int:
    """How many hits each tier is asked for."""
    wanted = max(OVER_FETCH * limit, FEWEST, profile.search.small_corpus)
    return max(limit, min(MOST_HITS, wanted))


def _opened(tier: Tier) -> Library | RemoteLibrary:
    """A tier's library, wherever it is; only the key that the tier names is ever sent."""
    if not is_served(tier.library):
        return opening.open(tier.library)
    from trivium.remote.reaching import reach

    return reach(str(tier.library), key_variable=tier.key_variable, time_out=tier.time_out)


def _answer(
    library: Library | RemoteLibrary,
    request: SearchRequest,
    profile: Profile,
    grant: Grant,
    now: datetime,
    shift: float | None,
) -> tuple[Result, float]:
    """A tier's answer, and how far its weights were moved: by its feedback unless that is given."""
    if shift is None:
        scores = profile.search.score.method != "none"
        shift = library.feedback_stats(profile=profile, grant=grant)["shift"] if scores else 0.0
    moved = with_weights_moved(profile, shift)
    return library.answer(request, profile=moved, reranker="", grant=grant, now=now), shift
