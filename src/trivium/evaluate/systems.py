"""The rows of an evaluation: every way to answer, run over every query.

Legs, fusions and profiles are the engine's own: one search of the default profile gives all legs,
from which legs alone and fusions are read; a profile is searched as anybody would search with it.
All count documents: whatever unit a profile has, its ranking is that of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Literal, TypeAlias

from trivium.config import FuseSettings, Profile, load_profile, profile_names
from trivium.errors import MissingLeg
from trivium.evaluate.judged import Judged
from trivium.evaluate.measures import DEPTH, Run
from trivium.evaluate.plain import Fts5, Grep
from trivium.evaluate.remember import RunMemory
from trivium.fuse import METHODS, fuse, rrf
from trivium.library import Library
from trivium.protocols import Progress, silent
from trivium.types import Candidate, LegState, Ranking, Result, document_of

LegsOfQueries: TypeAlias = Mapping[str, Mapping[str, Ranking]]
"""For each query what each leg found, as chunks."""
Kind: TypeAlias = Literal["plain", "leg", "fusion", "profile", "run"]

PAGE = 10  # hits of a timed search: what a person asks for
TIMED = 30  # queries whose time is taken, spread over the set: enough for a median
K60 = FuseSettings("rrf", k=60)  # the constant of the RRF paper, and of nearly everybody since
WITHOUT_ORDER = "union"  # the fusion that leaves the order to a later stage


@dataclass(frozen=True, slots=True)
class Answers:
    """What one system answered to every query, and how long some of the answers took."""

    name: str
    kind: Kind
    run: Run
    ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A row that could not be measured, and why."""

    name: str
    reason: str


@dataclass(slots=True)
class Systems:
    """Everything that can answer the queries of one set."""

    library: Library
    judged: Judged
    profiles: Sequence[Profile] = ()
    timed: int = TIMED
    progress: Progress = silent
    notes: dict[str, None] = field(default_factory=dict)
    """What went wrong on the way without stopping it, each once."""
    lacking: set[str] = field(default_factory=set)
    """What answers had to do without."""
    memory: RunMemory | None = None
    """Rankings of earlier evaluations of the very same engine, library and queries."""

    def names(self) -> list[str]:
        """What the rows of `answers` will be called, in their order, before any is measured."""
        base, _ = self._served(of_documents("default"))
        profiles = [one for one in self.profiles if self._lacks(one) is None]
        return expected_rows(base.search.legs, profiles, self.library.can_rerank)

    def answers(self) -> Iterator[Answers | Skipped]:
        """One row after the other: plain parts, legs, fusions, profiles."""
        # grep looks words up in a list, which no grep has, so its time would say nothing
        yield Answers("grep", "plain", self._plain("grep", lambda: Grep(self.judged.documents)))
        with closing(Fts5(self.judged.documents)) as fts5:
            run = self._plain("fts5", lambda: fts5)
            ms = tuple(_took(fts5, self.judged.queries[query]) for query in self._sample())
        bare = Answers("fts5", "plain", run, ms)
        yield bare
        base, missing = self._served(deep(of_documents("default")))
        yield from missing
        legs = _WhenAsked(
            lambda: {
                query: _legs(self._search(text, base, 1))
                for query, text in self._counted("legs", self.judged.queries)
            }
        )
        rows = {name: self._leg(name, base, legs) for name in base.search.legs}
        yield from rows.values()
        if "vector" in rows:
            yield self._plain_rrf(bare, rows["vector"])
        yield from self._fusions(base, legs)
        for profile in self.profiles:
            yield from self._with_and_without(profile, base, legs)

    # --- rows ------------------------------------------------------------------------------------

    def _plain(self, name: str, made: Callable[[], Callable[[str], Ranking]]) -> Run:
        def run() -> Run:
            search, queries = made(), self._counted(name, self.judged.queries)
            return {query: _ids(search(text)) for query, text in queries}

        return self._run(name, None, run)

    def _leg(self, name: str, base: Profile, legs: LegsOfQueries) -> Answers:
        alone = replace(base, search=replace(base.search, legs=(name,)))
        run = self._run(
            name,
            base,
            lambda: {
                query: _documents(found.get(name, Ranking())) for query, found in legs.items()
            },
        )
        return Answers(name, "leg", run, self._times(alone))

    def _plain_rrf(self, bare: Answers, vector: Answers) -> Answers:
        """FTS5 and vectors by RRF: the hybrid that anybody writes in an afternoon."""
        run = {
            query: _ids(
                rrf({"fts5": _ranked(bare.run[query]), "vector": _ranked(vector.run[query])}, K60)
            )
            for query in self.judged.queries
        }
        both = zip(bare.ms, vector.ms, strict=True)
        return Answers("rrf60 plain", "plain", run, tuple(map(sum, both)))

    def _fusions(self, base: Profile, legs: LegsOfQueries) -> Iterator[Answers]:
        """RRF of words and meaning, then every method over all legs."""
        for name, (settings, names) in _fusions_of(base.search.legs).items():
            profile = replace(base, search=replace(base.search, legs=names, fuse=settings))
            run = self._run(name, profile, partial(_fused, legs, names, settings))
            yield Answers(name, "fusion", run, self._times(profile))

    def _with_and_without(
        self, profile: Profile, base: Profile, legs: LegsOfQueries
    ) -> Iterator[Answers | Skipped]:
        """The profile's row; two where it has a reranker that your settings describe."""
        rerank = profile.search.rerank
        plain = replace(rerank, reranker="", when="never")
        without = replace(profile, search=replace(profile.search, rerank=plain))
        yield self._profile(without, base, legs)
        if self.library.can_rerank(profile):
            # all that is read is ranked, also where a search keeps only the first few of it
            whole = replace(rerank, keep=0, when="always")
            search = replace(profile.search, rerank=whole)
            named = replace(profile, name=_reranked(profile), search=search)
            yield self._profile(named, base, legs)

    def _profile(self, profile: Profile, base: Profile, legs: LegsOfQueries) -> Answers | Skipped:
        if lacks := self._lacks(profile):
            return Skipped(profile.name, lacks)
        samples = [self._timed(self.judged.queries[query], profile) for query in self._sample()]
        # What fusion alone gives can be read from the legs of a search for one hit. A profile
        # with a stage after it shows in the samples, and is paged through instead.
        fused = all(
            _documents(fuse(_legs(result), profile.search.fuse))[: len(result.hits)]
            == tuple(hit.id for hit in result)
            for result, _ in samples
        )
        run = self._run(profile.name, profile, lambda: self._answered(profile, base, legs, fused))
        return Answers(profile.name, "profile", run, tuple(ms for _, ms in samples))

    def _lacks(self, profile: Profile) -> str | None:
        """Why the library cannot answer under the profile; None if it can."""
        try:
            self.library.check_profile(profile)
        except MissingLeg as error:
            return str(error)
        return None

    def _answered(self, profile: Profile, base: Profile, legs: LegsOfQueries, fused: bool) -> Run:
        run = {}
        for query, text in self._counted(profile.name, self.judged.queries):
            if not fused:
                run[query] = self._paged(text, profile)
                continue
            if profile.search == base.search:
                found = legs[query]
            else:
                found = _legs(self._search(text, profile, 1))
            run[query] = _documents(fuse(found, profile.search.fuse))
        return run

    def _run(self, name: str, profile: Profile | None, made: Callable[[], Run]) -> Run:
        """What was answered before, or is made now.

        An answer that lacks something is not kept, nor one that a reranker had a part in: what
        stands behind its name may change.
        """
        reranked = profile is not None and profile.search.rerank.reranker != ""
        memory = None if reranked else self.memory
        known = memory.known(name, profile) if memory else None
        if known is not None:
            return known
        run = made()
        if memory and not self.lacking:
            memory.keep(name, profile, run)
        return run

    # --- searching -------------------------------------------------------------------------------

    def _served(self, profile: Profile) -> tuple[Profile, list[Skipped]]:
        """The profile with those of its legs that the library has, and what it lacks."""
        text = next(iter(self.judged.queries.values()))
        served, missing = [], []
        for name in profile.search.legs:
            alone = replace(profile, search=replace(profile.search, legs=(name,)))
            try:
                [leg] = self._search(text, alone, 1).legs
            except MissingLeg as error:
                missing.append(Skipped(name, str(error)))
                continue
            if leg.state is LegState.SKIPPED:
                missing.append(Skipped(name, leg.note))
            else:
                served.append(name)
        return replace(profile, search=replace(profile.search, legs=tuple(served))), missing

    def _search(self, text: str, profile: Profile, limit: int, cursor: str | None = None) -> Result:
        result = self.library.search(text, profile=profile, limit=limit, cursor=cursor)
        self.lacking.update(result.degraded)
        for note in (*result.degraded, *result.warnings):
            self.notes[note] = None
        return result

    def _paged(self, text: str, profile: Profile) -> tuple[str, ...]:
        result = self._search(text, profile, PAGE)
        ids = [hit.id for hit in result]
        while result.next_cursor and len(ids) < DEPTH:
            result = self._search(text, profile, DEPTH - len(ids), result.next_cursor)
            ids += [hit.id for hit in result]
        return tuple(ids[:DEPTH])

    def _timed(self, text: str, profile: Profile) -> tuple[Result, float]:
        started = perf_counter()
        result = self._search(text, profile, PAGE)
        return result, (perf_counter() - started) * 1000

    def _times(self, profile: Profile) -> tuple[float, ...]:
        return tuple(self._timed(self.judged.queries[id], profile)[1] for id in self._sample())

    def _sample(self) -> list[str]:
        """The queries whose time is taken, spread over the set."""
        ids = list(self.judged.queries)
        count = max(1, min(self.timed, len(ids)))
        return [ids[place * len(ids) // count] for place in range(count)]

    def _counted(self, stage: str, queries: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for done, item in enumerate(queries.items()):
            self.progress(stage, done, len(queries))
            yield item
        self.progress(stage, len(queries), len(queries))


class _WhenAsked(Mapping[str, Mapping[str, Ranking]]):
    """The legs of all queries, searched for when the first of them is looked at."""

    def __init__(self, searched: Callable[[], LegsOfQueries]) -> None:
        self._searched = searched
        self._found: LegsOfQueries | None = None

    def _all(self) -> LegsOfQueries:
        if self._found is None:
            self._found = self._searched()
        return self._found

    def __getitem__(self, query: str) -> Mapping[str, Ranking]:
        return self._all()[query]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def of_documents(profile: str) -> Profile:
    """A profile by name or file, with documents as its unit."""
    return load_profile(profile, ["search.unit=document"])


def deep(profile: Profile) -> Profile:
    """The profile with legs that give all the documents that are measured, for rows that are about
    a leg or a fusion and not about how deep a profile looks.
    """
    search = profile.search
    legs = {name: getattr(search, name) for name in search.legs}
    deeper = {name: replace(one, depth=max(one.depth, DEPTH)) for name, one in legs.items()}
    return replace(profile, search=replace(search, **deeper))


def every_profile(others: Sequence[str] = ()) -> tuple[Profile, ...]:
    """The profiles that ship with Trivium, and others."""
    return tuple(of_documents(name) for name in (*profile_names(), *others))


def expected_rows(
    legs: Sequence[str], profiles: Sequence[Profile], reranks: Callable[[Profile], bool]
) -> list[str]:
    """The names of the rows where these legs are served and these profiles can be searched."""
    names = ["grep", "fts5", *legs]
    names += ["rrf60 plain"] if "vector" in legs else []
    names += _fusions_of(legs)
    for one in profiles:
        names.append(one.name)
        names += [_reranked(one)] if reranks(one) else []
    return names


def _fusions_of(legs: Sequence[str]) -> dict[str, tuple[FuseSettings, tuple[str, ...]]]:
    """The rows of fusions over these legs: by which settings, and of which legs."""
    chosen: dict[str, tuple[FuseSettings, tuple[str, ...]]] = {}
    if {"keyword", "vector"} <= set(legs):
        chosen["rrf"] = K60, ("keyword", "vector")
    for method in METHODS:
        if method != WITHOUT_ORDER:
            settings = replace(K60, method=method)  # type: ignore[arg-type]
            chosen[f"{method}{len(legs)}"] = settings, tuple(legs)
    return chosen


def _reranked(profile: Profile) -> str:
    return f"{profile.name} + {profile.search.rerank.reranker}"


def _legs(result: Result) -> dict[str, Ranking]:
    return {leg.name: leg.ranking for leg in result.legs if leg.state is LegState.OK}


def _took(search: Callable[[str], Ranking], text: str) -> float:
    started = perf_counter()
    search(text)
    return (perf_counter() - started) * 1000


def _fused(legs: LegsOfQueries, names: Sequence[str], settings: FuseSettings) -> Run:
    return {
        query: _documents(fuse({name: found[name] for name in names if name in found}, settings))
        for query, found in legs.items()
    }


def _ranked(ids: Sequence[str]) -> Ranking:
    return Ranking(tuple(Candidate(id, 0.0) for id in ids))


def _documents(ranking: Ranking) -> tuple[str, ...]:
    """The documents of a ranking of chunks, each where its best chunk stands."""
    ids = (document_of(candidate.id) for candidate in ranking.candidates)
    return tuple(dict.fromkeys(ids))[:DEPTH]


def _ids(ranking: Ranking) -> tuple[str, ...]:
    return tuple(candidate.id for candidate in ranking.candidates[:DEPTH])
