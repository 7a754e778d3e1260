"""Outlook messages (MSG), read from their properties."""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import Any

import olefile

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import html
from trivium.ingest.extract.email import write_head, write_html, write_plain
from trivium.ingest.extract.writer import Writer, known_fields, one_line
from trivium.ingest.files import decode

EXTRACTOR = "msg/1"
MEDIA_TYPE = "application/vnd.ms-outlook"

# Property ids of [MS-OXPROPS]; the type stands behind them in the name of the stream.
_SUBJECT, _BODY, _HTML = "0037", "1000", "1013"
_SENDER, _SENDER_ADDRESS, _SENDER_SMTP = "0C1A", "0C1F", "5D01"
_TO, _CC = "0E04", "0E03"
_ATTACHMENT_NAMES = ("3707", "3704", "3001")
_SENT, _DELIVERED = 0x0039, 0x0E06
_TIME_TYPE = 0x0040
_CODE_PAGE = 0x3FFD
_LARGEST_STREAM = 64 * 1024 * 1024


def extract(data: bytes, name: str) -> Extraction:
    """Subject, people, time, text and the names of what is attached."""
    try:
        with olefile.OleFileIO(data) as container:
            return _read(_Properties(container), name)
    except (OSError, ValueError, IndexError, struct.error) as error:
        raise SourceError(f"it is a damaged Outlook message ({error}). Save it again.") from error


class _Properties:
    """The properties of a message by id."""

    def __init__(self, container: Any) -> None:
        self._container = container
        self._streams = {"/".join(path).lower(): path for path in container.listdir()}
        fixed = self._stream("__properties_version1.0")
        if fixed is None:
            raise SourceError("it is no Outlook message. Check what it is and rename it.")
        self._fixed = {}
        for at in range(32, len(fixed) - 15, 16):
            kind, id, _, value = struct.unpack_from("<HHIQ", fixed, at)
            self._fixed[id] = (kind, value)

    def text(self, id: str, folder: str = "") -> str:
        unicode = self._stream(f"{folder}__substg1.0_{id}001f")
        if unicode is not None:
            return unicode.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self._stream(f"{folder}__substg1.0_{id}001e")
        return self._narrow(narrow) if narrow is not None else ""

    def binary(self, id: str) -> bytes | None:
        return self._stream(f"__substg1.0_{id}0102")

    def time(self, id: int) -> datetime | None:
        kind, value = self._fixed.get(id, (0, 0))
        if kind != _TIME_TYPE or not value:
            return None
        try:  # hundreds of nanoseconds since 1601
            return datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=value // 10)
        except OverflowError:
            return None

    def folders(self, prefix: str) -> list[str]:
        found = {path[0] for path in self._container.listdir() if len(path) > 1}
        return sorted(f"{name}/" for name in found if name.lower().startswith(prefix))

    def _narrow(self, data: bytes) -> str:
        _, page = self._fixed.get(_CODE_PAGE, (0, 0))
        for codec in (f"cp{page & 0xFFFFFFFF}", "utf-8"):
            try:
                return data.decode("utf-8" if codec == "cp65001" else codec).rstrip("\0")
            except (LookupError, UnicodeError):
                continue
        return decode(data.rstrip(b"\0"), "a property")

    def _stream(self, name: str) -> bytes | None:
        path = self._streams.get(name.lower())
        if path is None:
            return None
        if self._container.get_size(path) > _LARGEST_STREAM:
            raise SourceError("it holds a text of more than 64 MB. Leave it out.")
        return bytes(self._container.openstream(path).read())


def _read(message: _Properties, name: str) -> Extraction:
    sender, address = one_line(message.text(_SENDER)), _address(message)
    shown = sender if not address or address == sender else f"{sender} <{address}>".strip()
    sent = message.time(_SENT) or message.time(_DELIVERED)
    headers = {
        "From": shown,
        "To": one_line(message.text(_TO)),
        "Cc": one_line(message.text(_CC)),
        "Date": sent.strftime("%Y-%m-%d %H:%M UTC") if sent else "",
        "Attachments": ", ".join(filter(None, map(one_line, _attached(message)))),
    }
    writer = Writer()
    subject = one_line(message.text(_SUBJECT))
    write_head(writer, subject, headers, 1)
    written = len(writer)
    markup = message.binary(_HTML)
    if markup:
        write_html(writer, html.decode_html(markup, name), 1)
    elif message.text(_HTML):
        write_html(writer, message.text(_HTML), 1)
    if len(writer) == written:
        write_plain(writer, message.text(_BODY))
    fields = known_fields(author=shown, to=headers["To"], created=sent)
    return writer.extraction(subject, fields, MEDIA_TYPE, EXTRACTOR)


def _attached(message: _Properties) -> list[str]:
    return [
        next(filter(None, (message.text(id, folder) for id in _ATTACHMENT_NAMES)), "")
        for folder in message.folders("__attach_version1.0")
    ]


def _address(message: _Properties) -> str:
    """The sender's address; addresses of Exchange (`/O=…`) say nothing to people."""
    found = message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
    return one_line(found) if "@" in found else ""
