"""E-mail (EML): the subject as heading, who wrote to whom and when, the text, what is attached."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Mapping
from email.message import Message
from email.utils import parsedate_to_datetime

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import html, html_blocks
from trivium.ingest.extract.writer import Writer, known_fields, one_line
from trivium.ingest.files import decode

EXTRACTOR = "email/2"
MEDIA_TYPE = "message/rfc822"

_DEEPEST_MESSAGE = 4  # messages forwarded inside messages
_DEEPEST_PART = 30
_HEADERS = ("From", "To", "Cc", "Date")
_BLANK_LINES = re.compile(r"\n\s*\n")


def extract(data: bytes, name: str) -> Extraction:
    """The message and those that are forwarded in it; other attachments are named, not read."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not any(_header(message, key) for key in (*_HEADERS, "Subject", "Message-ID", "Received")):
        raise SourceError("it is no e-mail: it has no sender, date or subject. Rename it.")
    writer = Writer()
    _Message(message, name).write(writer, 1)
    fields = known_fields(
        author=_header(message, "From"),
        to=_header(message, "To"),
        created=_date(_header(message, "Date")),
    )
    return writer.extraction(_header(message, "Subject"), fields, MEDIA_TYPE, EXTRACTOR)


def write_head(writer: Writer, subject: str, headers: Mapping[str, str], level: int) -> None:
    """The subject as a heading, below it who wrote to whom and when."""
    writer.heading(subject or "(no subject)", level)
    writer.paragraph("\n".join(f"{key}: {text}" for key, text in headers.items() if text))


def write_plain(writer: Writer, text: str) -> None:
    for paragraph in _BLANK_LINES.split(text.replace("\r\n", "\n")):
        writer.paragraph(paragraph)


def write_html(writer: Writer, text: str, level: int) -> None:
    root = html.parse(text)
    if root is not None:
        html_blocks.write(root, writer, surroundings=True, below=level)


class _Message:
    """One message taken apart: its texts, the names of its attachments, the messages in it."""

    def __init__(self, message: Message, name: str) -> None:
        self._message = message
        self._name = name
        self._texts: list[tuple[str, str]] = []
        self._attached: list[str] = []
        self._inside: list[Message] = []
        self._take(message, 1)

    def write(self, writer: Writer, level: int) -> None:
        """Write it under its subject, and those inside it one level deeper."""
        headers = {key: _header(self._message, key) for key in _HEADERS}
        headers["Attachments"] = ", ".join(self._attached)
        write_head(writer, _header(self._message, "Subject"), headers, level)
        for kind, text in self._texts:
            if kind == "text/html":
                write_html(writer, text, level)
            else:
                write_plain(writer, text)
        for inner in self._inside:
            if level < _DEEPEST_MESSAGE:
                _Message(inner, self._name).write(writer, level + 1)

    def _take(self, part: Message, depth: int) -> None:
        kind, parts = part.get_content_type(), part.get_payload()
        if depth > _DEEPEST_PART:
            return
        if kind == "message/rfc822" and isinstance(parts, list):
            self._inside += [one for one in parts if isinstance(one, Message)]
        elif isinstance(parts, list):
            inner = [one for one in parts if isinstance(one, Message)]
            for one in _preferred(inner) if kind == "multipart/alternative" else inner:
                self._take(one, depth + 1)
        elif part.get_content_disposition() == "attachment" or _file_name(part):
            self._attached.append(_file_name(part) or kind)
        elif kind in ("text/html", "text/plain"):
            self._texts.append((kind, self._decoded(part, kind)))

    def _decoded(self, part: Message, kind: str) -> str:
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes):
            return ""
        charset = part.get_content_charset()
        try:
            if charset:
                return data.decode(charset)
        except (LookupError, UnicodeError, ValueError):
            pass
        try:
            return (html.decode_html if kind == "text/html" else decode)(data, self._name)
        except SourceError:  # a byte that was lost on the way is no reason to lose the message
            return data.decode("utf-8", "replace")


def _preferred(parts: list[Message]) -> list[Message]:
    """Of several forms of the same text, the one with most structure that can be read."""
    for kinds in (("text/html", "multipart/related"), ("text/plain",), ("multipart/mixed",)):
        chosen = [part for part in parts if part.get_content_type() in kinds]
        if chosen:
            return chosen[-1:]
    return parts[-1:]


def _file_name(part: Message) -> str:
    try:
        return one_line(part.get_filename() or "")
    except Exception:  # the header parser fails on broken input in many ways
        return ""


def _header(message: Message, name: str) -> str:
    """A header as text; "" when it is missing or beyond repair."""
    try:
        return one_line(str(message.get(name) or ""))
    except Exception:  # as above
        return ""


def _date(text: str) -> object:
    try:
        return parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
