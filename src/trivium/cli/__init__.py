"""The terminal: parse, call Library, present. Results on stdout, everything else on stderr."""

from __future__ import annotations

import gc
import io
import os
import sys

STOPPED = 130
"""The exit code of what was interrupted by hand, in every shell."""


def main() -> None:
    """The console script. Exit 0: done; 1: an error in what was asked; 2: usage."""
    # Legs run in threads of our own, so the library below numpy needs none, and making them takes
    # longer than many a search; it reads this when it is loaded.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Nothing that is made while modules load is garbage, and looking for it takes its time.
    gc.set_threshold(100_000)
    from trivium.cli.app import command_line, needed_for
    from trivium.errors import TriviumError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a sign that it cannot show is no reason to fail
            stream.reconfigure(errors="replace")
    try:
        command_line(needed_for(sys.argv[1:]))()
    except TriviumError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except SystemExit as stop:
        if stop.code == STOPPED:
            print(
                "stopped; everything stored so far is kept, run the same command to go on",
                file=sys.stderr,
            )
        if isinstance(stop.__context__, BrokenPipeError):  # the reader (head, less) has seen enough
            sys.exit(0)
        raise
