"""The child process that reads untrusted files: run as a script, one request after the other.

A request is a head (how long are the JSON and the data), the JSON with name, format and time, and
the bytes of the file. A reply is a length and JSON. Its standard output belongs to
the protocol, so anything that a library prints goes nowhere.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

HEAD = struct.Struct("<QQ")
REPLY = struct.Struct("<Q")
OUT_OF_MEMORY = "memory"
_LARGEST_WRITE = 16 * 1024 * 1024


def main() -> None:
    """Serve until the other side closes its end."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    memory = int(sys.argv[1])
    _limit(memory)
    _bare_package()
    while head := requests.read(HEAD.size):
        length, size = HEAD.unpack(head)
        request = json.loads(requests.read(length))
        reply = _answer(request, requests.read(size))
        _send(replies, reply)
        if OUT_OF_MEMORY in reply:  # what is left of the memory is nothing to go on with
            return


def _limit(memory: int) -> None:
    """Bound what this process and its children may take; where the system has no such bounds,
    the time-out of the other side remains."""
    try:
        import resource
    except ImportError:
        return
    for name, most in (
        ("RLIMIT_AS", memory),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", _LARGEST_WRITE),
    ):
        try:
            _, hard = resource.getrlimit(getattr(resource, name))
            kept = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(getattr(resource, name), (kept, kept))
        except (ValueError, OSError, AttributeError):
            continue


def _limit_time(seconds: float) -> None:
    """Let the system end this process when it computes longer than that from now on."""
    try:
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(used.ru_utime + used.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    except (ImportError, ValueError, OSError):
        pass


def _bare_package() -> None:
    """Stand in for `trivium` itself, whose import would load the search engine and numpy."""
    package = ModuleType("trivium")
    package.__path__ = [str(Path(__file__).resolve().parents[2])]
    sys.modules["trivium"] = package


def _answer(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    from trivium.errors import SourceError

    _limit_time(request["seconds"])
    try:
        return _extracted(request, data)
    except SourceError as error:
        return {"error": str(error)}
    except MemoryError:
        return {OUT_OF_MEMORY: True}
    except RecursionError:
        return {"error": "it is nested too deeply. Save it again in the program that made it."}
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"[:300]
        return {"error": f"it cannot be read ({problem}). It may be damaged; save it again."}


def _extracted(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    from trivium.ingest.extract import FORMATS, load
    from trivium.ingest.extract.magic import format_of

    name, wanted = request["name"], request["format"]
    found = format_of(data, wanted)
    extraction = load(found)(data, name)
    notes = list(extraction.notes)
    if found != wanted:
        ending = Path(name).suffix
        notes.insert(0, f"called {ending}, it is {FORMATS[found].called} and was read as one.")
    return {
        "text": extraction.text,
        "blocks": [[b.kind, b.start, b.end, b.level, b.page] for b in extraction.blocks],
        "title": extraction.title,
        "fields": dict(extraction.fields),
        "media_type": extraction.media_type,
        "extractor": extraction.extractor,
        "notes": notes,
    }


def _send(replies: BinaryIO, reply: dict[str, Any]) -> None:
    try:
        body = json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace")
    except MemoryError:
        body = json.dumps({OUT_OF_MEMORY: True}).encode()
    replies.write(REPLY.pack(len(body)))
    replies.write(body)
    replies.flush()


if __name__ == "__main__":
    main()
