"""Real files of many programs, with what a person sees in them; and a folder full of bad ones."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from handmade import Text, compound, docx, pdf, picture_pdf, words, xlsx, zipped

import trivium
from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.chunk import chunk
from trivium.ingest.extract import Reader, load
from trivium.ingest.files import extractor_for


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader() as made:
        yield made


@pytest.fixture
def samples(data: Path) -> Path:
    folder = data / "ingest-samples"
    if not folder.is_dir():
        pytest.skip("the sample files are not on this machine")
    return folder


def read(reader: Reader, path: Path) -> Extraction:
    reader.check(path.name, path.stat().st_size)
    return reader(path.read_bytes(), path.name)


def headings(extraction: Extraction, deepest: int = 9) -> list[tuple[int, int | None, str]]:
    return [
        (block.level, block.page, extraction.text[block.start : block.end])
        for block in extraction.blocks
        if 0 < block.level <= deepest
    ]


@dataclass(frozen=True)
class Sample:
    """What was seen in a file: (level, page, heading), (page, phrase), rows of tables."""

    title: str | None
    headings: tuple[tuple[int, int | None, str], ...] = ()
    phrases: tuple[tuple[int | None, str], ...] = ()
    rows: tuple[str, ...] = ()
    tables: int = 0


AUTOGEN = "AutoGen: Enabling Next-Gen LLM Applications via Multi-Agent Conversation"
BLOG = "Does Model and Inference Parameter Matter in LLM Applications? - A Case Study for MATH"

SAMPLES = {
    "markitdown/test.docx": Sample(
        AUTOGEN,
        (
            (1, 1, AUTOGEN),
            (1, 1, "Abstract"),
            (1, 1, "Introduction"),
            (2, 1, "d666f1f7-46cb-42bd-9a39-9a39cf2a509f"),
        ),
        (
            (1, "AutoGen is an open-source framework that allows developers to build LLM"),
            (2, "Here is a random table for .docx parsing test purposes:"),
        ),
        ("| 1 | 2 | 3 | 4 | 5 | 6 |", "| 24 | 25 | 26 | 27 | 28 | 29 |"),
        1,
    ),
    "markitdown/test_with_comment.docx": Sample(
        AUTOGEN,
        phrases=((None, "Comment by Unknown Author: This is a test comment. 12df-321a"),),
        tables=1,
    ),
    "markitdown/equations.docx": Sample(
        None, phrases=((1, "sin θ=mλ/a=((1)(550×10^(-6) mm))/(2.5 mm)=2.2×10^(-4)"),)
    ),
    "markitdown/rlink.docx": Sample(None, phrases=((1, "Testing Linked Images"),)),
    "markitdown/test.pptx": Sample(
        AUTOGEN,
        (
            (1, 1, AUTOGEN),
            (2, 2, "2cdda5c8-e50e-4db4-b5f0-9722a649f455"),
            (2, 3, "A table to test parsing:"),
            (2, 4, "A chart to test parsing:"),
            (2, 5, "A Nested Shape parsing"),
            (2, 6, "These Test Strings are in the Image!"),
        ),
        ((5, "- This is a nested shape with content in 2 shapes"), (4, "a3f6004b-6f4f-4ea8-bee3")),
        (
            "| ColA | ColB | ColC | ColD | ColE | ColF |",
            "| Category | Series 1 |",
            "| 2003 | 2003 |",
        ),
        2,
    ),
    "markitdown/test.xlsx": Sample(
        None,
        ((1, None, "Sheet1"), (1, None, "09060124-b5e7-4717-9d07-3c046eb")),
        rows=("| Alpha | Beta | Gamma | Delta |", "| 89 | 82 | 100 | 12 |", "| 1 | 2 | 3 | 4 |"),
        tables=2,
    ),
    "markitdown/test_mskanji.csv": Sample(
        None, rows=("| 名前 | 年齢 | 住所 |", "| 髙橋淳 | 35 | 名古屋 |"), tables=1
    ),
    "markitdown/test.epub": Sample(
        "Test EPUB Document",
        ((1, None, "Chapter 1: Test Content"), (1, None, "Chapter 2: More Content")),
        ((None, "- A bullet point\n- Another point"), (None, "This is a blockquote for testing.")),
    ),
    "markitdown/test.rtf": Sample(
        "This is a Sample RTF File",
        ((1, None, "This is a Sample RTF File"),),
        ((None, "MarkItDown sample plugin can correctly convert RTF files."),),
    ),
    "markitdown/test_outlook_msg.msg": Sample(
        "Test Email Message",
        ((1, None, "Test Email Message"),),
        (
            (None, "From: M. C. Kurtuluş <test.sender@example.com>"),
            (None, "This is the body of the test email message"),
        ),
    ),
    "markitdown/test_blog.html": Sample(
        BLOG,
        (
            (1, None, BLOG),
            (2, None, "Experiment Setup"),
            (2, None, "Experiment Results"),
            (2, None, "Analysis and Discussion"),
            (2, None, "For Further Reading"),
        ),
        ((None, "We use AutoGen to select between the following models"),),
    ),
    "markitdown/test_wikipedia.html": Sample(
        "Microsoft",
        phrases=((None, "Microsoft entered the operating system (OS) business in 1980"),),
        rows=(
            "| ISIN | US5949181045 |",
            "| Region | Sales in billion $ | share |",
            "| 2005 | 39,788 | 12,254 | 70,815 | 61,000 |",
            "| BlackRock | 5.6% |",
        ),
        tables=4,
    ),
    "markitdown/test.pdf": Sample(
        None,
        ((1, 1, "1 Introduction"),),
        ((1, "There are at least three reasons confirming its general feasibility and utility"),),
    ),
    "markitdown/REPAIR-2022-INV-001_multipage.pdf": Sample(
        "ZAVA AUTO REPAIR",
        phrases=((1, "This is a preliminary estimate for the visible damage"),),
        rows=(
            "| Insured name | Gabriel Diaz | Year | 2022 |",
            "| Body Labor |  | 2 | 150 | 300 |",
            "| GRAND TOTAL |  |  |  | 5,738 |",
        ),
        tables=4,
    ),
    "markitdown/SPARSE-2024-INV-1234_borderless_table.pdf": Sample(
        "INVENTORY RECONCILIATION REPORT",
        (
            (1, 1, "INVENTORY RECONCILIATION REPORT"),
            (2, 1, "Variance Analysis:"),
            (2, 1, "Summary Statistics:"),
            (2, 1, "Detailed Analysis by Category:"),
            (2, 2, "Extended Inventory Review:"),
            (2, 2, "Recommendations:"),
            (2, 2, "Approval:"),
        ),
        ((2, "meets our target threshold, but critical items require expedited resolution"),),
        (
            "| Product Code | Location | Expected | Actual | Variance | Status |",
            "|  | B-07 |  | 289 | -23 |  |",
            "| SKU-6678 | Software | $200.00 | $42,000.00 | 2024-10-25 | High Value |",
        ),
        2,
    ),
    "markitdown/movie-theater-booking-2024.pdf": Sample(
        "BOOKING ORDER",
        (
            (1, 1, "BOOKING ORDER"),
            (2, 1, "STARLIGHT CINEMAS"),
            (2, 1, "Orders"),
            (2, 1, "Booking Agency"),
            (2, 1, "Customer"),
            (2, 1, "Booking Summary"),
            (2, 1, "Totals"),
            (2, 1, "Account Representatives"),
            (2, 1, "Show Schedule Details"),
            (3, 1, "Show Details"),
            (3, 1, "Total Revenue: $12,500.00"),
        ),
        rows=(
            "| Order / Rev: | 2024-12-5678 | Cinema: | Downtown Multiplex |",
            "| December 2024 | 48 | $12,500.00 | $11,250.00 | 85% |",
            "| 2 | SCR-2 | 12/20/24 | 12/31/24 | Winter Wonderland | Standard | 4:30 PM |",
        ),
        tables=7,
    ),
    "markitdown/masterformat_partial_numbering.pdf": Sample(
        None,
        ((1, 1, "1. INTENT"), (1, 1, "KEN SARGENT HOUSE GRANDE PRAIRIE, ALBERTA")),
        ((1, ".1 The intent of this Request for Proposal (RFP) is to solicit submissions"),),
        tables=1,
    ),
    "markitdown/RECEIPT-2024-TXN-98765_retail_purchase.pdf": Sample(
        "TECHMART ELECTRONICS", phrases=((1, "SUBTOTAL $863.91"), (1, "Visa Card ending in 4782"))
    ),
    "py-pdf/006-pdflatex-outline/pdflatex-outline.pdf": Sample(
        None,
        (
            (1, 1, "Contents"),
            *(
                (1, 2, f"{n} {name}")
                for n, name in ((1, "Foo"), (2, "Bar"), (3, "Baz"), (4, "Foo"))
            ),
            *((1, 3, f"{n} {name}") for n, name in ((5, "Bar"), (6, "Baz"), (7, "Foo"))),
            *((1, 4, f"{n} {name}") for n, name in ((8, "Bar"), (9, "Baz"))),
        ),
        tables=1,
    ),
    "py-pdf/011-google-doc-document/google-doc-document.pdf": Sample(
        "PDF Example Document",
        ((1, 1, "Example document"),),
        ((1, "Beautiful is better than ugly."),),
        (
            "| Continent | Asia | Europe | Europe | Europe | Europe |",
            "| Population | 273.879.750 1 | 83,190,556 2 | 8,935,112 3 | 67,413,000 | 453 |",
        ),
        1,
    ),
    "py-pdf/021-pdfa/crazyones-pdfa.pdf": Sample(
        "The Crazy Ones",
        ((1, 1, "The Crazy Ones"),),
        ((1, "The round pegs in the square holes."), (1, "October 14, 1998")),
    ),
    "py-pdf/003-pdflatex-image/pdflatex-image.pdf": Sample(None, ((1, 1, "1 Your Chapter"),)),
    "py-pdf/012-libreoffice-form/libreoffice-form.pdf": Sample(
        "Example for a Form", ((1, 1, "Example for a Form"),)
    ),
    "py-pdf/022-pdfkit/pdfkit.pdf": Sample("Header", ((1, 1, "Header"),), ((1, "Foo: bar"),)),
    "py-pdf/015-arabic/habibi.pdf": Sample("habibi", phrases=((1, "حَبيبي habibi"),)),
    "py-pdf/015-arabic/habibi-rotated.pdf": Sample(
        None, phrases=tuple((page, "habibi") for page in (1, 2, 3, 4))
    ),
    "py-pdf/026-latex-multicolumn/multicolumn.pdf": Sample(
        "Two-Column Document with Lorem Ipsum",
        ((1, 1, "Two-Column Document with Lorem Ipsum"), (2, 1, "Abstract")),
        (
            (1, "Lorem ipsum dolor sit amet, consectetuer adipiscing elit. Ut purus elit"),
            (1, "Pellentesque cursus luctus mauris."),
            (2, "lacus vel est. Curabitur consectetuer."),
        ),
        (
            "| Austria | 8.9 | 83,879 | Vienna | German |",
            "| Finland | 5.5 | 338,424 | Helsinki | Finnish, Swedish |",
        ),
        1,
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_as_a_person_reads_it(reader: Reader, samples: Path, name: str) -> None:
    expected, extraction = SAMPLES[name], read(reader, samples / name)
    assert extraction.title == expected.title
    if expected.headings:
        assert tuple(headings(extraction)) == expected.headings
    pieces = [(block.page, extraction.text[block.start : block.end]) for block in extraction.blocks]
    for page, phrase in expected.phrases:
        assert page in [at for at, text in pieces if phrase in text], phrase
    tables = [
        extraction.text[block.start : block.end]
        for block in extraction.blocks
        if block.kind == "table"
    ]
    assert len(tables) == expected.tables
    for row in expected.rows:
        assert any(row in table for table in tables), row


WIKIPEDIA = """History | Corporate affairs | Corporate identity | See also | References |
    External links"""


def test_an_encyclopedia_keeps_its_headings_and_loses_its_menus(
    reader: Reader, samples: Path
) -> None:
    extraction = read(reader, samples / "markitdown/test_wikipedia.html")
    seconds = [text for level, _, text in headings(extraction, 2) if level == 2]
    assert seconds == [part.strip() for part in WIKIPEDIA.split("|")]
    thirds = [text for level, _, text in headings(extraction) if level == 3]
    assert (len(thirds), thirds[0], thirds[-1]) == (24, "1972–1985: Founding", "Controversies")
    for menu in ("Bahasa Indonesia", "Edit links", "Jump to content", "Hidden categories"):
        assert menu not in extraction.text


def test_a_textbook_of_117_pages(reader: Reader, samples: Path) -> None:
    extraction = read(reader, samples / "py-pdf/009-pdflatex-geotopo/GeoTopo-komprimiert.pdf")
    assert extraction.title == "Geometrie und Topologie"
    assert extraction.fields["author"] == "Martin Thoma"
    assert extraction.fields["created"] == "2016-12-31T17:43:23.000000Z"
    assert [(page, text) for level, page, text in headings(extraction, 1)] == [
        (2, "Vorwort"),
        (4, "Inhaltsverzeichnis"),
        (6, "1 Topologische Grundbegriffe"),
        (28, "2 Mannigfaltigkeiten und Simplizialkomplexe"),
        (48, "3 Fundamentalgruppe und Überlagerungen"),
        (68, "4 Euklidische und nichteuklidische Geometrie"),
        (91, "5 Krümmung"),
        (103, "Lösungen der Übungsaufgaben"),
        (109, "Bildquellen"),
        (110, "Abkürzungsverzeichnis"),
        (111, "Ergänzende Definitionen und Sätze"),
        (112, "Symbolverzeichnis"),
        (115, "Stichwortverzeichnis"),
    ]
    seconds = [(page, text) for level, page, text in headings(extraction, 2) if level == 2]
    for section in (
        (6, "1.1 Topologische Räume"),
        (21, "1.6 Wege und Knoten"),
        (38, "2.3 Simplizialkomplex"),
        (65, "3.4 Gruppenoperationen"),
        (98, "5.4 Erste und zweite Fundamentalform"),
    ):
        assert section in seconds
    assert "TOPOLOGISCHE RÄUME" not in extraction.text  # the running header
    entries = ("Abstand, 86", "Baum, 37", "Eigenwert, 107", "Färbbarkeit, 21", "Gerade, 64")
    index = [extraction.text.index(entry) for entry in entries]
    assert index == sorted(index)  # a column is read to its end before the next
    passages = [one for one in chunk(extraction) if "Satz 1.1 (Heine-Borel)" in one.text]
    assert [passage.pages for passage in passages] == [(21, 21)]


SCANS = {
    "markitdown/MEDRPT-2024-PAT-3847_medical_report_scan.pdf": 3,
    "py-pdf/007-imagemagick-images/imagemagick-lzw.pdf": 1,
    "py-pdf/019-grayscale-image/grayscale-image.pdf": 1,
    "py-pdf/023-cmyk-image/cmyk-image.pdf": 1,
}


@pytest.mark.parametrize("name", SCANS)
def test_a_scan_says_so(samples: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with Reader() as reader, pytest.raises(SourceError) as raised:
        read(reader, samples / name)
    pages = f"{SCANS[name]} page{'s' if SCANS[name] > 1 else ''}"
    assert str(raised.value).startswith(f"no text in {pages}: scanned? install tesseract")


def test_a_password_is_asked_for(reader: Reader, samples: Path) -> None:
    name = "py-pdf/005-libreoffice-writer-password/libreoffice-writer-password.pdf"
    with pytest.raises(SourceError, match="it is protected by a password"):
        read(reader, samples / name)


def test_spans_are_exact_and_readings_repeatable(samples: Path) -> None:
    found = 0
    with Reader() as reader:
        for path in sorted(samples.rglob("*")):
            name = extractor_for(path) if path.is_file() else None
            if name is None or "GeoTopo" in path.name:  # which takes seconds
                continue
            try:
                extraction = read(reader, path)
            except SourceError:
                continue
            found += 1
            position = 0
            for block in extraction.blocks:
                piece = extraction.text[block.start : block.end]
                assert extraction.text[position : block.start].strip() == "", path
                assert piece.strip(), path
                assert not piece.endswith("\n"), path
                position = block.end
            assert extraction.text[position:].strip() == "", path
            again = load(name)(path.read_bytes(), path.name)  # in this process, not in the child
            assert (again.text, again.blocks) == (extraction.text, extraction.blocks), path
    assert found == 40


def test_damaged_samples_are_read_or_named_and_never_crash(reader: Reader, samples: Path) -> None:
    chance = random.Random(5)
    complaints: list[str] = []
    paths = [
        path
        for path in sorted(samples.rglob("*"))
        if path.is_file() and extractor_for(path) and path.stat().st_size < 100_000
    ]
    for path in chance.choices(paths, k=150):
        data = bytearray(path.read_bytes())
        for _ in range(chance.randrange(1, 100)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data = data[: chance.randrange(1, 2 * len(data))]
        try:
            reader(bytes(data), path.name)
        except SourceError as error:
            complaints.append(f"{path.name}: {error}")
    unexpected = ("crashed the reader", "it cannot be read (")
    assert [one for one in complaints if any(sign in one for sign in unexpected)] == []
    assert len(complaints) > 50


# --- a folder full of bad files ------------------------------------------------------------------


def test_bad_files_are_lines_in_the_report_and_the_rest_goes_in(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    bad: dict[str, tuple[bytes, str]] = {
        "bomb.docx": (docx(words("x") + " " * 20_000_000), "a zip bomb"),
        "broken.xlsx": (xlsx({"S": ""})[:-60], "not a whole zip file"),
        "deep.html": (b"<div>" * 50_000, "nested more than 2,048 levels deep"),
        "empty.pdf": (b"", "it is empty: 0 bytes"),
        "laughs.docx": (
            zipped({"word/document.xml": f"<!DOCTYPE x [<!ENTITY l0 'ha'>{laughs}]><x>&l9;</x>"}),
            "as XML bombs do",
        ),
        "locked.docx": (compound({"EncryptedPackage": b"x"}), "protected by a password"),
        "old.doc": (compound({"WordDocument": b"x"}), "Save it as DOCX"),
        "scan.pdf": (picture_pdf(3), "no text in 3 pages: scanned?"),
        "wrong.pptx": (b"GIF89a", "not what its ending says"),
    }
    for name, (content, _) in bad.items():
        (folder / name).write_bytes(content)
    with (folder / "huge.pdf").open("wb") as huge:
        huge.truncate(500 * 1024**2)  # all holes: it takes no room on the disk
    (folder / "zz-report.docx").write_bytes(pdf([[Text(72, 700, "Gravewind was found.")]]))
    (folder / "zz-note.md").write_text("# Hollowgate\n\nThe bridge of chains.")
    (folder / "zz-code.py").write_text("def toll(coins):\n    return 3 * coins\n")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")

    with trivium.init(tmp_path / "a.trivium", model="none") as library:
        report = library.add(folder)
        errors = {Path(name).name: message for name, message in report.errors}
        assert set(errors) == {*bad, "huge.pdf"}
        for name, (_, message) in bad.items():
            assert message in errors[name], name
        assert "it has 500 MB; files of more than 200 MB are not read" in errors["huge.pdf"]
        assert [Path(name).name for name in report.skipped] == ["photo.jpg"]
        assert len(report.added) == 3
        [(name, note)] = report.notes
        assert Path(name).name == "zz-report.docx"
        assert note == "called .docx, it is a PDF file and was read as one."
        [hit] = library.search("gravewind")
        assert (hit.title, hit.chunk.pages) == ("zz-report", (1, 1))
        assert library.search("toll coins").hits[0].title == "zz-code.py"


def test_the_command_names_bad_files_and_notes(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"")
    (tmp_path / "b.txt").write_bytes(pdf([[Text(72, 700, "A PDF after all.")]]))
    command = [sys.executable, "-m", "trivium"]
    subprocess.run([*command, "init", "x.trivium", "--model", "none"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [*command, "add", "-L", "x.trivium", "a.pdf", "b.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == "1 added, 1 failed\n"
    assert "! a.pdf: it is empty: 0 bytes." in done.stderr
    assert "b.txt: called .txt, it is a PDF file and was read as one." in done.stderr
