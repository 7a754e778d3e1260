"""The log: a JSON object a line, on standard error. What was searched for is not in it."""

from __future__ import annotations

import json
import sys
import traceback
from datetime import UTC, datetime
from threading import Lock

from trivium.clock import format_time

_one_at_a_time = Lock()


def log(event: str, **said: object) -> None:
    """Write one line; a reader who went away is no reason to stop serving."""
    line = json.dumps({"at": format_time(datetime.now(UTC)), "event": event, **said}, default=str)
    try:
        with _one_at_a_time:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
    except (OSError, ValueError):
        return


def log_failure(error: BaseException, path: str) -> None:
    """Something that should not have happened, with where it did."""
    where = traceback.format_exception(error)
    log("failure", path=path, error=f"{type(error).__name__}: {error}", trace="".join(where))
