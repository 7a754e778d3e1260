"""Statements by name, out of `.sql` files."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

SHARED = Path(__file__).parent


@cache
def statements(file: Path) -> dict[str, str]:
    """The statements of a `.sql` file by name."""
    text = file.read_text(encoding="utf-8")
    pieces = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], (piece.strip() for piece in pieces[2::2]), strict=True))


@cache
def dialect(folder: Path) -> dict[str, str]:
    """All statements that a dialect runs: the shared ones, and those of its own folder."""
    found: dict[str, str] = {}
    for file in sorted([*SHARED.glob("*.sql"), *folder.glob("*.sql")]):
        for name, statement in statements(file).items():
            if name in found:
                raise ValueError(f"two statements are called {name}; one of them is in {file}")
            found[name] = statement
    return found
