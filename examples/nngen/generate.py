# SPDX-License-Identifier: Apache-2.0
"""Make an int8 CNN accelerator with nngen 1.3.4, its memory images, and what its software model answers.

Runs in an environment of its own that has nngen: `python generate.py build` makes the CNN, `python
generate.py build dense` two dense layers, whose accelerator is a quarter as large. Writes into the folder:

    accelerator.v    the RTL, top module nngen_cnn
    parameters.npy   weights, biases and scales as they lie in memory, bytes, from PARAMETERS on
    images.npy       inputs, int8, one an entry of the first axis
    scores.npy       what nngen's own software model gives for each, int32 (N, 1, 10)
    boot.hex         what the host does: `resil_boot` of the bench runs it
    layout.txt       where things lie in memory
"""

from __future__ import annotations

import sys
from pathlib import Path

import nngen as ng
import numpy as np

SEED = 7
IMAGES = 2
SIDE, CHANNELS, CLASSES = 8, 4, 10
FEATURES, HIDDEN = 16, 8
START, BUSY, GLOBAL_OFFSET = (
    4 * index for index in (ng.control_reg_start, ng.control_reg_busy, ng.control_reg_global_offset)
)
WRITE, POLL, END = 1, 3, 0


def dense(rng: np.random.Generator) -> tuple[object, object]:
    """Return input and output of two dense layers; random weights."""
    image = ng.placeholder(ng.int8, (1, FEATURES), name="image")
    hidden = layer(rng, ng.matmul, image, (HIDDEN, FEATURES), "hidden")
    return image, layer(rng, ng.matmul, hidden, (CLASSES, HIDDEN), "scores", last=True)


def cnn(rng: np.random.Generator) -> tuple[object, object]:
    """Return input and output of conv 3x3, max pool 2x2, conv 3x3, dense; random weights."""
    image = ng.placeholder(ng.int8, (1, SIDE, SIDE, CHANNELS), name="image")
    first = layer(rng, ng.conv2d, image, (8, 3, 3, CHANNELS), "first")
    pooled = ng.max_pool_serial(first, ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1))
    second = layer(rng, ng.conv2d, pooled, (8, 3, 3, 8), "second")
    flat = ng.reshape(second, [1, -1])
    return image, layer(rng, ng.matmul, flat, (CLASSES, flat.shape[-1]), "scores", last=True)


def layer(rng: np.random.Generator, kind, source, shape, name: str, last: bool = False):  # noqa: ANN001, ANN201
    """Return a convolution or a dense layer: int8 weights, int32 sums, ReLU unless it is the last."""
    weights = ng.variable(ng.int8, shape, name=f"{name}_weights")
    biases = ng.variable(ng.int32, (shape[0],), name=f"{name}_biases")
    scales = ng.variable(ng.int8, (shape[0],), name=f"{name}_scales")
    weights.set_value(rng.integers(-60, 61, shape))
    biases.set_value(rng.integers(-400, 401, biases.shape))
    scales.set_value(np.ones(scales.shape, np.int64))
    options = {"bias": biases, "scale": scales, "sum_dtype": ng.int32, "name": name}
    if last:
        options["dtype"] = ng.int32
    else:
        options["act_func"] = ng.relu
    if kind is ng.conv2d:
        made = ng.conv2d(source, weights, strides=(1, 1, 1, 1), **options)
    else:
        made = ng.matmul(source, weights, transposed_b=True, **options)
    made.attribute(par_ich=1, par_och=1, cshamt_out=0 if last else 9)
    return made


def boot_words(parameters: list[tuple[int, int, int, int]]) -> str:
    """Return the steps (operation, address, data, mask) as `$readmemh` text, 128 bits a line."""
    return "".join(f"{m:08x}_{d:08x}_{a:08x}_{o:08x}\n" for o, a, d, m in parameters)


NETWORKS = {"cnn": cnn, "dense": dense}


def main(folder: Path, name: str = "cnn") -> None:
    """Write all files of a network."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    image, scores = NETWORKS[name](rng)
    images = rng.integers(-127, 128, (IMAGES, *image.shape[1:])).astype(np.int8)
    answers = [ng.eval([scores], image=x[None].astype(np.int64))[0] for x in images]
    ng.to_verilog([scores], "nngen_cnn", filename=str(folder / "accelerator.v"), silent=True)
    parameters = np.array(ng.export_ndarray([scores]), np.uint8)
    first = image.addr + -(-image.memory_size // 64) * 64
    np.save(folder / "parameters.npy", parameters)
    np.save(folder / "images.npy", images)
    np.save(folder / "scores.npy", np.array(answers, np.int32).reshape(IMAGES, 1, CLASSES))
    steps = [(WRITE, GLOBAL_OFFSET, 0, 0), (WRITE, START, 1, 0), (POLL, START, 0, 0xFFFF_FFFF)]
    steps += [(POLL, BUSY, 0, 0xFFFF_FFFF), (END, 0, 0, 0)]
    (folder / "boot.hex").write_text(boot_words(steps))
    places = {"scores": (scores.addr, scores.memory_size), "image": (image.addr, image.memory_size)}
    places["parameters"] = (first, parameters.size)
    lines = [f"{name} at byte {start}, {size} bytes\n" for name, (start, size) in places.items()]
    (folder / "layout.txt").write_text("".join(lines))
    print("".join(lines), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:3])
