"""Pages: where the next one begins. A cursor is opaque, and checked when it comes back."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime

from trivium.clock import format_time, parse_time
from trivium.config import Profile
from trivium.errors import InvalidValue
from trivium.text import content_hash
from trivium.types import NO_FILTER, Candidate, Part, Ranking, SearchRequest
from trivium.values import dataclass, replace

DEEPEST = 100_000
"""No honest cursor asks a leg for more."""

_NOT_A_CURSOR = "this is not a cursor of this search; begin again without one"


ALL_SHOWN = (
    "so few hold a word of the query that {count} are shown: {limit} would drop more than half; "
    "--set search.small_corpus=0 keeps to it"
)


def by_words(parts: Iterable[Part]) -> bool:
    """Whether the keyword leg found it."""
    return any(part.stage == "fuse" and part.name == "keyword" for part in parts)


def with_words(ranking: Ranking, limit: int) -> Ranking:
    """A page of a small corpus: the best `limit`, and all others that hold a word of the query."""
    kept = (one for rank, one in ranking.ranked() if rank <= limit or by_words(one.parts))
    return replace(ranking, candidates=tuple(kept))


def all_shown(page: Ranking, limit: int) -> list[str]:
    """Where the page holds more than was asked for, why."""
    if len(page) <= limit:
        return []
    return [ALL_SHOWN.format(count=len(page), limit=limit)]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last hit that was shown, and what the first page was made with."""

    request: str
    stamp: int
    depths: Mapping[str, int]
    shown: int
    score: float
    chunk: str
    now: datetime | None
    """When the first page was made, if scores depend on it: ages are judged at one moment."""
    shift: float = 0.0
    """How far feedback had moved the weights then: a verdict between two pages moves neither."""
    read: Mapping[str, float] = field(default_factory=dict)
    """What a reranker said about the first page, by the short name of each chunk."""

    def encode(self) -> str:
        values = [
            self.request,
            self.stamp,
            dict(self.depths),
            self.shown,
            self.score,
            self.chunk,
            format_time(self.now) if self.now else "",
            self.shift,
            dict(self.read),
        ]
        return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str, request: SearchRequest, profile: Profile | str) -> Cursor:
        """The cursor of this very request; anything else is an error."""
        try:
            data = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
            digest, stamp, depths, shown, score, chunk, now, shift, read = data
            cursor = cls(
                str(digest),
                int(stamp),
                {str(leg): int(depth) for leg, depth in depths.items()},
                int(shown),
                float(score),
                str(chunk),
                parse_time(str(now)) if now else None,
                float(shift),
                {str(name): float(given) for name, given in read.items()},
            )
        except InvalidValue as error:
            raise InvalidValue(_NOT_A_CURSOR) from error
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise InvalidValue(_NOT_A_CURSOR) from error
        fits = all(1 <= depth <= DEEPEST for depth in cursor.depths.values())
        fits = fits and cursor.shown >= 0 and abs(cursor.shift) <= 1
        fits = fits and all(map(math.isfinite, cursor.read.values()))
        if not fits or cursor.request != digest_of(request, profile):
            raise InvalidValue(_NOT_A_CURSOR)
        return cursor

    def rest(self, ranking: Ranking) -> Ranking:
        """What comes after the last hit that was shown."""
        for place, one in enumerate(ranking.candidates):
            if (one.id, one.score) == (self.chunk, self.score):  # equal scores in any order
                return replace(ranking, candidates=ranking.candidates[place + 1 :])
        after = (-self.score, self.chunk)
        left = tuple(one for one in ranking.candidates if (-one.score, one.id) > after)
        return Ranking(left, ranking.kind, ranking.ceiling)

    def read_of(self, ranking: Ranking) -> dict[str, float]:
        """The reranker's scores of those chunks of the ranking that it read."""
        names = ((one.id, _short(one.id)) for one in ranking.candidates)
        return {id: self.read[short] for id, short in names if short in self.read}


def digest_of(request: SearchRequest, profile: Profile | str) -> str:
    """What must be the same on every page of a search; the page size may differ."""
    printed = profile if isinstance(profile, str) else _printed(profile)
    filter = request.filter if request.filter != NO_FILTER else None
    asked = (
        *(request.query, filter, request.legs, request.include_memories),
        *(request.prefer_tags, request.prefer_domain, request.most_memories, printed),
    )
    return content_hash(repr(asked))[:16]


def _printed(profile: Profile) -> str:
    """What a profile says, in short, worked out once: the same object comes again and again."""
    known, text = _PRINTED.get(id(profile), (None, ""))
    if known is profile:
        return text
    if len(_PRINTED) >= MOST_PRINTED:
        _PRINTED.clear()
    text = content_hash(repr(profile))
    _PRINTED[id(profile)] = profile, text
    return text


_PRINTED: dict[int, tuple[Profile, str]] = {}
MOST_PRINTED = 32  # profiles: more are in use only where each search sets something else


def next_cursor(
    request: SearchRequest,
    profile: Profile,
    stamp: int,
    depths: Mapping[str, int],
    shown: int,
    last: Candidate,
    now: datetime | None,
    shift: float,
    read: Mapping[str, float],
) -> str:
    """The cursor for the page after the one that ends with `last`."""
    digest = digest_of(request, profile)
    names = {_short(chunk): score for chunk, score in read.items()}
    return Cursor(digest, stamp, depths, shown, last.score, last.id, now, shift, names).encode()


def _short(chunk: str) -> str:
    return content_hash(chunk)[:12]
