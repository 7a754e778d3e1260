"""The stage itself: asks the view what the signals need to know, and scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from trivium.abilities import serves
from trivium.config import SearchSettings
from trivium.protocols import Frequencies, Likeness, TermStatistics, View
from trivium.score import tfidf
from trivium.score.decay import decay
from trivium.score.feedback import adapted
from trivium.score.signals import domain_match, score, severity, tag_overlap
from trivium.types import Leg, LegState, Ranking, Record, SearchRequest
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """Scores rankings for one request at one moment."""

    view: View
    settings: SearchSettings
    now: datetime
    shift: float = 0.0
    """How far feedback has moved the semantic weight."""

    def __call__(self, found: Ranking, request: SearchRequest, legs: Sequence[Leg]) -> Ranking:
        """The ranking scored by signals, or as it is where the profile has none."""
        if self.settings.score.method == "none" or not found.candidates:
            return found
        vector = next((leg for leg in legs if leg.name == "vector"), None)
        hybrid = vector is not None and vector.state is LegState.OK
        names = [candidate.id for candidate in found.candidates]
        records = self.view.records(names)
        semantic = self._semantic(request.query, records)
        meaning = self._meaning(vector, names) if hybrid and vector else {}
        values = {
            name: self._values(record, request, semantic[name], meaning.get(name, 0.0))
            for name, record in records.items()
        }
        weights = self.settings.score.hybrid if hybrid else self.settings.score.weights
        return score(found, values, adapted(weights, self.shift))

    def _values(
        self, record: Record, request: SearchRequest, semantic: float, meaning: float
    ) -> dict[str, float]:
        document, settings = record.document, self.settings.score
        return {
            "semantic": semantic,
            "vector": max(0.0, meaning),  # a cosine below 0 is no evidence, for or against
            "severity": severity(document.severity, settings.severity),
            "temporal_decay": decay(document, self.now, settings),
            "tag_overlap": tag_overlap(request.prefer_tags, document.tags),
            "domain_match": domain_match(request.prefer_domain, document.domain),
        }

    def _semantic(self, query: str, records: Mapping[str, Record]) -> dict[str, float]:
        reading = self.settings.keyword
        asked = tfidf.query_counts(query, reading.stop_words, reading.minimum_length)
        said = {
            name: tfidf.entry_counts(record, reading.stop_words, asked)
            for name, record in records.items()
        }
        rarity = tfidf.Rarity(self._frequencies(set(asked).union(*said.values())))
        return {name: tfidf.cosine(asked, counts, rarity) for name, counts in said.items()}

    def _frequencies(self, terms: Collection[str]) -> Frequencies:
        assert serves(self.view, TermStatistics)  # the pipeline refuses a view without it
        return self.view.frequencies(terms, tfidf.COLUMNS)

    def _meaning(self, leg: Leg, names: Sequence[str]) -> Mapping[str, float]:
        """The cosine of every candidate, also of those that only words have found."""
        if serves(self.view, Likeness) and leg.vector is not None:
            return self.view.likeness(leg.vector, names)
        return {candidate.id: candidate.score for candidate in leg.ranking.candidates}
