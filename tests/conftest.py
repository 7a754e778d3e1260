"""What all tests share: invented documents, and a clock that stands still."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
EXAMPLES = Path(__file__).parent.parent / "examples"
DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def examples() -> Path:
    return EXAMPLES


@pytest.fixture
def data() -> Path:
    """The shared test collections; tests that need them skip where they are absent."""
    if not DATA.is_dir():
        pytest.skip("the shared test collections are not on this machine")
    return DATA
