"""What IRIs are called: prefixed names, the words of a local name, the label among labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from trivium.errors import InvalidValue, nearest
from trivium.types import Filter, Pattern, Quad

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"

RDF_TYPE = f"{RDF}type"
REIFIES = f"{RDF}reifies"
STRINGS = (f"{XSD}string", f"{RDF}langString", f"{RDF}dirLangString")
"""The datatypes of what people wrote; everything else is a value for machines."""

WELL_KNOWN: Mapping[str, str] = {
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "https://schema.org/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "sh": "http://www.w3.org/ns/shacl#",
}
"""Prefixes that everybody means the same by; a library's own come first."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")
_PREFIXED = re.compile(r"([^\s:/]*):([^\s<>\"]*)")
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-.+~]+|%20")
_SCHEMES = ("http", "https", "urn", "file", "mailto", "tag", "ftp", "data", "did", "doi", "info")


def expand(name: str, prefixes: Mapping[str, str]) -> str:
    """The IRI that a prefixed name, a full IRI (also in <…>) or a blank node stands for."""
    if name.startswith(("_:", "<<(")):
        return name
    if name.startswith("<") and name.endswith(">") and is_iri(name[1:-1]):
        return name[1:-1]
    match = _PREFIXED.fullmatch(name)
    if match and match[1] in prefixes:
        return prefixes[match[1]] + match[2]
    if match and match[1] in WELL_KNOWN:
        return WELL_KNOWN[match[1]] + match[2]
    if "://" in name or name.partition(":")[0].lower() in _SCHEMES:
        if _SCHEME.fullmatch(name):
            return name
        raise InvalidValue(f"'{name}' is not an IRI; it holds a blank or a sign that none may hold")
    if match:
        known = [*prefixes, *WELL_KNOWN]
        hint = nearest(match[1], known) or " Write the whole IRI instead."
        raise InvalidValue(f"the prefix '{match[1]}:' of '{name}' is not known here.{hint}")
    raise InvalidValue(
        f"'{name}' is no IRI; write one whole, such as https://example.org/x, or as prefix:name"
    )


def is_iri(text: str) -> bool:
    """Whether a text can be an absolute IRI."""
    return _SCHEME.fullmatch(text) is not None


def shorten(iri: str, prefixes: Mapping[str, str]) -> str:
    """The shortest prefixed name of an IRI, or the IRI itself."""
    best = iri
    for prefix, start in (*prefixes.items(), *WELL_KNOWN.items()):
        if start and iri.startswith(start):
            short = f"{prefix}:{iri[len(start) :]}"
            if len(short) < len(best) and not re.search(r"[/#?]", iri[len(start) :]):
                best = short
    return best


def local_name(iri: str) -> str:
    """What stands behind the last #, / or :."""
    return re.split(r"[#/:]", iri.rstrip("#/"))[-1]


def namespace(iri: str) -> str:
    """What stands before the local name."""
    return iri[: len(iri) - len(local_name(iri))] if local_name(iri) else iri


def phrase(iri: str) -> str:
    """A local name as words: `hasManager` → "has manager", `GreywickMine` → "Greywick Mine"."""
    words = [word for word in _WORD_ENDS.split(local_name(iri)) if word]
    if words and words[0][:1].islower():  # a property; a thing keeps its capitals
        words = [word if word.isupper() else word.lower() for word in words]
    return " ".join(words)


def called(iri: str, label: str) -> str:
    """How a subject or predicate is written above its statements.

    Its label, with the words of its local name behind it where they say something else, so that
    both can be searched.
    """
    if iri.startswith("_:"):
        return label
    words = phrase(iri)
    if not label:
        return words
    missing = set(words.lower().split()) - set(label.lower().replace(",", " ").split())
    return f"{label} ({words})" if missing else label


def best_label(found: Sequence[Quad], predicates: Sequence[str]) -> str:
    """One label among several: by the order of the predicates, then without a language, then
    English, then by language and text; "" when there is none.
    """

    def order(quad: Quad) -> tuple[int, bool, bool, str, str]:
        rank = predicates.index(quad.predicate)
        language = quad.language.lower()
        return rank, bool(language), not language.startswith("en"), language, quad.object

    usable = [quad for quad in found if quad.predicate in predicates and quad.object.strip()]
    return min(usable, key=order).object if usable else ""


def expand_pattern(pattern: Pattern, prefixes: Mapping[str, str]) -> Pattern:
    """A pattern with whole IRIs; an object that is no name of a resource is a literal's text."""

    def iri(name: str | None) -> str | None:
        return expand(name, prefixes) if name else name

    value = pattern.object
    if value:
        with suppress(InvalidValue):
            value = expand(value, prefixes)
    return replace(
        pattern,
        subject=iri(pattern.subject),
        predicate=iri(pattern.predicate),
        graph=iri(pattern.graph),
        object=value,
    )


def expand_filter(filter: Filter, prefixes: Mapping[str, str]) -> Filter:
    """A filter with whole IRIs in its structural dimensions, also in what it leaves out."""

    def iris(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(expand(name, prefixes) for name in names)

    return replace(
        filter,
        subjects=iris(filter.subjects),
        predicates=iris(filter.predicates),
        rdf_types=iris(filter.rdf_types),
        graphs=iris(filter.graphs),
        exclude=tuple(expand_filter(one, prefixes) for one in filter.exclude),
    )


def is_structural(filter: Filter) -> bool:
    """Whether a filter names resources of the graph."""
    here = filter.subjects or filter.predicates or filter.rdf_types or filter.graphs
    return bool(here) or any(map(is_structural, filter.exclude))
