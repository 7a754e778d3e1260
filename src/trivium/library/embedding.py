"""Vectors: made for what waits, built for a new model beside the active one, switched, dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trivium.config import load_profile
from trivium.errors import InvalidValue, ModelError, UnknownModel, nearest
from trivium.library.archiving import Archiving
from trivium.pipeline import Search
from trivium.protocols import Embedder, Model, Progress, silent
from trivium.text import content_hash
from trivium.types import NO_FILTER, OWNER, Record, SearchRequest
from trivium.values import dataclass
from trivium.vectors import unit

if TYPE_CHECKING:
    from trivium.ingest.queue import EmbedReport

SAMPLE = 50
"""Documents whose titles and headings are asked: enough to see a difference, a second's work."""

DEPTH = 10


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike the answers of two models are: the mean share of common documents in ten."""

    old: str
    new: str
    queries: int
    overlap: float


class Embedding(Archiving):
    """What makes and looks after vectors."""

    def embed(self, *, model: str | None = None, progress: Progress = silent) -> EmbedReport:
        """Embed what has no vector yet, batch by batch; what was made is kept whatever happens.

        With a `model`, its vectors are made beside the active ones, which searches go on to use;
        from then on, everything new is embedded for both. If the model cannot be reached, its
        error is raised; the next call goes on where this one stopped. Vectors that do not have
        their model's dimension are made anew.
        """
        if model is not None:
            return self._build(model, progress)
        building = [one.fingerprint for one in self._store.queue.building()]
        if active := self._at_hand():
            self._store.queue.mend([active.fingerprint, *building])
        return self._embed_waiting(progress)

    def _embed_waiting(self, progress: Progress) -> EmbedReport:
        active = self._model()
        if active is None:
            raise InvalidValue("this library has no embedding model; it was made with 'none'")
        self._register(active)
        report = self._drained(active, progress)
        for one in self._store.queue.building():
            try:
                self._drained(self._named(one.name), progress)
            except ModelError:
                continue  # kept as its reason in `status`; the active model has no part in it
        return report

    def switch_model(self, name: str) -> None:
        """Make another model the active one, for all processes at once; it must be complete."""
        self._store.queue.switch(self._known_model(name).fingerprint)

    def drop_model(self, name: str) -> int:
        """Remove a model that is not active with its vectors; how many they were."""
        model = self._known_model(name)
        if model.active:
            raise InvalidValue(f"'{name}' is the active model; switch to another one first")
        self._store.queue.drop(model.fingerprint)
        self._store.history.compact()
        return model.vectors

    def compare_models(self, name: str) -> Likeness:
        """How much of what the active model finds a new one finds, for titles and headings."""
        old, new = self._model(), self._named(name)
        if old is None:
            raise InvalidValue("there is no active model to compare with")
        queries = self._sample()
        found = [self._nearest(model, queries) for model in (old, new)]
        shares = [
            len(first & second) / max(len(first), len(second))
            for first, second in zip(*found, strict=True)
            if first or second
        ]
        overlap = sum(shares) / len(shares) if shares else 1.0
        return Likeness(old.name, new.name, len(shares), overlap)

    def rankings(
        self, queries: Mapping[str, str], *, model: str | None = None, limit: int = DEPTH
    ) -> dict[str, list[str]]:
        """The documents that the library's profile finds for each query, with a model's vectors."""
        embedder = self._named(model) if model else self._model()
        profile = load_profile(self.profile_name)
        fingerprint = embedder.fingerprint if embedder else None
        ranked: dict[str, list[str]] = {}
        with self._store.view(OWNER, model=fingerprint) as view:
            search = Search(view, profile, embedder, self._threads, self._now())
            for id, text in queries.items():
                hits = search(SearchRequest(text, limit)).hits
                ranked[id] = list(dict.fromkeys(hit.document.id for hit in hits))
        return ranked

    def _build(self, name: str, progress: Progress) -> EmbedReport:
        model = self._named(name)
        active = self._store.active_model()
        if active is None or active.fingerprint == model.fingerprint:
            if active is None and self.settings.model != name:
                self._store.use_model(Model(name, model.fingerprint, model.dimension, True))
            return self.embed(progress=progress)
        self._store.queue.build(Model(name, model.fingerprint, model.dimension, False))
        return self._drained(model, progress)

    def _drained(self, model: Embedder, progress: Progress) -> EmbedReport:
        from trivium.ingest.queue import EmbedQueue
        from trivium.template import embedding_input

        def text_of(record: Record) -> str:
            return embedding_input(self.settings.template, record.document, record.chunk)

        queue = EmbedQueue(self._store, self._store.queue, model, text_of, progress)
        try:
            return queue.run()
        except ModelError as error:
            self._store.queue.note_outage(model.fingerprint, str(error))
            raise

    def _known_model(self, name: str) -> Model:
        """A model of the record by name or fingerprint; of two, the one that is at hand."""
        known = self._store.models()
        named = [one for one in known if name in (one.name, one.fingerprint)]
        if not named:
            names = sorted({one.name for one in known})
            hint = nearest(name, names) or f" It has: {', '.join(names) or 'none'}."
            raise UnknownModel(f"the library has no vectors of a model '{name}'.{hint}")
        if len(named) > 1:
            at_hand = self._named(name).fingerprint
            named.sort(key=lambda one: one.fingerprint != at_hand)
        return named[0]

    def _sample(self) -> list[str]:
        """Titles and headings of some documents, always the same ones."""
        documents = sorted(
            self._store.documents(NO_FILTER, OWNER), key=lambda d: content_hash(d.id)
        )
        asked: dict[str, None] = {}
        for document in documents[:SAMPLE]:
            headings = [c.heading[-1] for c in self._store.chunks(document.id) if c.heading]
            asked |= dict.fromkeys((document.title, *headings[:1]))
        return [text for text in asked if text.strip()]

    def _nearest(self, model: Embedder, queries: list[str]) -> list[set[str]]:
        with self._store.view(OWNER, model=model.fingerprint) as view:
            answers = []
            for query in queries:
                found = view.nearest(unit(model.query(query)), NO_FILTER, DEPTH, "document")
                chunks = found.ids
                answers.append(set(view.units(chunks, "document")))
        return answers
