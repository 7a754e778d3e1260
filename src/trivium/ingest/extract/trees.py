"""Looking around in XML trees whose namespaces come in two editions, as those of Office do."""

from __future__ import annotations

from lxml import etree
from lxml.etree import _Element as Element

_NO_MEMORY = 2  # of libxml2's error codes


def local(element: Element) -> str:
    """The name of an element without its namespace: Office has two for everything."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element | None, name: str) -> str | None:
    """An attribute by its name without namespace."""
    if element is None:
        return None
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant along these names, or None."""
    for name in path:
        if element is None:
            return None
        element = next((one for one in element if local(one) == name), None)
    return element


def children(element: Element | None, *names: str) -> list[Element]:
    """The children with one of these names, or all; nothing of nothing."""
    found = element if element is not None else ()
    return [one for one in found if not names or local(one) in names]


def whole_number(text: str | None, otherwise: int = 0) -> int:
    """The number, or the other one when it is none."""
    if not text:
        return otherwise
    try:
        return int(text)
    except ValueError:
        return otherwise


def is_on(element: Element | None) -> bool:
    """Whether a switch such as `<w:vanish/>` is there and not turned off."""
    return element is not None and attribute(element, "val") not in ("0", "false", "off", "none")


def chosen(alternatives: Element) -> Element:
    """Of several ways to show the same thing, the first."""
    choice = child(alternatives, "Choice")
    return alternatives if choice is None else choice


def reason(error: etree.XMLSyntaxError) -> str:
    """What is wrong with the markup; raises `MemoryError` when it was not the markup's fault.

    When libxml2 runs out of memory, lxml may know no more than that there was an error.
    """
    if getattr(error, "code", None) == _NO_MEMORY or error.msg in (None, "unknown error"):
        raise MemoryError from error
    return str(error.msg)
