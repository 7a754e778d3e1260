"""Source files in blob storage: against azurite for Azure and moto for S3, both real servers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import trivium
from trivium.errors import InvalidValue
from trivium.ingest.blobs import blobs
from trivium.settings import ArchiveSettings

fsspec = pytest.importorskip("fsspec", reason="the extra 'blob' is not installed")

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""azurite's own account and key, the same on every machine."""


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
    return port


def azurite_command() -> Path:
    """azurite, installed by npm into the user's cache when it is first asked for."""
    found = shutil.which("azurite-blob")
    if found:
        return Path(found)
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("azurite needs node and npm, which are not on this machine")
    folder = Path.home() / ".cache" / "trivium-tests" / "azurite"
    command = folder / "node_modules" / ".bin" / "azurite-blob"
    if not command.exists():
        install = ["npm", "install", "--prefix", str(folder), "--no-audit", "azurite"]
        try:
            subprocess.run(install, check=True, capture_output=True, timeout=300)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"npm could not install azurite: {error}")
    return command


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    command, port = azurite_command(), free_port()
    place = tmp_path_factory.mktemp("azurite")
    options = ["--silent", "--skipApiVersionCheck", "--location", str(place)]
    where = ["--blobHost", "127.0.0.1", "--blobPort", str(port)]
    server = subprocess.Popen(
        [command, *options, *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            pytest.skip("azurite did not start")
        yield f"http://127.0.0.1:{port}/{ACCOUNT}"
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture
def settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "trivium").mkdir(parents=True)
    return tmp_path / "config" / "trivium" / "trivium.toml"


def use(file: Path, kind: str, url: str) -> None:
    file.write_text(f'[archive]\nkind = "{kind}"\nurl = "{url}"\nkey_variable = "STORAGE_KEY"\n')


@pytest.mark.filterwarnings("ignore")  # the clients leave sockets to the garbage collector
class TestAzure:
    def test_a_source_goes_to_the_container_of_document_001(
        self, tmp_path: Path, azurite: str, settings_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STORAGE_KEY", KEY)
        use(settings_file, "azure", azurite)
        (tmp_path / "axe.md").write_text("An axe.")
        folder = tmp_path / "w.trivium"
        with trivium.init(folder, profile="jicklejime", model="hashing") as library:
            report = library.add(tmp_path / "axe.md")
            assert report.blob_problem == ""
            [version] = library.versions("#1")
        hash = version.source_hash
        assert version.blob == f"abfs://jime-documents/{hash[:2]}/{hash}"
        connection = (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"BlobEndpoint={azurite};"
        )
        files = fsspec.filesystem("abfs", connection_string=connection)
        assert files.cat_file(f"jime-documents/{hash[:2]}/{hash}") == b"An axe."

    def test_a_wrong_key_costs_nothing_and_the_next_add_tries_again(
        self, tmp_path: Path, azurite: str, settings_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STORAGE_KEY", KEY[:-4] + "AA==")
        use(settings_file, "azure", azurite)
        (tmp_path / "axe.md").write_text("An axe with a story.")
        with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
            report = library.add(tmp_path / "axe.md")
            assert len(report.added) == 1
            assert "1 files wait for the next 'trivium add'" in report.blob_problem
            assert library.search("story", legs=["keyword"]).hits
            assert library.versions("#1")[0].blob == ""
            monkeypatch.setenv("STORAGE_KEY", KEY)
            assert library.add(tmp_path / "axe.md").blob_problem == ""
            assert library.versions("#1")[0].blob.startswith("abfs://trivium-documents/")


@pytest.mark.filterwarnings("ignore")
class TestS3:
    @pytest.fixture
    def s3(self) -> Iterator[str]:
        server = pytest.importorskip("moto.server", reason="moto is not installed")
        port = free_port()
        running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
        running.start()
        yield f"http://127.0.0.1:{port}"
        running.stop()

    def test_a_source_goes_to_the_bucket(
        self, tmp_path: Path, s3: str, settings_file: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STORAGE_KEY", "access:secret")
        use(settings_file, "s3", s3)
        (tmp_path / "axe.md").write_text("An axe.")
        with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
            assert library.add(tmp_path / "axe.md").blob_problem == ""
            [version] = library.versions("#1")
        hash = version.source_hash
        assert version.blob == f"s3://trivium-documents/{hash[:2]}/{hash}"
        files = fsspec.filesystem("s3", endpoint_url=s3, key="access", secret="secret")
        assert files.cat_file(f"trivium-documents/{hash[:2]}/{hash}") == b"An axe."


def test_a_storage_that_never_answers_costs_a_moment_and_no_document(
    tmp_path: Path, settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORAGE_KEY", "access:secret")
    monkeypatch.setattr("trivium.ingest.blobs.TIME_OUT", 0.5)
    (tmp_path / "axe.md").write_text("An axe.")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        use(settings_file, "s3", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
            report = library.add(tmp_path / "axe.md")
            assert library.search("axe", legs=["keyword"]).hits
    assert report.blob_problem == (
        "no answer from blob storage in 0.5 seconds; 1 files wait for the next 'trivium add'"
    )


def test_a_variable_that_is_not_set_is_named(
    tmp_path: Path, settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STORAGE_KEY", raising=False)
    use(settings_file, "azure", "https://somebody.blob.core.windows.net")
    (tmp_path / "axe.md").write_text("An axe.")
    with trivium.init(tmp_path / "w.trivium", model="hashing") as library:
        report = library.add(tmp_path / "axe.md")
    assert len(report.added) == 1
    assert "STORAGE_KEY (archive.key_variable) is not set" in report.blob_problem


def test_azure_needs_to_be_told_where() -> None:
    with pytest.raises(InvalidValue, match=r"archive\.url is empty"):
        blobs(ArchiveSettings("azure", key_variable="K"), "box", {"K": "a2V5"})
    assert blobs(ArchiveSettings(), "box", os.environ) is None
