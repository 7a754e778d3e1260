"""Agents: the official client against the real command, and what no reply may do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as examples
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

import trivium
from trivium.errors import InvalidValue
from trivium.library import Library
from trivium.mcp.arguments import read_arguments
from trivium.mcp.replies import Reply, fitted
from trivium.mcp.server import Caller, call, server
from trivium.mcp.tools import ALL, SEARCH, TOOLS
from trivium.present import result_json, to_text
from trivium.types import OWNER, PUBLIC

Run = Callable[..., CompletedProcess[str]]
Talk = Callable[[Client], Awaitable[None]]

READING = ["search", "get", "context", "facts", "status"]
WRITING = ["add", "remember", "feedback"]
PATIENCE = 60.0
"""Seconds for one answer of a process on a busy machine."""

FACTS = """
@prefix m: <https://example.org/m/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
m:Heron rdfs:label "Heron" ; m:carries m:Bow ; m:says "The reeds bend before the river does." .
m:Bow rdfs:label "Long bow" ; m:madeBy m:Wick .
m:Wick rdfs:label "Ansgar Wick" .
"""


def command(*arguments: str | Path) -> StdioServerParameters:
    """The real command, with the settings of this test."""
    kept = {name: os.environ[name] for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    words = ["-m", "trivium", "mcp", *map(str, arguments)]
    return StdioServerParameters(command=sys.executable, args=words, env=kept)


def talk(place: Any, story: Talk, mode: str = "auto") -> None:
    """Tell a story to a server with the official client."""

    async def tell() -> None:
        async with Client(place, read_timeout_seconds=PATIENCE, mode=mode) as client:
            await story(client)

    anyio.run(tell)


def said(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def untimed(data: Mapping[str, Any]) -> dict[str, Any]:
    legs = [{**leg, "ms": 0} for leg in data["legs"]]
    return {**data, "took_ms": 0, "legs": legs}


class TestStdio:
    def test_an_agent_searches_and_reads(self, world: Path, run: Run) -> None:
        async def story(client: Client) -> None:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == READING
            assert client.server_info is not None
            assert client.server_info.name == "trivium"

            found = await client.call_tool("search", {"query": "battle axe", "limit": 2})
            printed = json.loads(
                run("search", "-L", world, "-n", "2", "--json", "battle axe").stdout
            )
            assert to_text(untimed(found.structured_content)) == to_text(untimed(printed))
            assert "The nine forges" in said(found)

            id = found.structured_content["hits"][0]["id"]
            read = await client.call_tool("get", {"ids": [id]})
            [document] = read.structured_content["documents"]
            assert "Two towers guard the bridge of chains." in document["text"]
            assert "> Two towers guard the bridge of chains." in said(read)

            slip = await client.call_tool("search", {"querry": "axe"})
            assert slip.is_error
            assert said(slip) == "search has no argument 'querry'. Did you mean 'query'?"

            asked = await client.call_tool("context", {"prompt": "who has an axe?"})
            budget = str(asked.structured_content["budget"])
            printed = run("context", "-L", world, "--budget", budget, "--json", "who has an axe?")
            assert to_text(asked.structured_content) + "\n" == printed.stdout

            answers: list[str] = []

            async def ask() -> None:
                result = await client.call_tool("search", {"query": "battle axe", "limit": 2})
                answers.append(to_text(untimed(result.structured_content)))

            async with anyio.create_task_group() as group:
                for _ in range(8):
                    group.start_soon(ask)
            assert set(answers) == {to_text(untimed(found.structured_content))}
            assert len(answers) == 8

            refused = await client.call_tool("add", {"text": "x", "title": "y"})
            assert refused.is_error
            assert "'trivium mcp --write'" in said(refused)

        talk(command("-L", world), story)

    def test_an_agent_writes_where_it_may(self, world: Path, run: Run) -> None:
        async def story(client: Client) -> None:
            assert [tool.name for tool in (await client.list_tools()).tools] == READING + WRITING
            added = await client.call_tool(
                "add",
                {"text": "The ferry bell rings twice.", "title": "Ferry bell", "tags": ["bell"]},
            )
            assert added.structured_content["added"] == ["Ferry bell"]
            found = await client.call_tool("search", {"query": "bell", "tags": ["bell"]})
            assert [hit["id"] for hit in found.structured_content["hits"]] == ["Ferry bell"]
            kept = await client.call_tool(
                "remember", {"text": "The players like bells.", "type": "preference"}
            )
            assert len(kept.structured_content["added"]) == 1
            judged = await client.call_tool(
                "feedback", {"verdict": "accepted", "ids": ["Ferry bell"], "query": "bell"}
            )
            assert judged.structured_content["documents"] == ["Ferry bell"]

        talk(command("-L", world, "--write"), story)
        assert json.loads(run("feedback", "stats", "-L", world, "--json").stdout)["accepted"] == 1
        memories = run(
            "search", "-L", world, "--include-memories", "--kind", "memory", "--json", ""
        )
        assert [hit["type"] for hit in json.loads(memories.stdout)["hits"]] == ["preference"]

    def test_standard_output_is_for_the_protocol_alone(self, world: Path) -> None:
        noisy = (
            "import os, sys\n"
            "from trivium.library import Library\n"
            "asked = Library.answer\n"
            "def answer(self, *given, **more):\n"
            "    print('a library says hello')\n"
            "    sys.stdout.flush()\n"
            "    os.write(1, b'and so does C\\n')\n"
            "    return asked(self, *given, **more)\n"
            "Library.answer = answer\n"
            f"sys.argv = ['trivium', 'mcp', '-L', {str(world)!r}]\n"
            "from trivium.cli import main\n"
            "main()\n"
        )
        hello: dict[str, Any] = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        messages: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {
                "id": 2,
                "method": "tools/call",
                "params": {"name": "search", "arguments": {"query": "axe"}},
            },
        ]
        with subprocess.Popen(
            [sys.executable, "-c", noisy],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            for message in messages:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline()) for _ in range(2)]
            rest, errors = process.communicate(timeout=PATIENCE)
        assert [one["id"] for one in answers] == [1, 2]
        assert answers[1]["result"]["structuredContent"]["hits"]
        assert rest == ""
        assert "a library says hello\n" in errors
        assert "and so does C\n" in errors
        assert process.returncode == 0

    def test_what_is_not_installed_is_named(
        self, world: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "trivium.mcp.server", None)
        answer = run("mcp", "-L", world)
        assert answer.returncode == 1
        assert "pip install '.[mcp]'" in answer.stderr

    def test_a_library_that_is_not_there_is_said_on_standard_error(self, run: Run) -> None:
        answer = run("mcp", "-L", "nothing.trivium")
        assert (answer.returncode, answer.stdout) == (1, "")
        assert "nothing.trivium" in answer.stderr


class TestProtocol:
    """In this process: the client's own checks hold every answer against its schema."""

    @pytest.mark.parametrize("mode", ["legacy", "auto"])
    def test_every_tool_answers_as_its_schema_says(self, world: Path, mode: str) -> None:
        calls: dict[str, dict[str, Any]] = {
            "search": {"query": "axe", "scope": ["all"]},
            "get": {"ids": ["#1", "#2"]},
            "context": {"prompt": "who has an axe?"},
            "facts": {"subject": "m:Heron", "depth": 2},
            "status": {},
            "add": {"text": "A lantern.", "title": "Lantern"},
            "remember": {"text": "It rained."},
            "feedback": {"verdict": "dismissed", "ids": ["#1"]},
        }

        async def story(client: Client) -> None:
            for tool in (await client.list_tools()).tools:
                result = await client.call_tool(tool.name, calls[tool.name])
                assert not result.is_error, said(result)
                assert result.structured_content
                assert said(result)

        with trivium.open(world) as library:
            facts = world.parent / "facts.ttl"
            facts.write_text(FACTS)
            library.import_facts(facts)
            assert list(TOOLS) == READING + WRITING == list(calls)
            talk(server(library, lambda request: Caller(OWNER, ALL)), story, mode)

    def test_hints_say_who_reads_and_who_writes(self, world: Path) -> None:
        async def story(client: Client) -> None:
            for tool in (await client.list_tools()).tools:
                hints = tool.annotations
                assert hints is not None
                assert tool.title
                assert hints.read_only_hint == (tool.name in READING)
                assert hints.destructive_hint == (tool.name in ("add", "remember"))
                assert hints.idempotent_hint == (tool.name != "feedback")
                assert hints.open_world_hint is False
                assert tool.input_schema["additionalProperties"] is False
                assert tool.output_schema is not None

        with trivium.open(world) as library:
            talk(server(library, lambda request: Caller(OWNER, ALL)), story)

    def test_a_tool_that_is_not_there_is_the_protocols_error(self, world: Path) -> None:
        async def story(client: Client) -> None:
            with pytest.raises(Exception, match=r"no tool 'serch'\. Did you mean 'search'"):
                await client.call_tool("serch", {})

        with trivium.open(world) as library:
            talk(server(library, lambda request: Caller()), story)


class TestErrors:
    @pytest.mark.parametrize(
        ("tool", "given", "message"),
        [
            ("get", {"ids": ["nowhere"]}, "there is no document 'nowhere'; call search, and pass"),
            ("get", {"ids": []}, "pass ids with the id or chunk of a hit"),
            ("get", {}, "get needs 'ids'; pass a list of texts"),
            ("get", {"ids": "x"}, "'ids' is not a list of texts, such as"),
            ("get", {"ids": ["#1"], "cursor": "x"}, "begin again without a cursor"),
            ("search", {"query": " "}, "; pass a query, or a filter such as category"),
            ("search", {"query": "axe", "cursor": "x"}, "begin again without one"),
            ("search", {"query": "axe", "limit": 0}, "pass a number from 1 to 50"),
            ("search", {"query": "axe", "limit": True}, "'limit' is not a whole number"),
            ("search", {"query": "axe", "scope": ["dmonly"]}, "Did you mean 'dm-only'?"),
            ("search", {"query": "axe", "profile": "valt"}, "Did you mean 'vault'?"),
            ("search", {"query": "axe", "profile": "/etc/x.toml"}, "There are: allcodex"),
            ("search", {"query": "axe", "as_of": "soon"}, "soon"),
            ("search", {"query": "axe " * 990, "budget": 1000}, "pass budget 1"),
            ("search", {"query": "axe " * 1001}, "query is longer than 4000 characters; pass less"),
            ("facts", {"subject": "x:nobody"}, "Write the whole IRI instead"),
            ("facts", {"subject": "urn:nobody"}, "or search with profile worlds"),
            ("remember", {"text": " "}, "pass what is to be kept"),
            ("remember", {"text": "a", "type": "lessen"}, "Did you mean 'lesson'?"),
            ("remember", {"text": "a", "id": "tie-02"}, "choose another"),
            ("add", {"text": "a", "title": "b" * 501}, "title is longer than 500"),
            (
                "add",
                {"text": "a" * 1_000_001, "title": "b"},
                "longer than 1000000 characters; pass less",
            ),
            ("feedback", {"verdict": "good", "ids": ["#1"]}, "There are: accepted"),
            ("feedback", {"verdict": "accepted", "ids": ["none"]}, "call search"),
        ],
    )
    def test_errors_tell_a_model_what_to_pass(
        self, world: Path, tool: str, given: dict[str, Any], message: str
    ) -> None:
        with trivium.open(world) as library:
            result = call(library, Caller(OWNER, ALL), tool, given)
        assert result.is_error
        assert message in said(result)
        assert "'trivium " not in said(result)
        assert len(said(result)) <= 1000

    def test_unknown_arguments_name_the_nearest(self) -> None:
        with pytest.raises(InvalidValue, match="Did you mean 'include_memories'"):
            read_arguments("search", SEARCH.arguments, {"query": "x", "include_memory": True})

    def test_null_is_left_out(self) -> None:
        values = read_arguments("search", SEARCH.arguments, {"query": "x", "limit": None})
        assert values["limit"] == 5

    def test_a_path_of_this_machine_is_for_its_owner(self, world: Path) -> None:
        with trivium.open(world) as library:
            (world / "index.db").write_bytes(b"gone" * 4096)
            for caller, seen in ((Caller(OWNER), True), (Caller(PUBLIC), False)):
                result = call(library, caller, "get", {"ids": ["#1"]})
                assert result.is_error
                assert (str(world) in said(result)) == seen


# --- what no reply may do ------------------------------------------------------------------------

WORDS = st.sampled_from(["axe", "bow", "lantern", "river", "ferry", '"', "\\", "東京", "😀", "\n"])
TEXTS = st.lists(WORDS, max_size=300).map(lambda words: " ".join(["axe", *words]))
DOCUMENTS = st.lists(
    st.tuples(TEXTS, st.integers(1, 300), st.lists(WORDS, max_size=20), st.booleans()),
    min_size=1,
    max_size=6,
)
BUDGETS = st.integers(1000, 4000)


def filled(
    library: Library, documents: list[tuple[str, int, list[str], bool]], name: str = "d"
) -> None:
    """Put them in as entries, which have a date of their own."""
    library.add_entries(
        [
            {
                "id": f"{name}{number}",
                "title": f"{number} " + "t" * length,
                "description": text,
                "tags": sorted(set(tags)),
                "scope": "dm-only" if hidden else "all",
                "created": "2026-01-01",
            }
            for number, (text, length, tags, hidden) in enumerate(documents)
        ],
        force=True,
    )


@pytest.fixture
def empty() -> Iterator[Callable[[], Library]]:
    """Makes libraries without a model, in memory."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with TemporaryDirectory(dir=place, prefix="trivium-", ignore_cleanup_errors=True) as folder:
        made: list[Library] = []

        def make() -> Library:
            made.append(trivium.init(Path(folder) / f"{len(made)}.trivium", model="none"))
            return made[-1]

        yield make
        for library in made:
            library.close()


def pages(
    library: Library, caller: Caller, tool: str, given: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Every page of a call; none may cost more than its budget, nor is there no end of them."""
    cursor, budget = None, given["budget"]
    for _ in range(1000):
        result = call(library, caller, tool, {**given, "cursor": cursor} if cursor else given)
        assert len(result.model_dump_json(by_alias=True, exclude_none=True)) <= budget * 4
        if result.is_error:
            assert "pass budget" in said(result)
            return
        data = result.structured_content
        yield data
        cursor = data.get("next_cursor")
        if cursor is None:
            return
    pytest.fail("the pages do not end")


FEW = settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@FEW
@examples(documents=DOCUMENTS, query=TEXTS, budget=BUDGETS, limit=st.integers(1, 50))
def test_no_reply_costs_more_than_its_budget(
    empty: Callable[[], Library],
    documents: list[tuple[str, int, list[str], bool]],
    query: str,
    budget: int,
    limit: int,
) -> None:
    library, ids = empty(), [f"d{number}" for number in range(len(documents))]
    filled(library, documents)
    for profile in ("default", "vault"):
        asked = {"query": query, "profile": profile, "limit": limit, "budget": budget}
        found = list(pages(library, Caller(), "search", asked))
        hits = [hit for page in found for hit in page["hits"]]
        ranks = [hit["rank"] for hit in hits]
        assert ranks == list(range(1, len(ranks) + 1))
        assert len({hit["id"] for hit in hits}) == len(hits)
        if found and found[-1]["next_cursor"] is None:
            whole = library.search(query, profile=profile, limit=50)
            assert {hit["id"] for hit in hits} == {hit.id for hit in whole.hits}
    texts = dict.fromkeys(ids, "")
    for page in pages(library, Caller(), "get", {"ids": ids, "budget": budget}):
        for one in page["documents"]:
            assert one["start"] == len(texts[one["id"]])
            texts[one["id"]] += one["text"]
    assert texts == {one.document.id: one.text for one in library.get(*ids)}
    for tool, given in (("context", {"prompt": query[:500]}), ("status", {})):
        assert list(pages(library, Caller(), tool, {**given, "budget": budget}))


@examples(
    fixed=st.integers(0, 2000), each=st.integers(1, 50), size=st.integers(1, 5000), budget=BUDGETS
)
@settings(deadline=None, max_examples=100)
def test_a_budget_is_used_and_not_exceeded(fixed: int, each: int, size: int, budget: int) -> None:
    made = []

    def make(count: int) -> Reply:
        made.append(count)
        return Reply("x" * (fixed + each * count), {})

    try:
        reply = fitted(size, make, budget)
    except InvalidValue:
        assert make(1).tokens > budget
        return
    assert reply.tokens <= budget
    shown = (len(reply.text) - fixed) // each
    assert shown == size or make(shown + max(1, shown // 20) + 1).tokens > budget
    assert len(made) < 20


def test_facts_come_in_pages(empty: Callable[[], Library], tmp_path: Path) -> None:
    library, source = empty(), tmp_path / "many.nt"
    source.write_text(
        "".join(
            f'<urn:s> <urn:p{n}> "{"long " * 30}{n}" .\n<urn:o{n}> <urn:to> <urn:s> .\n'
            for n in range(60)
        )
    )
    library.import_facts(source)
    asked = {"subject": "urn:s", "limit": 100, "budget": 2000}
    found = list(pages(library, Caller(), "facts", asked))
    statements = [one for page in found for one in page["statements"]]
    whole = library.facts("urn:s", limit=1000).statements
    assert [one["object"] for one in statements] == [one.quad.object for one in whole]
    assert len(found) > 5


@FEW
@examples(documents=DOCUMENTS, query=TEXTS)
def test_hidden_documents_change_no_byte(
    empty: Callable[[], Library],
    documents: list[tuple[str, int, list[str], bool]],
    query: str,
) -> None:
    alone, mixed = empty(), empty()
    for library in (alone, mixed):
        filled(library, [one for one in documents if not one[3]])
    filled(mixed, [one for one in documents if one[3]], "h")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": query}),
        ("search", {"query": query, "profile": "jicklejime", "limit": 1}),
        ("search", {"query": query, "scope": ["dm-only"]}),
        ("search", {"query": "", "tags": ["axe"]}),
        ("get", {"ids": ["d0"]}),
        ("get", {"ids": ["h0"]}),
        ("get", {"ids": ["h0@1/0"]}),
        ("context", {"prompt": query[:500]}),
        ("facts", {"subject": "urn:h0"}),
        ("status", {}),
        ("feedback", {"verdict": "accepted", "ids": ["h0"]}),
    ]
    for tool, asked in calls:
        answers = [call(library, Caller(PUBLIC, ALL), tool, asked) for library in (alone, mixed)]
        seen = [_bytes(answer) for answer in answers]
        assert seen[0] == seen[1], (tool, asked)


def _bytes(answer: CallToolResult) -> str:
    data = answer.structured_content
    if data and "legs" in data:
        data = untimed(data)
    return f"{answer.is_error} {said(answer)} {to_text(data)}"


def test_writers_keep_to_their_scopes(world: Path) -> None:
    writer = Caller(PUBLIC, ALL)
    with trivium.open(world) as library:
        secret = library.get("notes:places/hidden/vole.md")[0].document.id
        library.add_text("The key lies under the mat.", title="Key", scope="dm-only")
        library.remember("Aldith is the spy.", scope="dm-only")
        for tool, given in (
            ("add", {"text": "mine", "title": "t", "id": secret}),
            ("remember", {"text": "mine", "id": secret}),
        ):
            over = call(library, writer, tool, given)
            assert said(over) == f"'{secret}' cannot be stored under this name; choose another"
        above = call(library, writer, "remember", {"text": "mine", "scope": "dm-only"})
        assert said(above) == "scope 'dm-only' is not yours; pass one of all"
        for tool, given in (
            ("add", {"text": "The key lies under the mat.", "title": "Key"}),
            ("remember", {"text": "Aldith is the spy."}),
        ):
            for change in ("added", "unchanged"):
                kept = call(library, writer, tool, given).structured_content
                assert (len(kept[change]), kept["notes"]) == (1, [])
        scopes = [one.scope for one in library.documents()]
        assert (scopes.count("dm-only"), scopes.count("all")) == (3, 7)
        assert "stills" in library.get(secret)[0].text


def test_what_is_nearly_the_same_can_be_forced(world: Path) -> None:
    with trivium.open(world) as library:
        text = "An axe does eight points of damage. A short sword does six."
        refused = call(library, Caller(OWNER, ALL), "add", {"text": text, "title": "Again"})
        assert "Left out; pass force true if it is meant." in said(refused)
        given = {"text": text, "title": "Again", "force": True}
        assert not call(library, Caller(OWNER, ALL), "add", given).is_error


def test_a_judgement_of_many_is_short(empty: Callable[[], Library]) -> None:
    library = empty()
    ids = [f"{number:03}{'x' * 490}" for number in range(50)]
    library.add_entries([{"id": id, "title": id, "description": id} for id in ids], force=True)
    result = call(library, Caller(OWNER, ALL), "feedback", {"verdict": "accepted", "ids": ids})
    assert len(result.structured_content["documents"]) == 50
    assert len(result.model_dump_json()) <= 8000 * 4


def test_the_json_is_the_librarys_own(world: Path) -> None:
    with trivium.open(world) as library:
        given = {"query": "axe of the smiths", "limit": 3, "category": ["places"]}
        data = call(library, Caller(), "search", given).structured_content
        filter = trivium.Filter(category=("places",))
        own = library.search("axe of the smiths", limit=3, filter=filter)
    assert to_text(untimed(data)) == to_text(untimed(result_json(own)))
