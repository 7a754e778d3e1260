"""`trivium tune`: what it tries is what a search does, and it changes nothing by chance."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import numpy as np
import pytest

import trivium
from trivium.config import load_profile
from trivium.evaluate.building import bench
from trivium.evaluate.intervals import Interval
from trivium.evaluate.judged import Judged
from trivium.evaluate.questions import read_questions
from trivium.library import Library
from trivium.tune import Runs, prepared, tune_feedback, tuned
from trivium.tune.choosing import FEWEST, why_keep
from trivium.tune.options import changed
from trivium.tune.pools import pool_of
from trivium.tune.rescoring import first_units, scores
from trivium.tune.writing import profile_toml
from trivium.types import SearchRequest

Run = Callable[..., CompletedProcess[str]]
NOUNS = ("axe", "bridge", "chain", "cellar", "forge", "gate", "harbour", "keeper", "oath", "river")
ADJECTIVES = ("amber", "broken", "cold", "distant", "empty", "frozen", "golden", "hidden", "iron")
DEAF = ("search.fuse.weights.keyword=0.02", "search.fuse.weights.trigram=0.02")
"""A profile that hardly listens to words, where words are all there is to go by."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 notes of random words, and a question for each of 24 of them: its title and a word."""
    folder, lot = tmp_path_factory.mktemp("tune"), Random(5)
    queries, judgements = {}, {}
    entries = []
    for number in range(60):
        title = f"{lot.choice(ADJECTIVES)} {lot.choice(NOUNS)}"
        words = lot.choices(NOUNS + ADJECTIVES, k=lot.randint(5, 30))
        entries.append({"id": f"n{number}", "title": title, "description": " ".join(words)})
        if number < 24:
            queries[f"q{number}"] = f"{title} {words[0]}"
            judgements[f"q{number}"] = {f"n{number}": 1}
    (folder / "notes.json").write_text(json.dumps(entries))
    (folder / "judged.json").write_text(json.dumps({"queries": queries, "judgements": judgements}))
    with trivium.init(folder / "world.trivium", model="hashing") as library:
        library.add(folder / "notes.json")
    return folder


@pytest.fixture
def library(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Library]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with trivium.open(place / "world.trivium") as opened:
        yield opened


def judged_of(place: Path, library: Library) -> Judged:
    return read_questions(place / "judged.json", library)


@pytest.mark.parametrize("name", ["default", "vault", "jicklejime", "omnidata"])
def test_whatever_is_tried_scores_as_a_real_search_does(
    name: str, place: Path, library: Library
) -> None:
    lot, given = Random(name), judged_of(place, library)
    with bench(library) as made, prepared(made, given, load_profile(name)) as runs:
        for _ in range(6):
            choice = tuple(lot.randint(0, len(one.options)) for one in runs.space)
            settings = changed(runs.search.profile.search, runs.space, choice)
            profile = replace(runs.search.profile, search=settings)
            search = replace(runs.search, profile=profile)
            for query in lot.sample(sorted(given.queries.values()), 3):
                hits = search(SearchRequest(query, 10)).hits[:10]
                pool = pool_of(search, query, runs._shelf)
                mine = scores(pool, settings, runs._shelf)
                best = first_units(pool, mine, 10)
                assert [(pool.units[at], mine[at]) for at in best] == [
                    (hit.id, hit.score) for hit in hits
                ]


def test_the_model_is_asked_for_each_query_once(
    place: Path, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = judged_of(place, library)
    with bench(library) as made, prepared(made, given) as runs:
        assert made.model is not None
        monkeypatch.setattr(made.model, "_model", None)  # whoever asks it now fails
        base = (0,) * len(runs.space)
        assert len(runs(base)) == len(given.queries)


def test_a_profile_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    for name in ("default", "vault", "worlds", "jicklejime", "omnidata", "allcodex"):
        profile = load_profile(name)
        (tmp_path / f"{name}.toml").write_text(profile_toml(profile, "two\nlines"))
        assert load_profile(str(tmp_path / f"{name}.toml")) == profile


def test_judgements_that_mean_nothing_change_nothing(place: Path, library: Library) -> None:
    given = judged_of(place, library)
    with bench(library) as made, prepared(made, given) as every:
        weights = [one for one in every.space if not one.retrieves]
        runs = Runs(every.search, given.queries, weights)
        kept = sum(tuned(runs, dealt_out(given, seed), seed).keep for seed in range(20))
    assert kept >= 19


def dealt_out(given: Judged, seed: int) -> dict[str, dict[str, int]]:
    names = list(given.judgements)
    order = np.random.default_rng(seed).permutation(len(names))
    pairs = zip(names, order, strict=True)
    return {name: dict(given.judgements[names[at]]) for name, at in pairs}


def test_too_few_queries_are_kept_from_deciding(place: Path, library: Library) -> None:
    given = judged_of(place, library)
    few = dict(list(given.queries.items())[: FEWEST - 1])
    with bench(library) as made, prepared(made, given, load_profile("default", DEAF)) as runs:
        found = tuned(Runs(runs.search, few, runs.space), given.judgements)
    assert found.keep
    assert "too few" in found.why


def test_a_loss_is_not_called_chance() -> None:
    assert why_keep(Interval(-0.0167, -0.0315, -0.0043)) == (
        "queries that had no say lose by it: -0.0167 (-0.0315 to -0.0043)"
    )
    assert why_keep(Interval(-0.01, -0.03, 0.0)) == (
        "the gain on queries that had no say is -0.0100 (-0.0300 to +0.0000), which may be chance"
    )


def test_the_log_of_feedback_is_judgements_too(world: Path) -> None:
    with trivium.open(world) as library:
        with pytest.raises(trivium.TriviumError, match="feedback accept"):
            tune_feedback(library)
        library.feedback("dismissed", "#1", query="axe")
        library.feedback("accepted", "#1", query="axe")  # thought better of
        library.feedback("dismissed", "#2", query="axe")
        library.feedback("dismissed", "#2", query="nothing of the kind")
        found = tune_feedback(library)
    assert found.queries == 1
    assert found.keep


def test_what_certainly_helps_is_written(place: Path, library: Library, run: Run) -> None:
    folder, deaf = place / "world.trivium", load_profile("default", DEAF)
    changes = (flag for change in DEAF for flag in ("--set", change))
    told = run("tune", place / "judged.json", "-L", folder, "--json", *changes)
    data = json.loads(told.stdout)
    assert (data["verdict"], data["profile"]) == ("change", "tuned.toml")
    assert data["gain"]["low"] > 0
    written = load_profile("tuned.toml")
    assert (written.index, written.search.unit) == (deaf.index, deaf.search.unit)
    assert written.search != deaf.search
    again = run("tune", place / "judged.json", "-L", folder)
    assert again.returncode == 1
    assert "tuned.toml exists" in again.stderr
    assert run("tune", "-L", folder, "--output", "b.toml").returncode == 1
