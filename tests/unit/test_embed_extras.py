"""Models that other packages run, on a tiny model that the test builds."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tiny import encoder

from trivium.embed import embedder
from trivium.errors import ModelMismatch, ModelUnavailable
from trivium.protocols import Embedder
from trivium.settings import ModelSettings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("model") / "tiny")


@pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra 'fastembed' is not installed")
def test_fastembed_runs_a_model_from_a_folder(folder: Path) -> None:
    settings = ModelSettings(kind="fastembed", model=str(folder), dimension=6)
    model: Embedder = embedder("tiny", {"tiny": settings})
    rows = model.documents(["the axe", "the sword of the king", "axe the"])
    assert rows.shape == (3, 6)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(rows[0], rows[2], atol=1e-6)  # no order of words in this model
    assert rows[0] @ rows[1] < 0.99
    np.testing.assert_allclose(model.query("the axe"), rows[0], atol=1e-6)
    assert model.documents([]).shape == (0, 6)
    prefixed = embedder("tiny", {"tiny": replace(settings, query_prefix="king ")})
    np.testing.assert_allclose(prefixed.query("axe"), model.documents(["king axe"])[0], atol=1e-6)
    assert prefixed.fingerprint != model.fingerprint


@pytest.mark.skipif(find_spec("fastembed") is None, reason="the extra 'fastembed' is not installed")
def test_a_wrong_dimension_is_noticed(folder: Path, tmp_path: Path) -> None:
    other = encoder(tmp_path / "other")
    settings = ModelSettings(kind="fastembed", model=str(other), dimension=7)
    with pytest.raises(ModelMismatch, match="gives vectors of 6 numbers"):
        embedder("tiny", {"tiny": settings}).query("axe")


def test_a_folder_is_known_by_what_it_holds(tmp_path: Path) -> None:
    def known(folder: Path) -> str:
        settings = ModelSettings(kind="fastembed", model=str(folder), dimension=6)
        return embedder("tiny", {"tiny": settings}).fingerprint

    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "model.onnx").write_bytes(b"weights")
    before = known(here)
    assert known(there) == before
    (here / "model.onnx").write_bytes(b"others")
    assert known(here) != before


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="it is installed")
def test_a_missing_extra_says_what_to_install() -> None:
    settings = ModelSettings(kind="sentence-transformers", model="any", dimension=6)
    with pytest.raises(ModelUnavailable, match=r"pip install.*sentence-transformers"):
        embedder("tiny", {"tiny": settings}).query("axe")
