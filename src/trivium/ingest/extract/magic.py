"""What a file really is, whatever it is called."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from trivium.errors import SourceError

Family: TypeAlias = Literal["pdf", "zip", "ole", "rtf", "html"]

_SEARCHED = 1_024  # PDF allows that much before its mark
_HTML = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body)\b", re.I)
_OLD = {
    "worddocument": "a Word document of before 2007. Save it as DOCX",
    "workbook": "an Excel workbook of before 2007. Save it as XLSX",
    "book": "an Excel workbook of before 1997. Save it as XLSX",
    "powerpoint document": "a presentation of before 2007. Save it as PPTX",
}


def family(data: bytes) -> Family | None:
    """By its first bytes; None for text of any kind."""
    start = data[:_SEARCHED]
    if b"%PDF-" in start:
        return "pdf"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return "ole"
    if start.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    return "html" if _HTML.match(start) else None


def format_of(data: bytes, wanted: str) -> str:
    """The name of the format to read these bytes as, when `wanted` is what the ending says.

    It looks into containers, so it belongs into the child process. `SourceError` says what the
    file is when nobody reads it.
    """
    match family(data):
        case "zip":
            return _packed(data)
        case "ole":
            return _compound(data)
        case "html" if wanted in ("email", "markdown", "plain", "code", "csv"):
            return wanted
        case "pdf" | "rtf" | "html" as found:
            return found
    if wanted in ("html", "email"):
        return wanted
    shown = repr(data[:20].strip())[1:]
    raise SourceError(
        f"it is not what its ending says: it begins with {shown}. Give it its right ending, or "
        "get it again if it was cut short."
    )


def _packed(data: bytes) -> str:
    from trivium.ingest.extract.package import Package

    names = Package(data).names()
    for folder, name in (("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx")):
        if any(one.startswith(folder) for one in names):
            return name
    if "meta-inf/container.xml" in names:
        return "epub"
    if "content.xml" in names and "mimetype" in names:
        raise SourceError("it is an OpenDocument file. Save it as DOCX, XLSX or PPTX.")
    raise SourceError("it is a zip archive. Unpack it and add what is in it.")


def _compound(data: bytes) -> str:
    import olefile

    from trivium.ingest.extract.package import PASSWORD

    try:
        with olefile.OleFileIO(data) as container:
            names = {str(path[0]).lower() for path in container.listdir()}
    except (OSError, ValueError, IndexError) as error:
        raise SourceError(f"it is a damaged Office file ({error}). Save it again.") from error
    if "__properties_version1.0" in names:
        return "msg"
    if "encryptedpackage" in names:
        raise SourceError(PASSWORD)
    old = next((text for name, text in _OLD.items() if name in names), None)
    raise SourceError(f"it is {old or 'an Office file of an unknown kind. Convert it to text'}.")
