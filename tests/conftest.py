"""What all tests share: invented documents, and a clock that stands still."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from postgres import fresh_postgres, postgres, postgres_server

__all__ = ["fresh_postgres", "postgres", "postgres_server"]

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
EXAMPLES = Path(__file__).parent.parent / "examples"
DATA = Path(__file__).parent.parent.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def nobodys_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests may have settings; they change nothing here."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("TRIVIUM_"):
                patch.delenv(name)
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-settings"))
        yield


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
