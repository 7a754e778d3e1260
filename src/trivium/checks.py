"""What can be asked: numbers that make sense, and wishes that nobody can fulfil."""

from __future__ import annotations

from trivium.abilities import legs_of, serves
from trivium.config import FuseSettings, Profile
from trivium.errors import InvalidValue, MissingLeg, UnknownName, nearest
from trivium.protocols import Embedder, TermStatistics, VectorSearch, View
from trivium.types import Filter, Grant, SearchRequest
from trivium.values import replace

MOST_HITS = 1000
MEMORY = Filter(kind=("memory",))


def check_numbers(request: SearchRequest) -> None:
    """An error for a number of hits, memories or tokens that cannot be meant."""
    if not 1 <= request.limit <= MOST_HITS:
        raise InvalidValue(
            f"{request.limit} hits cannot be asked for; choose a number from 1 to {MOST_HITS}"
        )
    for name, value, least in (
        ("memories", request.most_memories, 0),
        ("tokens of budget", request.budget, 1),
    ):
        if value is not None and value < least:
            raise InvalidValue(
                f"{value} {name} cannot be asked for; choose a number from {least} on"
            )


def check_scopes(view: View, filter: Filter, grant: Grant) -> None:
    """For the owner a scope that no document has is a slip; others just find nothing."""
    if grant.scopes is not None or not filter.scope:
        return
    known = view.values("scope")
    for scope in filter.scope:
        if scope not in known:
            hint = nearest(scope, known) or f" There are: {', '.join(sorted(known))}."
            raise UnknownName(f"no document has the scope '{scope}'.{hint}")


def require_legs(view: View, profile: Profile, embedder: Embedder | None) -> None:
    """An error that names the leg which the profile needs and this library cannot serve.

    Vectors of a model that is not at hand are no reason: as when a model fails, the leg says so.
    """
    meaning = embedder is not None or (serves(view, VectorSearch) and view.model != "")
    served = [name for name in legs_of(view) if name != "vector" or meaning]
    for name in profile.search.legs:
        if name not in served and name not in profile.search.optional:
            raise MissingLeg(
                f"profile '{profile.name}' needs the {name} leg, which this library does not "
                f"have (it has: {', '.join(served)}); choose another profile"
            )
    if profile.search.score.method == "signals" and not serves(view, TermStatistics):
        raise MissingLeg(
            f"profile '{profile.name}' needs term statistics, which this library does not have; "
            "choose another profile"
        )


def slips(view: View, filter: Filter) -> list[str]:
    """Values of a filter that no document has: more likely a slip than a wish to find nothing."""
    slips = []
    for name in ("category", "kind", "type", "domain", "severity", "tags"):
        known = view.values(name) if getattr(filter, name) else frozenset()
        said = "tag" if name == "tags" else name
        for value in getattr(filter, name):
            if value not in known and value != "memory":
                slips.append(f"no document has the {said} '{value}'.{nearest(value, known)}")
    return slips


def idle_wishes(profile: Profile, request: SearchRequest) -> list[str]:
    """What was asked for and changes nothing under this profile."""
    idle = []
    fuse = profile.search.fuse
    if fuse.k != FuseSettings().k and fuse.method != "rrf":
        idle.append(
            f"search.fuse.k counts ranks in rrf, and here the method is {fuse.method}, so it "
            "changes nothing; set search.fuse.method to rrf as well"
        )
    if (request.prefer_tags or request.prefer_domain) and profile.search.score.method == "none":
        idle.append(
            f"profile '{profile.name}' has no signals, so preferred tags and domains change "
            "nothing; use --profile vault"
        )
    return idle


def without_memories(request: SearchRequest) -> SearchRequest:
    """The request for everything but memories."""
    filter = request.filter
    return replace(request, filter=replace(filter, exclude=(*filter.exclude, MEMORY)))


def only_memories(request: SearchRequest) -> SearchRequest:
    """The request for memories alone."""
    return replace(request, filter=replace(request.filter, kind=MEMORY.kind))
