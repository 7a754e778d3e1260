"""Embedding models: texts to unit vectors, each behind one name.

Importing this package loads no model and none of the libraries that run one; a model loads them
when it embeds its first text. Weights come from installed packages and are never downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import ModelUnavailable, UnknownModel, nearest

if TYPE_CHECKING:
    from trivium.protocols import Embedder
    from trivium.settings import ModelSettings

EMBEDDERS: Mapping[str, tuple[str, str]] = {
    "minilm": ("trivium.embed.minilm", "MiniLM"),
    "static": ("trivium.embed.static", "Static"),
    "hashing": ("trivium.embed.hashing", "Hashing"),
}
"""Where each model lives: module and class, the class callable without arguments."""


KINDS: Mapping[str, tuple[str, str]] = {
    "openai": ("trivium.embed.http", "HttpEmbedder"),
    "azure": ("trivium.embed.http", "HttpEmbedder"),
    "fastembed": ("trivium.embed.extras", "FastEmbed"),
    "sentence-transformers": ("trivium.embed.extras", "SentenceTransformers"),
}
"""Where the kinds of `[models.NAME]` live; the class takes the name and its settings."""


def embedder(name: str, models: Mapping[str, ModelSettings] | None = None) -> Embedder:
    """The model of this name, not loaded yet: a built-in one, or one of `models`, which are those
    of the settings in force where none are given.

    `UnknownModel` when there is none, `InvalidValue` when its settings lack something.
    """
    model: Embedder
    if name in EMBEDDERS:
        module, class_name = EMBEDDERS[name]
        model = getattr(import_module(module), class_name)()
        return model
    if name == "none":
        raise UnknownModel("'none' is a library without a model; name one that makes vectors")
    if models is None:
        from trivium.configuration import configuration

        models = configuration().settings.models
    if name not in models:
        known = [*EMBEDDERS, "none", *models]
        raise UnknownModel(
            f"There is no model '{name}'.{nearest(name, known)} Choose one of: {', '.join(known)}; "
            f"or describe it under [models.{name}] in your trivium.toml."
        )
    module, class_name = KINDS[models[name].kind]
    model = getattr(import_module(module), class_name)(name, models[name])
    return model


def packaged_file(package: str, path: str, requirement: str) -> Path:
    """A data file of an installed package, found without importing the package.

    `ModelUnavailable` names `requirement` as what to install when the file is not there.
    """
    # Importing would run code that has no part in this: one weights package sets up logging
    # for the whole process, another loads a client for remote models.
    spec = find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        file = Path(folder, path)
        if file.is_file():
            return file
    raise ModelUnavailable(
        f"The file {path} of package '{package}' is not installed. "
        f"Run: pip install '{requirement}', or choose another model."
    )


def content_digest(*files: Path) -> str:
    """Twelve hex digits that change with the content of any of the files."""
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            whole.update(hashlib.file_digest(opened, "sha256").digest())
    return whole.hexdigest()[:12]


@contextmanager
def loading(name: str, *requirements: str) -> Iterator[None]:
    """Turns whatever goes wrong while a model is loaded into `ModelUnavailable`.

    `requirements` are the packages to install anew when that happens.
    """
    try:
        yield
    except ModelUnavailable:
        raise
    # Each library below raises errors of its own, down to plain Exception, and all of them
    # mean the same here: files or libraries that are damaged, or not made for this machine.
    except Exception as error:
        again = " ".join(f"'{requirement}'" for requirement in requirements)
        raise ModelUnavailable(
            f"The model '{name}' cannot be loaded: {error}. "
            f"Run: pip install --force-reinstall {again}, or choose another model."
        ) from error


def encodable(text: str) -> str:
    """The text with "?" for each lone surrogate, which no tokenizer takes.

    They come from file names and command lines that are not valid UTF-8.
    """
    return text.encode("utf-8", "replace").decode("utf-8")
