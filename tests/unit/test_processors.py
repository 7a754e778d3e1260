"""As many threads as may run at once, and not as many as the machine could run."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from trivium import processors as counting
from trivium.embed import minilm
from trivium.processors import processors, share


@pytest.fixture
def of_eight(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine with eight processors, and nobody who limits anything."""
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr(counting, "share", lambda: math.inf)
    return monkeypatch


def test_a_process_counts_the_processors_that_it_may_run_on(of_eight: pytest.MonkeyPatch) -> None:
    assert processors() == 8
    of_eight.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert processors() == 2
    of_eight.delattr(os, "sched_getaffinity")
    assert processors() == 8
    of_eight.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1


@pytest.mark.parametrize(("given", "count"), [(0.5, 1), (1.0, 1), (2.5, 3), (64.0, 8)])
def test_a_share_of_time_counts_as_so_many_processors(
    given: float, count: int, of_eight: pytest.MonkeyPatch
) -> None:
    of_eight.setattr(counting, "share", lambda: given)
    assert processors() == count


def test_the_model_has_no_more_runs_than_processors(of_eight: pytest.MonkeyPatch) -> None:
    of_eight.setattr(counting, "share", lambda: 1.5)
    assert minilm._workers() == 2


@pytest.mark.parametrize(
    ("own", "limits", "expected"),
    [
        ("0::/\n", {"": "150000 100000"}, 1.5),
        ("0::/\n", {"": "max 100000"}, math.inf),
        ("0::/a/b\n", {"a": "300000 100000", "a/b": "max 100000"}, 3.0),
        ("0::/a/b\n", {"a": "300000 100000", "a/b": "200000 100000"}, 2.0),
        ("0::/a/b\n", {}, math.inf),
        ("0::/\n", {"": "nonsense"}, math.inf),
        ("0::/\n", {"": "100000 0"}, math.inf),
        ("4:cpu:/a\n", {"": "100000 100000"}, math.inf),
        ("", {"": "100000 100000"}, math.inf),
    ],
)
def test_the_narrowest_of_the_groups_around_a_process_counts(
    own: str, limits: dict[str, str], expected: float, tmp_path: Path
) -> None:
    (tmp_path / "own").write_text(own)
    for folder, said in limits.items():
        (tmp_path / "groups" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / folder / "cpu.max").write_text(said + "\n")
    assert share(tmp_path / "own", tmp_path / "groups") == expected


def test_where_nothing_tells_of_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert share(tmp_path / "none", tmp_path / "nor this") == math.inf
