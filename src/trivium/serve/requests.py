"""What can be asked: the request objects, which refuse what they do not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from trivium.checks import MOST_HITS
from trivium.clock import parse_time
from trivium.config import Profile, load_profile, profile_names
from trivium.context import LEAST_BUDGET
from trivium.errors import InvalidValue, UnknownName, nearest
from trivium.library import Library
from trivium.library.consulting import DEFAULT_BUDGET
from trivium.library.facts import DEEPEST, MOST_FACTS
from trivium.serve.nesting import SHALLOW
from trivium.types import Filter, Grant, Mode, Result

Text = Annotated[str, Field(max_length=100_000)]
Typed = Annotated[str, Field(max_length=2_000)]
"""What fits into an address, whatever its letters are."""
Name = Annotated[str, Field(max_length=500)]
Names = Annotated[list[Name], Field(max_length=100)]
OneOrMore = Name | Names
"""One value, or several of which any will do."""

Limit = Annotated[int, Field(ge=1, le=MOST_HITS)]
Amount = Annotated[int, Field(ge=0, le=1_000_000_000)]
Budget = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Strict(BaseModel):
    """An object of which every field is known; a slip is answered with the nearest right name."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known(cls, data: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for name in data if isinstance(data, dict) else ():
            if name not in known:
                hint = nearest(str(name), known) or f" There are: {', '.join(sorted(known))}."
                text = f"there is no field '{name}'.{hint}".replace("{", "{{").replace("}", "}}")
                raise PydanticCustomError("unknown_field", text)
        return data


class Body(Strict):
    """A JSON object: a number is a number and not a text that looks like one."""

    model_config = ConfigDict(extra="forbid", strict=True)


class FilterFields(Strict):
    """What is considered at all: any of the values within a field, all of the fields."""

    scope: Names = []
    source: Names = []
    category: Names = []
    kind: Names = []
    type: Names = []
    domain: Names = []
    severity: Names = []
    tags: Names = []
    subjects: Names = []
    predicates: Names = []
    rdf_types: Names = []
    graphs: Names = []
    created_from: Name | None = None
    created_until: Name | None = None
    valid_at: Name | None = None
    include_expired: bool = False
    subclasses: bool = False


_LISTS = (
    *("scope", "source", "category", "kind", "type", "domain", "severity", "tags"),
    *("subjects", "predicates", "rdf_types", "graphs"),
)
_TIMES = ("created_from", "created_until", "valid_at")


class FilterBody(Body):
    """What is considered at all: any of the values within a field, all of the fields."""

    scope: OneOrMore = []
    source: OneOrMore = Field(
        default=[], description="#7, a source's name, a file name, a path glob"
    )
    category: OneOrMore = []
    kind: OneOrMore = []
    type: OneOrMore = []
    domain: OneOrMore = []
    severity: OneOrMore = []
    tags: OneOrMore = []
    metadata: dict[Name, Name | int | float | bool] = {}
    created_from: Name | None = Field(default=None, description="a date or a time, ISO 8601")
    created_until: Name | None = None
    valid_at: Name | None = None
    include_expired: bool = False
    subjects: OneOrMore = []
    predicates: OneOrMore = []
    rdf_types: OneOrMore = []
    subclasses: bool = False
    graphs: OneOrMore = []
    exclude: Annotated[list[FilterBody], Field(max_length=100)] = []

    def filter(self) -> Filter:
        return _filter(
            self,
            metadata=tuple(self.metadata.items()),
            exclude=tuple(one.filter() for one in self.exclude),
        )


def _filter(fields: FilterBody | FilterFields, **more: Any) -> Filter:
    values: dict[str, Any] = {name: _values(getattr(fields, name)) for name in _LISTS}
    times = {name: getattr(fields, name) for name in _TIMES}
    values |= {name: parse_time(text) if text else None for name, text in times.items()}
    return Filter(
        **values,
        include_expired=fields.include_expired,
        subclasses=fields.subclasses,
        **more,
    )


def _values(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


class SearchBody(Body):
    """The request object of a search, as every surface has it."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [
                {"query": "dwarf king weapon", "limit": 5},
                {
                    "query": "axe",
                    "filter": {"category": ["items"], "exclude": [{"tags": "cursed"}]},
                    "mode": "full",
                    "facets": True,
                },
            ]
        },
    )

    query: Text = ""
    limit: Limit = 10
    filter: Annotated[FilterBody, SHALLOW] = FilterBody()
    profile: Name | None = Field(default=None, description="one that ships with Trivium")
    set: Names = Field(default=[], description="overrides of the profile, such as search.fuse.k=30")
    mode: Mode = "scan"
    legs: Names = []
    explain: bool = Field(default=False, description="the parts of each score are in every answer")
    include_memories: bool = False
    most_memories: Amount | None = None
    facets: bool = False
    cursor: Text | None = None
    prefer_tags: Names = []
    prefer_domain: Name | None = None
    budget: Budget | None = None
    reranker: Name | None = Field(default=None, description='one of the settings; "" asks none')
    as_of: Name | None = Field(default=None, description="a date or time, or DOC@VERSION")

    def narrowed(self) -> Filter:
        return self.filter.filter()


class SearchQuery(FilterFields):
    """The same as parameters of an address."""

    q: Typed = ""
    limit: Limit = 10
    profile: Name | None = None
    set: Names = []
    mode: Mode = "scan"
    leg: Names = []
    explain: bool = False
    include_memories: bool = False
    most_memories: Amount | None = None
    facets: bool = False
    cursor: Typed | None = None
    prefer_tags: Names = []
    prefer_domain: Name | None = None
    budget: Budget | None = None
    reranker: Name | None = None
    as_of: Name | None = None

    def body(self) -> SearchBody:
        said = self.model_dump(exclude_unset=True)
        named = set(FilterFields.model_fields)
        asked = {name: value for name, value in said.items() if name not in named}
        filter = {name: value for name, value in said.items() if name in named}
        renamed = {{"q": "query", "leg": "legs"}.get(name, name): v for name, v in asked.items()}
        return SearchBody(**renamed, filter=FilterBody(**filter))


class DocumentsQuery(FilterFields):
    """Which documents to list."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    cursor: Typed | None = None

    def narrowed(self) -> Filter:
        return _filter(self)


class FacetsQuery(FilterFields):
    """Which documents to count."""

    def narrowed(self) -> Filter:
        return _filter(self)


class SuggestQuery(Strict):
    """What was typed so far."""

    q: Typed
    limit: Annotated[int, Field(ge=1, le=50)] = 8


class UploadQuery(Strict):
    """What is said about files that are sent; `name` is that of a file sent as bare bytes."""

    name: Name = ""
    scope: Name | None = None
    category: Name | None = None
    tags: Names = []
    kind: Name | None = None
    force: bool = False
    embed: bool = True


class ReingestBody(Body):
    """How a source is read again."""

    embed: bool = True


class EmbedBody(Body):
    """Which model's vectors to make; the active one's unless said."""

    model: Name | None = None


class DiffQuery(Strict):
    """Two versions, and what to search for with either active."""

    old: Annotated[int, Field(ge=1, le=1_000_000_000)]
    new: Annotated[int, Field(ge=1, le=1_000_000_000)]
    query: Typed | None = None
    limit: Limit = 10


class RollbackBody(Body):
    """The version to go back to; the one before the active one unless said."""

    version: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None


class ContextBody(Body):
    """What a language model will be asked, and how much it may be given."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"prompt": "Who guards the bridge?", "budget": 2000}]},
    )

    prompt: Text
    budget: Annotated[int, Field(ge=LEAST_BUDGET, le=1_000_000)] = DEFAULT_BUDGET
    filter: Annotated[FilterBody, SHALLOW] = FilterBody()
    profile: Name | None = None
    set: Names = []
    reranker: Name | None = None
    include_memories: bool = False


class FeedbackBody(Body):
    """What somebody thought of documents that a query had found."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"verdict": "accepted", "documents": ["#7"], "query": "dwarf axe"}]
        },
    )

    verdict: Literal["accepted", "dismissed", "modified", "failed"]
    documents: Annotated[list[Name], Field(min_length=1, max_length=1_000)]
    query: Text = ""


class FeedbackQuery(Strict):
    """The profile whose weights are shown."""

    profile: Name | None = None


class FactsQuery(Strict):
    """A subject, and how far to look around it."""

    subject: Name
    depth: Annotated[int, Field(ge=1, le=DEEPEST)] = 1
    limit: Annotated[int, Field(ge=1, le=MOST_FACTS)] = 100


class VerificationsQuery(Strict):
    """Whether also what is decided is listed."""

    all: bool = False


class DecisionBody(Body):
    """A decision about a conflict; statements are counted from 1, as they are shown."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "examples": [{"decision": "rejected", "why": "a slip of the pen", "statements": [2]}]
        },
    )

    decision: Literal["accepted", "rejected", "superseded"]
    why: Annotated[str, Field(min_length=1, max_length=10_000)]
    by: Name | None = None
    statements: Annotated[list[int], Field(max_length=1_000)] = []


class KnownBody(Body):
    """Ids that documents may have, now or at a date."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"ids": ["clock-01", "tie-02"]}]},
    )

    ids: Names = []
    as_of: Name | None = Field(default=None, description="a date or time, or DOC@VERSION")


class TokenBody(Body):
    """The one-time token of `trivium serve --owner`."""

    token: Name


def profile_of(library: Library, name: str | None, overrides: Sequence[str] = ()) -> Profile:
    """A profile by name; a path is never read for somebody who is not here."""
    name = name or library.profile_name
    if name != library.profile_name and name not in profile_names():
        hint = nearest(name, profile_names()) or f" There are: {', '.join(profile_names())}."
        raise UnknownName(f"there is no profile '{name}'.{hint}")
    for setting in overrides:
        if not setting.strip().startswith("search."):
            raise InvalidValue(f"a search can only set what begins with 'search.', not '{setting}'")
    return load_profile(name, tuple(overrides))


def search(library: Library, asked: SearchBody, grant: Grant) -> Result:
    """Put the request to the library."""
    filter = asked.narrowed()
    if asked.as_of:
        filter = replace(filter, as_of=library.moment(asked.as_of, grant=grant))
    return library.search(
        asked.query,
        limit=asked.limit,
        filter=filter,
        profile=profile_of(library, asked.profile, asked.set),
        mode=asked.mode,
        legs=asked.legs,
        include_memories=asked.include_memories,
        facets=asked.facets,
        cursor=asked.cursor,
        prefer_tags=asked.prefer_tags,
        prefer_domain=asked.prefer_domain,
        most_memories=asked.most_memories,
        budget=asked.budget,
        reranker=asked.reranker,
        grant=grant,
    )
