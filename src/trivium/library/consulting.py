"""Asking with the library in hand: context for a model, cited answers, contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.config import Profile, load_profile
from trivium.errors import InvalidValue, ModelError
from trivium.library.keeping import Keeping
from trivium.library.searching import Searching
from trivium.protocols import Progress, silent
from trivium.text import token_estimate
from trivium.types import NO_FILTER, OWNER, Filter, Grant

if TYPE_CHECKING:  # searching does not wait for what only this needs
    from trivium.answering import Answer, Findings
    from trivium.chat import Chat
    from trivium.context import Context

DEFAULT_BUDGET = 4000
CHECK_BUDGET = 2000
"""Tokens of context for each passage of a note: a handful of passages to compare it with."""
LONGEST_QUERY = 1000
"""Characters of a note's passage that are searched for; more adds time and no direction."""


class Consulting(Searching, Keeping):
    """What prepares an answer, gets one, or holds a note against what is known."""

    def context(
        self,
        prompt: str,
        *,
        budget: int = DEFAULT_BUDGET,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        count: Callable[[str], int] = token_estimate,
        counter: str | None = None,
        include_memories: bool = False,
        grant: Grant = OWNER,
    ) -> Context:
        """Passages for a language model, numbered, never more than `budget` tokens.

        They are counted by `count`, which `counter` names. Near-duplicates are left out, and what
        else had no room is listed.
        """
        from trivium.context import COUNTER, pack, with_result

        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        settings = profile.search.context
        passages = replace(profile, search=replace(profile.search, unit=settings.unit))
        result = self.search(
            prompt,
            limit=settings.depth,
            filter=filter,
            profile=passages,
            reranker=reranker,
            include_memories=include_memories,
            grant=grant,
        )
        packed = pack(
            prompt, result.hits, budget, count=count, near_duplicate=settings.near_duplicate
        )
        return replace(with_result(packed, result), counter=counter or COUNTER)

    def ask(self, question: str, context: Context | None = None) -> Answer:
        """A model's answer from the library, its citations checked against the context."""
        from trivium.answering import answer_of

        context = context or self.context(question)
        return answer_of(question, "".join(self.asking(question, context)), context)

    def asking(self, question: str, context: Context) -> Iterator[str]:
        """The same in pieces, as they come."""
        from trivium.answering import ask_messages, clean

        for piece in self.chat().stream(ask_messages(question, context)):
            yield clean(piece)

    def check(
        self,
        path: str | Path,
        *,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        reranker: str | None = None,
        progress: Progress = silent,
    ) -> Findings:
        """Where a note contradicts the library; every quotation was found in its text."""
        from trivium.answering import Findings, check_messages, contradictions

        chat = self.chat()
        found, dropped, problems = [], 0, []
        pairs = self.held_against(path, filter=filter, profile=profile, reranker=reranker)
        for done, (passage, context) in enumerate(pairs):
            progress("check", done, len(pairs))
            if not context.citations:
                continue
            try:
                answer = chat.complete(check_messages(passage, context))
                some, wrong = contradictions(answer, passage, context)
            except ModelError as error:
                problems.append(f"passage {done + 1}: {error}")
                continue
            found += some
            dropped += wrong
        progress("check", len(pairs), len(pairs))
        return Findings(
            tuple(found),
            dropped,
            len(pairs),
            tuple(problems),
            tuple(dict.fromkeys(text for _, one in pairs for text in one.degraded)),
            tuple(dict.fromkeys(text for _, one in pairs for text in one.warnings)),
        )

    def held_against(
        self,
        path: str | Path,
        *,
        filter: Filter = NO_FILTER,
        profile: str | Profile | None = None,
        reranker: str | None = None,
    ) -> list[tuple[str, Context]]:
        """Each passage of a note with the context it is compared with, the note itself left out."""
        passages, digest = self._passages(Path(path))
        same = [one.number for one in self.documents() if one.source_hash == digest]
        itself = (Filter(source=(f"#{number}",)) for number in same)
        others = replace(filter, exclude=(*filter.exclude, *itself))
        return [
            (
                passage,
                self.context(
                    passage[:LONGEST_QUERY],
                    budget=CHECK_BUDGET,
                    filter=others,
                    profile=profile,
                    reranker=reranker,
                ),
            )
            for passage in passages
        ]

    def chat(self) -> Chat:
        """The chat model of the settings; `InvalidValue` says what to set where there is none."""
        from trivium.chat import Chat

        return Chat.of(self.configuration.settings.chat)

    def _passages(self, path: Path) -> tuple[list[str], str]:
        """The texts of a file's passages, and the hash of its content."""
        from trivium.ingest.chunk import Chunking, chunk
        from trivium.ingest.extract import Reader

        try:
            size = path.stat().st_size
            with Reader() as reader:
                reader.check(path.name, size)
                data = path.read_bytes()
                extraction = reader(data, path.name)
        except OSError as error:
            raise InvalidValue(f"{path} cannot be read: {error.strerror}") from error
        chunking = Chunking(self.settings.chunk_size, 0)
        texts = [one.text for one in chunk(extraction, chunking) if one.text.strip()]
        return texts, sha256(data).hexdigest()
