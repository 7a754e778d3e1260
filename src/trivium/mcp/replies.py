"""What a tool answers: words and JSON that together cost no more tokens than was agreed."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trivium.errors import InvalidValue
from trivium.text import content_hash, token_estimate

LEAST_BUDGET, DEFAULT_BUDGET, MOST_TOKENS = 1000, 8000, 25_000
"""Tokens of a whole reply: room for one hit; below what clients warn of; what they cut off at."""

ENVELOPE = 200
"""Characters that the protocol writes around a reply."""

LONGEST_ERROR = 1000
"""Characters: an error quotes what was passed, and that may be long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The same answer twice: in words, for models that are shown only text, and as JSON."""

    text: str
    data: Mapping[str, Any]

    @property
    def tokens(self) -> int:
        """What it costs when a client shows both, as it is written on the wire."""
        return token_estimate(_compact(self.text) + _compact(self.data)) + ENVELOPE // 4


def fitted(size: int, make: Callable[[int], Reply], budget: int, least: int = 1) -> Reply:
    """The reply of about the largest size that the budget pays for; `size` at most.

    It is found by halving, to a twentieth. If even the least one costs more, the error says how
    much that is.
    """
    reply = make(size)
    if reply.tokens <= budget:
        return reply
    best = reply if size <= least else make(least)
    if best.tokens > budget:
        raise InvalidValue(_too_dear(best.tokens, budget))
    low, high = least, size
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        reply = make(middle)
        if reply.tokens <= budget:
            low, best = middle, reply
        else:
            high = middle
    return best


def _too_dear(tokens: int, budget: int) -> str:
    start = f"the smallest part of the answer costs {tokens} tokens, and the budget is {budget}"
    if tokens <= MOST_TOKENS:
        return f"{start}; pass budget {tokens}"
    return f"{start}; no reply may cost more than {MOST_TOKENS}, so ask for something else"


def _compact(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)


# --- cursors -------------------------------------------------------------------------------------


def cursor_at(asked: object, *place: int) -> str:
    """A cursor for what comes after `place` in the answer to what was asked."""
    data = _compact([content_hash(repr(asked))[:16], *place])
    return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")


def place_in(cursor: str | None, asked: object, count: int) -> tuple[int, ...]:
    """The `count` numbers of a cursor for this very question; zeros where there is none."""
    if cursor is None:
        return (0,) * count
    try:
        data = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        digest, *place = data
        fits = all(type(one) is int and 0 <= one < 1 << 53 for one in place)
    except (ValueError, TypeError, RecursionError):
        fits, digest, place = False, "", []
    if not fits or len(place) != count or digest != content_hash(repr(asked))[:16]:
        raise InvalidValue(
            "this cursor belongs to another call, or what it pages through has changed; "
            "pass the same arguments as then, or begin again without a cursor"
        )
    return tuple(place)
