"""The child process: what it serves, what ends it, and that the next file never suffers."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from handmade import Text, compound, docx, pdf, words, xlsx, zipped

from trivium.errors import InvalidValue, SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract import FORMATS, Reader, load
from trivium.ingest.extract.limits import Limits
from trivium.ingest.extract.sandbox import Sandbox, _checked
from trivium.ingest.files import SUFFIXES, NotASource

GOOD = docx(words("All is well."))
SLOW = b"<ul>" + b"<li><b>x</b><i>y</i>" * 300_000
"""A page that takes seconds to read."""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with closing(Sandbox()) as made:
        yield made


def pid(sandbox: Sandbox) -> int:
    assert sandbox._process is not None
    return sandbox._process.pid


def is_well(sandbox: Sandbox) -> bool:
    return sandbox.extract(GOOD, "good.docx", "docx").text == "All is well."


def test_it_gives_what_the_reader_itself_gives(sandbox: Sandbox) -> None:
    page = pdf([[Text(72, 700, "A Title", 20), Text(72, 600, "And a text.")]])
    assert sandbox.extract(page, "a.pdf", "pdf") == load("pdf")(page, "a.pdf")


def test_one_process_serves_many_files_and_is_replaced_in_time() -> None:
    with closing(Sandbox(Limits(files=3))) as sandbox:
        pids = []
        for _ in range(7):
            assert is_well(sandbox)
            pids.append(pid(sandbox))
    assert pids[0] == pids[1] == pids[2] != pids[3] == pids[4] == pids[5] != pids[6]


def test_closing_ends_it() -> None:
    sandbox = Sandbox()
    assert is_well(sandbox)
    process = sandbox._process
    sandbox.close()
    assert process is not None
    assert process.poll() == -signal.SIGKILL
    assert is_well(sandbox)  # it can be used again
    last = sandbox._process
    del sandbox  # and whoever forgets to close it leaves nothing behind
    assert last is not None
    assert last.poll() == -signal.SIGKILL


def test_a_file_that_takes_too_long_is_named_and_the_next_one_is_read() -> None:
    with closing(Sandbox(Limits(seconds=0, seconds_a_megabyte=0, grace=1))) as sandbox:
        start = time.monotonic()
        with pytest.raises(SourceError, match=r"took more than 0 seconds\. It is damaged, or made"):
            sandbox.extract(SLOW, "slow.html", "html")
        assert time.monotonic() - start < 5
        assert is_well(sandbox)


@pytest.mark.skipif(not hasattr(signal, "SIGXCPU"), reason="no limit of computing time here")
def test_computing_time_is_limited_by_the_system() -> None:
    with closing(Sandbox(Limits(seconds=0, seconds_a_megabyte=0, grace=60))) as sandbox:
        start = time.monotonic()
        with pytest.raises(SourceError, match="took more than 0 seconds"):
            sandbox.extract(SLOW, "slow.html", "html")
        assert time.monotonic() - start < 30
        assert is_well(sandbox)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux only")
def test_memory_is_limited() -> None:
    with closing(Sandbox(Limits(memory=200 * 1024**2))) as sandbox:
        for _ in range(2):
            with pytest.raises(SourceError, match="takes more than 200 MB"):
                sandbox.extract(SLOW, "large.html", "html")
            assert is_well(sandbox)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (signal.SIGSEGV, r"crashed the reader \(SIGSEGV\)"),
        (signal.SIGABRT, r"crashed the reader \(SIGABRT\)"),
        (signal.SIGKILL, "takes more than 2,048 MB"),  # what the system does when memory is short
    ],
)
def test_a_crash_is_named_and_the_next_file_is_read(number: int, message: str) -> None:
    with closing(Sandbox()) as sandbox:
        assert is_well(sandbox)
        threading.Timer(0.3, os.kill, (pid(sandbox), number)).start()
        with pytest.raises(SourceError, match=message):
            sandbox.extract(SLOW, "crash.html", "html")
        assert is_well(sandbox)


def test_a_process_that_died_between_two_files_is_replaced(sandbox: Sandbox) -> None:
    assert is_well(sandbox)
    assert sandbox._process is not None
    os.kill(pid(sandbox), signal.SIGKILL)
    sandbox._process.wait()
    assert is_well(sandbox)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarm here")
def test_an_interruption_does_not_mix_up_the_replies(sandbox: Sandbox) -> None:
    class Interrupted(BaseException):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        assert is_well(sandbox)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Interrupted):
            sandbox.extract(SLOW, "slow.html", "html")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert is_well(sandbox)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc here")
def test_the_child_gets_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIVIUM_AZURE_DOCUMENT_KEY", "very-secret")
    with closing(Sandbox()) as sandbox:
        assert is_well(sandbox)
        assert b"very-secret" not in Path(f"/proc/{pid(sandbox)}/environ").read_bytes()


def test_nothing_in_the_working_folder_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lxml", "json", "trivium", "zipfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    with closing(Sandbox()) as sandbox:
        assert is_well(sandbox)


@pytest.mark.parametrize(
    "blocks",
    [
        [["heading", 0, 9, 1, None]],
        [["paragraph", 3, 2, 0, None]],
        [["paragraph", 0, 3, 0, None], ["paragraph", 2, 4, 0, None]],
        [["nonsense", 0, 1, 0, None]],
    ],
)
def test_spans_that_do_not_fit_are_not_believed(blocks: list[list[object]]) -> None:
    reply: dict[str, object] = {
        "text": "text",
        "blocks": blocks,
        "title": None,
        "fields": {},
        "media_type": "",
        "extractor": "",
        "notes": [],
    }
    with pytest.raises(SourceError, match="do not fit the text"):
        _checked(reply)


# --- the reader above it: names, sizes, disguises ------------------------------------------------


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as made:
        yield made


def read(reader: Reader, data: bytes, name: str) -> Extraction:
    reader.check(name, len(data))
    return reader(data, name)


PDF = pdf([[Text(72, 700, "It is a PDF.")]])
RTF = b"{\\rtf1 It is RTF.}"


@pytest.mark.parametrize(
    ("data", "name", "text", "note"),
    [
        (PDF, "a.docx", "It is a PDF.", "called .docx, it is a PDF file and was read as one."),
        (PDF, "a.txt", "It is a PDF.", "called .txt, it is a PDF file and was read as one."),
        (GOOD, "a.pdf", "All is well.", "called .pdf, it is a Word document and was read as one."),
        (GOOD, "a.md", "All is well.", "called .md, it is a Word document and was read as one."),
        (RTF, "a.doc", "It is RTF.", "called .doc, it is an RTF document and was read as one."),
        (b"<html>Hi.", "a.xls", "Hi.", "called .xls, it is an HTML page and was read as one."),
    ],
)
def test_what_a_file_is_decides_not_what_it_is_called(
    reader: Reader, data: bytes, name: str, text: str, note: str
) -> None:
    extraction = read(reader, data, name)
    assert (extraction.text, extraction.notes) == (text, (note,))


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"", "a.pdf", "it is empty: 0 bytes"),
        (b"", "a.docx", "it is empty: 0 bytes"),
        (b"plain words", "a.pdf", "it is not what its ending says: it begins with 'plain words'"),
        (b"\x00\xff\tpdf", "a.pdf", r"it begins with '\x00\xff\tpdf'"),
        (b"\x89PNG\r\n\x1a\n", "a.docx", "it is not what its ending says"),
        (zipped({"a.txt": "x"}), "a.docx", "it is a zip archive. Unpack it"),
        (zipped({"content.xml": "x", "mimetype": "x"}), "a.docx", "it is an OpenDocument file"),
        (compound({"EncryptedPackage": b"x"}), "a.xlsx", "it is protected by a password"),
        (compound({"WordDocument": b"x"}), "a.doc", "a Word document of before 2007. Save it as"),
        (compound({"Workbook": b"x"}), "a.xls", "an Excel workbook of before 2007"),
        (b"PK\x03\x04" + bytes(500), "a.pptx", "it is not a whole zip file"),
        (b"%PDF-1.7 cut", "a.pdf", "it is a damaged PDF file"),
        (docx(""), "a.docx", "no text was found in it"),
        (xlsx({"S": ""}), "a.xlsx", "no text was found in it"),
        (b"<html><script>x</script>", "a.html", "no text was found in it"),
    ],
)
def test_bad_files_are_named_for_what_they_are(
    reader: Reader, data: bytes, name: str, message: str
) -> None:
    with pytest.raises(SourceError) as raised:
        read(reader, data, name)
    assert message in str(raised.value)


def test_names_and_sizes_are_checked_before_anything_is_read(reader: Reader) -> None:
    with pytest.raises(NotASource, match=r"\.exe is not a format that can be read"):
        reader.check("a.exe", 1)
    with pytest.raises(SourceError, match="it has 500 MB; files of more than 200 MB are not read"):
        reader.check("a.pdf", 500 * 1024**2)


def test_every_ending_has_a_reader() -> None:
    assert set(SUFFIXES.values()) == set(FORMATS)
    for name in FORMATS:
        assert callable(load(name))


def test_an_unknown_extractor_is_refused() -> None:
    with pytest.raises(InvalidValue, match="choose one of local, azure"):
        Reader("adobe")
