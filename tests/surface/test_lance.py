"""Libraries whose vectors lie in LanceDB, as a person uses them: in a folder and in a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import trivium

pytest.importorskip("lancedb", reason="the extra 'lance' is not installed")

TEXTS = {"axe.md": "An axe for the dwarf king.", "sea.md": "Ships sail on the sea."}


def filled(folder: Path, vectors: str) -> trivium.Library:
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    library = trivium.init(folder / f"{vectors}.trivium", model="hashing", vectors=vectors)
    library.add(*(folder / name for name in TEXTS))
    library.embed()
    return library


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
        import boto3

        boto3.client(
            "s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1"
        ).create_bucket(Bucket="vectors")
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
