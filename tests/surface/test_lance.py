"""Libraries whose vectors lie in LanceDB, as a person uses them: in a folder and in a bucket."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import numpy as np
import pytest

import trivium
from trivium.errors import LibraryUnavailable, MissingExtra

pytest.importorskip("lancedb", reason="the extra 'lance' is not installed")

Run = Callable[..., CompletedProcess[str]]
TEXTS = {"axe.md": "An axe for the dwarf king.", "sea.md": "Ships sail on the sea."}


def filled(folder: Path, vectors: str) -> trivium.Library:
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    library = trivium.init(folder / f"{vectors}.trivium", model="hashing", vectors=vectors)
    library.add(*(folder / name for name in TEXTS))
    library.embed()
    return library


def s3(endpoint: str) -> Any:
    import boto3

    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1")


def hits(library: trivium.Library, query: str) -> list[tuple[str, float]]:
    return [(hit.title, hit.score) for hit in library.search(query)]


def test_it_answers_as_the_matrix_does(tmp_path: Path) -> None:
    with filled(tmp_path, "matrix") as right, filled(tmp_path, "lance") as mine:
        for query in ("dwarf axe", "sailing ships", "kings at sea"):
            assert hits(mine, query) == hits(right, query)
        status = mine.status()["lance"]
        assert (status["index"], status["recall"]) == ("flat", 1.0)


def test_an_edit_is_found_at_once(tmp_path: Path) -> None:
    with filled(tmp_path, "lance") as library:
        assert hits(library, "dwarf axe")[0][0] == "axe"
        (tmp_path / "sea.md").write_text("A dwarf axe and another dwarf axe.")
        library.add(tmp_path / "sea.md")
        library.embed()
        assert hits(library, "dwarf axe")[0][0] == "sea"


# --- what is damaged -----------------------------------------------------------------------------


def with_flipped(data: bytes, vector: np.ndarray) -> bytes:
    """A file of LanceDB's with one bit of one vector wrong: it keeps no checksums."""
    place = data.index(vector.astype("<f4").tobytes())
    wrong = bytearray(data)
    wrong[place] ^= 1
    return bytes(wrong)


def vector_of(library: trivium.Library, title: str) -> np.ndarray:
    [document] = [one for one in library.documents() if one.title == title]
    [chunk] = library.get(document.id)[0].chunks
    [model] = library._store.models()
    stored = library._store.vectors(model.fingerprint, [chunk.embedding_hash])
    return stored[chunk.embedding_hash]


def test_doctor_finds_what_no_search_can_and_says_what_to_do(tmp_path: Path, run: Run) -> None:
    with filled(tmp_path, "lance") as library:
        before = hits(library, "dwarf axe")
        vector = vector_of(library, "axe")
        assert library.doctor() == []
    folder = tmp_path / "lance.trivium"
    for file in (folder / "cache" / "lance").rglob("data/*.lance"):
        if vector.astype("<f4").tobytes() in file.read_bytes():
            file.write_bytes(with_flipped(file.read_bytes(), vector))
    found = run("doctor", "-L", folder)
    assert found.returncode == 1
    assert "1 vectors of the LanceDB dataset at" in found.stdout
    assert "not those of the record; run 'trivium optimize', which makes the dataset anew" in (
        found.stdout
    )
    assert run("optimize", "-L", folder).returncode == 0
    assert run("doctor", "-L", folder).stdout.endswith("is well\n")
    with trivium.open(folder) as library:
        assert hits(library, "dwarf axe") == before


def test_what_is_not_written_yet_is_no_damage(tmp_path: Path) -> None:
    with filled(tmp_path, "lance") as library:
        hits(library, "dwarf axe")
        gone = library.documents()[0].id  # ids are drawn, so the boat's could be the first
        library.add_text("A longboat on the river.", title="boat", id="boat", embed=False)
        library.remove(gone)
        assert library.doctor() == []
        library.embed()
        assert library.doctor() == []
        assert hits(library, "longboat")[0][0] == "boat"
        assert library.doctor() == []


@pytest.mark.parametrize("what", ["*", "note.lance/_versions/*.manifest", "note.lance/data/*"])
def test_whatever_is_damaged_is_made_anew_once(tmp_path: Path, what: str) -> None:
    with filled(tmp_path, "lance") as library:
        before = hits(library, "dwarf axe")
    folder = tmp_path / "lance.trivium"
    for file in (folder / "cache" / "lance").rglob(what):
        if file.is_file():
            file.write_bytes(b"rubbish")
    with trivium.open(folder) as library:
        [problem] = library.doctor()
        assert "cannot be read" in problem
        assert "'trivium optimize'" in problem
        assert ".rs:" not in problem
        result = library.search("dwarf axe")
        assert [(hit.title, hit.score) for hit in result] == before
        [warning] = result.warnings
        assert warning.endswith("and has been rebuilt")
    with trivium.open(folder) as library:
        assert library.search("dwarf axe").warnings == ()
        assert library.doctor() == []


@pytest.mark.filterwarnings("ignore")
class TestInABucket:
    @pytest.fixture
    def bucket(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        server = pytest.importorskip("moto.server", reason="moto is not installed")
        running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
        host, port = running.get_host_and_port()
        for name, value in {
            "AWS_ACCESS_KEY_ID": "access",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT": f"http://{host}:{port}",
            "AWS_ALLOW_HTTP": "true",
        }.items():
            monkeypatch.setenv(name, value)
        s3(f"http://{host}:{port}").create_bucket(Bucket="vectors")
        yield "s3://vectors/libraries"
        running.stop()

    def test_the_dataset_lies_there_and_is_searched(
        self, tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRIVIUM_LANCE__URL", bucket)
        with filled(tmp_path, "lance") as library:
            assert hits(library, "dwarf axe")[0][0] == "axe"
            assert library.status()["lance"]["place"].startswith(bucket)
            assert library.status()["lance"]["index"] == "flat"
        assert not (tmp_path / "lance.trivium" / "cache" / "lance").exists()

    @pytest.mark.parametrize("kind", ["rubbish", "flipped", "gone"])
    def test_a_damaged_dataset_needs_no_hands(
        self, tmp_path: Path, bucket: str, kind: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRIVIUM_LANCE__URL", bucket)
        with filled(tmp_path, "lance") as library:
            before = hits(library, "dwarf axe")
            vector = vector_of(library, "axe")
        there = s3(os.environ["AWS_ENDPOINT"])
        for one in there.list_objects_v2(Bucket="vectors")["Contents"]:
            place = {"Bucket": "vectors", "Key": one["Key"]}
            data = there.get_object(**place)["Body"].read()
            if kind == "gone":
                there.delete_object(**place)
            elif kind == "rubbish":
                there.put_object(**place, Body=b"rubbish")
            elif vector.astype("<f4").tobytes() in data:
                there.put_object(**place, Body=with_flipped(data, vector))
        with trivium.open(tmp_path / "lance.trivium") as library:
            problems = library.doctor()
            assert len(problems) == (kind != "gone")
            assert all("'trivium optimize'" in problem for problem in problems)
            if kind == "flipped":
                library.optimize()
            assert hits(library, "dwarf axe") == before
            assert library.doctor() == []

    def test_a_bucket_that_is_gone_is_told_and_the_record_answers(
        self, tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TRIVIUM_LANCE__URL", bucket)
        with filled(tmp_path, "lance") as library:
            before = hits(library, "dwarf axe")
        monkeypatch.setenv("TRIVIUM_LANCE__URL", bucket.replace("vectors", "none"))
        with trivium.open(tmp_path / "lance.trivium") as library:
            result = library.search("dwarf axe")
            assert [(hit.title, hit.score) for hit in result] == before
            assert result.degraded == ()
            [warning] = result.warnings
            assert "the vectors were read from the record" in warning
            with pytest.raises(LibraryUnavailable, match="see to the folder or the address"):
                library.optimize()


def test_a_library_in_lancedb_is_not_made_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[lance\]'"):
        trivium.init(tmp_path / "n.trivium", model="hashing", vectors="lance")
    assert not (tmp_path / "n.trivium").exists()
