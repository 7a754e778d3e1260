"""`trivium context`, `ask` and `check`: what a language model is given, says, and finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trivium.cli.asked import CategoryOption, ProfileOption, ScopeOption, SourceOption
from trivium.cli.options import FilterFlags, JsonOption, LibraryOption, locate, reach
from trivium.errors import InvalidValue

if TYPE_CHECKING:
    from trivium.answering import Findings
    from trivium.context import Context
    from trivium.library import Library

MOST_NAMED = 5
"""Of what was left out so many are named; --json names all."""

BudgetOption = Annotated[int, typer.Option(help="Tokens that the context may have.")]
RerankerOption = Annotated[
    str | None, typer.Option(help="A reranker of your settings.", show_default=False)
]


def context(
    prompt: Annotated[list[str], typer.Argument(help="What the model will be asked.")],
    library: LibraryOption = None,
    budget: BudgetOption = 4000,
    profile: ProfileOption = None,
    reranker: RerankerOption = None,
    scope: ScopeOption = None,
    source: SourceOption = None,
    category: CategoryOption = None,
    json: JsonOption = False,
) -> None:
    """Print passages for a language model, numbered and within a budget of tokens."""
    flags = FilterFlags(scope=scope, source=source, category=category)
    with reach(library) as opened:
        found = opened.context(
            " ".join(prompt),
            budget=budget,
            filter=flags.filter(),
            profile=profile,
            reranker=reranker,
        )
    _show_context(found, json)


def ask(
    question: Annotated[list[str], typer.Argument(help="The question.")],
    library: LibraryOption = None,
    budget: BudgetOption = 4000,
    profile: ProfileOption = None,
    reranker: RerankerOption = None,
    scope: ScopeOption = None,
    source: SourceOption = None,
    category: CategoryOption = None,
    json: JsonOption = False,
) -> None:
    """Answer a question from the library with the chat model of your settings."""
    from trivium import opening as libraries
    from trivium.answering import answer_json, answer_of
    from trivium.context import context_json
    from trivium.present import to_text

    flags = FilterFlags(scope=scope, source=source, category=category)
    asked = " ".join(question)
    with libraries.open(locate(library)) as opened:
        found = opened.context(
            asked, budget=budget, filter=flags.filter(), profile=profile, reranker=reranker
        )
        if _lacks_model(opened):
            _announce_context()
            _show_context(found, json)
            raise typer.Exit(1)
        if not json:
            _show_troubles(found)
        pieces = []
        for piece in opened.asking(asked, found):
            pieces.append(piece)
            if not json:
                typer.echo(piece, nl=False)
    answer = answer_of(asked, "".join(pieces), found)
    if json:
        typer.echo(to_text(answer_json(answer, context_json(found))))
        return
    typer.echo("\n")
    _show_sources(found, answer.cited)
    if answer.unknown:
        numbers = ", ".join(f"[{number}]" for number in answer.unknown)
        typer.echo(f"! the answer cites {numbers}, which it was not given", err=True)
    if not answer.cited:
        typer.echo("! the answer cites no passage; do not take it for the library's", err=True)


def check(
    file: Annotated[str, typer.Argument(help="A new note.")],
    library: LibraryOption = None,
    profile: ProfileOption = None,
    reranker: RerankerOption = None,
    scope: ScopeOption = None,
    source: SourceOption = None,
    category: CategoryOption = None,
    json: JsonOption = False,
) -> None:
    """Read a note against the library and list where they contradict each other."""
    from trivium import opening as libraries
    from trivium.answering import clean, findings_json
    from trivium.cli.progress import progress_bar
    from trivium.context import context_json, place_of
    from trivium.present import to_text

    filter = FilterFlags(scope=scope, source=source, category=category).filter()
    with libraries.open(locate(library)) as opened:
        if _lacks_model(opened):
            pairs = opened.held_against(file, filter=filter, profile=profile, reranker=reranker)
            _announce_context()
            if json:
                sent = [{"passage": text, "context": context_json(one)} for text, one in pairs]
                typer.echo(to_text(sent))
            for _, found in pairs if not json else ():
                _show_context(found, json)
            raise typer.Exit(1)
        with progress_bar() as progress:
            findings = opened.check(
                file, filter=filter, profile=profile, reranker=reranker, progress=progress
            )
    if json:
        typer.echo(to_text(findings_json(file, findings)))
    else:
        _show_troubles(findings)
        for one in findings.contradictions:
            typer.echo(f"- the note says: {clean(one.note)}")
            typer.echo(f"  the library says: {clean(one.quote)}")
            typer.echo(f"    ({place_of(one.citation.hit)})")
            typer.echo(f"  {one.why}\n")
        count = len(findings.contradictions)
        if count or not findings.problems:  # none among what was not read says nothing
            typer.echo(
                f"{count} contradiction{'s' if count != 1 else ''} in {findings.passages} passages"
            )
    if findings.dropped:
        typer.echo(
            f"! {findings.dropped} claims were dropped: their quotations are not in the texts",
            err=True,
        )
    for problem in findings.problems:
        typer.echo(f"! {problem}", err=True)
    if findings.problems:
        raise typer.Exit(1)


def _lacks_model(opened: Library) -> bool:
    """Whether there is no chat model; then what to set is said."""
    try:
        opened.chat()
    except InvalidValue as error:
        typer.echo(f"! {error}", err=True)
        return True
    return False


def _announce_context() -> None:
    typer.echo("! this is the context that it would have been sent:", err=True)


def _show_context(found: Context, as_json: bool) -> None:
    if as_json:
        from trivium.context import context_json
        from trivium.present import to_text

        typer.echo(to_text(context_json(found)))
        return
    from trivium.answering import clean

    _show_troubles(found)
    typer.echo(found.text.rstrip() if found.text else "Nothing found.")
    typer.echo(f"! {found.tokens} of {found.budget} tokens ({found.counter})", err=True)
    reasons: dict[str, list[str]] = {}
    for one in found.left_out:
        reasons.setdefault(one.reason, []).append(clean(one.hit.title))
    for reason, titles in reasons.items():
        more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
        typer.echo(f"! left out, {reason}: {', '.join(titles[:MOST_NAMED])}{more}", err=True)


def _show_troubles(found: Context | Findings) -> None:
    """What the search had to do without, and what it warns of."""
    from trivium.answering import clean

    for text in found.degraded:
        typer.echo(f"! without {clean(text)}", err=True)
    for text in found.warnings:
        typer.echo(f"! {clean(text)}", err=True)


def _show_sources(found: Context, numbers: tuple[int, ...]) -> None:
    from trivium.context import place_of

    for one in found.citations:
        if one.number in numbers:
            typer.echo(f"[{one.number}] {place_of(one.hit)}")
