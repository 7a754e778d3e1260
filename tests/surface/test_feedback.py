"""Feedback: verdicts are kept, counted within a grant, and move one weight from thirty on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import trivium
from trivium.config import ScoreSettings
from trivium.errors import InvalidValue, UnknownDocument
from trivium.score.feedback import Tally, adapted, shift

Run = Callable[..., CompletedProcess[str]]
NOW = datetime(2026, 6, 1, tzinfo=UTC)
PUBLIC = trivium.Grant(frozenset())
SETTINGS = ScoreSettings()


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[trivium.Library]:
    entries = [
        {"id": "auth-1", "title": "JWT", "description": "Check it.", "created": "2026-06-01"},
        {"id": "auth-2", "title": "JWT", "description": "Hide it.", "scope": "dm-only"},
    ]
    with trivium.init(tmp_path / "v.trivium", profile="vault", model="none") as library:
        library.add_entries(entries)
        yield library


def weights(library: trivium.Library, **options: trivium.Grant) -> dict[str, float | None]:
    hit = library.search("jwt", now=NOW, **options).hits[0]  # type: ignore[arg-type]
    return {part.name: part.weight for part in hit.parts if part.stage == "score"}


class TestArithmetic:
    @pytest.mark.parametrize(
        ("accepted", "dismissed", "moved"),
        [
            (30, 0, 0.15),
            (0, 30, -0.15),
            (15, 15, 0.0),
            (24, 6, 0.09),  # (.8 − .5) · .30
            (29, 0, 0.0),  # one too few
            (300, 100, 0.075),
        ],
    )
    def test_from_thirty_on_by_the_rate(self, accepted: int, dismissed: int, moved: float) -> None:
        counts = {"accepted": accepted, "dismissed": dismissed}
        assert shift(counts, SETTINGS) == pytest.approx(moved)  # type: ignore[arg-type]

    def test_modified_is_half_accepted_and_failed_has_no_part(self) -> None:
        counts = {"accepted": 10, "dismissed": 10, "modified": 20, "failed": 99}
        assert Tally.of(counts) == Tally(40, 0.5)  # type: ignore[arg-type]
        assert Tally.of({"failed": 99}) == Tally(0, 0.0)

    def test_it_stays_within_its_limit(self) -> None:
        eager = ScoreSettings(adapt_step=5.0)
        assert shift({"accepted": 30}, eager) == 0.15
        assert shift({"dismissed": 30}, eager) == -0.15

    def test_the_others_are_scaled_by_hand(self) -> None:
        after = adapted(SETTINGS.weights, 0.15)
        # .60 · (.45 / .60) left for four of .15
        assert after["semantic"] == pytest.approx(0.55)
        assert after["severity"] == pytest.approx(0.15 * 0.45 / 0.60)
        for weights in (SETTINGS.weights, SETTINGS.hybrid):
            for moved in (-0.15, -0.03, 0.0, 0.09, 0.15):
                assert sum(adapted(weights, moved).values()) == pytest.approx(1.0, abs=1e-12)

    def test_never_is_an_option(self) -> None:
        assert shift({"accepted": 99}, ScoreSettings(adapt_after=0)) == 0.0


class TestInTheLibrary:
    def test_thirty_verdicts_move_the_score(self, vault: trivium.Library) -> None:
        before = vault.search("jwt", now=NOW).hits[0].score
        for _ in range(29):
            vault.feedback("accepted", "auth-1", query="jwt")
        assert weights(vault)["semantic"] == 0.40
        vault.feedback("accepted", "auth-1", query="jwt")
        assert weights(vault)["semantic"] == pytest.approx(0.55)
        after = vault.search("jwt", now=NOW).hits[0]
        assert after.score != before
        assert sum(part.contribution for part in after.parts) == pytest.approx(after.score)

    def test_verdicts_about_what_is_hidden_change_nothing_for_others(
        self, vault: trivium.Library
    ) -> None:
        for _ in range(30):
            vault.feedback("dismissed", "auth-2")
        assert weights(vault)["semantic"] == pytest.approx(0.25)
        assert weights(vault, grant=PUBLIC)["semantic"] == 0.40
        assert vault.feedback_stats(grant=PUBLIC)["dismissed"] == 0
        with pytest.raises(UnknownDocument):
            vault.feedback("accepted", "auth-2", grant=PUBLIC)

    def test_verdicts_about_what_is_gone_count_no_more(self, vault: trivium.Library) -> None:
        vault.feedback("accepted", "auth-1", "auth-2")
        vault.remove("auth-2")
        assert vault.feedback_stats()["accepted"] == 1

    def test_an_unknown_id_is_refused_and_nothing_is_kept(self, vault: trivium.Library) -> None:
        with pytest.raises(UnknownDocument, match="there is no document 'auth-9'"):
            vault.feedback("accepted", "auth-1", "auth-9")
        with pytest.raises(InvalidValue, match="Did you mean 'accepted'"):
            vault.feedback("acepted", "auth-1")  # type: ignore[arg-type]
        with pytest.raises(InvalidValue, match="no document was named"):
            vault.feedback("accepted")
        assert vault.feedback_stats()["counted"] == 0

    def test_a_chunk_and_a_number_mean_their_document_once(self, vault: trivium.Library) -> None:
        judged = vault.feedback("accepted", "auth-1@1/0", "#1", "auth-1", query="\ud800")
        assert [(one.document, one.query) for one in judged] == [("auth-1", "?")]

    def test_pages_keep_the_weights_of_the_first(self, vault: trivium.Library) -> None:
        vault.add_entries(
            {"id": f"e{i:02}", "title": "JWT", "description": f"word{i} " * 4} for i in range(60)
        )
        whole = [hit.id for hit in vault.search("jwt", limit=20, now=NOW)]
        first = vault.search("jwt", limit=10, now=NOW)
        for _ in range(30):
            vault.feedback("dismissed", "e00")
        second = vault.search("jwt", limit=10, now=NOW, cursor=first.next_cursor)
        assert [hit.id for hit in (*first, *second)] == whole


class TestCommands:
    def test_each_verdict_and_the_weights_before_and_after(
        self, run: Run, vault: trivium.Library
    ) -> None:
        assert run("feedback", "accept", "auth-1", "--query", "jwt").stdout == "accepted: auth-1\n"
        for verb in ("dismiss", "modified", "failed"):
            assert run("feedback", verb, "#1").returncode == 0
        data = json.loads(run("feedback", "stats", "--json").stdout)
        assert [data[v] for v in ("accepted", "dismissed", "modified", "failed")] == [1, 1, 1, 1]
        assert (data["counted"], data["needed"], data["rate"], data["shift"]) == (3, 30, 0.5, 0.0)
        assert "3 of 30 judgements" in run("feedback", "stats").stdout
        for _ in range(30):
            vault.feedback("accepted", "auth-1")
        shown = run("feedback", "stats").stdout
        assert "semantic weight +0.136" in shown  # (31.5 / 33 − .5) · .30
        assert "  semantic         0.400   0.536" in shown

    def test_an_unknown_id_is_an_error(self, run: Run, vault: trivium.Library) -> None:
        refused = run("feedback", "accept", "nobody")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("error: there is no document 'nobody'")

    def test_json(self, run: Run, vault: trivium.Library) -> None:
        answer = json.loads(run("feedback", "dismiss", "auth-1", "--query", "q", "--json").stdout)
        assert answer == {"verdict": "dismissed", "query": "q", "documents": ["auth-1"]}
