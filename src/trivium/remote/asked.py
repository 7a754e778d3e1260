"""A request as the server takes it. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

from trivium.clock import format_time
from trivium.config import Profile, load_profile, profile_names
from trivium.errors import InvalidValue
from trivium.types import NO_FILTER, Filter, SearchRequest


def search_json(
    request: SearchRequest, profile: Profile | str | None, reranker: str | None
) -> dict[str, Any]:
    """The request object of `POST /search`; what is left at its default is left out."""
    asked: dict[str, Any] = {"query": request.query, "limit": request.limit}
    for name in (
        *("mode", "legs", "include_memories", "facets", "cursor", "prefer_tags"),
        *("prefer_domain", "most_memories", "budget"),
    ):
        value = getattr(request, name)
        if value is not None and value != () and value is not False:
            asked[name] = list(value) if isinstance(value, tuple) else value
    if filter := filter_json(request.filter):
        asked["filter"] = filter
    if request.filter.as_of:
        asked["as_of"] = format_time(request.filter.as_of)
    if reranker is not None:
        asked["reranker"] = reranker
    return asked | profile_json(profile)


def filter_json(filter: Filter) -> dict[str, Any]:
    """The filter of a request, without the moment it looks back to."""
    said: dict[str, Any] = {}
    for field in fields(filter):
        value = getattr(filter, field.name)
        if value == getattr(NO_FILTER, field.name) or field.name == "as_of":
            continue
        if field.name == "exclude":
            said["exclude"] = [filter_json(one) for one in value]
        elif field.name == "metadata":
            said["metadata"] = dict(value)
        elif isinstance(value, datetime):
            said[field.name] = format_time(value)
        else:
            said[field.name] = list(value) if isinstance(value, tuple) else value
    return said


def filter_query(filter: Filter) -> dict[str, Any]:
    """The same as parameters of an address, which can say less."""
    if filter.metadata or filter.exclude or filter.as_of:
        raise InvalidValue(
            "a served library lists by scope, source, category, kind, type, domain, severity and "
            "tags; search it to filter by more"
        )
    return filter_json(filter)


def profile_json(profile: Profile | str | None) -> dict[str, Any]:
    """A profile by name, and what was changed in it; the server has no other files than its own."""
    if profile is None:
        return {}
    name = profile if isinstance(profile, str) else profile.name
    if name not in profile_names():
        raise InvalidValue(
            f"a served library takes the profiles that ship with Trivium, not '{name}'; choose one "
            f"of {', '.join(profile_names())}"
        )
    if isinstance(profile, str):
        return {"profile": name}
    changed = list(_changes(load_profile(name).search, profile.search, "search"))
    return {"profile": name, "set": changed} if changed else {"profile": name}


def _changes(before: Any, after: Any, path: str) -> Iterator[str]:
    """`path=value` for every setting that is another one, as TOML writes it."""
    if is_dataclass(after):
        for field in fields(after):
            name = field.name
            yield from _changes(getattr(before, name), getattr(after, name), f"{path}.{name}")
    elif isinstance(after, Mapping) and isinstance(before, Mapping) and set(before) == set(after):
        for name in after:
            yield from _changes(before[name], after[name], f"{path}.{name}")
    elif before != after:
        yield f"{path}={_toml(after)}"


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_toml(one)}" for name, one in value.items()) + "}"
    return repr(value)
