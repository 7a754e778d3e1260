"""The command line, put together from a table, so that a start loads only what it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

COMMANDS: Mapping[str, str] = {
    "init": "filling:init",
    "add": "filling:add",
    "embed": "embedding:embed",
    "watch": "watching:watch",
    "search": "searching:search",
    "why-not": "explaining:why_not",
    "context": "asking:context",
    "ask": "asking:ask",
    "check": "asking:check",
    "get": "keeping:get",
    "list": "keeping:list_documents",
    "versions": "versions:versions",
    "rollback": "versions:rollback",
    "diff": "versions:diff",
    "prune": "versions:prune",
    "remove": "facts:remove",
    "status": "keeping:status",
    "facts": "facts:facts",
    "sparql": "facts:sparql",
    "verify": "verify:verify",
    "doctor": "keeping:doctor",
    "optimize": "keeping:optimize",
    "eval": "evaluate:evaluate",
    "tune": "tuning:tune",
    "import": "bundles:import_any",
    "export": "bundles:export_any",
    "copy": "moving:copy",
    "profile": "profiles:profiles",
    "config": "settings:config",
    "trust": "settings:trust",
    "feedback": "judging:feedback",
    "remember": "remembering:remember",
    "mcp": "agents:mcp",
    "serve": "serving:serve",
    "key": "serving:key",
}
"""Where each command lives: module in this folder and its function, or a `Typer` of several."""


def command_line(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands; what others need is not loaded."""
    app = typer.Typer(
        name="trivium",
        help="Search what you know: meaning, words and spelling in one ranking "
        "that explains itself.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(root)
    for name in names:
        found = _found(COMMANDS[name])
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)
    return app


def needed_for(arguments: list[str]) -> Iterable[str]:
    """The command that is called, or all of them where help or a hint may be asked for."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from trivium.version import __version__

        typer.echo(f"trivium {__version__}")
        raise typer.Exit


def _found(place: str) -> typer.Typer | Callable[..., Any]:
    module, _, name = place.partition(":")
    found: typer.Typer | Callable[..., Any] = getattr(import_module(f"trivium.cli.{module}"), name)
    return found
