"""What a Word document keeps beside its text: styles, numbering, and the text of one paragraph."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml.etree import _Element as Element

from trivium.ingest.extract.trees import (
    attribute,
    child,
    children,
    chosen,
    is_on,
    local,
    whole_number,
)

_HEADING_NAME = re.compile(r"heading ([1-9])$")
_CODE_NAME = re.compile(r"\b(?:code|preformatted|macro)\b")
_LONGEST_CHAIN = 20  # styles that stand on styles; more is a circle


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph style means here. `level` is 1 to 9 for headings, else 0."""

    name: str = ""
    level: int = 0
    is_code: bool = False
    is_contents: bool = False
    numbering: tuple[str, int] | None = None


class Styles:
    """Paragraph styles by id, with what they take over from the styles that they stand on."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {
            attribute(style, "styleId") or "": style for style in children(root, "style")
        }
        self._known: dict[str, Style] = {}

    def __getitem__(self, id: str) -> Style:
        if id not in self._known:
            self._known[id] = self._read(id)
        return self._known[id]

    def _read(self, id: str) -> Style:
        name, level, number, depth, own = "", 0, "", None, ""
        for _ in range(_LONGEST_CHAIN):
            element = self._elements.get(id)
            if element is None:
                break
            called = (attribute(child(element, "name"), "val") or "").lower()
            own = own or called
            match = _HEADING_NAME.match(called)
            outline = attribute(child(element, "pPr", "outlineLvl"), "val")
            if not level and called == "title":
                level = 1
            elif not level and match:
                level = int(match[1])
            elif not level and outline:
                level = whole_number(outline, 9) + 1
            numbering = child(element, "pPr", "numPr")
            number = number or attribute(child(numbering, "numId"), "val") or ""
            given = attribute(child(numbering, "ilvl"), "val")
            depth = whole_number(given) if depth is None and given else depth
            name = name or called
            id = attribute(child(element, "basedOn"), "val") or ""
        level = level if level <= 9 else 0
        return Style(
            name,
            level,
            bool(_CODE_NAME.search(own)),
            own.startswith("toc "),
            (number, depth or max(level - 1, 0)) if number and number != "0" else None,
        )


class Numbering:
    """Counts numbered paragraphs as Word does, and gives each its mark."""

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, Element]] = {}
        self._counts: dict[str, list[int]] = {}
        self._definition: dict[str, str] = {}
        for element in children(root):
            if local(element) == "abstractNum":
                id = attribute(element, "abstractNumId") or ""
                self._levels[id] = {
                    whole_number(attribute(level, "ilvl")): level
                    for level in children(element, "lvl")
                }
            elif local(element) == "num":
                definition = attribute(child(element, "abstractNumId"), "val") or ""
                self._definition[attribute(element, "numId") or ""] = definition

    def mark(self, number: str, depth: int) -> str:
        """The mark of the next paragraph of this list at this depth: "-", "2.", "1.3"."""
        definition = self._definition.get(number, "")
        level = self._levels.get(definition, {}).get(depth)
        kind = attribute(child(level, "numFmt"), "val") or "bullet"
        if kind == "none":
            return ""
        if kind == "bullet" or level is None:
            return "-"
        counts = self._counts.setdefault(number, [])
        while len(counts) <= depth:
            start = self._levels[definition].get(len(counts))
            counts.append(whole_number(attribute(child(start, "start"), "val"), 1) - 1)
        del counts[depth + 1 :]
        counts[depth] += 1
        pattern = attribute(child(level, "lvlText"), "val") or f"%{depth + 1}."
        return re.sub(r"%([1-9])", lambda at: self._shown(definition, counts, int(at[1])), pattern)

    def _shown(self, definition: str, counts: list[int], place: int) -> str:
        if place > len(counts):
            return ""
        level = self._levels[definition].get(place - 1)
        return _written(counts[place - 1], attribute(child(level, "numFmt"), "val") or "")


def _written(number: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 9)
        return letter if form == "lowerLetter" else letter.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = "".join(
            row[number // unit % 10]
            for unit, row in (
                (1000, ("", "m", "mm", "mmm")),
                (100, ("", "c", "cc", "ccc", "cd", "d", "dc", "dcc", "dccc", "cm")),
                (10, ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx", "xc")),
                (1, ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")),
            )
        )
        return roman if form == "lowerRoman" else roman.upper()
    return str(number)


# --- the text of a paragraph ---------------------------------------------------------------------

_LEFT_OUT = frozenset(  # removed text, field codes, properties
    ["del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr", "sdtPr", "rt"]
)
_SIGNS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
_NOTES = {
    "footnoteReference": "footnotes",
    "endnoteReference": "endnotes",
    "commentReference": "comments",
}


@dataclass(slots=True)
class Inline:
    """The text of a paragraph and what hangs on it: text boxes, notes, where pages begin.

    `pages_before` counts the page breaks in front of the first word, `pages_within` the rest.
    """

    text: str = ""
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    pages_before: int = 0
    pages_within: int = 0


def inline(paragraph: Element) -> Inline:
    """The text as the reader sees it: insertions in, deletions and hidden text out."""
    found = Inline()
    parts: list[str] = []
    _collect(paragraph, parts, found)
    found.text = "".join(parts)
    return found


def _collect(element: Element, parts: list[str], found: Inline) -> None:
    for part in element:
        name = local(part)
        if name in _LEFT_OUT or (name == "r" and is_on(child(part, "rPr", "vanish"))):
            continue
        if name == "t":
            parts.append(part.text or "")
        elif name in _SIGNS:
            parts.append(_SIGNS[name])
        elif name == "lastRenderedPageBreak":
            if any(text.strip() for text in parts):
                found.pages_within += 1
            else:
                found.pages_before += 1
        elif name == "oMath":
            parts.append(math_text(part))
        elif name in _NOTES:
            found.notes.append((_NOTES[name], attribute(part, "id") or ""))
        elif name == "AlternateContent":
            _collect(chosen(part), parts, found)
        elif name == "txbxContent":
            found.boxes.append(part)
        else:
            if name == "docPr" and " " in (described := attribute(part, "descr") or ""):
                parts.append(f" {described} ")
            _collect(part, parts, found)


# --- formulas ------------------------------------------------------------------------------------


def math_text(element: Element) -> str:
    """A formula on one line: `sin θ=(mλ)/a`, `x^2`, `√(b^2)`."""
    name = local(element)
    if name == "t":
        return (element.text or "").replace("\u2061", " ")  # the invisible sign between f and x
    part = {local(one): one for one in element}
    match name:
        case "f":
            return f"{_grouped(part.get('num'))}/{_grouped(part.get('den'))}"
        case "sSup" | "sSub" | "sSubSup" | "nary":
            sign = attribute(child(part.get("naryPr"), "chr"), "val") if name == "nary" else None
            base = _plain(part.get("e"))
            below = f"_{_grouped(part.get('sub'))}" if _plain(part.get("sub")) else ""
            above = f"^{_grouped(part.get('sup'))}" if _plain(part.get("sup")) else ""
            if name == "nary":
                return f"{sign or '∫'}{below}{above} {base}"
            return f"{base}{below}{above}"
        case "rad":
            return f"{_plain(part.get('deg'))}√({_plain(part.get('e'))})"
        case "d":
            opening = attribute(child(part.get("dPr"), "begChr"), "val")
            closing = attribute(child(part.get("dPr"), "endChr"), "val")
            inner = ", ".join(_plain(one) for one in children(element, "e"))
            return (
                f"{'(' if opening is None else opening}{inner}{')' if closing is None else closing}"
            )
        case "mr" | "eqArr":
            return "; ".join(_plain(one) for one in children(element, "e")) + " "
    return "".join(math_text(one) for one in element if not local(one).endswith("Pr"))


def _plain(element: Element | None) -> str:
    return "" if element is None else math_text(element)


def _grouped(element: Element | None) -> str:
    text = _plain(element).strip()
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
