"""The embed queue and the change of models: faults of every kind, and nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import trivium
from trivium.embed.hashing import Hashing
from trivium.embed.http import HttpEmbedder
from trivium.errors import InvalidValue, ModelError, ModelMismatch, ModelUnavailable, UnknownModel
from trivium.ingest.queue import PATIENCE, EmbedQueue
from trivium.settings import ModelSettings
from trivium.types import Filter, Record

Run = Callable[..., CompletedProcess[str]]


class Faulty(Hashing):
    """Embeds as hashing does, after what it was told to do first: one step for each call."""

    def __init__(self, *script: Any, poison: str = "") -> None:
        super().__init__()
        self.script = list(script)
        self.poison = poison
        self.calls: list[int] = []

    def documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        if self.poison and any(self.poison in text for text in texts):
            raise ValueError("this text is poison")
        step = self.script.pop(0) if self.script else None
        if isinstance(step, Exception):
            raise step
        vectors = super().documents(texts)
        return vectors if step is None else step(vectors)


def busy(after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("too many requests", retryable=True, retry_after=after)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[trivium.Library]:
    """250 texts whose words are searchable and whose vectors wait."""
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        entries = [
            {"id": f"e{i:03}", "title": f"Entry {i}", "description": f"axe {i}"} for i in range(250)
        ]
        library.add_entries(entries, embed=False)
        library._register(Hashing())
        yield library


def queue(library: trivium.Library, model: Hashing) -> tuple[EmbedQueue, list[float]]:
    waits: list[float] = []

    def text_of(record: Record) -> str:
        return f"{record.document.title}\n{record.chunk.text}"

    store = library._store
    return EmbedQueue(store, store.queue, model, text_of, sleep=waits.append), waits


class TestTheQueue:
    def test_words_are_searchable_before_any_vector(self, library: trivium.Library) -> None:
        assert library.waiting() == 250
        assert library.search("axe", legs=["keyword"]).matched == 250

    def test_batches_of_a_hundred_and_nothing_twice(self, library: trivium.Library) -> None:
        model = Faulty()
        run, _ = queue(library, model)
        report = run.run()
        assert (model.calls, report.embedded, report.waiting) == ([100, 100, 50], 250, 0)
        run, _ = queue(library, model)
        assert run.run().embedded == 0
        assert len(model.calls) == 3

    def test_waits_grow_with_jitter_and_retry_after_is_respected(
        self, library: trivium.Library
    ) -> None:
        run, waits = queue(library, Faulty(busy(), busy(), busy(7.0)))
        assert run.run().embedded == 250
        assert 0.5 <= waits[0] <= 1.0
        assert 1.0 <= waits[1] <= 2.0
        assert 7.0 <= waits[2] <= 7.7

    def test_a_server_that_asks_for_too_much_patience_is_left_alone(
        self, library: trivium.Library
    ) -> None:
        run, waits = queue(library, Faulty(None, busy(PATIENCE + 1)))
        with pytest.raises(ModelUnavailable, match="too many requests"):
            run.run()
        assert waits == []
        assert library.waiting() == 150  # the first batch is kept

    def test_a_server_that_stays_down_stops_the_run_and_the_next_goes_on(
        self, library: trivium.Library
    ) -> None:
        run, waits = queue(library, Faulty(*[busy()] * 6))
        with pytest.raises(ModelUnavailable):
            run.run()
        assert (len(waits), library.waiting()) == (4, 250)
        run, _ = queue(library, Faulty())
        assert run.run().waiting == 0

    def test_a_package_that_is_missing_is_not_asked_again(self, library: trivium.Library) -> None:
        model = Faulty(ModelUnavailable("not installed; install it"))
        run, waits = queue(library, model)
        with pytest.raises(ModelUnavailable, match="not installed"):
            run.run()
        assert (model.calls, waits) == ([100], [])

    def test_a_poisoned_text_stands_alone_and_all_others_get_their_vector(
        self, library: trivium.Library
    ) -> None:
        library._embedder = Faulty(poison="axe 123")
        report = library.embed()
        assert (report.embedded, report.waiting) == (249, 1)
        [(chunk, why)] = report.failed
        assert chunk == "e123@1/0"
        assert "poison" in why
        [failed] = library.status()["failed"]
        assert (failed["chunk"], failed["model"]) == ("e123@1/0", "hashing")
        library._embedder = Faulty()
        assert (library.embed().embedded, library.status()["failed"]) == (1, [])

    @pytest.mark.parametrize(
        "rubbish",
        [
            lambda v: v[:-1],
            lambda v: v * np.nan,
            lambda v: v[:, :5],
            lambda v: v[0],
            lambda v: np.array([["text"] * 64] * len(v)),
        ],
        ids=["count", "nan", "dimension", "shape", "words"],
    )
    def test_rubbish_is_refused_before_anything_is_stored(
        self, library: trivium.Library, rubbish: Any
    ) -> None:
        run, _ = queue(library, Faulty(*[rubbish] * 20))
        with pytest.raises(ModelError):
            run.run()
        assert library.waiting() == 250
        assert library.doctor() == []

    def test_one_bad_answer_loses_no_other_batch(self, library: trivium.Library) -> None:
        run, _ = queue(library, Faulty(None, lambda v: v[:-1]))
        assert run.run().embedded == 250

    def test_the_wrong_dimension_is_named(self, library: trivium.Library) -> None:
        run, _ = queue(library, Faulty(*[lambda v: v[:, :5]] * 3))
        with pytest.raises(ModelMismatch, match="5 numbers instead of 64"):
            run.run()

    def test_an_edited_text_is_always_refreshed(self, library: trivium.Library) -> None:
        library.embed()
        entry = {"id": "e001", "title": "Entry 1", "description": "a sword"}
        assert library.add_entries([entry]).waiting == 0
        vector = Hashing().query("Entry 1\na sword")
        with library._store.view(trivium.Grant()) as view:
            [(chunk, cosine)] = view.nearest(vector, Filter(), 1, "chunk").scored
        assert chunk == "e001@2/0"
        assert cosine == pytest.approx(1.0)

    def test_a_failing_model_costs_no_document(self, library: trivium.Library) -> None:
        library._embedder = Faulty(*[ModelUnavailable("no key; set one")] * 2)
        report = library.add_text("A halberd.", title="New", id="new")
        assert (report.added, report.model_problem) == (("new",), "no key; set one")
        assert library.search("halberd", legs=["keyword"]).hits
        assert library.status()["failed"][0]["problem"] == "no key; set one"


class Server(BaseHTTPRequestHandler):
    """Speaks /embeddings; does first what `script` says."""

    script: ClassVar[list[Any]] = []

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        texts = json.loads(self.rfile.read(size))["input"]
        step = self.script.pop(0) if self.script else 200
        if step == "hang":
            threading.Event().wait(1.5)
            return
        vectors = Hashing(4 if step == "short" else 8).documents(texts)
        rows = [{"index": i, "embedding": v.tolist()} for i, v in enumerate(vectors)]
        body = b"<html>garbage" if step == "garbage" else json.dumps({"data": rows}).encode()
        self.send_response(step if isinstance(step, int) else 200)
        if step == 429:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Says nothing."""


@pytest.fixture
def remote() -> Iterator[HttpEmbedder]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    yield HttpEmbedder("mine", ModelSettings(url=url, model="m", dimension=8, time_out=0.4))
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("faults", [[429], [500], [503, 429], ["hang"], ["garbage"], ["short"]])
def test_over_http_every_fault_is_got_over(
    tmp_path: Path, remote: HttpEmbedder, faults: list[Any]
) -> None:
    Server.script = list(faults)
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        library.add_text("An axe.", title="Axe", id="a", embed=False)
        library.add_text("A road.", title="Road", id="b", embed=False)
        library._store.use_model(trivium.protocols.Model("mine", remote.fingerprint, 8, True))
        library._embedder = remote
        report = library.embed()
        assert (report.embedded, report.waiting) == (2, 0)
        assert library.search("axe", legs=["vector"]).hits[0].id == "a"


class Wide(Hashing):
    """Another model: the same words in more buckets."""

    name = "wide"

    def __init__(self) -> None:
        super().__init__(128)


@pytest.fixture
def two_models(library: trivium.Library) -> trivium.Library:
    library._named = lambda name: Wide() if name == "wide" else Hashing()  # type: ignore[method-assign]
    library.embed()
    return library


class TestBlueGreen:
    def test_the_old_model_is_searched_until_the_switch(self, two_models: trivium.Library) -> None:
        assert two_models.embed(model="wide").embedded == 250
        assert two_models.model_name == "hashing"
        assert two_models.search("axe 7", legs=["vector"]).legs[0].state == "ok"
        assert two_models.status()["building"] == ["wide"]
        two_models.switch_model("wide")
        assert two_models.model_name == "wide"
        assert two_models.settings.model == "hashing"  # what it was made with
        leg = two_models.search("axe 7", legs=["vector"]).legs[0]
        assert (leg.state, leg.note) == ("ok", "")
        assert two_models.status()["building"] == []

    def test_what_is_added_meanwhile_is_embedded_for_both(
        self, two_models: trivium.Library
    ) -> None:
        two_models.embed(model="wide")
        two_models.add_text("A halberd.", title="New", id="new")
        counts = {model["name"]: model["vectors"] for model in two_models.status()["models"]}
        assert counts == {"hashing": 251, "wide": 251}
        two_models.switch_model("wide")

    def test_an_unfinished_model_is_not_switched_to(self, two_models: trivium.Library) -> None:
        two_models.embed(model="wide")
        two_models.add_text("A halberd.", title="New", id="new", embed=False)
        with pytest.raises(InvalidValue, match="1 texts still wait"):
            two_models.switch_model("wide")
        assert two_models.model_name == "hashing"

    def test_drop_removes_the_old_one_and_never_the_active(
        self, two_models: trivium.Library
    ) -> None:
        two_models.embed(model="wide")
        two_models.switch_model("wide")
        with pytest.raises(InvalidValue, match="active model"):
            two_models.drop_model("wide")
        assert two_models.drop_model("hashing") == 250
        assert [model["name"] for model in two_models.status()["models"]] == ["wide"]
        with pytest.raises(UnknownModel, match="no vectors of a model 'gone'"):
            two_models.drop_model("gone")
        assert two_models.doctor() == []

    def test_overlap_is_one_with_itself_and_the_same_each_time(
        self, two_models: trivium.Library
    ) -> None:
        two_models.embed(model="wide")
        assert two_models.compare_models("hashing").overlap == 1.0
        first = two_models.compare_models("wide")
        assert first == two_models.compare_models("wide")
        assert 0.0 < first.overlap <= 1.0
        assert first.queries == 50

    def test_another_process_sees_the_switch(self, two_models: trivium.Library) -> None:
        with trivium.open(two_models.folder) as other:
            other._named = two_models._named  # type: ignore[method-assign]
            assert other.search("axe 7", legs=["vector"]).legs[0].state == "ok"
            two_models.embed(model="wide")
            two_models.switch_model("wide")
            leg = other.search("axe 7", legs=["vector"]).legs[0]
            assert (leg.state, leg.note, other.model_name) == ("ok", "", "wide")

    def test_a_library_without_a_model_can_get_one(self, tmp_path: Path) -> None:
        with trivium.init(tmp_path / "none.trivium", model="none") as library:
            library.add_text("An axe.", title="Axe", id="a")
            assert library.embed(model="hashing").embedded == 1
            assert library.search("axe", legs=["vector"]).hits[0].id == "a"
            assert library.add_text("A road.", title="Road", id="b").waiting == 0

    def test_a_model_that_was_switched_from_may_be_gone(
        self, two_models: trivium.Library, tmp_path: Path
    ) -> None:
        two_models.embed(model="wide")
        two_models.switch_model("wide")

        def named(name: str) -> Hashing:
            if name == "hashing":
                raise UnknownModel("there is no model 'hashing'")
            return Wide()

        two_models._named = named  # type: ignore[method-assign]
        (tmp_path / "new.md").write_text("A halberd.")
        report = two_models.add(tmp_path / "new.md")
        assert (len(report.added), report.waiting, report.model_problem) == (1, 0, "")

    def test_rankings_are_those_of_the_model(self, two_models: trivium.Library) -> None:
        two_models.embed(model="wide")
        asked = {"q": "axe 7"}
        new = two_models.rankings(asked, model="wide")
        two_models.switch_model("wide")
        assert two_models.rankings(asked) == new


def test_in_the_terminal(run: Run, world: Path, notes: Path) -> None:
    assert run("embed", "--model", "hashing").stdout == "embedded 0 texts\n"
    assert run("embed", "--switch", "gone").returncode == 1
    assert "active model" in run("embed", "--drop", "hashing").stderr
    assert "they are three steps" in run("embed", "--model", "a", "--drop", "b").stderr
    assert json.loads(run("status", "--json").stdout)["failed"] == []


def test_a_new_model_is_compared_by_judged_queries(run: Run, world: Path, tmp_path: Path) -> None:
    pytest.importorskip("wordllama", reason="the model 'static' is not installed")
    judged = {"queries": {"q": "axe"}, "judgements": {"q": {"clock-01": 1}}}
    (tmp_path / "judged.json").write_text(json.dumps(judged))
    told = run("embed", "--model", "static", "--judgements", "judged.json", "--json")
    data = json.loads(told.stdout)
    assert (data["model"], data["embedded"], data["active"]) == ("static", 8, "hashing")
    assert 0 < data["overlap"] <= 1
    old, new = data["ndcg"]  # whatever rank the judged one has, it counts 1 / log2(rank + 1)
    worth = [round(1 / np.log2(rank + 1), 4) for rank in range(1, 11)]
    assert old in (0, *worth)
    assert new in (0, *worth)
    assert "static" in run("embed", "--switch", "static").stdout
    assert json.loads(run("status", "--json").stdout)["model"] == "static"
    assert run("embed", "--drop", "hashing").stdout == "8 vectors of hashing are gone\n"


def test_a_model_that_is_down_ends_the_command_and_keeps_its_reason(
    run: Run, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "new.md").write_text("A halberd.")
    run("add", "new.md", "--no-embed")

    def down(self: Hashing, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnavailable("the server is gone; start it")

    with monkeypatch.context() as broken:
        broken.setattr(Hashing, "documents", down)
        told = run("embed")
        assert (told.returncode, told.stderr) == (1, "error: the server is gone; start it\n")
    [failed] = json.loads(run("status", "--json").stdout)["failed"]
    assert failed["problem"] == "the server is gone; start it"
    assert run("embed").stdout == "embedded 1 texts\n"
    assert json.loads(run("status", "--json").stdout)["failed"] == []


KILLED = """
import os, signal, sys, trivium
stage, folder, notes = sys.argv[1:]
def kill(*arguments, **named):
    os.kill(os.getpid(), signal.SIGKILL)
if stage == "extract":
    import trivium.ingest.add as add
    add.of_extraction = kill
elif stage == "archive":
    import pathlib, trivium.ingest.archive as archive
    archive.Path.replace = kill
elif stage == "store":
    import trivium.store.record.writing as writing
    writing._index_batch = kill
elif stage == "embed":
    import trivium.embed.hashing as hashing
    hashing.Hashing.documents = kill
with trivium.open(folder) as library:
    library.add(notes)
"""


@pytest.mark.parametrize("stage", ["extract", "archive", "store", "embed"])
def test_killed_in_any_stage_the_next_run_finishes(tmp_path: Path, notes: Path, stage: str) -> None:
    folder = tmp_path / "k.trivium"
    with trivium.init(folder, model="hashing") as library:
        library.add_text("The first axe.", title="First", id="first")
    command = [sys.executable, "-c", KILLED, stage, str(folder), str(notes)]
    killed = subprocess.run(command, env={**os.environ}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    with trivium.open(folder) as library:
        assert library.doctor() == []
        assert library.search("first", legs=["keyword"]).hits[0].id == "first"
        library.add(notes)
        library.embed()
        assert (library.status()["documents"], library.waiting()) == (7, 0)
        assert library.doctor() == []
        files = [one for d in library.documents() for one in library.versions(d.id)]
        assert sum(one.archived for one in files) == 4  # the notes; entries and texts have no file


ADDING = """
import sys, trivium
folder, name = sys.argv[1:]
with trivium.open(folder) as library:
    for i in range(20):
        library.add_text(f"the axe of {name} {i}", title=f"{name} {i}", id=f"{name}-{i}")
"""


def test_two_processes_adding_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "t.trivium"
    trivium.init(folder, model="hashing").close()
    adders = [
        subprocess.Popen([sys.executable, "-c", ADDING, str(folder), name]) for name in ("a", "b")
    ]
    assert [adder.wait(120) for adder in adders] == [0, 0]
    with trivium.open(folder) as library:
        assert {one.id for one in library.documents()} == {
            f"{name}-{i}" for name in ("a", "b") for i in range(20)
        }
        assert library.waiting() == 0
        assert library.search("axe", legs=["vector"], limit=100).total == 40
        assert library.doctor() == []


def test_vectors_that_somebody_spoilt_are_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "spoilt.trivium"
    with trivium.init(folder, model="hashing") as library:
        for name in ("axe", "sword", "bow"):
            library.add_text(f"the {name} of the king", title=name, id=name)
        before = [(hit.id, hit.score) for hit in library.search("sword")]
    with closing(sqlite3.connect(folder / "index.db")) as record, record:
        record.execute("UPDATE vectors SET vector = x'0000803f' WHERE rowid = 1")
        record.execute("DELETE FROM vectors WHERE rowid = 2")
    with trivium.open(folder) as library:
        assert [problem.split("; ")[1] for problem in library.doctor()] == [
            "run 'trivium embed'",
            "run 'trivium embed'",
        ]
        assert library.embed().embedded == 2
        assert library.doctor() == []
        assert [(hit.id, hit.score) for hit in library.search("sword")] == before
