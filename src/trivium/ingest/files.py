"""Which files there are, who reads them, and what their bytes say."""

from __future__ import annotations

import codecs
import errno
import os
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from trivium.errors import SourceError

SUFFIXES: dict[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "plain",
    ".text": "plain",
    ".rst": "plain",
    ".htm": "html",
    ".html": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
    ".pptx": "pptx",
    ".pptm": "pptx",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".csv": "csv",
    ".tsv": "csv",
    ".epub": "epub",
    ".rtf": "rtf",
    ".eml": "email",
    ".msg": "msg",
    **dict.fromkeys((".doc", ".dot"), "docx"),  # these may be anything: their bytes decide
    **dict.fromkeys((".ppt", ".pps"), "pptx"),
    ".xls": "xlsx",
    **dict.fromkeys(
        (
            *(".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".vue", ".go", ".rs"),
            *(".java", ".kt", ".scala", ".swift", ".dart", ".c", ".h", ".cc", ".cpp", ".hpp"),
            *(".cs", ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".ex", ".exs", ".erl", ".hs"),
            *(".clj", ".ml", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".sql", ".proto", ".graphql"),
            *(".tf", ".css", ".scss", ".toml", ".yaml", ".yml", ".ini", ".cfg", ".cmake", ".nix"),
        ),
        "code",
    ),
}
"""Suffix in lower case → name of the format in `trivium.ingest.extract.FORMATS`."""

_SKIPPED = (
    ".*",
    "*.trivium",
    "*.omnidata",
    "node_modules",
    "__pycache__",
    *("*~", "~$*", "*.sw[a-z]", "*.tmp", "#*#", "*___jb_*"),  # what editors and Office leave behind
    *("*.part", "*.partial", "*.crdownload"),  # not there yet
)

_NOTHING_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class NotASource(SourceError):
    """A file that is not meant to be read here: an error by its name, passed over in a folder."""


def extractor_for(path: Path) -> str | None:
    """The name of the extractor that reads this file, or None when no one does."""
    return SUFFIXES.get(path.suffix.lower())


def _ignore(path: Path, message: str) -> None:
    """The report that nobody reads."""


def walk(root: Path, on_error: Callable[[Path, str], None] = _ignore) -> Iterator[Path]:
    """The files below a folder, always in the same order: by name, folders where they sort.

    Hidden, temporary and generated files are left out. Links are not followed: what they lead to
    inside the root is found in its own place, and what lies outside does not belong to it. What
    cannot be read is told to `on_error` and skipped; nothing is raised.
    """
    waiting = _entries(root, on_error)
    while waiting:
        entry = waiting.pop()
        path = Path(entry.path)
        try:
            if entry.is_dir(follow_symlinks=False):
                waiting.extend(_entries(path, on_error))
            elif entry.is_file(follow_symlinks=False):
                yield path
        except OSError as error:
            on_error(path, _reason(error))


def _entries(folder: Path, on_error: Callable[[Path, str], None]) -> list[os.DirEntry[str]]:
    """What is to be visited in a folder, last name first."""
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry in found if not is_skipped(entry.name)]
    except OSError as error:
        on_error(folder, _reason(error))
        return []
    for entry in entries:
        if not _is_unicode(entry.name):
            on_error(folder, f"the name {os.fsencode(entry.name)!r} is not UTF-8. Rename the file.")
    named = (entry for entry in entries if _is_unicode(entry.name))
    return sorted(named, key=lambda entry: entry.name, reverse=True)


def is_skipped(name: str) -> bool:
    """Whether a file or folder of this name is hidden, temporary or generated."""
    return any(fnmatchcase(name, pattern) for pattern in _SKIPPED)


def _is_unicode(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_gone(path: Path) -> bool:
    """Whether nothing is there. What cannot be looked at, for want of rights or of a drive that
    answers, is not gone.
    """
    try:
        path.stat()
    except OSError as error:
        return error.errno in _NOTHING_THERE
    except ValueError:  # a name that no file can have
        return True
    return False


def denied(path: Path) -> str:
    """Why something cannot be looked at; "" where it can, or where nothing is."""
    try:
        path.stat()
    except OSError as error:
        return "" if error.errno in _NOTHING_THERE else _reason(error)
    except ValueError:
        return ""
    return ""


def _reason(error: OSError) -> str:
    return f"{error.strerror or error}. Check that it exists and that you may read it."


# --- bytes to text -------------------------------------------------------------------------------

_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes, name: str) -> str:
    """The text of a file, without its byte order mark.

    UTF-8, UTF-16 and UTF-32 are certain. Older encodings are told apart by the letters they would
    give: the one in which they all belong to one language is taken, and if there is none, or the
    file is not text at all, `SourceError` says so.
    """
    marked = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    if marked is None and b"\0" in data:
        raise SourceError(
            f"{name} is not a text file: it holds NUL bytes. Leave it out, or save it as UTF-8 "
            "if it is text in UTF-16."
        )
    try:
        text = data.decode(marked or "utf-8")
    except UnicodeDecodeError as error:
        guess = None if marked else _decode_old(data)
        if guess is None:
            raise SourceError(
                f"{name} is not valid {marked or 'UTF-8'} (byte {error.start}) and its encoding "
                "cannot be told. Open it in the program that wrote it and save it as UTF-8."
            ) from error
        text = guess
    if "\0" in text:
        raise SourceError(f"{name} is not a text file: it holds NUL characters. Leave it out.")
    return text


def normalise_lines(text: str) -> str:
    """The text with `\\n` at every line end; extractors work on nothing else."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_SAMPLE = 65_536
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_LEAST_SCORE = 0.5
_SIGNS = "’‘“”„–—…€°«»·§©®™№"
_CJK_SIGNS = "、。，！？；：（）《》「」『』・ー"
_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行"
    "所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日者意无力与长"
    "世界很文名水山字笔记短龙王"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行"
    "所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日者意無力與長"
    "世界很文名水山字筆記短龍王"
)
_HANGUL = (
    "이다는을에의가고하지사기어자도로리인한그시나수대일해스라게아은정만서보부여를있제들주원으상전과소것구동니오장"
    "관성유공면안문화무연당적세비조와중국내우신경년거개생까습요데방영회모마간물"
)
_LANGUAGES = (  # codec, the letters a language uses most, letters it also has
    ("cp1252", "àâçéèêëîïôœùûüÀÇÉÈÊ", "æÿÂÎÔŒÙÛ"),
    ("cp1252", "äöüßÄÖÜ", "éàè"),
    ("cp1252", "áéíóúñüÁÉÍÓÚÑ¿¡ºª", ""),
    ("cp1252", "ãõáàâçéêíóôúÃÕÁÇÉÍÓ", "ªº"),
    ("cp1252", "àèéìòùÀÈÉÌÒÙ", "óî"),
    ("cp1252", "åäöøæéÅÄÖØÆ", ""),
    ("cp1254", "çğıöşüÇĞİÖŞÜ", "âîû"),
    ("cp1252", "áðéíóúýþæöÁÉÍÓÞÆÖ", ""),
    ("cp1250", "ąćęłńóśźżŁŚŻŹĆÓ", ""),
    ("cp1250", "áčďéěíňóřšťúůýžÁČĎÉÍŇŘŠŤÚÝŽ", "ľĺŕôä"),
    ("cp1250", "áéíóöőúüűÁÉÍÓÖŐÚÜŰ", ""),
    ("cp1250", "čćđšžČĆĐŠŽ", ""),
    ("cp1250", "ăâîşţĂÂÎŞŢ", ""),
    ("cp1251", "оеаинтсрвлкмдпуяОЕАИНТСРВЛ", "а-яёіїєґА-ЯЁІЇЄҐ"),
    ("koi8-r", "оеаинтсрвлкмдпуяОЕАИНТСРВЛ", "а-яёА-ЯЁ"),
    ("cp1253", "αοιετσνηυρπκμλςίάόέήύώ", "α-ωϊϋΑ-ΩΆΈΉΊΌΎΏ"),
    ("cp1255", "יוהלאמרתבשנ", "א-ת"),
    ("cp1256", "اليمونرتبةعدسف", "ء-ي،؟"),
    ("cp932", f"ぁ-んァ-ヶ{_CJK_SIGNS}", "一-龥"),
    ("euc_jp", f"ぁ-んァ-ヶ{_CJK_SIGNS}", "一-龥"),
    ("gb18030", f"{_SIMPLIFIED}{_CJK_SIGNS}", "一-龥"),
    ("cp950", f"{_TRADITIONAL}{_CJK_SIGNS}", "一-龥"),
    ("cp949", _HANGUL, f"가-힣{_CJK_SIGNS}"),
)


@cache
def _patterns(frequent: str, rare: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Made when the first old file is met: most libraries have none."""
    return re.compile(f"[{frequent}]"), re.compile(f"(?![{frequent}])[{rare}{_SIGNS}]")


def _decode_old(data: bytes) -> str | None:
    """The text in the encoding that makes most sense of it, or None when none does."""
    as_utf8 = data[:_SAMPLE].decode("utf-8", "replace")
    damaged = as_utf8.count("\ufffd")
    if sum(map(len, _FOREIGN.findall(as_utf8))) >= 2 * damaged:
        return None  # mostly good UTF-8 with some damage: another encoding would make it worse
    scored = [(_score(data[:_SAMPLE], *language), language[0]) for language in _LANGUAGES]
    score, codec = max(scored, key=lambda row: row[0])  # the first of equals: cp1252 is likeliest
    try:
        return data.decode(codec) if score >= _LEAST_SCORE else None
    except UnicodeDecodeError:
        return None


def _score(sample: bytes, codec: str, frequent: str, rare: str) -> float:
    """1 when every foreign character is a frequent letter of the language, -1 when none is one."""
    try:  # not final: the sample may end inside a character
        text = codecs.getincrementaldecoder(codec)().decode(sample, final=False)
    except UnicodeDecodeError:
        return -1.0
    foreign = "".join(_FOREIGN.findall(text))
    known, possible = (len(signs.findall(foreign)) for signs in _patterns(frequent, rare))
    unknown = len(foreign) - known - possible
    return (known + 0.5 * possible - unknown) / max(len(foreign), 1)
