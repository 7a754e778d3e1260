"""What a source says about itself, checked: front matter and entry fields become `Fields`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import yaml

from trivium.clock import format_time, parse_time
from trivium.errors import InvalidValue, SourceError, nearest

SEVERITIES = ("critical", "warning", "suggestion")
LARGEST_FRONT_MATTER = 64 * 1024
_MOST_VALUES = 100_000  # with all aliases written out; 64 KB without aliases cannot hold as many
_DEEPEST_NESTING = 20

_TEXTS = ("title", "kind", "category", "scope", "type", "domain", "severity", "context")
_TIMES = {"valid_from": "", "valid_until": "", "created": "date", "updated": "modified"}
_LISTS = ("tags", "aliases")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_FIELD = re.compile(r"[A-Za-z_][\w-]*[ \t]*:(?:[ \t]|\n|\Z)")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Fields:
    """A source's own statements; None or empty where it says nothing. Metadata is JSON-able."""

    title: str | None = None
    kind: str | None = None
    category: str | None = None
    scope: str | None = None
    type: str | None = None
    domain: str | None = None
    severity: str | None = None
    context: str | None = None
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    created: datetime | None = None
    updated: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def document_fields(fields: Mapping[str, Any], name: str) -> Fields:
    """The fields in their right types; whatever has no place of its own goes to `metadata`.

    `date` stands in for `created` and `modified` for `updated` where those are missing; aliases
    are a list in `metadata["aliases"]`. Raises `SourceError`, naming the source and the field.
    """
    texts = {key: text_field(fields, key, name) for key in _TEXTS}
    read_from = {key: _first_given(fields, key, other) for key, other in _TIMES.items()}
    times = {key: _time(fields.get(given), given, name) for key, given in read_from.items()}
    if times["valid_from"] and times["valid_until"] and times["valid_until"] < times["valid_from"]:
        raise _wrong(name, "valid_until", "is earlier than valid_from", "Correct one of the two.")
    used = {*_TEXTS, *_LISTS, *read_from.values()}
    rest = {key: value for key, value in fields.items() if key not in used and value is not None}
    metadata = {_key(key, name): _plain(rest[key], _key(key, name), name, 1) for key in rest}
    aliases = _names(fields.get("aliases"), "aliases", name)
    if aliases:
        metadata["aliases"] = list(aliases)
    tags = (tag.lstrip("#") for tag in _names(fields.get("tags"), "tags", name))
    return Fields(
        title=texts["title"],
        kind=texts["kind"].lower() if texts["kind"] else None,
        category=texts["category"],
        scope=texts["scope"].lower() if texts["scope"] else None,
        type=texts["type"],
        domain=texts["domain"],
        severity=_severity(texts["severity"], name),
        context=texts["context"],
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        valid_from=times["valid_from"],
        valid_until=times["valid_until"],
        created=times["created"],
        updated=times["updated"],
        metadata=metadata,
    )


def text_field(fields: Mapping[str, Any], key: str, name: str) -> str | None:
    """A field that must be text; None when it is missing or blank.

    YAML reads `title: 1984` as a number and `title: 2024-05-31` as a date: both are text here.
    """
    value = fields.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (str, int, float, date)):
        raise _wrong(
            name, key, f"must be text, not {_shape(value)}", f'Write {key}: "…" in quotes.'
        )
    return _storable(str(value), key, name).strip() or None


# --- front matter --------------------------------------------------------------------------------


def split_front_matter(text: str, name: str) -> tuple[Mapping[str, Any], str]:
    """The fields between `---` and `---` (or `...`) at the very start, and the text behind them.

    A first `---` that is never closed is a line across the page, unless fields stand below it:
    they may say who may read the file, so they are not taken for text. That, and front matter that
    is no YAML mapping, raises `SourceError` with the file and the line.
    """
    first, _, rest = text.partition("\n")
    closing = _CLOSING.search(rest) if first.rstrip() == "---" else None
    if closing is None:
        if first.rstrip() == "---" and _FIELD.match(rest):
            raise SourceError(
                f"{name}, line 1: the front matter is never closed. Put a line --- behind its "
                "fields, or begin the file with *** if a line across the page was meant."
            )
        return {}, text
    if closing.start() > LARGEST_FRONT_MATTER:
        raise SourceError(
            f"{name}: the front matter is longer than {LARGEST_FRONT_MATTER // 1024} KB. "
            "Shorten it, or begin the file with *** if a line across the page was meant."
        )
    return _read_yaml(rest[: closing.start()], name), rest[closing.end() :]


class _Placing:
    """Says where a value is that looks like a date and is none."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except ValueError as error:
            raise yaml.constructor.ConstructorError(
                problem=str(error), problem_mark=node.start_mark
            ) from error


class _Loader(_Placing, yaml.SafeLoader):
    """Safe YAML, in Python."""


class _QuickLoader(_Placing, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same in C, which takes a fifth of the time and reads rare signs differently."""


_PLAIN = re.compile(r"""[A-Za-z0-9 \n:,\[\]"'#._/()+=@~-]{0,1000}""")
"""What both loaders read alike. It has no aliases, and is too short to nest deeply."""


def _read_yaml(source: str, name: str) -> Mapping[str, Any]:
    try:
        fields = _quickly_read(source) if _PLAIN.fullmatch(source) else _read(source, name)
    except (yaml.YAMLError, RecursionError) as error:
        raise SourceError(_yaml_message(error, source, name)) from error
    if not isinstance(fields, dict):
        raise SourceError(
            f"{name}, line 2: the front matter is {_shape(fields)}, not fields. Write lines such "
            "as title: …, or begin the file with *** if a line across the page was meant."
        )
    return {_key(key, name): value for key, value in fields.items()}


def _read(source: str, name: str) -> Any:
    loader = _Loader(source)
    node = loader.get_single_node()
    if node is None:
        return {}
    _written_out(node, {}, name)
    return loader.construct_document(node)


def _quickly_read(source: str) -> Any:
    """What is plain; if something is wrong with it, the slow loader says what."""
    try:
        loader = _QuickLoader(source)
        node = loader.get_single_node()
        return {} if node is None else loader.construct_document(node)
    except yaml.YAMLError:
        return _read(source, "")


def _written_out(node: yaml.Node, sizes: dict[yaml.Node, int], name: str) -> int:
    """How many values the node holds with its aliases written out; refuses bombs and circles."""
    if node in sizes:
        return sizes[node]
    sizes[node] = _MOST_VALUES  # whoever meets it again before it is done stands in a circle
    children: list[yaml.Node] = []
    if isinstance(node, yaml.MappingNode):
        children = [part for pair in node.value for part in pair]
    elif isinstance(node, yaml.SequenceNode):
        children = node.value
    total = 1 + sum(_written_out(child, sizes, name) for child in children)
    if total > _MOST_VALUES:
        raise SourceError(
            f"{name}, line {node.start_mark.line + 2}: the front matter's aliases stand for more "
            f"than {_MOST_VALUES:,} values. Write the values out instead of using & and *."
        )
    sizes[node] = total
    return total


def _yaml_message(error: Exception, source: str, name: str) -> str:
    line, problem = 2, "it is nested too deeply"
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        line += mark.line if mark else 0
        problem = error.problem or str(error)
    elif isinstance(error, yaml.reader.ReaderError):
        line += source.count("\n", 0, error.position)
        problem = error.reason
    return (
        f"{name}, line {line}: the front matter is not valid YAML ({problem}). Put values with "
        'signs such as : # { [ in quotes, for example title: "Part 1: Fire".'
    )


# --- values --------------------------------------------------------------------------------------


def _first_given(fields: Mapping[str, Any], key: str, other: str) -> str:
    return other if fields.get(key) is None and fields.get(other) is not None else key


def _time(value: object, key: str, name: str) -> datetime | None:
    if value is None or value == "":
        return None
    if not isinstance(value, (str, date)):
        raise _wrong(name, key, f"must be a date, not {_shape(value)}", "Write it as 2024-05-31.")
    try:
        return parse_time(value)
    except InvalidValue as error:
        raise SourceError(f"{name}: field '{key}': {error}") from error


def _severity(value: str | None, name: str) -> str | None:
    if value is None or value.lower() in SEVERITIES:
        return value and value.lower()
    hint = nearest(value.lower(), SEVERITIES)
    choices = f"Write one of {', '.join(SEVERITIES)}."
    raise _wrong(name, "severity", f"is {value!r}, which is unknown", f"{choices}{hint}")


def _names(value: object, key: str, name: str) -> tuple[str, ...]:
    """A list of names, or one text with commas between them; no name twice."""
    if value is None:
        return ()
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise _wrong(name, key, f"must be a list, not {_shape(value)}", f"Write {key}: [one, two].")
    given = (text_field({key: part}, key, name) for part in parts)
    return tuple(dict.fromkeys(part for part in given if part))


def _key(key: object, name: str) -> str:
    text = key if isinstance(key, str) else str(_iso(key))
    return _storable(text, text.encode("utf-8", "replace").decode(), name)


def _iso(value: object) -> object:
    if isinstance(value, datetime):
        return format_time(value)
    return value.isoformat() if isinstance(value, date) else value


def _plain(value: object, key: str, name: str, depth: int) -> Any:
    """The value in JSON's types; dates become ISO text."""
    if depth > _DEEPEST_NESTING:
        raise _wrong(name, key, "is nested too deeply", "Make it flatter.")
    if isinstance(value, dict):
        return {_key(at, name): _plain(part, key, name, depth + 1) for at, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, key, name, depth + 1) for item in value]
    if isinstance(value, set):
        return sorted(str(_iso(item)) for item in value)
    value = _iso(value)
    if isinstance(value, str):
        return _storable(value, key, name)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise _wrong(name, key, f"is {_shape(value)}, which cannot be kept", "Write it as text.")


def _storable(text: str, key: str, name: str) -> str:
    if _UNSTORABLE.search(text):
        raise _wrong(name, key, "holds half a character or a NUL", "Write it again as UTF-8.")
    return text


def _shape(value: object) -> str:
    names = {dict: "a mapping", list: "a list", bool: "yes or no", str: "text", bytes: "bytes"}
    return names.get(type(value), f"{value!r}")


def _wrong(name: str, key: str, problem: str, step: str) -> SourceError:
    return SourceError(f"{name}: field '{key}' {problem}. {step}")
