"""Tiny models that the tests build: real ONNX files and tokenizers, small enough to reckon by hand.

The encoder gives each word a fixed vector. The cross-encoder counts the query's words that stand
in the text, each once: `logit = Σ over words of count in the query · (1 if it is in the text)`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

WORDS = ("axe", "sword", "king", "dwarf", "forge", "sea", "book", "bridge", "the", "of")
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
VOCABULARY = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}


def write_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")
    tokenizer.save(str(folder / "tokenizer.json"))


def cross_encoder(folder: Path, outputs: int = 1) -> Path:
    """A folder with tokenizer.json and model.onnx; `outputs` > 1 gives a column for each class."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder)
    size = len(VOCABULARY)
    seen = np.eye(size, dtype=np.float32)
    seen[: len(SPECIAL)] = 0  # signs and unknown words count for nothing
    columns = np.zeros((1, outputs), np.float32)
    columns[0, -1] = 1
    constants: dict[str, NDArray[Any]] = {
        "seen": seen,
        "columns": columns,
        "last": np.array([2], np.int64),
        "words": np.array([1], np.int64),
        "vocabulary": np.array([1], np.int64),
        "one": np.array(1, np.float32),
    }
    nodes = [
        helper.make_node("Gather", ["seen", "input_ids"], ["onehot"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Sub", ["one", "second"], ["first"]),
        helper.make_node("Mul", ["first", "mask"], ["first_mask"]),
        helper.make_node("Mul", ["second", "mask"], ["second_mask"]),
        helper.make_node("Unsqueeze", ["first_mask", "last"], ["first_wide"]),
        helper.make_node("Unsqueeze", ["second_mask", "last"], ["second_wide"]),
        helper.make_node("Mul", ["onehot", "first_wide"], ["query_words"]),
        helper.make_node("Mul", ["onehot", "second_wide"], ["text_words"]),
        helper.make_node("ReduceSum", ["query_words", "words"], ["query"], keepdims=0),
        helper.make_node("ReduceMax", ["text_words"], ["text"], axes=[1], keepdims=0),
        helper.make_node("Mul", ["query", "text"], ["both"]),
        helper.make_node("ReduceSum", ["both", "vocabulary"], ["sum"], keepdims=1),
        helper.make_node("MatMul", ["sum", "columns"], ["logits"]),
    ]
    _save(folder, nodes, constants, "logits", ["n", outputs])
    return folder


def encoder(folder: Path, dimension: int = 6) -> Path:
    """A folder that `fastembed` can read: each word has one vector, fixed by a seed."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder)
    table = np.random.default_rng(7).normal(size=(len(VOCABULARY), dimension)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
        helper.make_node("Mul", ["vectors", "wide"], ["last_hidden_state"]),
    ]
    constants: dict[str, NDArray[Any]] = {"table": table, "last": np.array([2], np.int64)}
    _save(folder, nodes, constants, "last_hidden_state", ["n", "length", dimension])
    (folder / "config.json").write_text('{"pad_token_id": 0, "max_position_embeddings": 512}')
    (folder / "tokenizer_config.json").write_text(
        '{"model_max_length": 512, "pad_token": "[PAD]", "cls_token": "[CLS]"}'
    )
    (folder / "special_tokens_map.json").write_text(
        '{"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}'
    )
    return folder


def _save(
    folder: Path,
    nodes: list[onnx.NodeProto],
    constants: dict[str, NDArray[Any]],
    output: str,
    shape: list[str | int],
) -> None:
    names = ("input_ids", "attention_mask", "token_type_ids")
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "length"])
            for name in names
            if name in used
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
