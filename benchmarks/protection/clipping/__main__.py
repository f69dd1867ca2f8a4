# SPDX-License-Identifier: Apache-2.0
"""Accuracy against the rate of upsets in the memory of weights, clipped and not: data and figure.

    python -m benchmarks.protection.clipping --resnet pretrainedResnet_quant.tflite --out docs/img

As FT-ClipAct (arXiv 1912.00941) and Ranger (arXiv 2003.13874) draw it: each bit of the weights is inverted
with a probability, for a whole inference; mean and spread over seeds. *Stored* are the bits that lie in
memory for the NPU: weights as Vela compresses them, biases, scales and tables. They run on the functional
model; where the NPU reports an error there is no right answer. *int8* are the weights before compression, on
the integer reference. A seed strikes the same bits of the clipped and the other network.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.protection.clipping import strikes
from benchmarks.protection.clipping.figure import draw
from benchmarks.protection.clipping.strikes import MEMORIES, RATES
from benchmarks.protection.clipping.subjects import (
    VARIANTS,
    Subject,
    file_subject,
    zoo_subject,
)
from resil.networks.files import write_atomically

ZOO = ("digits", "mnist_residual")
ROOM = 4.0
Answer = Callable[[Subject, int, Sequence[int]], tuple[float, float]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write `clipping.json` and `clipping.svg`, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.protection.clipping", description=__doc__)
    parser.add_argument("--resnet", type=Path, help="MLPerf Tiny's ResNet-8; left out without it")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--resnet-images", type=int, default=50)
    parser.add_argument("--int8-seeds", type=int, default=5, help="seeds of the int8 weights; 0: none")
    parser.add_argument("--out", type=Path, default=Path("docs/img"))
    options = parser.parse_args(arguments)
    seeds = {"stored": options.seeds, "int8": options.int8_seeds}
    found: dict[str, Any] = {"rates": list(RATES), "seeds": seeds, "networks": []}
    for subject in subjects(options):
        found["networks"].append(measured(subject, seeds))
        print(told(found["networks"][-1]), flush=True)
    write_atomically(options.out / "clipping.json", (json.dumps(found, indent=1) + "\n").encode())
    write_atomically(options.out / "clipping.svg", draw(found).standalone().encode())
    return 0


def subjects(options: argparse.Namespace) -> Iterator[Subject]:
    """Yield the networks."""
    for name in ZOO:
        yield zoo_subject(name, options.images)
    yield zoo_subject(ZOO[-1], options.images, ROOM)
    if options.resnet is not None:
        for room in (1.0, ROOM):
            yield file_subject(options.resnet, "ResNet-8", options.resnet_images, room)


def measured(subject: Subject, seeds: dict[str, int]) -> dict[str, Any]:
    """Return the answers of a network at all rates, for each seed."""
    curves = []
    for memory in MEMORIES:
        stored = memory == "stored"
        bits = strikes.stored_bits(subject) if stored else strikes.int8_bits(subject.graphs[0])
        answer = strikes.answers_stored if stored else strikes.answers_int8
        if seeds[memory]:
            curves += _curves(subject, memory, bits, answer, seeds[memory])
    return {
        "name": subject.name,
        "measure": subject.measure,
        "inputs": len(subject.inputs),
        "activations": subject.activations,
        "narrowed": subject.narrowed,
        "curves": curves,
    }


def _curves(subject: Subject, memory: str, bits: int, answer: Answer, seeds: int) -> list[dict[str, Any]]:
    right = np.zeros((len(VARIANTS), len(RATES), seeds))
    detected = np.zeros_like(right)
    upsets = np.zeros((len(RATES), seeds), np.int64)
    known: dict[tuple[int, tuple[int, ...]], tuple[float, float]] = {}
    for seed in range(seeds):
        limits = strikes.drawn(bits, seed)
        for place, rate in enumerate(RATES):
            struck = tuple(np.flatnonzero(limits < rate).tolist())
            upsets[place, seed] = len(struck)
            for variant in range(len(VARIANTS)):
                if (variant, struck) not in known:
                    known[variant, struck] = answer(subject, variant, struck)
                right[variant, place, seed], detected[variant, place, seed] = known[variant, struck]
    return [
        {
            "memory": memory,
            "variant": name,
            "bits": bits,
            "upsets": upsets.mean(axis=1).tolist(),
            "mean": right[i].mean(axis=1).tolist(),
            "sd": right[i].std(axis=1, ddof=1).tolist(),
            "detected": detected[i].mean(axis=1).tolist(),
            "each": right[i].round(6).tolist(),
        }
        for i, name in enumerate(VARIANTS)
    ]


def told(network: dict[str, Any]) -> str:
    """Return the mean of each curve at the rates where upsets are to be expected, as lines."""
    narrowed = f"{network['narrowed']} of {network['activations']} activations narrowed"
    lines = [f"{network['name']}: {network['measure']} on {network['inputs']} inputs, {narrowed}"]
    lines.append("  rate         " + " ".join(f"{rate:14.1e}" for rate in RATES))
    for curve in network["curves"]:
        shown = " ".join(f"{m:6.3f} +-{s:5.3f}" for m, s in zip(curve["mean"], curve["sd"], strict=True))
        lines.append(f"  {curve['memory']:6} {curve['variant']:11} {shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
