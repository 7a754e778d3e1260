"""The terminal: parse, call Library, present. Results on stdout, everything else on stderr."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """The console script. Exit 0: done; 1: an error in what was asked; 2: usage."""
    from trivium.cli.app import app
    from trivium.errors import TriviumError

    try:
        app()
    except TriviumError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("stopped; everything stored so far is kept", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
