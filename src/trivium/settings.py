"""What a user sets once for all libraries: models, rerankers, a chat endpoint, tiers, an archive.

Frozen data and pure functions; `trivium.configuration` reads the files. Layers are laid over each
other, later ones win, and of every value it is known where it came from. A secret is never a
value here: settings name the environment variable that holds it.
"""

from __future__ import annotations

import json
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from trivium.config import profile_names
from trivium.errors import InvalidValue, TriviumError, UnknownSetting, nearest
from trivium.parsing import parse

Path: TypeAlias = tuple[str, ...]
"""The names that lead to a value: ("models", "qwen", "url")."""

BUILT_IN = "built-in"
DEFAULT = "default"
PREFIX = "TRIVIUM_"
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
OFFLINE_MODELS = frozenset(("minilm", "static", "hashing", "none"))  # they send nothing


def _harmless(path: Path, value: Any) -> bool:
    """Whether this counts in a folder's own file before `trivium trust`: names of what ships.

    Everything else says where data is sent, which key goes with it, or what is read from the disk.
    """
    if path == ("profile",):
        return value in profile_names()
    return path == ("model",) and value in OFFLINE_MODELS


def _check_url(name: str, url: str) -> None:
    if not url:
        return
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
        secret = parts.username is not None or parts.password is not None
        _ = parts.port
    except ValueError:
        fits, secret = False, False
    if secret:  # the value is not repeated: it holds what must not be shown
        raise InvalidValue(
            f"{name}.url holds a user name or password; put the key into an environment variable "
            "and name it in key_variable"
        )
    if not fits:
        raise InvalidValue(f"{name}.url must be like https://host/path, not '{url}'")


def _check_variable(name: str, variable: str) -> None:
    if variable and not _VARIABLE.fullmatch(variable):  # not repeated: it may be the key itself
        raise InvalidValue(
            f"{name}.key_variable takes the name of an environment variable, like OPENAI_API_KEY, "
            "never the key itself"
        )


def _check_positive(name: str, **values: float) -> None:
    for key, value in values.items():
        if not 0 < value < 1_000_000:
            raise InvalidValue(f"{name}.{key} must be above 0, not {value}")


def may_carry_a_key(url: str) -> bool:
    """Whether a key may go there: by TLS, or to this very machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """An embedding model that does not ship with Trivium."""

    kind: Literal["openai", "azure", "fastembed", "sentence-transformers"] = "openai"
    url: str = ""
    model: str = ""
    dimension: int = 0
    key_variable: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    shorten: bool = False
    """Ask the server for `dimension` numbers; for models that can give fewer than they have."""
    deployment: str = ""
    api_version: str = ""
    batch: int = 64
    batch_characters: int = 200_000
    concurrency: int = 4
    time_out: float = 60.0
    query_time_out: float = 10.0

    def __post_init__(self) -> None:
        _check_url("models", self.url)
        _check_variable("models", self.key_variable)
        _check_positive(
            "models",
            batch=self.batch,
            batch_characters=self.batch_characters,
            concurrency=self.concurrency,
            time_out=self.time_out,
            query_time_out=self.query_time_out,
        )
        if self.dimension < 0:
            raise InvalidValue(f"models.dimension must be above 0, not {self.dimension}")


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """A model that reads the query and a text together."""

    kind: Literal[
        "openrouter", "cohere", "jina", "voyage", "tei", "chat", "onnx", "sentence-transformers"
    ] = "openrouter"
    url: str = ""
    model: str = ""
    path: str = ""
    key_variable: str = ""
    api_version: str = ""
    characters: int = 8000
    """Of each text at most so many are sent: about 2,000 tokens, which every service takes."""
    tokens: int = 512
    """Of query and text together at most so many are read by a local cross-encoder."""
    time_out: float = 10.0

    def __post_init__(self) -> None:
        _check_url("rerankers", self.url)
        _check_variable("rerankers", self.key_variable)
        _check_positive(
            "rerankers", characters=self.characters, tokens=self.tokens, time_out=self.time_out
        )


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """The chat endpoint of `trivium ask` and `trivium check`."""

    kind: Literal["openai", "azure"] = "openai"
    url: str = ""
    model: str = ""
    key_variable: str = ""
    api_version: str = ""
    temperature: float = 0.0
    tokens: int = 1024
    """The longest answer."""
    time_out: float = 120.0

    def __post_init__(self) -> None:
        _check_url("chat", self.url)
        _check_variable("chat", self.key_variable)
        _check_positive("chat", tokens=self.tokens, time_out=self.time_out)


@dataclass(frozen=True, slots=True)
class TierSettings:
    """A library that is searched together with others; of a served one, its key and patience."""

    library: str = ""
    priority: float | None = None
    """Its scores are multiplied by it; None: agent 1, project .8, team .6, any other .5."""
    key_variable: str = ""
    time_out: float = 30.0

    def __post_init__(self) -> None:
        _check_variable("tiers", self.key_variable)
        _check_positive("tiers", time_out=self.time_out)


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """Where source files are kept besides the library's own archive."""

    kind: Literal["none", "azure", "s3"] = "none"
    url: str = ""
    """https://ACCOUNT.blob.core.windows.net for Azure, an endpoint other than Amazon's for S3."""
    container: str = ""
    """The container or bucket; empty means the library's own choice."""
    key_variable: str = ""
    """Azure: an account key or connection string. S3: ACCESS_KEY:SECRET_KEY."""

    def __post_init__(self) -> None:
        _check_url("archive", self.url)
        _check_variable("archive", self.key_variable)


@dataclass(frozen=True, slots=True)
class LanceSettings:
    """Where libraries made with `--vectors lance` keep their dataset."""

    url: str = ""
    """A folder, or the address of an object store (s3://, gs://, az://); empty: in the library."""

    def __post_init__(self) -> None:
        scheme, separator, _ = self.url.partition("://")
        if separator and scheme not in ("s3", "gs", "az"):
            raise InvalidValue(
                f"lance.url must be a folder or begin with s3://, gs:// or az://, not '{scheme}://'"
            )


@dataclass(frozen=True, slots=True)
class Settings:
    """All of it, checked."""

    profile: str = "default"
    """The profile of new libraries."""
    model: str = ""
    """The model of new libraries; empty means the profile's."""
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    rerankers: Mapping[str, RerankerSettings] = field(default_factory=dict)
    chat: ChatSettings = ChatSettings()
    tiers: Mapping[str, TierSettings] = field(default_factory=dict)
    archive: ArchiveSettings = ArchiveSettings()
    lance: LanceSettings = LanceSettings()


# --- layers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings from one place; what a stranger wrote counts only as far as it may."""

    origin: str
    data: Mapping[str, Any]
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """One setting: its name, its value and where it came from."""

    name: str
    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, where each came from, and what was left aside."""

    settings: Settings = Settings()
    origins: Mapping[Path, str] = field(default_factory=dict)
    ignored: tuple[Line, ...] = ()
    notices: tuple[str, ...] = ()

    def chose(self, *path: str) -> bool:
        """Whether the user said anything about this table; what is only built in does not count."""
        return any(
            place[: len(path)] == path and origin != BUILT_IN
            for place, origin in self.origins.items()
        )

    def lines(self) -> list[Line]:
        """Every setting in the order of its name, with what was left at its default."""
        return [
            Line(shown(path), value, self.origins.get(path, DEFAULT))
            for path, value in sorted(_values(self.settings, ()))
        ]


def combined(layers: Sequence[Layer], notices: Sequence[str] = ()) -> Configuration:
    """The layers laid over each other, each checked by itself so that an error names its place."""
    merged: dict[str, Any] = {}
    origins: dict[Path, str] = {}
    ignored: list[Line] = []
    for layer in layers:
        for path, value in _checked_leaves(layer):
            if layer.trusted or _harmless(path, value):
                _put(merged, path, value)
                origins[path] = layer.origin
            else:
                ignored.append(Line(shown(path), value, layer.origin))
    return Configuration(parse(Settings, merged, ""), origins, tuple(ignored), tuple(notices))


def from_environment(variables: Mapping[str, str], below: Sequence[Layer]) -> list[Layer]:
    """A layer for each variable that is a setting: TRIVIUM_PROFILE, TRIVIUM_CHAT__URL,
    TRIVIUM_MODELS__QWEN__DIMENSION: two underscores go one table deeper.

    A name such as text-embedding-3-small is written TEXT_EMBEDDING_3_SMALL where a layer below
    has it. Variables without two underscores that are no setting belong to others.
    """
    layers = []
    for variable in sorted(variables):
        if not variable.startswith(PREFIX):
            continue
        names = tuple(name.lower() for name in variable.removeprefix(PREFIX).split("__"))
        if len(names) == 1 and names[0] not in _scalars():
            continue
        try:
            path = _known(names, below)
            data: dict[str, Any] = {}
            _put(data, path, _typed(path, variables[variable]))
        except UnknownSetting as error:
            raise UnknownSetting(f"environment variable {variable}: {error}") from error
        layers.append(Layer(f"environment {variable}", data))
    return layers


def from_flags(flags: Mapping[str, Any]) -> Layer:
    """A layer of what was said on the command line, by dotted name; None was not said."""
    data: dict[str, Any] = {}
    for name, value in flags.items():
        if value is not None:
            _put(data, tuple(name.split(".")), value)
    return Layer("flag", data)


def shown(path: Path) -> str:
    """A path as TOML writes it."""
    return ".".join(name if _BARE.fullmatch(name) else json.dumps(name) for name in path)


def _checked_leaves(layer: Layer) -> list[tuple[Path, Any]]:
    try:
        parse(Settings, layer.data, "")
    except TriviumError as error:
        raise type(error)(f"{layer.origin}: {error}") from error
    return list(_leaves(layer.data, ()))


def _leaves(data: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    for name, value in data.items():
        if isinstance(value, Mapping) and (value or len(path) == 0):
            yield from _leaves(value, (*path, name))
        else:  # an empty [rerankers.NAME] is a choice too
            yield (*path, name), value


def _values(settings: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    for one in fields(settings):
        value, here = getattr(settings, one.name), (*path, one.name)
        if is_dataclass(value):
            yield from _values(value, here)
        elif isinstance(value, Mapping):
            for name, item in value.items():
                yield from _values(item, (*here, name))
        else:
            yield here, value


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    *tables, last = path
    for name in tables:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise UnknownSetting(f"'{shown(path)}' leads through '{name}', which is not a table")
    if isinstance(value, Mapping):
        data.setdefault(last, {}).update(value)
    else:
        data[last] = value


def _scalars() -> set[str]:
    return {one.name for one in fields(Settings) if isinstance(one.default, str)}


def _known(names: Path, below: Sequence[Layer]) -> Path:
    """The path that a variable's words mean, with named things spelled as in the layers below."""
    table, *rest = names
    if table not in ("models", "rerankers", "tiers") or not rest:
        return names
    for layer in reversed(below):
        for name in layer.data.get(table) or ():
            if re.sub(r"[^a-z0-9]", "_", name.lower()) == rest[0]:
                return (table, name, *rest[1:])
    return names


def _typed(path: Path, text: str) -> Any:
    """The text as the setting's type reads it: a name that looks like a number stays a name."""
    hint: Any = Settings
    for name in path:
        arguments = typing.get_args(hint)
        if typing.get_origin(hint) not in (None, Literal) and len(arguments) == 2:
            hint = arguments[1]
            continue
        hints = typing.get_type_hints(hint) if is_dataclass(hint) else {}
        if name not in hints:
            raise UnknownSetting(f"unknown setting '{shown(path)}'.{nearest(name, hints)}")
        hint = hints[name]
    if hint is str or typing.get_origin(hint) is Literal:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
