"""A child process that reads untrusted files, and what becomes of it when one goes wrong.

Starting it costs as much as reading a few small files, so it serves one after the other. It is
ended and replaced when it crashes, takes too long or too much, or has served long enough; the file
at fault is named, and the next one finds a fresh process. It gets no secrets: its environment
holds only what Python and Tesseract need.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, get_args
from weakref import finalize

from trivium.errors import SourceError
from trivium.ingest.blocks import Block, BlockKind, Extraction
from trivium.ingest.extract import worker
from trivium.ingest.extract.limits import LIMITS, Limits

_KINDS = frozenset(get_args(BlockKind))
_LARGEST_REPLY = 400 * 1024 * 1024
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "TESSDATA_PREFIX")
_HARMFUL = "It is damaged, or made to do harm; convert it, or leave it out"


class Sandbox:
    """Reads files in a child process, one at a time. Call `close` when done."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._served = 0
        self._end: finalize[[subprocess.Popen[bytes]], Sandbox] | None = None

    def close(self) -> None:
        """End the child process; the next `extract` would start another."""
        if self._end is not None:
            self._end()
        self._end = self._process = None
        self._served = 0

    def extract(self, data: bytes, name: str, wanted: str) -> Extraction:
        """The text of a file that `wanted` names the format of.

        Whatever the file does, this returns or raises `SourceError` within the limits.
        """
        if self._served >= self._limits.files:
            self.close()
        seconds = self._limits.computing(len(data))
        try:
            reply = self._ask(data, {"name": name, "format": wanted, "seconds": seconds})
        except BaseException:
            self.close()  # a reply that nobody waited for must not be taken for the next one
            raise
        if worker.OUT_OF_MEMORY in reply:
            self.close()
            raise SourceError(self._out_of_memory())
        if "error" in reply:
            raise SourceError(str(reply["error"]))
        extraction = _checked(reply)
        if not extraction.text.strip():
            raise SourceError("no text was found in it. Check what it shows, or leave it out.")
        return extraction

    def _ask(self, data: bytes, request: dict[str, Any]) -> dict[str, Any]:
        process = self._running()
        self._served += 1
        pictures = shutil.which("tesseract") is not None
        patience = self._limits.patience(len(data), pictures=pictures)
        overrun = threading.Event()
        alarm = threading.Timer(patience, _overrun, (process, overrun))
        alarm.daemon = True
        alarm.start()
        try:
            reply = _exchange(process, data, request)
        finally:
            alarm.cancel()
        if reply is None:
            self.close()
            raise SourceError(self._failure(process.returncode, overrun.is_set(), request))
        return reply

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _started(self._limits.memory)
            self._end = finalize(self, _ended, self._process)
        return self._process

    def _failure(self, code: int | None, overrun: bool, request: dict[str, Any]) -> str:
        if overrun or code == -getattr(signal, "SIGXCPU", 0):
            return f"reading it took more than {request['seconds']:.0f} seconds. {_HARMFUL}."
        if code == -getattr(signal, "SIGKILL", 0):
            return self._out_of_memory()
        return f"reading it crashed the reader ({_name(code)}). {_HARMFUL}."

    def _out_of_memory(self) -> str:
        return f"reading it takes more than {self._limits.memory // 1024**2:,} MB. {_HARMFUL}."


def _started(memory: int) -> subprocess.Popen[bytes]:
    environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in sys.path if entry)
    environment["PYTHONHASHSEED"] = "0"
    return subprocess.Popen(
        [sys.executable, "-P", worker.__file__, str(memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,  # so that Tesseract ends with it, and Ctrl-C is ours to handle
    )


def _ended(process: subprocess.Popen[bytes]) -> None:
    """End a process with all that it started, and let go of its pipes."""
    _kill(process)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _overrun(process: subprocess.Popen[bytes], flag: threading.Event) -> None:
    flag.set()
    _kill(process)


def _exchange(
    process: subprocess.Popen[bytes], data: bytes, request: dict[str, Any]
) -> dict[str, Any] | None:
    """Send a request and wait for the reply; None when the process ended instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    head = json.dumps(request).encode()
    try:
        process.stdin.write(worker.HEAD.pack(len(head), len(data)) + head)
        process.stdin.write(data)
        process.stdin.flush()
    except OSError:
        process.wait()
        return None
    start = process.stdout.read(worker.REPLY.size)
    if len(start) < worker.REPLY.size:
        process.wait()
        return None
    (length,) = worker.REPLY.unpack(start)
    if length > _LARGEST_REPLY:
        raise SourceError(f"its text is larger than {_LARGEST_REPLY // 1024**2} MB. Split it.")
    body = process.stdout.read(length)
    if len(body) < length:
        process.wait()
        return None
    reply: dict[str, Any] = json.loads(body)
    return reply


def _name(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _checked(reply: dict[str, Any]) -> Extraction:
    """The reply as an extraction; its spans are not taken on trust."""
    text = str(reply["text"])
    blocks = []
    position = 0
    for kind, start, end, level, page in reply["blocks"]:
        if kind not in _KINDS or not position <= start <= end <= len(text):
            raise SourceError("the reader gave back blocks that do not fit the text. Report it.")
        blocks.append(Block(kind, start, end, level, page))
        position = end
    return Extraction(
        text,
        tuple(blocks),
        reply["title"],
        dict(reply["fields"]),
        str(reply["media_type"]),
        str(reply["extractor"]),
        tuple(map(str, reply["notes"])),
    )
