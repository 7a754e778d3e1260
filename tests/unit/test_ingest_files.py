"""Finding files and reading their bytes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trivium.errors import SourceError
from trivium.ingest.files import decode, extractor_for, normalise_lines, walk


def names(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in walk(root)]


def write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def test_files_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a/b/c.md", "c.txt", "B.md", "a.md")
    assert names(tmp_path) == ["B.md", "a/b/c.md", "a/z.md", "a.md", "b.md", "c.txt"]


def test_what_nobody_wrote_by_hand_is_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        *(".hidden.md", ".git/config", ".obsidian/app.json", "node_modules/x/readme.md"),
        *("__pycache__/a.pyc", "old.trivium/index.db", "note.md~", ".note.md.swp", "note.swp"),
        *("#note.md#", "upload.tmp", "~$report.docx", "deep/er/.secret/x.md", "kept.md"),
    )
    assert names(tmp_path) == ["kept.md"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    root = tmp_path / "root"
    write(tmp_path, "outside/secret.md", "root/a/real.md")
    (root / "a" / "loop").symlink_to(root)
    (root / "away").symlink_to(outside)
    (root / "away.md").symlink_to(outside / "secret.md")
    (root / "again.md").symlink_to(root / "a" / "real.md")
    (root / "broken.md").symlink_to(root / "nothing.md")
    assert names(root) == ["a/real.md"]


def test_a_root_that_is_a_link_is_walked(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert names(tmp_path / "link") == ["a.md"]


def test_what_cannot_be_read_is_reported_and_the_rest_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "locked/b.md", "z.md")
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("os.scandir", refusing)
    errors: list[tuple[Path, str]] = []
    found = list(walk(tmp_path, lambda path, message: errors.append((path, message))))
    assert [path.name for path in found] == ["a.md", "z.md"]
    assert errors == [
        (
            tmp_path / "locked",
            "Permission denied. Check that it exists and that you may read it.",
        )
    ]


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    errors: list[Path] = []
    assert list(walk(tmp_path / "none", lambda path, message: errors.append(path))) == []
    assert errors == [tmp_path / "none"]


def test_a_name_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    errors: list[str] = []
    assert list(walk(tmp_path, lambda path, message: errors.append(message))) == []
    assert errors == ["the name b'caf\\xe9.md' is not UTF-8. Rename the file."]


def test_the_suffix_says_who_reads_a_file() -> None:
    assert extractor_for(Path("Notes.MD")) == "markdown"
    assert extractor_for(Path("a.markdown")) == "markdown"
    assert extractor_for(Path("a.rst")) == "plain"
    assert extractor_for(Path("photo.jpg")) is None
    assert extractor_for(Path("Makefile")) is None


@pytest.mark.parametrize(
    "codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-32-be"]
)
def test_unicode_is_read_in_all_its_forms(codec: str) -> None:
    text = "Æsir, гном, 竜"
    data = text.encode(codec)
    if codec.endswith("-be"):
        data = "\ufeff".encode(codec) + data
    assert decode(data, "a.txt") == text


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1252", "Café au lait costs 3 €."),
        ("cp1252", "He said “no” — it’s the dragon’s hoard…"),
        ("cp1252", "El niño comió una piña."),
        ("cp1252", "Die Größe der Straße"),
        ("cp1250", "Příliš žluťoučký kůň úpěl"),
        ("cp1250", "Zażółć gęślą jaźń"),
        ("cp1254", "Ejderha dağlarda yaşıyor."),
        ("cp1251", "Дракон живёт в горах."),
        ("cp1251", "ВНИМАНИЕ! ДРАКОН"),
        ("koi8-r", "Дракон живёт в горах."),
        ("cp1253", "Ο δράκος ζει στο βουνό."),
        ("shift_jis", "竜は山に住んでいる。"),
        ("shift_jis", "名前,年齢,住所\n佐藤太郎,30,東京"),
        ("euc_jp", "竜は山に住んでいる。日本語の文章です。"),
        ("gb18030", "龙住在山里。这是一个简短的笔记。"),
        ("big5", "龍住在山裡。這是一個簡短的筆記。"),
        ("euc_kr", "용은 산에 산다. 이것은 짧은 메모입니다."),
    ],
)
def test_old_encodings_are_told_apart_by_their_letters(codec: str, text: str) -> None:
    assert decode(text.encode(codec), "old.txt") == text


def test_a_long_sample_may_end_inside_a_character() -> None:
    text = "x" + "竜は山に住んでいる。" * 5_000
    assert decode(text.encode("shift_jis"), "old.txt") == text


@pytest.mark.parametrize(
    "data",
    [
        b"PNG\0\0\1\2",
        "no mark".encode("utf-16-le"),
        b"\xff\xfeab\0\0",  # a mark, and a NUL character behind it
    ],
)
def test_a_binary_file_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"^data\.bin is not a text file"):
        decode(data, "data.bin")


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(128, 256)),
        "Le dragon vit là-haut, près d’ici".encode("mac_roman"),
        "Příliš žluťoučký".encode() + b"\xff",  # damaged UTF-8 stays damaged in any other reading
        b"\xff\xfea",
    ],
)
def test_what_makes_no_sense_is_refused_with_the_next_step(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"^note\.txt is not valid .* save it as UTF-8\.$"):
        decode(data, "note.txt")


def test_line_ends_become_newlines() -> None:
    assert normalise_lines("a\r\nb\rc\nd") == "a\nb\nc\nd"
