"""A server under load: 50 clients at once while notes are taken in, then one file a thousand times.

    python bench/serve.py [--seconds 60] [--clients 50] [--model minilm] [--write]

The server is `trivium serve` in a process of its own, with a library of `examples/`.
`--write` puts the table into bench/README.md with the commit it was measured at.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import trivium

ROOT = Path(__file__).parent.parent
README = Path(__file__).parent / "README.md"
QUERIES = (
    *("battle axe", "who guards the bridge", "salt road", "a room fills with water"),
    *("Gravewnd", "dwarf king weapon", "what is under the chapel", "poison", "long bow"),
)


@dataclass
class Measured:
    """What one kind of load saw."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    answers: Counter[int] = field(default_factory=Counter)
    uploads: int = 0

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000

    @property
    def errors(self) -> int:
        return sum(count for status, count in self.answers.items() if status >= 400)

    def row(self, name: str) -> str:
        p50, p95, worst = (self.percentile(share) for share in (0.5, 0.95, 1.0))
        rate = len(self.times) / self.seconds
        return (
            f"| {name} | {len(self.times):,} | {rate:.0f} | {p50:.0f} | {p95:.0f} | {worst:.0f} "
            f"| {self.errors} | {self.uploads} |"
        )


class Client:
    """One connection that is kept open."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = str(parts.hostname), int(parts.port or 80)
        self._head = f"Host: {self._host}:{self._port}\r\nAuthorization: Bearer {key}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        said = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        found = re.search(r"content-length: (\d+)", said)
        text = await reader.readexactly(int(found[1]) if found else 0)
        if "connection: close" in said:
            self.close()
        return int(said.split(" ", 2)[1]), text

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
        self._streams = None


async def load(url: str, key: str, clients: int, seconds: float, pause: float) -> Measured:
    """Searches of so many clients, each after a pause, and uploads one after the other."""
    measured = Measured(seconds)
    end = time.perf_counter() + seconds

    async def search(number: int) -> None:
        client = Client(url, key)
        await asyncio.sleep(pause * number / clients)
        turn = number
        while time.perf_counter() < end:
            started = time.perf_counter()
            query = quote(QUERIES[turn % len(QUERIES)])
            status, _ = await client.ask("GET", f"/search?q={query}&limit=10")
            took = time.perf_counter() - started
            measured.times.append(took)
            measured.answers[status] += 1
            turn += 1
            await asyncio.sleep(max(0.0, pause - took))
        client.close()

    async def upload() -> None:
        client = Client(url, key)
        while time.perf_counter() < end:
            text = f"# Note {measured.uploads}\n\nThe {measured.uploads}th lamp hangs in a hall."
            path = f"/documents?name=note-{pause:g}-{measured.uploads}.md&force=true"
            await finished(client, await client.ask("POST", path, text.encode()), measured)
            measured.uploads += 1
        client.close()

    await together([*(search(number) for number in range(clients)), upload()])
    return measured


async def same_file(url: str, key: str, clients: int, count: int) -> Measured:
    """One file, sent so often by so many at once."""
    measured = Measured()
    started = time.perf_counter()
    last: list[tuple[int, bytes]] = []

    async def send() -> None:
        client = Client(url, key)
        for _ in range(count // clients):
            begun = time.perf_counter()
            answer = await client.ask("POST", "/documents?name=same.md", b"One lamp, one hall.")
            measured.times.append(time.perf_counter() - begun)
            measured.answers[answer[0]] += 1
        last.append(answer)
        client.close()

    await together([send() for _ in range(clients)])
    client = Client(url, key)
    for answer in last:
        await finished(client, answer, measured)
    measured.seconds = time.perf_counter() - started
    measured.uploads = len(measured.times)
    return measured


async def together(work: Sequence[Awaitable[None]]) -> None:
    await asyncio.gather(*work)


async def finished(client: Client, answer: tuple[int, bytes], measured: Measured) -> None:
    """Wait for a task to be over; one that failed counts as an error."""
    status, text = answer
    measured.answers[status] += status >= 400
    while status < 400:
        status, text = await client.ask("GET", f"/tasks/{json.loads(text)['task']}")
        task = json.loads(text)
        if task["state"] in ("done", "failed"):
            measured.answers[500] += task["state"] == "failed" or bool(task["report"]["errors"])
            return
        text = json.dumps({"task": task["id"]}).encode()
        await asyncio.sleep(0.05)


def served(library: Path, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """The command itself on any free port, once it is ready."""
    command = [sys.executable, "-m", "trivium", "serve", "-L", str(library), "--port", "0"]
    with log.open("w") as file:
        server = subprocess.Popen(command, stderr=file)
    url = waited(lambda: re.search(r"served at (http://[^;\s]+)", log.read_text()))[1]

    async def ready() -> bool:
        return (await Client(url, "").ask("GET", "/health"))[0] == 200

    waited(lambda: asyncio.run(ready()))
    return server, url


def waited(condition: Callable[[], object]) -> object:
    for _ in range(1200):
        try:
            if found := condition():
                return found
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--uploads", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "bench.trivium")
        with trivium.init(place, model=options.model) as library:
            library.add(ROOT / "examples")
            _, key = library.create_key("bench", scopes=None, role="writer")
        server, url = served(place, Path(folder, "log"))
        try:
            rows = measure(url, key, options)
        finally:
            server.terminate()
            code = server.wait()
        with trivium.open(place) as library:
            [same] = library.documents(trivium.Filter(source=("same.md",)))
            made = f"{options.uploads:,} uploads of one file made document #{same.number} "
            made += f"at version {same.version}; the server's exit code was {code}."
    table = report(rows, made, options)
    print(table)
    if options.write:
        write(table)


def measure(url: str, key: str, options: argparse.Namespace) -> list[str]:
    many, seconds = options.clients, options.seconds
    calm = asyncio.run(load(url, key, many, seconds, 1.0))
    flat_out = asyncio.run(load(url, key, many, seconds / 4, 0.0))
    same = asyncio.run(same_file(url, key, many, options.uploads))
    return [
        calm.row(f"{many} clients, a search a second each, {seconds:g} s"),
        flat_out.row(f"{many} clients, without a pause, {seconds / 4:g} s"),
        same.row(f"{many} clients, one file {options.uploads:,} times"),
    ]


def report(rows: list[str], made: str, options: argparse.Namespace) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    ).stdout.strip()
    lines = [
        f"{platform.machine()}, 2 cores shared with the clients, Python "
        f"{platform.python_version()}, model {options.model}, commit {commit}. {made}",
        "",
        "| load | requests | a second | p50, ms | p95, ms | longest, ms | errors | uploads |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
    ]
    return "\n".join(lines)


def write(table: str) -> None:
    page = README.read_text(encoding="utf-8")
    pattern = r"(<!-- serve:begin -->\n).*?(<!-- serve:end -->)"
    README.write_text(
        re.sub(pattern, lambda m: f"{m[1]}{table}\n{m[2]}", page, flags=re.DOTALL),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
