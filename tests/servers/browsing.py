"""A real browser for the tests, and what every page of it is held to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Request, Route, expect, sync_playwright

PATIENCE = 60_000
"""Milliseconds that a page may take for anything: a busy machine is slow, not wrong."""

ARTEFACTS = Path(__file__).parent.parent.parent / "artefacts" / "portal"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
FLAGS = (
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    *("--no-sandbox", "--disable-dev-shm-usage"),  # containers have neither; the pages are our own
)


def chromium() -> str:
    """Where the browser is; the test is skipped where there is none."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    for name in names:
        if name and (found := shutil.which(name)):
            return found
    pytest.skip("there is no Chromium here; install one, or name it in CHROMIUM")


@contextmanager
def browsing() -> Iterator[Browser]:
    place = chromium()
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=place, args=[*FLAGS])
        except Error as error:
            pytest.skip(f"{place} does not start here: {error.message.splitlines()[0]}")
        yield browser
        browser.close()


@contextmanager
def page_of(
    browser: Browser, url: str, *, size: dict[str, int] | None = None, dark: bool = False
) -> Iterator[Page]:
    """A page whose scripts may not fail and which asks nobody but its own server."""
    context = browser.new_context(
        base_url=url,
        viewport=size or DESKTOP,  # type: ignore[arg-type]
        color_scheme="dark" if dark else "light",
        has_touch=size == PHONE,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"script: {error}"))
    page.on("console", lambda said: _complaint(said.type, said.text, wrong))
    page.on("request", lambda request: _stranger(request, url, wrong))
    yield page
    context.close()
    assert wrong == []


def _complaint(kind: str, text: str, wrong: list[str]) -> None:
    """Answers that are errors are shown by the page; anything else in the console is a mistake."""
    if kind == "error" and "Failed to load resource" not in text:
        wrong.append(f"console: {text}")


def _stranger(request: Request, url: str, wrong: list[str]) -> None:
    if not request.url.startswith((url, "data:", "blob:")):
        wrong.append(f"asked {request.url}")


class Held:
    """Answers that are kept back until they are let go."""

    def __init__(self, page: Page, when: str) -> None:
        """`when` is what the body of a request to be kept back holds."""
        self._page, self._when = page, when
        self._routes: list[Route] = []
        self.bodies: list[Any] = []
        page.route("**/search", self._take)

    def _take(self, route: Route) -> None:
        self.bodies.append(route.request.post_data_json)
        if self._when and self._when in (route.request.post_data or ""):
            self._routes.append(route)
        else:
            route.continue_()

    def wait(self, count: int = 1) -> None:
        """Until so many are kept back."""
        for _ in range(PATIENCE // 20):
            if len(self._routes) >= count:
                return
            self._page.wait_for_timeout(20)
        raise AssertionError(f"{len(self._routes)} of {count} questions came")

    def let_go(self) -> None:
        """Answer what was kept back; what comes from now on is answered at once.

        The page may have given the question up, and then nobody waits for the answer.
        """
        routes, self._routes, self._when = self._routes, [], ""
        for route in routes:
            route.continue_()


def picture(page: Page, name: str) -> None:
    """Keep what the page looks like, to be looked at."""
    page.screenshot(path=ARTEFACTS / f"{name}.png")
