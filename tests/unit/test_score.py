"""Signals: every formula of document 004 with a value worked out by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.config import SIGNALS, ScoreSettings, load_profile
from trivium.errors import InvalidValue, UnknownSetting
from trivium.protocols import Frequencies
from trivium.score import tfidf
from trivium.score.decay import by_age, by_window, decay
from trivium.score.signals import domain_match, score, severity, tag_overlap
from trivium.types import Candidate, Chunk, Document, Part, Ranking, Record, ScoreKind

NOW = datetime(2026, 6, 1, tzinfo=UTC)
YEAR = timedelta(days=365)
SETTINGS = ScoreSettings()


def document(**fields: object) -> Document:
    return Document("a", "entry:a", "A", **fields)  # type: ignore[arg-type]


class TestDecay:
    @pytest.mark.parametrize(
        ("years", "left"), [(0, 1.0), (1, 0.5), (2, 0.25), (3, 0.125), (0.5, math.sqrt(0.5))]
    )
    def test_half_is_left_after_a_year(self, years: float, left: float) -> None:
        assert by_age(YEAR * years, YEAR) == pytest.approx(left, abs=1e-12)

    def test_what_is_dated_ahead_is_new(self) -> None:
        assert by_age(-10_000 * YEAR, YEAR) == 1.0

    @pytest.mark.parametrize(
        ("share_left", "left"),
        [(1.0, 1.0), (0.5, 1.0), (0.25, 1.0), (0.125, 0.5), (0.05, 0.2), (0.0, 0.0), (-1.0, 0.0)],
    )
    def test_a_window_holds_until_its_last_quarter(self, share_left: float, left: float) -> None:
        begin, end = NOW, NOW + timedelta(days=400)
        at = end - (end - begin) * share_left
        assert by_window(begin, end, at, 0.25) == pytest.approx(left, abs=1e-12)

    def test_a_window_decides_and_not_the_age(self) -> None:
        old = document(
            created=NOW - 9 * YEAR, valid_from=NOW - 9 * YEAR, valid_until=NOW + 27 * YEAR
        )
        assert decay(old, NOW, SETTINGS) == 1.0

    def test_a_window_without_a_beginning_begins_with_the_source(self) -> None:
        half_way = document(created=NOW - timedelta(days=7), valid_until=NOW + timedelta(days=1))
        assert decay(half_way, NOW, SETTINGS) == pytest.approx(0.5)

    def test_the_later_of_a_sources_dates_counts(self) -> None:
        assert decay(document(created=NOW - 2 * YEAR), NOW, SETTINGS) == pytest.approx(0.25)
        edited = document(created=NOW - 2 * YEAR, updated=NOW - YEAR)
        assert decay(edited, NOW, SETTINGS) == pytest.approx(0.5)

    def test_nothing_is_left_of_what_is_expired_to_come_or_without_a_date(self) -> None:
        assert decay(document(valid_until=NOW, created=NOW), NOW, SETTINGS) == 0.0
        assert decay(document(valid_from=NOW + YEAR, created=NOW), NOW, SETTINGS) == 0.0
        assert decay(document(), NOW, SETTINGS) == 0.0

    def test_a_beginning_alone_is_no_window(self) -> None:
        begun = document(created=NOW - YEAR, valid_from=NOW - YEAR)
        assert decay(begun, NOW, SETTINGS) == pytest.approx(0.5)


class TestTfIdf:
    def test_idf_as_written(self) -> None:
        assert tfidf.idf(9, 4) == pytest.approx(math.log(2) + 1)
        assert tfidf.idf(10, 10) == 1.0

    def test_a_cosine_worked_out_by_hand(self) -> None:
        # N 3: jwt in 1 (idf ln 2 + 1 = 1.6931), token in 3 (idf 1)
        known = tfidf.Rarity(Frequencies(3, {"jwt": 1, "token": 3}))
        rare = math.log(2) + 1
        # q = (rare, 1), e = (2 rare, 1): (2 rare² + 1) / (√(rare² + 1) · √(4 rare² + 1))
        right = (2 * rare**2 + 1) / (math.sqrt(rare**2 + 1) * math.sqrt(4 * rare**2 + 1))
        assert tfidf.cosine({"jwt": 1, "token": 1}, {"jwt": 2, "token": 1}, known) == pytest.approx(
            right
        )
        assert right == pytest.approx(0.9698, abs=1e-4)

    def test_the_same_words_are_one_and_no_words_are_nothing(self) -> None:
        known = tfidf.Rarity(Frequencies(3, {"jwt": 1}))
        assert tfidf.cosine({"jwt": 1}, {"jwt": 4}, known) == pytest.approx(1.0)
        assert tfidf.cosine({"jwt": 1}, {"axe": 4}, known) == 0.0
        assert tfidf.cosine({}, {"axe": 4}, known) == 0.0
        assert tfidf.cosine({"jwt": 1}, {}, known) == 0.0

    def test_the_query_is_read_as_the_document_says(self) -> None:
        counts = tfidf.query_counts("how does JWT validation work", "english", 2)
        assert counts == {"jwt": 1, "valid": 1, "work": 1}
        assert tfidf.query_counts("C++", "english", 2) == {"c": 1}  # nothing else would be left

    def test_an_entry_is_what_it_says_and_not_its_key(self) -> None:
        entry = Document(
            "auth-jwt", "entry:x", "Tokens", key="auth-jwt", context="on the server", tags=("api",)
        )
        record = Record(entry, Chunk("auth-jwt@1/0", "auth-jwt", 1, 0, "Check the token."))
        counts = tfidf.entry_counts(record, "english", set())
        assert counts == {"token": 2, "check": 1, "server": 1, "api": 1}
        assert tfidf.entry_counts(record, "english", {"the"})["the"] == 2

    @given(
        st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)),
        st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)),
        st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50)),
    )
    def test_it_is_symmetric_and_a_share_of_one(
        self, one: dict[str, int], other: dict[str, int], holding: dict[str, int]
    ) -> None:
        known = tfidf.Rarity(Frequencies(50, holding))
        likeness = tfidf.cosine(one, other, known)
        assert 0.0 <= likeness <= 1.0
        assert likeness == pytest.approx(tfidf.cosine(other, one, known))


def test_severity_has_three_levels() -> None:
    levels = SETTINGS.severity
    assert [severity(one, levels) for one in ("critical", "warning", "suggestion", None)] == [
        1.0,
        0.7,
        0.4,
        0.0,
    ]


def test_tags_overlap_by_jaccard() -> None:
    assert tag_overlap(("auth", "jwt"), ("auth", "api", "web")) == 0.25
    assert tag_overlap(("Auth",), ("auth",)) == 1.0
    assert tag_overlap((), ("auth",)) == 0.0
    assert tag_overlap(("auth",), ()) == 0.0


def test_a_domain_matches_or_not() -> None:
    assert domain_match("security", "Security") == 1.0
    assert domain_match("security", "testing") == 0.0
    assert domain_match(None, None) == domain_match("", "") == 0.0


VALUES = dict(zip(SIGNALS, (0.5, 0.8, 0.7, 1.0, 0.25, 1.0), strict=True))


class TestScoring:
    def test_words_alone_by_hand(self) -> None:
        found = Ranking((Candidate("a", 0.0, (Part("fuse", "keyword", 0.0, 1, 3.5, 1.0),)),))
        ranking = score(found, {"a": VALUES}, SETTINGS.weights)
        [best] = ranking.candidates
        # .40 · .5 + .15 · (.7 + 1 + .25 + 1)
        assert best.score == pytest.approx(0.2 + 0.15 * 2.95)
        assert ranking.kind is ScoreKind.SIGNALS
        assert [part.name for part in best.parts] == ["keyword", *SIGNALS]
        assert (best.parts[0].rank, best.parts[0].value) == (1, 3.5)

    def test_hybrid_by_hand(self) -> None:
        ranking = score(Ranking((Candidate("a", 0.0),)), {"a": VALUES}, SETTINGS.hybrid)
        # .25 · .5 + .15 · (.8 + .7 + 1 + .25 + 1)
        assert ranking.candidates[0].score == pytest.approx(0.125 + 0.15 * 3.75)

    def test_what_a_road_gave_before_counts_no_more(self) -> None:
        before = Candidate.of("a", [Part("fuse", "keyword", 0.9, 1, 0.9, 1.0)])
        [after] = score(
            Ranking((before,)), {"a": dict.fromkeys(SIGNALS, 0.0)}, SETTINGS.weights
        ).candidates
        assert after.score == 0.0
        assert after.parts[0] == Part("fuse", "keyword", 0.0, 1, 0.9, 1.0)

    @given(st.lists(st.lists(st.floats(0, 1), min_size=6, max_size=6), min_size=1, max_size=5))
    def test_parts_sum_to_the_score_and_ties_go_by_id(self, rows: list[list[float]]) -> None:
        values = {
            str(place): dict(zip(SIGNALS, row, strict=True)) for place, row in enumerate(rows)
        }
        found = Ranking(tuple(Candidate(id, 0.0) for id in values))
        for weights in (SETTINGS.weights, SETTINGS.hybrid):
            ranking = score(found, values, weights)
            for one in ranking.candidates:
                assert one.score == pytest.approx(
                    sum(part.contribution for part in one.parts), abs=1e-9
                )
                assert 0 <= one.score <= 1 + 1e-9
            order = [(-one.score, one.id) for one in ranking.candidates]
            assert order == sorted(order)


def test_a_factor_rescales_what_there_is_and_is_named() -> None:
    before = Candidate.of("a", [Part("score", "semantic", 0.4), Part("score", "vector", 0.1)])
    after = before.scaled(0.8, "tier", "project")
    assert after.score == pytest.approx(0.4)
    assert after.parts[-1] == Part("tier", "project", 0.0, value=0.8)


@pytest.mark.parametrize(
    ("override", "error", "message"),
    [
        ("search.score.weights.semantic=0.5", InvalidValue, "must sum to 1"),
        ("search.score.weights={semantic=2, vector=-1}", InvalidValue, "must sum to 1"),
        ("search.score.hybrid.semantics=0.5", UnknownSetting, "Did you mean 'semantic'"),
        ("search.score.severity.critical=2", InvalidValue, "outside 0 to 1"),
        ("search.score.half_life_days=0", InvalidValue, "must be above 0"),
        ("search.score.decay_zone=0", InvalidValue, "a share of 1"),
    ],
)
def test_a_wrong_setting_is_named(override: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load_profile("vault", [override])
