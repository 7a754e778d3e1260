"""Requests that every surface answers with the same bytes, but for how long it took.

A surface is a function from a request to the text it gives. `python` and `command` are here, and
`tool` says what an agent passes; a test that adds a surface compares it with `python` over all
`REQUESTS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from trivium.config import load_profile
from trivium.errors import TriviumError
from trivium.library import Library
from trivium.mcp.reading import FILTERS
from trivium.mcp.tools import SEARCH
from trivium.present import result_json, to_text
from trivium.remote import RemoteLibrary
from trivium.types import Filter

Request = Mapping[str, Any]
Run = Callable[..., CompletedProcess[str]]

REQUESTS: Mapping[str, Request] = {
    "words": {"query": "axe"},
    "one page": {"query": "the axe of the dwarf king", "limit": 2},
    "meaning": {"query": "who keeps the books", "legs": ["vector"]},
    "spelling": {"query": "Gravewnd"},
    "full": {"query": "poison", "mode": "full"},
    "facets": {"query": "axe town", "facets": True},
    "filters": {"query": "axe", "filter": {"category": ["places", "rules"], "scope": ["dm-only"]}},
    "left out": {"query": "axe", "filter": {"exclude": [{"category": "rules"}]}},
    "metadata": {"query": "city", "filter": {"metadata": {"floors": 9}}},
    "dates": {"query": "axe", "filter": {"created_from": "2024-01-01"}},
    "browse": {"query": "", "filter": {"category": ["places"]}},
    "another profile": {"query": "battle axe", "profile": "omnidata"},
    "an override": {"query": "axe", "set": ["search.fuse.weights.vector=0"]},
    "memories": {"query": "axe", "include_memories": True},
    "a budget": {"query": "axe", "budget": 60},
    "as it was": {"query": "axe", "as_of": "2001-01-01"},
    "signs": {"query": 'C++ "foo:bar" -x * Ἀθήνα 東京 \\'},
    "no such value": {"query": "axe", "filter": {"category": ["plases"]}},
    "nothing": {"query": ""},
    "no such leg": {"query": "axe", "legs": ["vectr"]},
    "no such scope": {"query": "axe", "filter": {"scope": ["dm-onyl"]}},
    "too many": {"query": "axe", "limit": 5, "cursor": "not a cursor"},
}


def without_times(text: str) -> str:
    """An answer as if it had taken no time."""
    return re.sub(r'("(?:took_ms|ms)": )[0-9.e-]+', r"\g<1>0", text)


def python(library: Library | RemoteLibrary, request: Request) -> str:
    """What a program gets; of an error its message."""
    asked = dict(request)
    profile, settings = asked.pop("profile", None), asked.pop("set", ())
    try:
        filter = filter_of(asked.pop("filter", {}))
        if then := asked.pop("as_of", None):
            filter = replace(filter, as_of=library.moment(then))
        chosen = load_profile(profile or library.profile_name, settings)
        result = library.search(asked.pop("query"), filter=filter, profile=chosen, **asked)
    except TriviumError as error:
        return str(error)
    return without_times(to_text(result_json(result)) + "\n")


def filter_of(said: Mapping[str, Any]) -> Filter:
    from trivium.clock import parse_time

    values: dict[str, Any] = {}
    for name, value in said.items():
        if name == "exclude":
            values[name] = tuple(filter_of(one) for one in value)
        elif name == "metadata":
            values[name] = tuple(value.items())
        elif name.startswith(("created_", "valid_")):
            values[name] = parse_time(value)
        else:
            values[name] = (value,) if isinstance(value, str) else tuple(value)
    return Filter(**values)


def command(run: Run, world: Path, request: Request) -> str:
    """What the command prints; of an error its message."""
    done = run("search", "-L", world, "--json", *arguments(request))
    return without_times(done.stdout) if done.returncode == 0 else done.stderr[len("error: ") : -1]


def arguments(request: Request) -> list[str]:
    """The request as flags of `trivium search`."""
    flags: list[str] = []
    for name, value in request.items():
        if name == "query":
            continue
        if name == "filter":
            flags += _filter_flags(value)
        elif name == "legs":
            flags += [part for leg in value for part in ("--leg", leg)]
        elif name == "set":
            flags += [part for one in value for part in ("--set", one)]
        elif value is True:
            flags.append(f"--{name.replace('_', '-')}")
        else:
            flags += [f"--{name.replace('_', '-')}", str(value)]
    return [*flags, "--", request["query"]]


def _filter_flags(said: Mapping[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in said.items():
        if name == "exclude":
            pairs = [(key, one) for exclusion in value for key, one in exclusion.items()]
            flags += [part for key, one in pairs for part in ("--not", f"{key}={one}")]
        elif name == "metadata":
            flags += [part for key, one in value.items() for part in ("--meta", f"{key}={one}")]
        elif isinstance(value, str):
            flags += [f"--{name.replace('_', '-')}", value]
        else:
            flags += [part for one in value for part in (f"--{name}", one)]
    return flags


def tool(request: Request) -> dict[str, Any] | None:
    """The request as arguments of the tool `search`; None if it cannot be asked for there."""
    filter = request.get("filter", {})
    asked = {**filter, **{name: value for name, value in request.items() if name != "filter"}}
    takes = {argument.name for argument in SEARCH.arguments} - {"budget"}  # it is the reply's there
    if not set(asked) <= takes or not set(filter) <= set(FILTERS):
        return None
    return {"limit": 10, "budget": 25_000, **asked}
