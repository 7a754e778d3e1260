"""Feedback: what people and agents thought of what they found, and what it has changed."""

from __future__ import annotations

from typing import Any, get_args

from trivium.config import Profile, load_profile
from trivium.errors import InvalidValue, nearest
from trivium.library.base import Opened
from trivium.score.feedback import Tally, adapted, shift
from trivium.types import OWNER, VERDICTS, Grant, Judgement, Verdict


class Judging(Opened):
    """What takes in judgements and shows their weight."""

    def feedback(
        self, verdict: Verdict, *names: str, query: str = "", grant: Grant = OWNER
    ) -> list[Judgement]:
        """Record a verdict about documents that `query` found; if one is unknown, about none.

        `accepted`, `dismissed`, `modified` (taken up with changes) or `failed` (did not work).
        """
        if verdict not in get_args(Verdict):
            hint = nearest(verdict, VERDICTS) or f" There are: {', '.join(VERDICTS)}."
            raise InvalidValue(f"'{verdict}' is not a verdict.{hint}")
        if not names:
            raise InvalidValue("no document was named; give the ids that a search has shown")
        found = self._found(names, grant)
        ids = dict.fromkeys(found[name].id for name in names)
        asked = query.encode("utf-8", "replace").decode()
        judgements = [Judgement(id, verdict, asked) for id in ids]
        self._store.feedback.record(judgements, self._now())
        return judgements

    def judgements(self, *, grant: Grant = OWNER) -> list[Judgement]:
        """What was said about documents that are still there, the oldest first."""
        return self._store.feedback.judgements(grant)

    def feedback_stats(
        self, *, profile: str | Profile | None = None, grant: Grant = OWNER
    ) -> dict[str, Any]:
        """The verdicts so far, their rate, and the weights before and after them."""
        if profile is None or isinstance(profile, str):
            profile = load_profile(profile or self.profile_name)
        unused = profile.name if profile.search.score.method == "none" else None
        if unused is not None:
            profile = load_profile("vault")
        settings = profile.search.score
        counts = self._store.feedback.counts(grant)
        tally, moved = Tally.of(counts), shift(counts, settings)
        return {
            "profile": profile.name,
            "unused_by": unused,
            **{str(verdict): count for verdict, count in counts.items()},
            "counted": tally.counted,
            "needed": settings.adapt_after,
            "rate": tally.rate,
            "shift": moved,
            "weights": {
                name: {"before": dict(weights), "after": adapted(weights, moved)}
                for name, weights in (("words", settings.weights), ("hybrid", settings.hybrid))
            },
        }
