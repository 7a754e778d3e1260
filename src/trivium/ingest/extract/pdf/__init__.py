"""PDF: the text of each page in reading order, with headings, lists and tables.

PDFium gives characters with their places and fonts; everything else is made from those, because
most PDF files know nothing of paragraphs.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pypdfium2.raw as pdfium

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.limits import OCR_SECONDS
from trivium.ingest.extract.package import PASSWORD
from trivium.ingest.extract.pdf import ocr, structure
from trivium.ingest.extract.pdf.page import read_page
from trivium.ingest.extract.pdf.paragraphs import Recognised, page_items
from trivium.ingest.extract.writer import Writer, known_fields

EXTRACTOR = "pdf/1"
EXTRACTOR_OCR = "pdf+tesseract/1"
MEDIA_TYPE = "application/pdf"

_DAMAGED = "it is a damaged PDF file. Save or download it again."
_MOST_PAGES = 20_000
_MOST_ENTRIES = 5_000
_NO_TITLE = re.compile(
    r"\(?(?:anonymous|untitled|unspecified|none)\)?$|^microsoft (?:word|powerpoint) - |\.\w{2,4}$",
    re.I,
)
_DATE = re.compile(r"D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?")
_INSTALL = (
    "install tesseract (https://github.com/tesseract-ocr/tesseract) and add it again, or use "
    "'--extractor azure'"
)


def extract(data: bytes, name: str, *, ocr_seconds: float = OCR_SECONDS) -> Extraction:
    """The text of all pages. Pages that are pictures go through Tesseract, if it is installed.

    Raises `SourceError` when the file is broken, needs a password, or has no text at all.
    """
    writer = Writer()
    with _opened(data) as document:
        count = pdfium.FPDF_GetPageCount(document)
        if count < 1:
            raise SourceError(_DAMAGED)
        if count > _MOST_PAGES:
            raise SourceError(f"it has {count:,} pages. Split it into smaller files.")
        reading = _Reading(document, count, time.monotonic() + ocr_seconds)
        structure.write(reading.pages, list(_outline(document)), writer)
        if not len(writer):
            plural = "s" if count > 1 else ""
            raise SourceError(f"no text in {count} page{plural}: scanned? {reading.advice()}.")
        if reading.unread:
            writer.note(f"{reading.unread} of {count} pages have no text; {reading.advice()}.")
        title = _information(document, "Title")
        fields = known_fields(
            author=_named(_information(document, "Author")),
            subject=_named(_information(document, "Subject")),
            keywords=[word.strip() for word in _information(document, "Keywords").split(",")],
            created=_time(_information(document, "CreationDate")),
            updated=_time(_information(document, "ModDate")),
        )
    extractor = EXTRACTOR_OCR if reading.recognised else EXTRACTOR
    return writer.extraction(_named(title), fields, MEDIA_TYPE, extractor)


_started = False


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    global _started
    if not _started:
        pdfium.FPDF_InitLibrary()
        _started = True
    document = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not document:
        code = pdfium.FPDF_GetLastError()
        if code == pdfium.FPDF_ERR_PASSWORD:
            raise SourceError(PASSWORD)
        if code == pdfium.FPDF_ERR_SECURITY:
            raise SourceError("it is encrypted in a way that cannot be read. Save a plain copy.")
        raise SourceError(_DAMAGED)
    try:
        yield document
    finally:
        pdfium.FPDF_CloseDocument(document)


@contextmanager
def _page(document: Any, number: int) -> Iterator[Any]:
    page = pdfium.FPDF_LoadPage(document, number - 1)
    try:
        yield page
    finally:
        if page:
            pdfium.FPDF_ClosePage(page)


class _Reading:
    """The items of all pages; `unread` counts the pages that are pictures and stayed so."""

    def __init__(self, document: Any, count: int, until: float) -> None:
        self.pages = structure.Document()
        self.recognised = self.unread = 0
        self._program = ocr.tesseract()
        self._until = until
        for number in range(1, count + 1):
            with _page(document, number) as raw:
                if raw:
                    self._take(raw, number)

    def _take(self, raw: Any, number: int) -> None:
        page = read_page(raw, number)
        self.pages.heights[number] = page.height
        self.pages.items += page_items(page)
        if page.words or page.turned or not page.has_objects:
            return
        texts = ocr.read_picture(self._program, raw, self._until) if self._program else None
        if texts:
            self.recognised += 1
            self.pages.items += [Recognised(text, number) for text in texts]
        else:
            self.unread += 1

    def advice(self) -> str:
        """What to do about pages without text."""
        return "Tesseract found none either. Check what it shows" if self._program else _INSTALL


# --- what the document says about itself ---------------------------------------------------------


def _text(call: Callable[[Any, int], int]) -> str:
    """A text from one of PDFium's calls that first say how long it is."""
    length = min(call(None, 0), 65_536)
    if length <= 2:
        return ""
    buffer = ctypes.create_string_buffer(length)
    call(buffer, length)
    return buffer.raw[: length - 2].decode("utf-16-le", "replace").strip("\0 ")


def _information(document: Any, key: str) -> str:
    tag = key.encode()
    return _text(lambda buffer, size: pdfium.FPDF_GetMetaText(document, tag, buffer, size))


def _named(text: str) -> str | None:
    return None if not text or _NO_TITLE.search(text) else text


def _time(text: str) -> str | None:
    match = _DATE.match(text)
    if match is None:
        return None
    year, month, day, *clock, sign, hours, minutes = match.groups()
    zone = f"{sign}{hours}:{minutes or '00'}" if sign else "+00:00"
    return f"{year}-{month or '01'}-{day or '01'}T{':'.join(part or '00' for part in clock)}{zone}"


def _outline(document: Any) -> Iterator[structure.Entry]:
    """The bookmarks in their order, without circles."""
    seen: set[int] = set()
    waiting = [(pdfium.FPDFBookmark_GetFirstChild(document, None), 1)]
    while waiting and len(seen) < _MOST_ENTRIES:
        mark, level = waiting.pop()
        address = ctypes.cast(mark, ctypes.c_void_p).value if mark else None
        if not address or address in seen:
            continue
        seen.add(address)
        waiting.append((pdfium.FPDFBookmark_GetNextSibling(document, mark), level))
        waiting.append((pdfium.FPDFBookmark_GetFirstChild(document, mark), level + 1))
        target = pdfium.FPDFBookmark_GetDest(document, mark)
        if not target:
            action = pdfium.FPDFBookmark_GetAction(mark)
            target = pdfium.FPDFAction_GetDest(document, action) if action else None
        page = pdfium.FPDFDest_GetDestPageIndex(document, target) + 1 if target else 0
        title = _title(mark)
        if title:
            yield structure.Entry(title, level, page)


def _title(mark: Any) -> str:
    return _text(lambda buffer, size: pdfium.FPDFBookmark_GetTitle(mark, buffer, size))
