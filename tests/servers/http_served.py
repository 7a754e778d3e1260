"""A server on this machine and a client that asks it, for the tests of every surface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import trivium
from trivium.keys import Role
from trivium.library import Library
from trivium.serve.running import running
from trivium.serve.service import DEFAULTS, Options, Service


@dataclass(frozen=True)
class Served:
    """A server and somebody who asks it."""

    url: str
    service: Service
    library: Library
    client: httpx.Client

    def key(self, name: str, *scopes: str, role: Role = "reader") -> dict[str, str]:
        """The headers of a new key's holder."""
        _, secret = self.library.create_key(name, scopes=scopes, role=role)
        return {"Authorization": f"Bearer {secret}"}

    def owner(self) -> dict[str, str]:
        """The headers of whoever opened the owner's link."""
        token = self.service.gate.owner_token()
        key = self.client.post("/session", json={"token": token}).json()["key"]
        return {"Authorization": f"Bearer {key}"}


def serving(world: Path, options: Options = DEFAULTS) -> Iterator[Served]:
    """The library at a path, served until the test is over."""
    with (
        trivium.open(world) as library,
        running(library, options) as (url, service),
        httpx.Client(base_url=url, timeout=60) as client,
    ):
        yield Served(url, service, library, client)


def without_times(text: str) -> str:
    return re.sub(r'("(?:took_ms|ms)": )[0-9.e-]+', r"\g<1>0", text)


def problem(answer: httpx.Response) -> dict[str, Any]:
    """The problem that an answer is."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    said: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "code", "detail", "next"} <= set(said)
    assert said["status"] == answer.status_code
    return said
