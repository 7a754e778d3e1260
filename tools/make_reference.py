"""Writes docs/reference.md from the code: commands with their options, settings, profiles.

    python tools/make_reference.py

A test compares the file with what this would write, so the reference cannot fall behind.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import typer.main

from trivium.cli.app import command_line
from trivium.config import IndexSettings, SearchSettings, load_profile, profile_names

TARGET = Path(__file__).parent.parent / "docs" / "reference.md"


def reference() -> str:
    """The whole page."""
    lines = [
        "# Reference",
        "",
        "Written by `tools/make_reference.py` from the code; do not edit by hand.",
        "",
        "## Commands",
        "",
        *_commands(typer.main.get_command(command_line()), "trivium"),
        "## Settings of a profile",
        "",
        "`[index]` is frozen in a library when it is made; `[search]` can be changed for every",
        "search with `--set section.key=value`.",
        "",
        "| setting | value | default |",
        "|---|---|---|",
        *_settings(IndexSettings(), "index."),
        *_settings(SearchSettings(), "search."),
        "",
        "## Profiles",
        "",
        "| profile | what it is | legs | fusion | unit |",
        "|---|---|---|---|---|",
        *_profiles(),
        "",
    ]
    return "\n".join(lines)


def _commands(command: Any, name: str) -> Iterator[str]:
    for key, sub in command.commands.items():
        if hasattr(sub, "commands"):
            yield from _commands(sub, f"{name} {key}")
            continue
        yield f"### `{name} {key}`"
        yield ""
        yield sub.help.strip()
        yield ""
        options = [_option(parameter) for parameter in sub.params if parameter.name != "help"]
        if options:
            yield "| | |"
            yield "|---|---|"
            yield from options
            yield ""


def _option(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        names = f"`{parameter.name.upper()}`"
    text = (getattr(parameter, "help", None) or "").strip()
    default = parameter.default
    shown = default not in (None, False, [], ()) and not callable(default)
    return f"| {names} | {text}{f' Default: {default}.' if shown else ''} |"


def _settings(settings: Any, prefix: str) -> Iterator[str]:
    hints = typing.get_type_hints(type(settings))
    for one in fields(settings):
        value = getattr(settings, one.name)
        if is_dataclass(value):
            yield from _settings(value, f"{prefix}{one.name}.")
        else:
            yield f"| `{prefix}{one.name}` | {_kind(hints[one.name])} | {_shown(value)} |"


def _kind(hint: Any) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is tuple:
        return "list of names"
    if origin is types.UnionType:
        return _kind(arguments[0])  # or nothing
    if origin is not None:
        return f"table of {_kind(arguments[1])}"
    return {"str": "text", "int": "whole number", "float": "number", "bool": "yes or no"}.get(
        getattr(hint, "__name__", ""), str(hint)
    )


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item:g}" for key, item in value.items()) or "–"
    if isinstance(value, tuple):
        return ", ".join(value) or "–"
    if value is None:
        return "–"
    return f"`{value!r}`" if isinstance(value, str) else f"{value:g}"


def _profiles() -> Iterator[str]:
    for name in profile_names():
        profile = load_profile(name)
        search = profile.search
        fusion = (
            f"{search.fuse.method} k {search.fuse.k:g}"
            if search.fuse.method == "rrf"
            else (search.fuse.method)
        )
        legs = ", ".join(search.legs)
        yield f"| `{name}` | {profile.description} | {legs} | {fusion} | {search.unit} |"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
