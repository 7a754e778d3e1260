"""Chunks a second of the local model, beside the loop that anybody would write.

    python bench/embed.py [--folder examples] [--rounds 4] [--write]

The loop encodes and runs one text at a time on a session with the runtime's own settings, which
use all cores. Both give the same vectors, which is checked. The two take turns on the same texts,
so that other work on the machine slows both.
"""

from __future__ import annotations

import argparse
import platform
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import trivium
from trivium.embed.minilm import MiniLM, _tokenizer, _weights
from trivium.template import embedding_input
from trivium.vectors import unit

README = Path(__file__).parent / "README.md"
EXAMPLES = Path(__file__).parent.parent / "examples"
TEXTS = 60  # of each kind a round: a few seconds, long enough to fill batches


def plain_loop() -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """One text after the other, with the defaults of the runtime."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(_weights()), providers=["CPUExecutionProvider"])
    tokenizer = _tokenizer()

    def run(text: str) -> NDArray[np.float32]:
        ids = np.array([tokenizer.encode(text).ids])
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        mean: NDArray[np.float32] = session.run(None, inputs)[0][0].mean(axis=0)
        return mean

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return unit(np.stack([run(text) for text in texts]))

    return embed


def chunks_of(folder: Path) -> list[str]:
    """What a library of the folder embeds, in a fixed order that mixes long and short."""
    with (
        tempfile.TemporaryDirectory() as place,
        trivium.init(Path(place) / "bench.trivium", model="hashing") as library,
    ):
        library.add(folder, embed=False)
        texts = [
            embedding_input(library.settings.template, reading.document, chunk)
            for document in library.documents()
            for reading in library.get(document.id)
            for chunk in reading.chunks
        ]
    random.Random(1).shuffle(texts)
    return texts


def full(texts: Sequence[str]) -> list[str]:
    """Texts that fill the model's window: the slowest there are."""
    whole = " ".join(texts)
    return [whole[start : start + 1600] for start in range(0, TEXTS * 700, 700)][:TEXTS]


def measure(
    name: str, texts: Sequence[str], rounds: int, model: MiniLM, plain: Callable[..., object]
) -> str:
    ours, theirs, distance = [], [], 0.0
    for turn in range(rounds):
        some = texts[turn * TEXTS : (turn + 1) * TEXTS] or texts[:TEXTS]
        started = time.perf_counter()
        first = np.asarray(plain(some))
        between = time.perf_counter()
        second = model.documents(some)
        theirs.append((between - started) / len(some))
        ours.append((time.perf_counter() - between) / len(some))
        distance = max(distance, float(1 - (first * second).sum(axis=1).min()))
    ratio = float(np.median(np.array(theirs) / np.array(ours)))
    return (
        f"| {name} | {1 / np.median(theirs):.1f} | {1 / np.median(ours):.1f} | {ratio:.2f} | "
        f"{max(distance, 0):.0e} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=EXAMPLES)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    texts = chunks_of(options.folder)
    model, plain = MiniLM(), plain_loop()
    model.query("warm"), plain(["warm"])
    rows = [
        f"{platform.machine()}, Python {platform.python_version()}, chunks of `examples/`.",
        "",
        "| texts | plain loop, chunks/s | `documents`, chunks/s | times | 1 − cosine, at most |",
        "|---|---|---|---|---|",
        measure("chunks as they are", texts, options.rounds, model, plain),
        measure("256 tokens each", full(texts), options.rounds, model, plain),
        measure("headlines (60 characters)", [t[:60] for t in texts], options.rounds, model, plain),
    ]
    table = "\n".join(rows)
    print(table)
    if options.write:
        page = README.read_text(encoding="utf-8")
        block = f"<!-- embed:begin -->\n{table}\n<!-- embed:end -->"
        page = re.sub(
            r"<!-- embed:begin -->.*<!-- embed:end -->", lambda _: block, page, flags=re.S
        )
        README.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
