"""MiniLM put together for speed, beside the package's own file and beside the package `onnx`."""

from __future__ import annotations

import random
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from trivium.embed.minilm import MiniLM, _tokenizer, _weights
from trivium.embed.network import fused
from trivium.embed.onnx_format import Graph, Tensor, tensors
from trivium.vectors import unit

MINILM = MiniLM()
TEXT = """The dwarf king was buried with his weapon, although nobody knows why; enzyme inhibition
reduced mortality (p < 0.05) and blood pressure, naïve 東京 42 C++ quickly rises with age"""
KINDS = st.sampled_from([np.float32, np.uint8, np.int8, np.int32, np.int64])
TENSORS = KINDS.flatmap(
    lambda kind: arrays.arrays(kind, arrays.array_shapes(max_dims=3, max_side=9))
)


def drawn(seed: int, words: int) -> str:
    return " ".join(random.Random(seed).choices(TEXT.split(), k=words))


def session(model: str | bytes) -> Any:
    runtime: Any = import_module("onnxruntime")  # it has no types
    return runtime.InferenceSession(model, providers=["CPUExecutionProvider"])


@cache
def packaged() -> Any:
    return session(str(_weights()))


def as_the_file_says(text: str) -> NDArray[np.float32]:
    """The package's model as it comes, in float32: slow, and right by definition."""
    ids = np.array([_tokenizer().encode(text).ids])
    names = ("input_ids", "attention_mask", "token_type_ids")
    values = (ids, np.ones_like(ids), np.zeros_like(ids))
    (states,) = packaged().run(None, dict(zip(names, values, strict=True)))
    return unit(states[0].mean(axis=0))


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0.999),
        ("fox", 0.9995),
        ("dwarf king weapon", 0.9997),
        ("How do I reset my password?", 0.9997),
        (drawn(1, 40), 0.9997),
        (drawn(2, 400), 0.9998),
    ],
)
def test_vectors_are_those_of_the_packages_file(text: str, least: float) -> None:
    assert MINILM.query(text) @ as_the_file_says(text) > least


def test_a_text_has_the_same_bytes_in_any_company() -> None:
    texts = [drawn(seed, seed % 60 if seed % 9 else 250) for seed in range(120)]
    alone = np.stack([MINILM.query(text) for text in texts])
    np.testing.assert_array_equal(MINILM.documents(texts), alone)
    np.testing.assert_array_equal(MINILM.documents(texts[::-3]), alone[::-3])


def test_the_weights_are_read_as_onnx_reads_them() -> None:
    found = tensors(_weights().read_bytes())
    theirs = {
        one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(_weights()).graph.initializer
    }
    assert list(found) == list(theirs)
    for name, tensor in theirs.items():
        assert found[name].dtype == tensor.dtype
        np.testing.assert_array_equal(found[name], tensor)


@settings(deadline=None)
@given(st.lists(TENSORS, max_size=3))
def test_what_is_written_is_read_again_by_onnx_and_here(values: list[Tensor]) -> None:
    graph = Graph()
    names = [graph.constant(value) for value in values]
    file = graph.model(graph.node("Cast", graph.input("x", np.int64, "n"), to=1), "n")
    onnx.checker.check_model(file)
    theirs = onnx.load_from_string(file).graph.initializer
    assert [one.name for one in theirs] == list(tensors(file)) == names
    for value, one in zip(values, theirs, strict=True):
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(one), value)
        np.testing.assert_array_equal(tensors(file)[one.name], value)


def test_a_graph_computes_what_it_says() -> None:
    graph = Graph()
    graph.input("x", np.float32, ("rows", "columns"))
    scaled = graph.node("Mul", "x", graph.constant(np.array([2, 10], np.float32)))
    file = graph.model(graph.node("LeakyRelu", scaled, alpha=0.5), ("rows", "columns"))
    (result,) = session(file).run(None, {"x": np.array([[1, -1], [-3, 4]], np.float32)})
    assert result.tolist() == [[2, -5], [-3, 40]]


def test_another_network_and_a_file_cut_off_are_refused() -> None:
    whole = _weights().read_bytes()
    with pytest.raises(ValueError, match="cut off"):
        fused(whole[:-1000])
    with pytest.raises(ValueError, match="cut off"):
        fused(b"not a model")
    with pytest.raises(ValueError, match="not those of MiniLM"):
        fused(Graph().model("x", "n"))
