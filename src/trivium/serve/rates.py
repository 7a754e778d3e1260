"""How often somebody may ask: a bucket of permits that fills again with time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from trivium.serve.problems import Problem

SECONDS_OF_BURST = 4
"""So many seconds' worth may be asked at once: a page that opens asks for several things."""

MOST_KNOWN = 10_000
"""Buckets that are kept; a full one is worth nothing and can be forgotten."""


@dataclass(slots=True)
class Rates:
    """`per_second` requests for each name; 0 sets no limit."""

    per_second: float = 0.0
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def spend(self, name: str) -> None:
        """Take a permit; a `Problem` that says how long to wait where there is none."""
        if not self.per_second:
            return
        most = max(1.0, self.per_second * SECONDS_OF_BURST)
        now = monotonic()
        with self._lock:
            left, then = self._buckets.get(name, (most, now))
            left = min(most, left + (now - then) * self.per_second)
            if left >= 1:
                self._buckets[name] = (left - 1, now)
            if len(self._buckets) > MOST_KNOWN:
                self._forget(most, now)
        if left < 1:
            wait = math.ceil((1 - left) / self.per_second)
            raise Problem(
                429,
                "too_many_requests",
                f"more than {self.per_second:g} requests a second",
                f"wait {wait} s and try again",
                {"Retry-After": str(wait)},
            )

    def _forget(self, most: float, now: float) -> None:
        self._buckets = {
            name: (left, then)
            for name, (left, then) in self._buckets.items()
            if left + (now - then) * self.per_second < most
        }
