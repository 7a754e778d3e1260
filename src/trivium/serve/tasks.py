"""Long work: one thing after the other in a thread of its own, and how far each has come."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from queue import SimpleQueue
from threading import Condition, Thread
from time import monotonic
from typing import Any, Literal, TypeAlias

from trivium.clock import format_time
from trivium.errors import TriviumError
from trivium.protocols import Progress
from trivium.serve.logs import log, log_failure
from trivium.serve.problems import Problem, problem_of, unexpected

State: TypeAlias = Literal["waiting", "running", "done", "failed"]
Work: TypeAlias = Callable[[Progress], Mapping[str, Any]]

MOST_WAITING = 1_000
MOST_KEPT = 1_000
"""Tasks that are over and can still be asked about."""


@dataclass(frozen=True, slots=True)
class Task:
    """Where a piece of work stands; each step makes a new one, with the next `revision`."""

    id: str
    kind: str
    caller: str
    made: datetime
    state: State = "waiting"
    stage: str = ""
    done: int = 0
    total: int | None = None
    report: Mapping[str, Any] | None = None
    problem: Mapping[str, Any] | None = None
    revision: int = 0

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed")

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "made": format_time(self.made),
            "stage": self.stage,
            "done": self.done,
            "total": self.total,
            "report": self.report,
            "problem": self.problem,
        }


class Tasks:
    """What is to be done, is being done and was done. The library has one writer, so has this."""

    def __init__(self) -> None:
        self._tasks: OrderedDict[str, Task] = OrderedDict()
        self._waiting: OrderedDict[str, tuple[str, Work]] = OrderedDict()
        self._change = Condition()
        self._calls: SimpleQueue[bool] = SimpleQueue()
        self._thread: Thread | None = None

    def start(self, kind: str, caller: str, work: Work, *, same: str = "") -> tuple[Task, bool]:
        """A task for the work, and whether it is a new one: what waits under the same name is not
        put in line twice.
        """
        with self._change:
            for id, (name, _) in self._waiting.items():
                if same and name == same:
                    return self._tasks[id], False
            if len(self._waiting) >= MOST_WAITING:
                raise Problem(
                    503,
                    "too_much_to_do",
                    f"{MOST_WAITING} tasks wait already",
                    "try again when some are done",
                    {"Retry-After": "5"},
                )
            task = Task(secrets.token_hex(8), kind, caller, datetime.now(UTC))
            self._tasks[task.id] = task
            self._waiting[task.id] = (same, work)
            self._forget()
            if self._thread is None:
                self._thread = Thread(target=self._run, name="trivium-tasks", daemon=True)
                self._thread.start()
        self._calls.put(True)
        return task, True

    def get(self, id: str) -> Task | None:
        with self._change:
            return self._tasks.get(id)

    def all(self) -> list[Task]:
        """All that are known, newest first."""
        with self._change:
            return list(reversed(self._tasks.values()))

    def counts(self) -> dict[str, int]:
        """How many are in each state."""
        counts = dict.fromkeys(("waiting", "running", "done", "failed"), 0)
        for task in self.all():
            counts[task.state] += 1
        return counts

    def close(self, seconds: float) -> None:
        """Finish what was accepted, for so long; what is left then is named in the log."""
        thread = self._thread
        if thread is None:
            return
        self._calls.put(False)
        thread.join(seconds)
        left = [task.id for task in self.all() if not task.is_over]
        if left:
            log("stopped", unfinished=left)

    def _forget(self) -> None:
        over = [id for id, task in self._tasks.items() if task.is_over]
        for id in over[: max(0, len(over) - MOST_KEPT)]:
            del self._tasks[id]

    def _run(self) -> None:
        while self._calls.get():
            with self._change:
                id, (_, work) = self._waiting.popitem(last=False)
            self._note(id, state="running")
            self._do(id, work)

    def _do(self, id: str, work: Work) -> None:
        last = 0.0

        def progress(stage: str, done: int, total: int | None) -> None:
            nonlocal last
            if monotonic() - last > 0.05 or done == total:
                last = monotonic()
                self._note(id, stage=stage, done=done, total=total)

        try:
            report = work(progress)
        except Problem as problem:
            self._note(id, state="failed", problem=problem.as_json())
        except TriviumError as error:
            log("task", id=id, reason=f"{type(error).__name__}: {error}")
            self._note(id, state="failed", problem=problem_of(error).as_json())
        except Exception as error:  # a fault of ours must not leave a task that never ends
            log_failure(error, f"task {id}")
            self._note(id, state="failed", problem=unexpected().as_json())
        else:
            self._note(id, state="done", report=report)

    def _note(self, id: str, **changes: Any) -> None:
        with self._change:
            task = self._tasks[id]
            self._tasks[id] = replace(task, **changes, revision=task.revision + 1)
