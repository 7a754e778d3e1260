"""A library that somebody serves: asked over HTTP, with the calls of one that lies here.

What it answers is what `trivium serve` answered, checked and turned back into our values. It can be
searched, read, listed, added to, judged and be a tier; whatever else a library can do is done where
it lies, and asking for it here is an error that says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from trivium.clock import format_time
from trivium.config import Profile, load_profile
from trivium.errors import InvalidValue, ServerUnavailable
from trivium.library.asking import Asking
from trivium.protocols import Progress, silent
from trivium.remote import answered
from trivium.remote.asked import filter_query, profile_json, search_json
from trivium.remote.server import Server
from trivium.text import token_estimate
from trivium.types import (
    NO_FILTER,
    OWNER,
    VERDICTS,
    Document,
    Filter,
    Grant,
    Judgement,
    Reading,
    Result,
    SearchRequest,
    Verdict,
)

if TYPE_CHECKING:
    from trivium.context import Context
    from trivium.embed.once import AskedOnce
    from trivium.ingest.report import AddReport

CAN = ("search", "get", "list", "context", "add", "remove", "feedback", "status")
"""The commands that a served library takes."""

PAGE = 1000
"""Documents that are asked for at a time."""
MOST_PAGES = 10_000
LOOKS = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds between two looks at a task, the last one again and again."""
PATIENCE = 600.0
"""Seconds for which a task may make no step: a long file takes some."""


class RemoteLibrary(Asking):
    """A served library. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        server: Server,
        *,
        sleep: Callable[[float], None] = time.sleep,
        patience: float = PATIENCE,
    ) -> None:
        self.folder = server.url
        self._server = server
        self._sleep = sleep
        self._patience = patience
        self._profile: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        self._server.close()

    # --- searching and reading -------------------------------------------------------------------

    @property
    def profile_name(self) -> str:
        """The profile it was made with."""
        if self._profile is None:
            told = self.status()
            with self._checked():
                self._profile = answered.text(told["profile"])
        return self._profile

    def answer(
        self,
        request: SearchRequest,
        *,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        grant: Grant = OWNER,
        now: datetime | None = None,
    ) -> Result:
        """The server's answer. What may be seen is what the key grants, and "now" is its own."""
        told = self._server.ask("POST", "/search", search_json(request, profile, reranker))
        with self._checked():
            return answered.result_of(told, request)

    def context(
        self,
        prompt: str,
        *,
        budget: int = 4000,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        count: Callable[[str], int] = token_estimate,
        counter: str | None = None,
        include_memories: bool = False,
        grant: Grant = OWNER,
    ) -> Context:
        """Passages for a language model, packed here from what the server finds."""
        from trivium.context import COUNTER, pack, with_result

        if profile is None or isinstance(profile, str):
            profile_json(profile)  # an unknown one is an error before anything is read
            profile = load_profile(profile or self.profile_name)
        settings = profile.search.context
        passages = replace(profile, search=replace(profile.search, unit=settings.unit))
        result = self.search(
            prompt,
            limit=settings.depth,
            filter=filter,
            profile=passages,
            mode="full",
            reranker=reranker,
            include_memories=include_memories,
        )
        packed = pack(
            prompt, result.hits, budget, count=count, near_duplicate=settings.near_duplicate
        )
        return replace(with_result(packed, result), counter=counter or COUNTER)

    def get(self, *names: str, grant: Grant = OWNER) -> list[Reading]:
        """Documents or chunks by id, `#number` or uri, whole; an unknown one is an error."""
        readings = []
        for name in names:
            told = self._server.ask("GET", _place(name))
            with self._checked():
                readings.append(answered.reading_of(told))
        return readings

    def documents(
        self, filter: Filter = NO_FILTER, *, limit: int | None = None, grant: Grant = OWNER
    ) -> list[Document]:
        """The documents that a filter leaves, in the order of their ids."""
        asked, found = filter_query(filter), dict[str, Document]()
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            most = PAGE if limit is None else min(PAGE, limit - len(found))
            after = {"cursor": cursor} if cursor else {}
            told = self._server.ask("GET", "/documents", query={**asked, "limit": most, **after})
            with self._checked():
                page = answered.several(told["documents"], answered.document_of)
                cursor = answered.maybe(told["next_cursor"], answered.text)
                if cursor and (not page or any(one.id in found for one in page)):
                    raise ValueError("its pages do not end")
            found.update((one.id, one) for one in page)
            if cursor is None or (limit is not None and len(found) >= limit):
                return list(found.values())[:limit]
        raise self._server.garbled("its pages do not end")

    def status(self, *, grant: Grant = OWNER) -> dict[str, Any]:
        """What the server says of the library, and of the key."""
        told = self._server.ask("GET", "/status")
        with self._checked():
            return {**answered.record(told), "library": self.folder}

    def moment(self, text: str, *, grant: Grant = OWNER) -> datetime:
        """What `--as-of` means: a date or time; versions are known where the library lies."""
        from trivium.clock import parse_time

        if "@" in text:
            raise InvalidValue(f"a served library looks back to dates, not to '{text}'; write one")
        return parse_time(text)

    # --- as a tier -------------------------------------------------------------------------------

    def known(
        self, ids: Collection[str], *, grant: Grant = OWNER, as_of: datetime | None = None
    ) -> dict[str, Document]:
        """Those of the ids that documents within the key's grant have."""
        then = {"as_of": format_time(as_of)} if as_of else {}
        found: dict[str, Document] = {}
        wanted = sorted(ids)
        for start in range(0, len(wanted), PAGE):
            some = wanted[start : start + PAGE]
            told = self._server.ask("POST", "/known", {"ids": some, **then})
            with self._checked():
                documents = answered.several(told["documents"], answered.document_of)
            found |= {one.id: one for one in documents if one.id in ids}
        return found

    def stamp(self, *, grant: Grant = OWNER) -> int:
        """A number that changes when what the key sees changes."""
        told = self._server.ask("POST", "/known", {"ids": []})
        with self._checked():
            return answered.count(told["stamp"])

    def values(self, name: str, *, grant: Grant = OWNER) -> frozenset[str]:
        """The values of a field (scope, kind, category …) that documents have."""
        told = self._server.ask("GET", "/facets")
        with self._checked():
            return frozenset(answered.facets_of(told["facets"]).get(name, {}))

    def feedback_stats(
        self, *, profile: str | Profile | None = None, grant: Grant = OWNER
    ) -> dict[str, Any]:
        """The verdicts so far, and the weights before and after them."""
        asked = profile_json(profile)
        asked.pop("set", None)
        told = self._server.ask("GET", "/feedback", query=asked)
        with self._checked():
            answered.number(told["shift"])
            return answered.record(told)

    def share_model(self, others: dict[str, AskedOnce]) -> None:
        """Nothing: the server embeds."""

    # --- writing ---------------------------------------------------------------------------------

    def add(
        self,
        *paths: str | Path,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        kind: str | None = None,
        force: bool = False,
        embed: bool = True,
        progress: Progress = silent,
        **other: Any,
    ) -> AddReport:
        """Send files, and wait until they are taken in; folders with everything below them."""
        from trivium.remote.sending import joined, report_of, to_send

        unfit = sorted(name for name, value in other.items() if value not in (None, False, "local"))
        if unfit:
            raise InvalidValue(
                f"a served library cannot be told {', '.join(unfit)}; add where it lies"
            )
        said = {"scope": scope, "category": category, "kind": kind, "tags": list(tags)}
        said |= {"force": str(force).lower(), "embed": str(embed).lower()}
        query = {name: value for name, value in said.items() if value}
        files, reports = to_send(paths), []
        for done, file in enumerate(files):
            progress("send", done, len(files))
            task = self._server.ask(
                "POST", "/documents", query={**query, "name": file.name}, data=file.read_bytes()
            )
            with self._checked():
                id = answered.text(task["task"])
            told = self._awaited(id)
            with self._checked():
                reports.append(report_of(told))
        progress("send", len(files), len(files))
        return joined(reports)

    def _awaited(self, id: str) -> Any:
        """The report of a task, when it is done."""
        last: Any = None
        waited = 0.0
        for look in _looks():
            told = self._server.ask("GET", f"/tasks/{quote(id, safe='')}")
            with self._checked():
                state = answered.text(answered.record(told)["state"])
            if state == "done":
                return told["report"]
            if state == "failed":
                raise self._server.problem(told.get("problem"))
            waited = 0.0 if told != last else waited + look
            if waited > self._patience:
                break
            last = told
            self._sleep(look)
        raise ServerUnavailable(
            f"{self.folder} does not get on with what was sent (task {id}); look there"
        )

    def remove(self, *names: str) -> int:
        """Remove documents with all their versions, one after the other."""
        ids = list(dict.fromkeys(one.document.id for one in self.get(*names)))
        for id in ids:
            self._server.ask("DELETE", _place(id))
        return len(ids)

    def feedback(
        self, verdict: Verdict, *names: str, query: str = "", grant: Grant = OWNER
    ) -> list[Judgement]:
        """Record a verdict about documents that `query` found."""
        if verdict not in VERDICTS:
            raise InvalidValue(f"'{verdict}' is not a verdict. There are: {', '.join(VERDICTS)}.")
        body = {"verdict": verdict, "documents": list(names), "query": query}
        told = self._server.ask("POST", "/feedback", body)
        with self._checked():
            ids = answered.texts(answered.record(told)["documents"])
        return [Judgement(id, verdict, query) for id in ids]

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Whatever does not fit is the server's fault, and said so."""
        try:
            yield
        except (ValueError, TypeError, KeyError, AttributeError, InvalidValue) as error:
            raise self._server.garbled(str(error)[:100]) from error


def _place(name: str) -> str:
    return f"/documents/{quote(name, safe='')}"


def _looks() -> Iterator[float]:
    yield from LOOKS[:-1]
    while True:
        yield LOOKS[-1]
