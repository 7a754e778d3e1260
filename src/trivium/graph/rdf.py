"""RDF files ↔ quads, by pyoxigraph: streamed in, streamed out, errors in our words."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from trivium.errors import InvalidValue, MissingExtra, SourceError, install
from trivium.graph.names import STRINGS
from trivium.protocols import Progress, silent
from trivium.text import content_hash
from trivium.types import Quad

FORMATS: Mapping[str, str] = {
    ".ttl": "TURTLE",
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
    ".trig": "TRIG",
    ".jsonld": "JSON_LD",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
}
"""Suffix in lower case → the format's name in pyoxigraph."""

_NOWHERE = "https://relative.invalid/"
"""The base of a JSON-LD file without one: pyoxigraph would drop its relative ids in silence."""

_ANONYMOUS = re.compile(r"[0-9a-f]{24,32}")
"""What pyoxigraph calls a blank node without a label: another name at every reading,
a number of 128 bits without its leading zeros."""

_ENTITY = re.compile(rb"<!ENTITY\s+%?\s*[\w.-]+\s+(?:\"([^\"]*)\"|'([^']*)'|(SYSTEM|PUBLIC))")
_ADVICE = {
    "has not been declared": "Declare it at the head of the file: @prefix name: <https://…> .",
    "No scheme found": "Write the IRI whole, or give its beginning with --base.",
    "LoadDocumentCallback": "Write the @context into the file; nothing is fetched from the net.",
    "UTF-8": "Save the file as UTF-8.",
}


def is_facts(path: Path) -> bool:
    """Whether a file holds facts, by its ending."""
    return path.suffix.lower() in FORMATS


def engine() -> Any:
    """pyoxigraph, or an error that says how to install it."""
    try:
        import pyoxigraph
    except ImportError as error:
        raise MissingExtra(
            f"RDF needs pyoxigraph, which is not installed; {install('graph')}"
        ) from error
    return pyoxigraph


class Facts:
    """The statements of a file, from front to back; `prefixes` is whole afterwards.

    Blank nodes get names that the document and their label or order in the file decide, so that
    reading the same file again gives the same statements.
    """

    def __init__(
        self, path: Path, document: str, base: str | None = None, progress: Progress = silent
    ) -> None:
        self._path = path
        self._name = str(path)
        self._base = base
        self._progress = progress
        self._document = document
        self.prefixes: dict[str, str] = {}

    def __iter__(self) -> Iterator[Quad]:
        ox = engine()
        self._blank = _BlankNames(self._document)
        kind = FORMATS[self._path.suffix.lower()]
        json_ld = kind == "JSON_LD"
        size = self._path.stat().st_size
        try:
            with self._path.open("rb") as file:
                if kind == "RDF_XML":
                    _refuse_entities(file, self._name)
                watched = _Watched(file, size, self._progress)
                base = self._base or (_NOWHERE if json_ld else None)
                parser = ox.parse(watched, format=getattr(ox.RdfFormat, kind), base_iri=base)
                for quad in parser:
                    yield self._quad(ox, quad)
                self.prefixes = dict(parser.prefixes)
        except SyntaxError as error:
            raise SourceError(_message(error, self._name)) from error
        except UnicodeDecodeError as error:
            raise SourceError(
                f"{self._name} is not valid UTF-8. Save the file as UTF-8."
            ) from error
        except ValueError as error:
            problem = str(error).rstrip(".")
            raise SourceError(f"{self._name}: {problem}. Correct the file or --base.") from error

    def _quad(self, ox: Any, quad: Any) -> Quad:
        value, datatype, language = self._object(ox, quad.object)
        graph = quad.graph_name
        found = Quad(
            self._node(ox, quad.subject),
            quad.predicate.value,
            value,
            datatype,
            language,
            "" if isinstance(graph, ox.DefaultGraph) else self._node(ox, graph),
        )
        if not self._base:
            for text in (found.subject, found.predicate, found.object, found.graph):
                if text.startswith(_NOWHERE):
                    raise SourceError(
                        f"{self._name}: the IRI '{text.removeprefix(_NOWHERE)}' is relative, and "
                        "the file names no base. Write it whole, or give its beginning with --base."
                    )
        return found

    def _node(self, ox: Any, node: Any) -> str:
        return self._blank(node.value) if isinstance(node, ox.BlankNode) else str(node.value)

    def _object(self, ox: Any, term: Any) -> tuple[str, str, str]:
        if isinstance(term, ox.Literal):
            language = term.language or ""
            if language and term.direction is not None:
                language += f"--{term.direction.value}"
            return term.value, term.datatype.value, language
        if isinstance(term, ox.Triple):
            return f"<<( {self._renamed(ox, term)} )>>", "", ""
        return self._node(ox, term), "", ""

    def _renamed(self, ox: Any, triple: Any) -> Any:
        """A triple term with the library's names for its blank nodes."""

        def term(one: Any) -> Any:
            if isinstance(one, ox.BlankNode):
                return ox.BlankNode(self._blank(one.value).removeprefix("_:"))
            return self._renamed(ox, one) if isinstance(one, ox.Triple) else one

        return ox.Triple(term(triple.subject), triple.predicate, term(triple.object))


class _BlankNames:
    """Names for the blank nodes of one document."""

    def __init__(self, document: str) -> None:
        self._start = f"_:n{content_hash(document)[:12]}"
        self._numbers: dict[str, int] = {}

    def __call__(self, label: str) -> str:
        if _ANONYMOUS.fullmatch(label):
            number = self._numbers.setdefault(label, len(self._numbers) + 1)
            return f"{self._start}a{number}"
        return f"{self._start}l{label}"


class _Watched(io.RawIOBase):
    """A file that tells how far it was read, and passes over a byte order mark."""

    def __init__(self, file: BinaryIO, size: int, progress: Progress) -> None:
        self._file, self._size, self._progress = file, size, progress
        self._reads = 0
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)  # not a byte more: pyoxigraph has no room for it
        self._reads += 1
        if self._reads % 256 == 0 or not data:
            self._progress("facts", self._file.tell(), self._size)
        return data


def _refuse_entities(file: BinaryIO, name: str) -> None:
    """Entities made of entities are how a small file becomes a large one."""
    head = file.read(1 << 16)
    file.seek(0)
    for double, single, outside in _ENTITY.findall(head):
        if outside or b"&" in double + single:
            raise SourceError(
                f"{name} declares an entity that is made of others or lies outside of the file. "
                "Write the IRIs out."
            )


def _message(error: SyntaxError, name: str) -> str:
    problem = error.msg or "it is not well formed"
    problem = re.sub(r"^Parser error (at|between) .*?: ", "", problem)
    place = f", line {error.lineno}, column {error.offset or 1}" if error.lineno else ""
    advice = next((advice for sign, advice in _ADVICE.items() if sign in error.msg), "")
    printable = "".join(c if c.isprintable() else "\ufffd" for c in problem).rstrip(".")
    after = advice or "Correct it and import the file again."
    return f"{name}{place}: {printable}; nothing of the file was taken in. {after}"


# --- out -----------------------------------------------------------------------------------------


def write(quads: Iterable[Quad], file: BinaryIO, suffix: str, prefixes: Mapping[str, str]) -> int:
    """Write statements in the format of this suffix; how many there were."""
    ox = engine()
    kind = FORMATS.get(suffix.lower())
    if kind is None:
        raise InvalidValue(
            f"facts cannot be written as '{suffix}'; choose one of {', '.join(FORMATS)}"
        )
    count = 0
    with_graphs = kind in ("N_QUADS", "TRIG", "JSON_LD")

    def terms() -> Iterator[Any]:
        nonlocal count
        for quad in quads:
            count += 1
            one = term_quad(quad)
            yield one if with_graphs else one.triple

    own = {name: iri for name, iri in prefixes.items() if re.fullmatch(r"[\w.-]*", name)}
    format = getattr(ox.RdfFormat, kind)
    try:
        ox.serialize(terms(), file, format=format, prefixes=own if kind != "JSON_LD" else None)
    except ValueError as error:
        raise InvalidValue(f"{error}; write N-Quads (.nq) instead") from error
    return count


def term_quad(quad: Quad) -> Any:
    """A stored statement as pyoxigraph's."""
    ox = engine()
    if quad.object.startswith("<<("):
        line = f"<urn:x> <urn:x> {quad.object} ."
        [parsed] = ox.parse(line, format=ox.RdfFormat.N_TRIPLES)
        object = parsed.object
    elif not quad.datatype:
        object = _resource(quad.object)
    elif quad.language:
        language, _, direction = quad.language.partition("--")
        way = {"ltr": ox.BaseDirection.LTR, "rtl": ox.BaseDirection.RTL}.get(direction)
        object = ox.Literal(quad.object, language=language, direction=way)
    else:
        object = ox.Literal(quad.object, datatype=ox.NamedNode(quad.datatype))
    graph = _resource(quad.graph) if quad.graph else ox.DefaultGraph()
    return ox.Quad(_resource(quad.subject), ox.NamedNode(quad.predicate), object, graph)


def _resource(text: str) -> Any:
    ox = engine()
    return ox.BlankNode(text[2:]) if text.startswith("_:") else ox.NamedNode(text)


def line(quad: Quad) -> str:
    """A statement in N-Quads, without pyoxigraph: its identity, and what the ledger keeps."""
    if not quad.datatype:
        object = quad.object if quad.object.startswith(("_:", "<<(")) else f"<{quad.object}>"
    else:
        text = quad.object.replace("\\", "\\\\").replace('"', '\\"')
        text = text.replace("\n", "\\n").replace("\r", "\\r")
        kind = f"@{quad.language}" if quad.language else f"^^<{quad.datatype}>"
        object = f'"{text}"' + ("" if quad.datatype == STRINGS[0] else kind)
    subject = quad.subject if quad.subject.startswith("_:") else f"<{quad.subject}>"
    graph = f" <{quad.graph}>" if quad.graph and not quad.graph.startswith("_:") else ""
    graph = f" {quad.graph}" if quad.graph.startswith("_:") else graph
    return f"{subject} <{quad.predicate}> {object}{graph} ."


_LINE = re.compile(
    r"(?P<subject><[^>]*>|_:\S+) <(?P<predicate>[^>]*)> "
    r'(?P<object><<\(.*\)>>|<[^>]*>|_:\S+|"(?P<text>(?:[^"\\]|\\.)*)"'
    r"(?:@(?P<language>\S+)|\^\^<(?P<datatype>[^>]*)>)?)"
    r"(?: (?P<graph><[^>]*>|_:\S+))? \.",
    re.DOTALL,
)
_ESCAPED = {"n": "\n", "r": "\r"}


def quad_of(text: str) -> Quad:
    """The statement that `line` wrote."""
    found = _LINE.fullmatch(text)
    if found is None:
        raise InvalidValue(f"'{text}' is no statement; 'trivium verify audit' proves the ledger")
    subject, graph = (_bare(found[name] or "") for name in ("subject", "graph"))
    if found["text"] is None:
        return Quad(subject, found["predicate"], _bare(found["object"]), graph=graph)
    literal = re.sub(r"\\(.)", lambda sign: _ESCAPED.get(sign[1], sign[1]), found["text"])
    language = found["language"] or ""
    kind = STRINGS[("--" in language) + 1 if language else 0]
    return Quad(subject, found["predicate"], literal, found["datatype"] or kind, language, graph)


def _bare(term: str) -> str:
    return term[1:-1] if term.startswith("<") and not term.startswith("<<(") else term
