"""MiniLM's network, written down once more for speed: the same weights, larger operations.

The file of the package spells every step out, down to the mask, and multiplies in float32. Here
attention, each residual sum and the activation are one operation, and most products are taken in
whole numbers: the weights are 8-bit numbers already, and every 64 numbers of a text are rounded
to 8 bits on their way in. Vectors have a cosine of .999 or more with what the file gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from trivium.embed.onnx_format import FLOAT, Graph, Tensor, tensors

LAYERS, HEADS, WIDTH, INNER = 6, 12, 384, 1536
EPSILON = 1e-12  # of every normalisation in BERT

BLOCK = 64
"""Numbers that share a scale when a text's are rounded. More are faster and less exact, and from
128 on the runtime computes few rows differently from many, so that a text's company would show.
"""

_EMBEDDINGS = "inner.embeddings."
_SHAPES = ((WIDTH, WIDTH),) * 4 + ((WIDTH, INNER), (INNER, WIDTH))  # a layer's matrices, in order
_FUSED = "com.microsoft"  # the domain of the runtime's own operations

_Weights = Mapping[str, Tensor]


def fused(file: bytes) -> bytes:
    """A model that computes what the one in the package's file does.

    It takes `ids`, texts by tokens, and the `lengths` of the texts, and gives the state of every
    token. What stands beyond a text's length has no effect on it. `ValueError` where the file
    holds another network.
    """
    weights = tensors(file)
    # The file numbers its matrices; they stand in the order in which they are used.
    names = [name.removesuffix("_q") for name in weights if name.endswith("_q")][2:]
    if [weights[f"{name}_q"].shape for name in names] != [*_SHAPES * LAYERS]:
        raise ValueError("the weights are not those of MiniLM")
    graph = Graph()
    graph.input("ids", np.int64, ("texts", "tokens"))
    graph.input("lengths", np.int32, ("texts",))
    states = _embedded(graph, weights)
    for layer in range(LAYERS):
        own = names[layer * len(_SHAPES) :][: len(_SHAPES)]
        states = _layer(graph, weights, f"inner.encoder.layer.{layer}.", own, states)
    return graph.model(states, ("texts", "tokens", "width"))


def _embedded(graph: Graph, weights: _Weights) -> str:
    """Words and their places. Only the rows of words that occur are made floats of."""
    words, places = (
        f"{_EMBEDDINGS}word_embeddings.weight",
        f"{_EMBEDDINGS}position_embeddings.weight",
    )
    rows = graph.node("Gather", graph.constant(weights[f"{words}_q"]), "ids")
    scales = graph.node("Gather", graph.constant(weights[f"{words}_scale"]), "ids")
    rows = graph.node("Mul", graph.node("Cast", rows, to=FLOAT), scales)
    # every text is a first sentence, which adds the same to each of its tokens
    first = weights[f"{_EMBEDDINGS}token_type_embeddings.weight"][0]
    start = graph.constant(np.zeros(1, np.int64))
    width = graph.node("Shape", "ids", start=1, end=2)
    standing = graph.constant(_floats(weights, places) + first)
    rows = graph.node("Add", rows, graph.node("Slice", standing, start, width, start))
    return graph.node(
        "LayerNormalization", rows, *_norm(graph, weights, _EMBEDDINGS), epsilon=EPSILON
    )


def _layer(graph: Graph, weights: _Weights, layer: str, names: Sequence[str], states: str) -> str:
    *attending, mixing, widening, narrowing = names
    # In float32: rounding here would cause four fifths of all error, for a tenth of the time.
    matrix = np.concatenate([_floats(weights, name) for name in attending], axis=1)
    biases = [weights[f"{layer}attention.self.{role}.bias"] for role in ("query", "key", "value")]
    attended = graph.node(
        "Attention",
        states,
        graph.constant(matrix),
        graph.constant(np.concatenate(biases)),
        "lengths",
        domain=_FUSED,
        num_heads=HEADS,
    )
    mixed = _product(graph, weights, mixing, attended)
    states = _added(graph, weights, f"{layer}attention.output.", mixed, states)
    wide = _product(graph, weights, widening, states)
    bias = graph.constant(weights[f"{layer}intermediate.dense.bias"])
    active = graph.node("BiasGelu", wide, bias, domain=_FUSED)
    narrow = _product(graph, weights, narrowing, active)
    return _added(graph, weights, f"{layer}output.", narrow, states)


def _product(graph: Graph, weights: _Weights, name: str, states: str) -> str:
    """Times a matrix in 8-bit numbers: column by column in blocks, 128 standing for zero."""
    matrix = weights[f"{name}_q"]
    rows, columns = matrix.shape
    blocks = (matrix.view(np.uint8) ^ 128).T.reshape(columns, rows // BLOCK, BLOCK)
    scales = np.repeat(weights[f"{name}_scale"].ravel(), rows // BLOCK)
    return graph.node(
        "MatMulNBits",
        states,
        graph.constant(blocks),
        graph.constant(scales),
        domain=_FUSED,
        K=rows,
        N=columns,
        bits=8,
        block_size=BLOCK,
        accuracy_level=4,  # round what is multiplied to 8 bits, too
    )


def _added(graph: Graph, weights: _Weights, part: str, change: str, states: str) -> str:
    """The states with a part's change to them, normalised."""
    bias = graph.constant(weights[f"{part}dense.bias"])
    norm = _norm(graph, weights, part)
    return graph.node(
        "SkipLayerNormalization", change, states, *norm, bias, domain=_FUSED, epsilon=EPSILON
    )


def _norm(graph: Graph, weights: _Weights, part: str) -> tuple[str, str]:
    return (
        graph.constant(weights[f"{part}LayerNorm.weight"]),
        graph.constant(weights[f"{part}LayerNorm.bias"]),
    )


def _floats(weights: _Weights, name: str) -> NDArray[np.float32]:
    product: NDArray[np.float32] = weights[f"{name}_q"] * weights[f"{name}_scale"]
    return product
