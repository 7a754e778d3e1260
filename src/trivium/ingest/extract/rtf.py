"""Rich Text Format: headings by style or outline level, lists, tables, footnotes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from trivium.errors import SourceError
from trivium.ingest.blocks import Extraction
from trivium.ingest.extract.writer import Writer, known_fields, one_line

EXTRACTOR = "rtf/2"
MEDIA_TYPE = "application/rtf"

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?"
    rb"|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}]+)|(\\)"
)
_DEEPEST = 10_000
_HEADING = re.compile(r"heading ([1-9])\b", re.I)
_SIGNS = {
    "tab": "\t", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ",
    "line": "\n", "softline": "\n", "~": "\u00a0", "_": "-", "nestcell": " ",
}  # fmt: skip
_UNREAD = frozenset(
    (
        *("colortbl", "pict", "object", "objdata", "header", "headerl", "headerr", "headerf"),
        *("footer", "footerl", "footerr", "footerf", "fldinst", "themedata", "datastore"),
        *("colorschememapping", "latentstyles", "listtable", "listoverridetable", "rsidtbl"),
        *("generator", "xmlnstbl", "mmathPr", "pgdsctbl", "revtbl", "bkmkstart", "bkmkend"),
        *("ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "annotation", "atnid", "atnauthor"),
        *("filetbl", "nonshppict", "fontemb", "panose", "falt", "wgrffmtfilter", "passwordhash"),
    )
)
_INFO = {"title": "title", "author": "author", "subject": "subject", "keywords": "keywords"}
_TIMES = {"creatim": "created", "revtim": "updated"}
_CHARSETS = {  # \fcharset → code page
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip


def extract(data: bytes, name: str) -> Extraction:
    """The text in paragraphs, lists and tables; unknown control words are passed over."""
    if not data.lstrip()[:5] == b"{\\rtf":
        raise SourceError("it is not RTF: it does not begin with {\\rtf. Rename it.")
    reader = _Reader()
    position = 0
    while match := _TOKEN.match(data, position):
        reader.read(match)
        position = max(match.end(), reader.binary_until)
    reader.finish()
    times = {key: _moment(parts) for key, parts in reader.times.items()}
    info = {key: _joined(text) for key, text in reader.info.items()}
    fields = {key: text for key, text in info.items() if key != "title"}
    return reader.writer.extraction(
        info.get("title"), known_fields(**fields, **times), MEDIA_TYPE, EXTRACTOR
    )


def _moment(parts: dict[str, int]) -> str:
    year, month, day = (parts.get(key, 1) for key in ("yr", "mo", "dy"))
    return f"{year:04d}-{month:02d}-{day:02d}T{parts.get('hr', 0):02d}:{parts.get('min', 0):02d}:00"


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds until the brace closes."""

    place: str = "body"  # body, list mark, fonts, styles, an entry of info, or nowhere
    codec: str = "cp1252"
    fallback: int = 1  # characters behind \u that old readers show instead
    hidden: bool = False
    footnote: bool = False


@dataclass(slots=True)
class _Paragraph:
    style: int | None = None
    outline: int | None = None
    depth: int = 0
    in_table: bool = False


@dataclass(slots=True)
class _Reader:
    writer: Writer = field(default_factory=Writer)
    info: dict[str, str] = field(default_factory=dict)
    times: dict[str, dict[str, int]] = field(default_factory=dict)
    _group: _Group = field(default_factory=_Group)
    _stack: list[_Group] = field(default_factory=list)
    _starred: bool = False
    _codec: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict)
    _font: int = 0
    _styles: dict[int, str] = field(default_factory=dict)
    _style: int = 0
    _bytes: bytearray = field(default_factory=bytearray)
    _text: list[str] = field(default_factory=list)
    _skip: int = 0
    binary_until: int = 0
    """Where the bytes of a picture end; what stands before is no text."""
    _mark: str = ""
    _paragraph: _Paragraph = field(default_factory=_Paragraph)
    _items: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)

    def read(self, match: re.Match[bytes]) -> None:
        word, number, hexadecimal, sign, brace, text, _ = match.groups()
        if text is not None:
            self._raw(text.replace(b"\r", b"").replace(b"\n", b""))
        elif hexadecimal is not None:
            self._raw(bytes.fromhex(hexadecimal.decode()))
        elif brace == b"{":
            self._decode()
            if len(self._stack) >= _DEEPEST:
                raise SourceError(f"its groups are nested more than {_DEEPEST:,} deep: damaged.")
            self._stack.append(self._group)
            self._starred = False
        elif brace == b"}":
            self._close()
        elif sign is not None:
            self._sign(sign)
        elif word is not None:
            self._word(word.decode("ascii"), int(number) if number else None, match.end())

    def finish(self) -> None:
        self._decode()
        self._end_paragraph()
        self._end_table()
        self._end_list()

    # --- text ------------------------------------------------------------------------------------

    def _raw(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        if self._group.place != "nowhere":
            self._bytes += data[skipped:]

    def _decode(self) -> None:
        """Turn the bytes gathered so far into text of the place where they stand."""
        self._skip = 0
        if self._bytes:
            text = self._bytes.decode(self._group.codec, "replace")
            self._bytes.clear()
            self._put(text)

    def _put(self, text: str) -> None:
        place = self._group.place
        if place == "body" and not self._group.hidden:
            self._text.append(text)
        elif place == "mark":
            self._mark += text
        elif place == "styles":
            self._styles[self._style] = self._styles.get(self._style, "") + text
        elif place in _INFO.values():
            self.info[place] = self.info.get(place, "") + text

    def _close(self) -> None:
        self._decode()
        if self._stack:
            if self._group.footnote and not self._stack[-1].footnote:
                self._put("]")
            self._group = self._stack.pop()
        self._starred = False

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self._starred = True
        elif sign in b"\\{}":
            self._raw(sign)
        elif sign in b"\r\n":
            self._word("par", None, 0)
        elif sign in b"~_":
            self._decode()
            self._put(_SIGNS[sign.decode()])

    # --- control words ---------------------------------------------------------------------------

    def _word(self, word: str, number: int | None, end: int) -> None:
        starred, self._starred = self._starred, False
        if word == "u":
            self._unicode(number or 0)
            return
        if word == "bin":
            self.binary_until = end + max(0, number or 0)
            return
        self._decode()
        if self._destination(word, starred) or self._group.place == "nowhere":
            return
        if word in _SIGNS:
            self._put(_SIGNS[word])
        elif self._group.place in _TIMES.values():
            self.times.setdefault(self._group.place, {})[word] = number or 0
        elif self._group.place == "styles":
            if word in ("s", "cs", "ds", "ts"):
                self._style = (number or 0) if word == "s" else -1
                self._styles[self._style] = ""
        elif word in ("ansicpg", "f", "deff", "fcharset", "plain", "uc", "v"):
            self._character(word, number)
        elif self._group.place in ("body", "mark"):
            self._structure(word, number)

    def _unicode(self, number: int) -> None:
        if self._bytes:
            self._decode()
        if self._group.place != "nowhere":
            self._put(chr(number % 0x10000))
        self._skip = self._group.fallback

    def _destination(self, word: str, starred: bool) -> bool:
        place = {
            "fonttbl": "fonts", "stylesheet": "styles", "listtext": "mark", "pntext": "mark",
            "info": "info", "footnote": "body", **_INFO, **_TIMES,
        }.get(word)  # fmt: skip
        if word in _UNREAD or (starred and place is None and word != "shpinst"):
            place = "nowhere"
        if place is None or ((word in _INFO or word in _TIMES) and self._group.place != "info"):
            return False
        if word == "footnote":
            self._put(" [")
        if place == "mark":
            self._mark = ""
        footnote = self._group.footnote or word == "footnote"
        self._group = replace(self._group, place=place, footnote=footnote)
        if place == "styles":
            self._style = 0
        return True

    def _character(self, word: str, number: int | None) -> None:
        codec = self._group.codec
        if word == "ansicpg" and number:
            self._codec = codec = _known(f"cp{number}")
        elif word == "fcharset":
            self._fonts[self._font] = _CHARSETS.get(number or 0, self._codec)
        elif word == "f" and self._group.place == "fonts":
            self._font = number or 0
        elif word == "f":
            codec = self._fonts.get(number or 0, self._codec)
            codec = self._codec if codec == "cp1252" else codec
        elif word == "plain":
            codec = self._codec
            self._group = replace(self._group, hidden=False)
        elif word == "uc":
            self._group = replace(self._group, fallback=max(0, min(number or 0, 8)))
        elif word == "v":
            self._group = replace(self._group, hidden=number != 0)
        self._group = replace(self._group, codec=codec)

    def _structure(self, word: str, number: int | None) -> None:
        match word:
            case "par" | "sect" | "page":
                self._end_paragraph()
            case "pard":
                self._paragraph = _Paragraph()
            case "s":
                self._paragraph.style = number
            case "outlinelevel":
                self._paragraph.outline = number
            case "ilvl":
                self._paragraph.depth = max(0, min(number or 0, 8))
            case "intbl":
                self._paragraph.in_table = True
            case "cell":
                self._cells.append(one_line(self._taken()))
            case "row":
                self._rows.append(self._cells)
                self._cells = []

    # --- blocks ----------------------------------------------------------------------------------

    def _taken(self) -> str:
        text = "".join(self._text)
        self._text.clear()
        self._mark = "" if self._paragraph.in_table else self._mark
        return _joined(text)

    def _end_paragraph(self) -> None:
        if self._paragraph.in_table:
            self._text.append(" ")
            return
        self._end_table()
        text, mark = self._taken(), one_line(self._mark)
        self._mark = ""
        if not text.strip():
            return
        level = self._level()
        if mark and not level:
            shown = mark if any(map(str.isalnum, mark)) else "-"
            self._items.append(f"{'  ' * self._paragraph.depth}{shown} {one_line(text)}")
            return
        self._end_list()
        if level:
            self.writer.heading(f"{mark} {text}" if mark else text, level)
        else:
            self.writer.paragraph(text)

    def _level(self) -> int:
        outline = self._paragraph.outline
        if outline is not None and 0 <= outline < 9:
            return outline + 1
        name = self._styles.get(self._paragraph.style or 0, "").strip("; ")
        heading = _HEADING.match(name)
        return int(heading[1]) if heading else int(name.lower() == "title")

    def _end_table(self) -> None:
        if self._cells:
            self._rows.append(self._cells)
        if self._rows:
            self._end_list()
            self.writer.table(self._rows)
        self._rows, self._cells = [], []

    def _end_list(self) -> None:
        self.writer.list(self._items)
        self._items = []


def _joined(text: str) -> str:
    """Characters beyond the first 65,536 come as two halves."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _known(codec: str) -> str:
    try:
        "".encode(codec)
    except LookupError:
        return "cp1252"
    return codec
