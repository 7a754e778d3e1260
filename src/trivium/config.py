"""Profiles: frozen data, TOML in, checked values out; no live objects.

`[index]` is used when a library is made and is then frozen in it; `[search]` can be used on any
library that has the legs. Every key that is not read is an error that names the nearest right one.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from trivium.errors import InvalidValue, NotALibrary, UnknownName, UnknownSetting, command, nearest
from trivium.factual import LABELS, VerifySettings
from trivium.fusion_settings import NO_COMPANY, CompanySettings
from trivium.parsing import parse
from trivium.stages import ConfidenceSettings, ContextSettings, RerankSettings
from trivium.types import COLUMNS, Bm25, Unit
from trivium.values import dataclass

LEG_NAMES = ("keyword", "vector", "trigram")
WORD_LEGS = ("keyword", "trigram")
"""Those that read words, and the same words where nothing is misspelt."""
_PROFILES = Path(__file__).parent / "profiles"


def _known_names(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            hint = nearest(name, known) or f" Known here: {_list(known)}."
            raise UnknownSetting(f"unknown name '{name}' in {where}.{hint}")


def _list(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What a library is made with; changing any of it means reading the sources again."""

    model: str = "minilm"
    chunk_size: int = 200
    chunk_overlap: int = 24
    template: str = "{title}\n{heading}\n{text}"
    keep_sources: bool = True
    """Whether source files are copied to the library's archive."""
    container: str = "trivium-documents"
    """Where blob storage, if the user has set one up, keeps the source files."""
    labels: tuple[str, ...] = LABELS
    text_search: str = "english"
    """The text-search configuration in which PostgreSQL stores words; others need none."""
    vectors: Literal["matrix", "lance"] = "matrix"
    """Where vectors are searched: in the library's own arrays, or in a LanceDB dataset."""


@dataclass(frozen=True, slots=True)
class KeywordSettings:
    """How the keyword leg reads a query and scores columns."""

    join: Literal["or", "and", "websearch"] = "or"
    by: Literal["bm25", "database"] = "bm25"
    """Who ranks: BM25, the same everywhere, or the database's own text search if it has one."""
    stop_words: Literal["english", "none"] = "english"
    minimum_length: int = 1
    weights: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 1.0))
    k1: float = 1.2
    b: float = 0.75
    depth: int = 100
    depth_per_hit: float = 1.0

    def __post_init__(self) -> None:
        _check_words("search.keyword", self)

    def bm25(self) -> Bm25:
        return Bm25({name: self.weights.get(name, 0.0) for name in COLUMNS}, self.k1, self.b)


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """How deep the vector leg looks: `depth` units, or `depth_per_hit` times what is asked for."""

    depth: int = 100
    depth_per_hit: float = 1.0


@dataclass(frozen=True, slots=True)
class TrigramSettings:
    """How deep the trigram leg looks, and what it compares."""

    by: Literal["words", "database"] = "words"
    """What the query is compared with: the words of the library, the same everywhere, or, if the
    database can do that, whole passages (heading and text)."""
    weights: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 1.0))
    k1: float = 1.2
    b: float = 0.75
    depth: int = 100
    depth_per_hit: float = 1.0

    def __post_init__(self) -> None:
        _check_words("search.trigram", self)

    def bm25(self) -> Bm25:
        return Bm25({name: self.weights.get(name, 0.0) for name in COLUMNS}, self.k1, self.b)


def _check_words(where: str, leg: KeywordSettings | TrigramSettings) -> None:
    """What BM25 can reckon with: beyond it, scores would be endless, or not be numbers."""
    _known_names(f"{where}.weights", leg.weights, COLUMNS)
    if min(leg.weights.values(), default=0.0) < 0:
        raise InvalidValue(f"{where}.weights must not be negative; 0 leaves a column out")
    if leg.k1 < 0 or not 0 <= leg.b <= 1:
        raise InvalidValue(
            f"{where}.k1 must not be negative and b be from 0 to 1; 1.2 and 0.75 are usual"
        )


@dataclass(frozen=True, slots=True)
class FuseSettings:
    """How the legs become one ranking; a leg that is not named has weight 1."""

    method: Literal["rrf", "union", "relative", "dbsf", "blend"] = "rrf"
    k: float = 60
    weights: Mapping[str, float] = field(default_factory=dict)
    scale: Mapping[str, Literal["best", "raw", "ceiling", "between"]] = field(default_factory=dict)
    beyond: Literal["nothing", "score"] = "nothing"
    """What a leg gives to chunks that only other legs ranked: nothing, or its own score of them."""
    guard: bool = False
    """Whether a leg with nothing to say about a query is weighted down."""

    def __post_init__(self) -> None:
        if self.k < 0:
            raise InvalidValue("search.fuse.k must not be negative; 60 is the usual value")
        _known_names("search.fuse.weights", self.weights, LEG_NAMES)
        _known_names("search.fuse.scale", self.scale, LEG_NAMES)

    def weight(self, leg: str) -> float:
        return self.weights.get(leg, 1.0)


SIGNALS = ("semantic", "vector", "severity", "temporal_decay", "tag_overlap", "domain_match")
_LEVEL = {"severity": 0.15, "temporal_decay": 0.15, "tag_overlap": 0.15, "domain_match": 0.15}


@dataclass(frozen=True, slots=True)
class ScoreSettings:
    """How signals score what was found: document 004's numbers; `none` leaves scores alone.

    `weights` hold where words alone were searched, `hybrid` where vectors were too.
    """

    method: Literal["none", "signals"] = "none"
    weights: Mapping[str, float] = field(default_factory=lambda: {"semantic": 0.40, **_LEVEL})
    hybrid: Mapping[str, float] = field(
        default_factory=lambda: {"semantic": 0.25, "vector": 0.15, **_LEVEL}
    )
    severity: Mapping[str, float] = field(
        default_factory=lambda: {"critical": 1.0, "warning": 0.7, "suggestion": 0.4}
    )
    half_life_days: float = 365
    decay_zone: float = 0.25
    """The last part of a validity window, in which its decay falls from 1 to 0."""
    adapt_after: int = 30
    """So many judgements are needed before they move the semantic weight; 0: they never do."""
    adapt_step: float = 0.30
    adapt_limit: float = 0.15

    def __post_init__(self) -> None:
        for name, weights in (("weights", self.weights), ("hybrid", self.hybrid)):
            _known_names(f"search.score.{name}", weights, SIGNALS)
            if min(weights.values(), default=0.0) < 0 or abs(sum(weights.values()) - 1) > 1e-9:
                raise InvalidValue(
                    f"search.score.{name} must sum to 1, none of them negative; they sum to "
                    f"{sum(weights.values()):g}, so change the others too"
                )
        if not all(0 <= value <= 1 for value in self.severity.values()):
            raise InvalidValue("search.score.severity has a value outside 0 to 1; choose another")
        if self.half_life_days <= 0 or not 0 < self.decay_zone <= 1:
            raise InvalidValue(
                "search.score.half_life_days must be above 0 and decay_zone a share of 1; "
                "365 and 0.25 are what document 004 says"
            )
        if min(self.adapt_after, self.adapt_step, self.adapt_limit) < 0:
            raise InvalidValue("search.score.adapt_… must not be negative; 0 switches it off")


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """How memories come in when they are asked for: scored as the `same` as everything else, or
    searched by their words alone and put in at one `fixed` score, at most so many of them.
    """

    method: Literal["same", "fixed"] = "same"
    score: float = 0.5
    most: int = 3

    def __post_init__(self) -> None:
        if self.most < 0 or not 0 <= self.score <= 1:
            raise InvalidValue(
                "search.memory.score must be from 0 to 1 and most not negative; 0.5 and 3 are "
                "what document 004 and habit say"
            )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """What a search does, from legs to the unit of a hit."""

    unit: Unit = "document"
    legs: tuple[str, ...] = ("keyword", "vector", "trigram")
    optional: tuple[str, ...] = ()
    """Legs that are skipped, and not an error, where the library cannot serve them."""
    small_corpus: int = 0
    """Where fewer than so many hold a word of the query, no page drops most of them; 0: no rule."""
    keyword: KeywordSettings = KeywordSettings()
    vector: VectorSettings = VectorSettings()
    trigram: TrigramSettings = TrigramSettings()
    fuse: FuseSettings = FuseSettings()
    verify: VerifySettings = field(default_factory=VerifySettings)
    company: CompanySettings = NO_COMPANY
    score: ScoreSettings = ScoreSettings()
    memory: MemorySettings = MemorySettings()
    snippet: Literal["best", "start"] = "best"
    """The window that holds most of the query, or the first characters as they stand."""
    snippet_length: int = 240  # three lines of a terminal, and enough to judge a hit by
    confidence: ConfidenceSettings = field(default_factory=ConfidenceSettings)
    rerank: RerankSettings = field(default_factory=RerankSettings)
    context: ContextSettings = field(default_factory=ContextSettings)

    def __post_init__(self) -> None:
        if not 1 <= self.snippet_length <= 10_000:
            raise InvalidValue("search.snippet_length must be from 1 to 10000; 240 is usual")
        _known_names("search.legs", self.legs, LEG_NAMES)
        _known_names("search.optional", self.optional, LEG_NAMES)
        if not self.legs:
            raise InvalidValue("search.legs is empty; name at least one of " + _list(LEG_NAMES))

    def depth(self, leg: str, limit: int) -> int:
        """How many units a leg is asked for when `limit` hits are: never fewer than those."""
        settings: KeywordSettings | VectorSettings | TrigramSettings = getattr(self, leg)
        return max(settings.depth, math.ceil(settings.depth_per_hit * limit), limit)


@dataclass(frozen=True, slots=True)
class Profile:
    """One way of searching, as data."""

    name: str
    description: str = ""
    index: IndexSettings = IndexSettings()
    search: SearchSettings = SearchSettings()


@cache
def profile_names() -> list[str]:
    """The profiles that ship with Trivium."""
    return sorted(file.stem for file in _PROFILES.glob("*.toml"))


def profile_text(name: str) -> str:
    """The TOML of a profile by name, or of the file at this path."""
    if name.endswith(".toml"):
        try:
            return Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise UnknownName(f"cannot read the profile {name}: {error.strerror}") from error
    if name not in profile_names():
        hint = nearest(name, profile_names()) or f" There are: {_list(profile_names())}."
        raise UnknownName(f"there is no profile named '{name}'.{hint}")
    return (_PROFILES / f"{name}.toml").read_text(encoding="utf-8")


def load_profile(name: str, overrides: Iterable[str] = ()) -> Profile:
    """A profile with `section.key=value` overrides laid over it; values are read as TOML."""
    if name in profile_names():
        return _shipped(name, tuple(overrides))
    return _read_profile(name, tuple(overrides))


@lru_cache(maxsize=256)  # overrides may come from anybody who asks a server
def _shipped(name: str, overrides: tuple[str, ...]) -> Profile:
    """What ships with the package does not change while it runs; read it once."""
    return _read_profile(name, overrides)


def _read_profile(name: str, overrides: tuple[str, ...]) -> Profile:
    try:
        data = tomllib.loads(profile_text(name))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidValue(f"profile {name} is not valid TOML: {error}") from error
    for override in overrides:
        _override(data, override)
    data["name"] = Path(name).stem if name.endswith(".toml") else name
    return parse(Profile, data, "")


def library_toml(profile: str, settings: IndexSettings) -> str:
    """What a library keeps of how it was made; `read_library_toml` gives it back."""
    lines = [
        "# What this library was made with. The model and the chunks depend on it: do not edit.",
        f'profile = "{profile}"',
        "",
        "[index]",
    ]
    for one in fields(settings):
        if (value := getattr(settings, one.name)) != LABELS:
            lines.append(f"{one.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(one) for one in value)}]"
    if not isinstance(value, str):
        return str(value).lower()
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def read_library_toml(folder: Path) -> tuple[str, IndexSettings]:
    """The profile's name and the index settings that a library was made with."""
    path = folder / "library.toml"
    try:
        text = path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotALibrary(
            f"{folder} holds no library; make one with {command('init', folder)}"
        ) from error
    except OSError as error:
        raise NotALibrary(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NotALibrary(f"{path} is not valid TOML ({error}); restore it from a copy") from error
    return parse_library_toml(text, str(path))


def parse_library_toml(text: str, where: str) -> tuple[str, IndexSettings]:
    """The same of its text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise NotALibrary(f"{where} is not valid TOML ({error}); restore it from a copy") from error
    profile = data.get("profile", "default")
    return str(profile), parse(IndexSettings, data.get("index", {}), "index.")


def _override(data: dict[str, Any], override: str) -> None:
    path, equals, text = override.partition("=")
    if not equals:
        raise InvalidValue(f"write an override as section.key=value, not '{override}'")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text  # a bare word is a string
    *sections, key = path.strip().split(".")
    for section in sections:
        data = data.setdefault(section, {})
        if not isinstance(data, dict):
            raise UnknownSetting(f"'{path}' leads through '{section}', which is not a section")
    data[key] = value
