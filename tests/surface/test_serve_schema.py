"""Whatever the OpenAPI document allows is answered as it says, and never with a failure."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from http_served import Served, serving
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
BOUNDED = settings(
    max_examples=3,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def served(pattern: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    world = tmp_path_factory.mktemp("schema") / "world.trivium"
    shutil.copytree(pattern, world)
    yield from serving(world)


@pytest.mark.parametrize("mode", GenerationMode)
def test_every_operation_keeps_its_word(served: Served, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_dict(served.client.get("/openapi.json").json())
    owner, session, asked = served.owner(), requests.Session(), 0
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        if mode is GenerationMode.NEGATIVE and not (operation.query or operation.body):
            continue  # nothing in it can be wrong

        @BOUNDED
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            nonlocal asked
            asked += 1
            case.call_and_validate(
                base_url=served.url, session=session, headers=owner, checks=CHECKS, timeout=60
            )

        ask()
    session.close()
    assert asked > 30
