"""From a key press to the drawn results: the web page in a real browser, on the demo library.

    python bench/portal.py [--rounds 10] [--model minilm] [--write]

The server is `trivium serve` in a process of its own, with a library of `examples/`; the browser is
Chromium without a window, on the same machine. Each query is typed twice: its last letter alone
after a pause, and all of it at ten letters a second. What counts is the last letter.
`--write` puts the table into bench/README.md with the commit it was measured at.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import trivium
from latency import commit, write
from serve import QUERIES, ROOT, served

sys.path.append(str(ROOT / "tests" / "servers"))
from browsing import DESKTOP, FLAGS, chromium

PAUSE = 400
"""Milliseconds between two queries: the page has come to rest."""
LETTER = 100
"""Milliseconds between two letters of somebody who types fast."""
STEPS = {
    "sent": "the question is on its way",
    "answered": "the whole answer is there",
    "built": "the page is built",
    "drawn": "the results are on the screen",
}
WATCH = """() => {
  window.seen = [];
  let key = 0;
  addEventListener("keydown", (event) => { key = event.timeStamp; }, true);
  new PerformanceObserver((list) => {
    for (const drawn of list.getEntriesByName("trivium:drawn")) {
      const built = performance.getEntriesByName("trivium:built").at(-1);
      const asked = performance.getEntriesByType("resource").filter((one) =>
        one.name.endsWith("/search")).at(-1);
      const times = { sent: asked.requestStart, answered: asked.responseEnd };
      for (const [name, one] of Object.entries({ built, drawn }))
        times[name] = one.startTime + one.duration;
      for (const name in times) times[name] -= key;
      window.seen.push({ query: document.getElementById("hits").dataset.query, ...times });
    }
  }).observe({ entryTypes: ["measure"] });
}"""
LAST = "(query) => window.seen.findLast((one) => one.query === query)"


def measured(page: Page, query: str, typing: bool) -> dict[str, float]:
    """Milliseconds from the last letter of a query to each step."""
    field = page.locator("#query")
    field.fill("" if typing else query[:-1])
    page.wait_for_timeout(PAUSE)
    page.evaluate("performance.clearResourceTimings()")
    page.keyboard.type(query if typing else query[-1], delay=LETTER if typing else 0)
    page.wait_for_function(LAST, arg=query)
    times: dict[str, float] = page.evaluate(LAST, query)
    page.evaluate("window.seen.length = 0")
    return times


@contextmanager
def opened(url: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*FLAGS])
        page = browser.new_page(viewport=DESKTOP)
        page.goto(url)
        page.wait_for_function("() => document.getElementById('holds').textContent")
        page.evaluate(WATCH)
        yield page
        browser.close()


def rows(name: str, times: list[dict[str, float]]) -> list[str]:
    found = []
    for step, words in STEPS.items():
        ordered = sorted(one[step] for one in times)
        middle, late = (ordered[int(share * (len(ordered) - 1))] for share in (0.5, 0.95))
        found.append(f"| {name} | {words} | {middle:.0f} | {late:.0f} | {ordered[-1]:.0f} |")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "demo.trivium")
        with trivium.init(place, model=options.model) as library:
            library.add(ROOT / "examples")
        server, url = served(place, Path(folder, "log"))
        try:
            with opened(url) as page:
                for query in QUERIES:
                    measured(page, query, typing=False)  # the browser has compiled everything
                turns = [query for _ in range(options.rounds) for query in QUERIES]
                alone = [measured(page, query, typing=False) for query in turns]
                typed = [measured(page, query, typing=True) for query in QUERIES]
        finally:
            server.terminate()
            server.wait()
    table = "\n".join(
        [
            f"{platform.machine()}, 2 cores for server and browser, Python "
            f"{platform.python_version()}, model {options.model}, {len(alone)} single letters "
            f"and {len(typed)} queries typed, commit {commit()}.",
            "",
            "| the last letter | until | median, ms | p95, ms | longest, ms |",
            "|---|---|---|---|---|",
            *rows("after a pause", alone),
            *rows("while typing", typed),
        ]
    )
    print(table)
    if options.write:
        write("portal", table)


if __name__ == "__main__":
    main()
