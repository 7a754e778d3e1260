"""What follows scoring: how sure the ranking is, who competes, and whether it is read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from trivium.confidence import competing, confidence, roads
from trivium.config import SearchSettings
from trivium.protocols import Reranker, View
from trivium.rerank.stage import TIME_OUT, Failed, asked, rerank
from trivium.turns import waiting
from trivium.types import MEMORY_STAGE, Columns, Leg, Ranking, Record
from trivium.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Judgement:
    """The ranking as it stands then; `read` are the reranker's scores, for the pages to come."""

    ranking: Ranking
    confidence: float | None = None
    ambiguous: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    read: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judge:
    """The rerank stage of one search."""

    view: View
    settings: SearchSettings
    reranker: Reranker | None

    def __call__(
        self,
        query: str,
        ranking: Ranking,
        legs: Sequence[Leg],
        before: Mapping[str, float] | None = None,
    ) -> Judgement:
        """Judge a grouped ranking. `before` is what was read for the first page: a later page asks
        nobody, so that all pages are pages of one ranking.
        """
        sure, ambiguous = self._sure(ranking, legs)
        if before is not None:
            return self._reranked(ranking, before, sure, ambiguous)
        unsure = sure < self.settings.confidence.threshold
        if self.reranker is None or (self.settings.rerank.when == "unsure" and not unsure):
            return Judgement(ranking, sure, ambiguous)
        try:
            read = self._read(self.reranker, query, ranking)
        except Failed as error:
            note = f"rerank: {self.reranker.name}: {error}"
            return Judgement(ranking, sure, ambiguous, (note,))
        return self._reranked(ranking, read, sure, ambiguous)

    def _reranked(
        self, ranking: Ranking, read: Mapping[str, float], sure: float, ambiguous: tuple[str, ...]
    ) -> Judgement:
        settings = self.settings.rerank
        found = rerank(ranking, read, settings.reranker, settings.keep)
        return Judgement(found, sure, ambiguous, read=read)

    def _sure(self, ranking: Ranking, legs: Sequence[Leg]) -> tuple[float, tuple[str, ...]]:
        if not ranking.candidates:
            return 0.0, ()
        given = roads(legs, self._units, self.settings.fuse.weights)
        order = _on_roads(ranking).ids
        if not order:
            return 0.0, ()
        sure = confidence(self._units(order[:1])[0], given)
        unsure = sure < self.settings.confidence.threshold
        return sure, competing(self._units(order), given) if unsure else ()

    def _units(self, chunks: Sequence[str]) -> list[str]:
        return self.view.units(chunks, self.settings.unit)

    def _read(self, reranker: Reranker, query: str, ranking: Ranking) -> dict[str, float]:
        chunks = [one.id for one in ranking.candidates[: self.settings.rerank.depth]]
        if not chunks:
            return {}
        records = self.view.records(chunks)
        texts = [with_names(records[chunk]) for chunk in chunks]
        with waiting(self.view):
            scores = asked(reranker, query, texts, self.settings.rerank.time_out or TIME_OUT)
        return dict(zip(chunks, scores, strict=True))


def _on_roads(ranking: Ranking) -> Ranking:
    """Without memories, which were put in by no road and compete with nobody."""
    if MEMORY_STAGE not in Columns.of(ranking.candidates).stages:
        return ranking
    found = (one for one in ranking.candidates if all(p.stage != MEMORY_STAGE for p in one.parts))
    return replace(ranking, candidates=tuple(found))


def with_names(record: Record) -> str:
    """What a reader of one passage needs to judge it: what it is from, and what it says."""
    pieces = (record.document.title, " › ".join(record.chunk.heading), record.chunk.text)
    return "\n".join(piece for piece in pieces if piece)
