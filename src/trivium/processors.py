"""How many processors this process may use, which are often fewer than the machine has."""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePosixPath


def processors() -> int:
    """How many threads of this process can compute at once: those that the system lets it run on,
    and no more than a container's share of their time, rounded up; at least 1.
    """
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        count = os.cpu_count() or 1
    return max(1, math.ceil(min(count, share())))


def share(own: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")) -> float:
    """How many processors' time Linux gives to the control groups of this process (version 2, as
    containers and services have them); without end where nothing is said.
    """
    try:
        [path] = [line[3:] for line in own.read_text().splitlines() if line.startswith("0::")]
    except (OSError, ValueError):
        return math.inf
    group = PurePosixPath(path.lstrip("/"))
    return min(_share(groups / one / "cpu.max") for one in (group, *group.parents))


def _share(limit: Path) -> float:
    try:
        quota, period = limit.read_text().split()
        return math.inf if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return math.inf
