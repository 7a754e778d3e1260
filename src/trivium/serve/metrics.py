"""Numbers for Prometheus: how much is asked, how it is answered, how long it takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(slots=True)
class Metrics:
    """Counted since the server started, by route and not by path, so there are only so many."""

    under_way: int = 0
    _answers: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    _seconds: dict[str, float] = field(default_factory=dict)
    _within: Counter[tuple[str, float]] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def begin(self) -> None:
        with self._lock:
            self.under_way += 1

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One answer."""
        with self._lock:
            self.under_way -= 1
            self._answers[method, route, status] += 1
            self._seconds[route] = self._seconds.get(route, 0.0) + seconds
            for bound in BOUNDS:
                if seconds <= bound:
                    self._within[route, bound] += 1

    def text(self, gauges: Mapping[str, Mapping[str, float]]) -> str:
        """All of it in Prometheus' own words, with gauges of name → label → value."""
        with self._lock:
            lines = [*self._requests(), *self._durations()]
            lines += _head("trivium_requests_under_way", "gauge", "Requests being answered.")
            lines.append(f"trivium_requests_under_way {self.under_way}")
        for name, values in gauges.items():
            lines += _head(name, "gauge", name.removeprefix("trivium_").replace("_", " ") + ".")
            lines += [f"{name}{label} {value:g}" for label, value in values.items()]
        return "\n".join(lines) + "\n"

    def _requests(self) -> Iterator[str]:
        yield from _head("trivium_requests_total", "counter", "Requests answered.")
        for (method, route, status), count in sorted(self._answers.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"trivium_requests_total{{{labels}}} {count}"

    def _durations(self) -> Iterator[str]:
        name = "trivium_request_seconds"
        yield from _head(name, "histogram", "Seconds from request to answer.")
        counts: Counter[str] = Counter()
        for (_, route, _), count in self._answers.items():
            counts[route] += count
        for route in sorted(counts):
            for bound in BOUNDS:
                within = self._within[route, bound]
                yield f'{name}_bucket{{route="{route}",le="{bound:g}"}} {within}'
            yield f'{name}_bucket{{route="{route}",le="+Inf"}} {counts[route]}'
            yield f'{name}_sum{{route="{route}"}} {self._seconds[route]:.6f}'
            yield f'{name}_count{{route="{route}"}} {counts[route]}'


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
