"""Memory: what happened, what was learned and what is preferred, as documents of their own kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from trivium.errors import InvalidValue, nearest
from trivium.library.filling import Filling
from trivium.protocols import silent
from trivium.text import content_hash
from trivium.types import OWNER, Grant

if TYPE_CHECKING:
    from trivium.ingest.add import AddReport

MemoryType = Literal["session", "lesson", "preference"]
LONGEST_TITLE = 80
"""A line of a terminal."""


class Remembering(Filling):
    """What takes in memories. A search leaves them out unless they are asked for."""

    def remember(
        self,
        text: str,
        *,
        type: MemoryType = "session",
        title: str | None = None,
        id: str | None = None,
        scope: str | None = None,
        tags: Sequence[str] = (),
        embed: bool = True,
        grant: Grant = OWNER,
    ) -> AddReport:
        """Keep a memory; the same text again is the same memory, the same `id` a new version.

        Whoever may not see a scope neither writes to it nor learns what is remembered there.
        """
        if type not in get_args(MemoryType):
            known = get_args(MemoryType)
            hint = nearest(type, known) or f" There are: {', '.join(known)}."
            raise InvalidValue(f"'{type}' is not a type of memory.{hint}")
        if not text.strip():
            raise InvalidValue("there is nothing to remember; write what it is")
        name = id or f"memory-{content_hash(text + _mark(grant))[:12]}"
        taken = self._store.find([name], OWNER).get(name)
        hidden = taken is not None and not grant.allows(taken.scope)
        if taken and taken.id == name and taken.kind != "memory" and not hidden:
            raise InvalidValue(
                f"'{name}' is the id of a document of kind {taken.kind}; choose another"
            )
        adding = self._adding(scope, None, tags, "memory")
        adding.force = True  # what is remembered may well be what a document says
        adding.grant = grant
        adding.text(text, title or _first_words(text), name, source="memory", type=type)
        return self._finish(adding, embed, silent)


def _mark(grant: Grant) -> str:
    """What sets memories of those who see little apart from equal ones that they do not see."""
    return "" if grant.scopes is None else "\x1f" + "\x1f".join(sorted(grant.scopes))


def _first_words(text: str) -> str:
    """The first line, cut after a word where it is long."""
    line = " ".join(text.split("\n", 1)[0].split()) or " ".join(text.split())
    if len(line) <= LONGEST_TITLE:
        return line
    return line[: LONGEST_TITLE - 1].rsplit(" ", 1)[0] + " …"
