"""What every part of the façade stands on: the open store, the model at hand, the clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NoReturn, Self

from trivium.config import Profile
from trivium.embed import EMBEDDERS
from trivium.embed import embedder as model_named
from trivium.embed.once import AskedOnce
from trivium.errors import InvalidValue, UnknownDocument, UnknownModel, UnknownSetting
from trivium.factual import FactReader
from trivium.library.homes import home_of
from trivium.protocols import Archive, Embedder, Model, Reranker
from trivium.store.record.database import Database
from trivium.types import Document, Grant, Result

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from trivium.settings import Configuration

NO_MODEL = "none"


class Opened:
    """An open library's live parts. Use it as a context manager, or call `close`."""

    def __init__(
        self,
        place: Path | str,
        *,
        bundle: Path | None = None,
        configuration: Configuration | None = None,
    ) -> None:
        self._home = home_of(place, bundle)
        self.folder = self._home.name
        self._configuration = configuration
        self.profile_name, self.settings = self._home.made_with()
        in_lance = self.settings.vectors == "lance"
        self._store = self._home.store(self.configuration.settings.lance.url if in_lance else None)
        self._store.graph.reader = self._reading
        self._embedder: Embedder | None = None
        self._rerankers: dict[str, Reranker] = {}
        self._pool: Executor | None = None
        self._making = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Write down what the next process can start from, and let go of the files."""
        if self._pool:
            self._pool.shutdown()
        self._store.close()

    @property
    def _database(self) -> Database:
        """Says whether what only reads is to be run again (`repeatable`)."""
        return self._store.database

    def _threads(self) -> Executor:
        """The threads that the legs run in, made when two of them are to run at once."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            with self._making:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(4, thread_name_prefix="trivium")
        return self._pool

    @property
    def configuration(self) -> Configuration:
        """The user's settings, read when they are first needed, which most searches never do."""
        if self._configuration is None:
            from trivium.configuration import configuration as read_configuration

            self._configuration = read_configuration()
        return self._configuration

    def waiting(self) -> int:
        """How many distinct texts still wait for their vector."""
        model = self._at_hand()
        return self._store.count_pending(model.fingerprint) if model else 0

    def _found(self, names: Sequence[str], grant: Grant) -> dict[str, Document]:
        found = self._store.find(names, grant)
        for name in names:
            if name not in found:
                self._unknown(name)
        return found

    def _may_see(self, id: str, version: int, grant: Grant) -> bool:
        """Whether a version of a visible document is visible too: it may have been a secret."""
        if grant.scopes is None:
            return True
        scope = self._store.history.scope_of(id, version)
        return scope is not None and grant.allows(scope)

    def _unknown(self, name: str) -> NoReturn:
        raise UnknownDocument(f"there is no document '{name}'; 'trivium list' shows them")

    @property
    def model_name(self) -> str:
        """The active model: the record's, which may have been switched since it was made."""
        active = self._store.active_model()
        return active.name if active else self.settings.model

    def _model(self) -> Embedder | None:
        active = self._store.active_model()
        name = active.name if active else self.settings.model
        if name == NO_MODEL:
            return None
        if self._embedder is None or self._embedder.name != name:
            try:
                self._embedder = self._named(name)
            except UnknownModel:
                if self.settings.model == NO_MODEL:  # it came with somebody's vectors
                    return None
                raise
        if self.settings.model == NO_MODEL and active:
            return self._embedder if self._embedder.fingerprint == active.fingerprint else None
        return self._embedder

    def _named(self, name: str) -> Embedder:
        built_in = name in EMBEDDERS
        return model_named(name, {} if built_in else self.configuration.settings.models)

    def _at_hand(self) -> Embedder | None:
        """The model, or None where it cannot be had; words are searched all the same."""
        try:
            return self._model()
        except (UnknownModel, InvalidValue, UnknownSetting):
            return None

    def disputed(
        self, subjects: Collection[str], profile: Profile, grant: Grant
    ) -> dict[str, tuple[str, ...]]:
        """The open verifications that touch each of these subjects; facts add them."""
        return {}

    def told_apart(self, result: Result, grant: Grant) -> Result:
        """The result with what tells competing entities apart; facts add it."""
        return result

    def _reading(self) -> FactReader:
        from trivium.graph.reading import Reading  # only facts need it

        return Reading(self.settings)

    def share_model(self, others: dict[str, AskedOnce]) -> None:
        """Use the model that other libraries use already, so that it is loaded and asked once."""
        name = self.model_name
        if name not in others and (model := self._at_hand()):
            others[name] = AskedOnce(model)
        self._embedder = others.get(name)

    def _register(self, model: Embedder) -> None:
        """Make the model the one whose vectors are searched, if it is not yet."""
        now = self._store.active_model()
        if now is None or now.fingerprint != model.fingerprint:
            self._store.use_model(Model(model.name, model.fingerprint, model.dimension, True))

    def _archive(self) -> Archive:
        return self._home.archive()

    def _now(self) -> datetime:
        return datetime.now(UTC)
