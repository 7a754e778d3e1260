"""Files of every format → `Extraction`: who reads what, and where.

Our own readers of text (Markdown, plain text, CSV, code) run here. Everything else is taken apart
by libraries from bytes that somebody else made, and runs in a child process with limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from trivium.errors import InvalidValue, SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.limits import LARGEST_FILE
from trivium.ingest.extract.magic import Family, family
from trivium.ingest.files import SUFFIXES, NotASource

if TYPE_CHECKING:  # it brings subprocess, which most adds do not need
    from trivium.ingest.extract.sandbox import Sandbox

EXTRACTORS = ("local", "azure")


class Extract(Protocol):
    """What every reader of a format is: bytes and a name in, the text and its blocks out.

    It raises `SourceError` for what cannot be read, and gives the same for the same bytes.
    """

    def __call__(self, data: bytes, name: str) -> Extraction: ...


class Format(NamedTuple):
    """A format: what it is called in a sentence, the module that reads it, and where that runs.

    `families` are the beginnings by which such a file is known; nothing for text.
    """

    called: str
    module: str
    in_child: bool = True
    families: tuple[Family, ...] = ()


FORMATS: Mapping[str, Format] = {
    "markdown": Format("Markdown", "trivium.ingest.markdown", in_child=False),
    "plain": Format("plain text", "trivium.ingest.plain", in_child=False),
    "code": Format("source code", "trivium.ingest.extract.code", in_child=False),
    "csv": Format("a CSV table", "trivium.ingest.extract.table", in_child=False),
    "html": Format("an HTML page", "trivium.ingest.extract.html", families=("html",)),
    "pdf": Format("a PDF file", "trivium.ingest.extract.pdf", families=("pdf",)),
    "docx": Format("a Word document", "trivium.ingest.extract.docx", families=("zip",)),
    "pptx": Format("a presentation", "trivium.ingest.extract.pptx", families=("zip",)),
    "xlsx": Format("a workbook", "trivium.ingest.extract.sheet", families=("zip",)),
    "epub": Format("an EPUB book", "trivium.ingest.extract.epub", families=("zip",)),
    "rtf": Format("an RTF document", "trivium.ingest.extract.rtf", families=("rtf",)),
    "email": Format("an e-mail", "trivium.ingest.extract.email"),
    "msg": Format("an Outlook message", "trivium.ingest.extract.msg", families=("ole",)),
}


def load(name: str) -> Extract:
    """The reader of a format; its libraries are imported now and not before."""
    found: Extract = import_module(FORMATS[name].module).extract
    return found


def refuse_large(size: int) -> None:
    """Raise `SourceError` for a file that is larger than any that is read."""
    if size > LARGEST_FILE:
        raise SourceError(
            f"it has {size // 1024**2:,} MB; files of more than {LARGEST_FILE // 1024**2} MB are "
            "not read. Split it, or add what matters of it."
        )


class Reader:
    """Reads files one after the other. Use it as a context manager, or call `close`.

    With `extractor="azure"` the formats that Azure AI Document Intelligence knows are sent there,
    pictures included; everything else is read here as always.
    """

    def __init__(self, extractor: str = "local") -> None:
        if extractor not in EXTRACTORS:
            raise InvalidValue(
                f"there is no extractor '{extractor}'; choose one of {', '.join(EXTRACTORS)}"
            )
        self._azure: Extract | None = None
        if extractor == "azure":
            from trivium.ingest.extract.azure import Azure

            self._azure = Azure.from_environment()
        self._sandbox: Sandbox | None = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child process, if one was needed."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None

    def check(self, name: str, size: int) -> None:
        """Refuse a file by its name and size, before it is read into memory."""
        suffix = PurePath(name).suffix.lower()
        if suffix not in SUFFIXES and not self._for_azure(suffix):
            kind = suffix or "a file without an ending"
            raise NotASource(f"{kind} is not a format that can be read; convert it to text first")
        refuse_large(size)

    def __call__(self, data: bytes, name: str) -> Extraction:
        """The text of a file that `check` let pass; `SourceError` says what is wrong with it."""
        suffix = PurePath(name).suffix.lower()
        if self._azure is not None and self._for_azure(suffix):
            return self._azure(data, name)
        wanted = SUFFIXES[suffix]
        if not FORMATS[wanted].in_child and family(data) not in ("pdf", "zip", "ole", "rtf"):
            return load(wanted)(data, name)
        if not data:
            raise SourceError("it is empty: 0 bytes. Save it again, or leave it out.")
        if self._sandbox is None:
            from trivium.ingest.extract.sandbox import Sandbox

            self._sandbox = Sandbox()
        return self._sandbox.extract(data, name, wanted)

    def _for_azure(self, suffix: str) -> bool:
        if self._azure is None:
            return False
        from trivium.ingest.extract.azure import SUFFIXES as AZURE_SUFFIXES

        return suffix in AZURE_SUFFIXES
