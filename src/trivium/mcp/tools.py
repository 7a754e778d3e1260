"""The eight tools: what each is for, what it takes, what it does and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from trivium.config import profile_names
from trivium.library import Library
from trivium.mcp import reading, schemas, writing
from trivium.mcp.arguments import Argument
from trivium.mcp.replies import DEFAULT_BUDGET, LEAST_BUDGET, MOST_TOKENS, Reply
from trivium.types import VERDICTS, Grant

Call: TypeAlias = Callable[[Library, Grant, Mapping[str, Any]], Reply]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool; one that does not `write` changes nothing, and a call can be repeated."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    output: Mapping[str, Any]
    call: Call
    writes: bool = False
    replaces: bool = False
    """Whether it may put something new in the place of what is there."""
    repeatable: bool = True
    """Whether the same call again changes nothing more."""


BUDGET = Argument(
    "budget",
    "number",
    "Tokens that the whole reply may cost, text and JSON together, four characters each.",
    default=DEFAULT_BUDGET,
    least=LEAST_BUDGET,
    most=MOST_TOKENS,
)
CURSOR = Argument(
    "cursor",
    "text",
    "The next_cursor of the last reply, with the same arguments, for the rest.",
    most=100_000,
)
MEMORIES = Argument("include_memories", "flag", "Also what was remembered.", default=False)
PROFILE = Argument(
    "profile",
    "text",
    "How to rank; the library's own choice is best for most.",
    choices=tuple(profile_names()),
)
SCOPE = Argument("scope", "texts", "Only what has one of these scopes; status lists them.")
SOURCE = Argument("source", "texts", "Only from these: #7, a source, a file name, a path glob.")
CATEGORY = Argument("category", "texts", "Only these categories.")
TAGS = Argument("tags", "texts", "Only with one of these tags.")
LONGEST_TEXT = 1_000_000
"""Characters: about 400 pages. What is longer comes from a file, not from a model."""
LONGEST_NAME = 500
"""Characters of a title or an id."""
IDS = Argument(
    "ids",
    "texts",
    "Ids of documents or chunks, as search shows them.",
    required=True,
    most=LONGEST_NAME,
)

SEARCH = Tool(
    "search",
    "Search the library",
    "Find passages by meaning, words and spelling. Gives snippets and ids, not whole texts: call "
    "get for those. Write the query as you would say it; nothing in it is an operator. Check "
    "degraded and warnings before you rely on the answer.",
    (
        Argument("query", "text", "What to look for; empty to browse by a filter.", required=True),
        Argument("limit", "number", "Hits at most.", default=5, least=1, most=50),
        SCOPE,
        SOURCE,
        CATEGORY,
        Argument("kind", "texts", "Only these kinds: note, entry, facts, memory."),
        Argument("type", "texts", "Only these types."),
        Argument("domain", "texts", "Only these domains."),
        Argument("severity", "texts", "Only these: critical, warning, suggestion."),
        TAGS,
        Argument("prefer_tags", "texts", "Rank these higher (profile vault)."),
        Argument("prefer_domain", "text", "Rank this higher (profile vault)."),
        MEMORIES,
        Argument("include_expired", "flag", "Also what is no longer valid.", default=False),
        Argument("as_of", "text", "As the library was then: a date, or ID@VERSION."),
        PROFILE,
        CURSOR,
        BUDGET,
    ),
    schemas.SEARCH,
    reading.search,
)
GET = Tool(
    "get",
    "Read documents",
    "The whole text and all fields of documents or single chunks, by the ids that search gave.",
    (IDS, CURSOR, BUDGET),
    schemas.GET,
    reading.get,
)
CONTEXT = Tool(
    "context",
    "Collect passages for a question",
    "The best passages for a question in one call, numbered to be cited, without near-duplicates. "
    "Takes the place of search and get where you only need to answer.",
    (
        Argument("prompt", "text", "The question, or what you are about to write.", required=True),
        SCOPE,
        SOURCE,
        CATEGORY,
        TAGS,
        MEMORIES,
        PROFILE,
        BUDGET,
    ),
    schemas.CONTEXT,
    reading.context,
)
FACTS = Tool(
    "facts",
    "Look up facts",
    "What is stated around a subject (RDF), and where it was read. Subjects are the ids that "
    "search gives with profile worlds.",
    (
        Argument("subject", "text", "An IRI, or a prefixed name.", required=True),
        Argument("depth", "number", "Steps to follow.", default=1, least=1, most=5),
        Argument("limit", "number", "Statements at most.", default=25, least=1, most=500),
        CURSOR,
        BUDGET,
    ),
    schemas.FACTS,
    reading.facts,
)
STATUS = Tool(
    "status",
    "See what the library holds",
    "How much there is, and which scopes, categories, kinds, tags … can be passed to search.",
    (CURSOR, BUDGET),
    schemas.STATUS,
    reading.status,
)
_NEW_ID = "Pass it again later to put a new version in its place."
ADD = Tool(
    "add",
    "Add a document",
    "Take a text into the library. An id that is there already gets a new version; the old one is "
    "kept. What is nearly the same as another document is refused unless force.",
    (
        Argument(
            "text",
            "text",
            "The document: Markdown or plain text.",
            required=True,
            most=LONGEST_TEXT,
        ),
        Argument("title", "text", "What it is called.", required=True, most=LONGEST_NAME),
        Argument("id", "text", f"Otherwise made of the title. {_NEW_ID}", most=LONGEST_NAME),
        Argument("scope", "text", "Who may see it; otherwise all."),
        Argument("category", "text", "Its category."),
        Argument("tags", "texts", "Its tags."),
        Argument("force", "flag", "Also if it is nearly the same as another.", default=False),
    ),
    schemas.ADDED,
    writing.add,
    writes=True,
    replaces=True,
)
REMEMBER = Tool(
    "remember",
    "Remember something",
    "Keep what happened, was learned or is preferred. search and context find it with "
    "include_memories.",
    (
        Argument("text", "text", "What to remember.", required=True, most=LONGEST_TEXT),
        Argument(
            "type",
            "text",
            "What it is.",
            default="session",
            choices=("session", "lesson", "preference"),
        ),
        Argument("title", "text", "Otherwise its first line.", most=LONGEST_NAME),
        Argument("id", "text", _NEW_ID, most=LONGEST_NAME),
        Argument("scope", "text", "Who may see it; otherwise all."),
        Argument("tags", "texts", "Its tags."),
    ),
    schemas.ADDED,
    writing.remember,
    writes=True,
    replaces=True,
)
FEEDBACK = Tool(
    "feedback",
    "Judge what was found",
    "Say whether documents that a search found were of use; the library learns from it.",
    (
        Argument(
            "verdict",
            "text",
            "accepted: right; dismissed: not what was looked for; modified: right after a change; "
            "failed: did not work.",
            required=True,
            choices=VERDICTS,
        ),
        IDS,
        Argument("query", "text", "The query that found them.", default=""),
    ),
    schemas.JUDGED,
    writing.feedback,
    writes=True,
    repeatable=False,
)

TOOLS: Mapping[str, Tool] = {
    tool.name: tool for tool in (SEARCH, GET, CONTEXT, FACTS, STATUS, ADD, REMEMBER, FEEDBACK)
}
READING = frozenset(name for name, tool in TOOLS.items() if not tool.writes)
ALL = frozenset(TOOLS)
