# SPDX-License-Identifier: Apache-2.0
"""A network of millions of weights, and a small one high up in 64 MiB, on the model and in the fast engine.

    python -m benchmarks.npu.large_network mobile [--width 1.0] [--macs 32] [--faults 4]
    python -m benchmarks.npu.large_network high   [--macs 32] [--faults 64]

`mobile`: MobileNet (arXiv 1704.04861) on 96 x 96 images, with random weights. `high`: the digits network with
its arena at the end of an SRAM of 64 MiB. Seconds and memory at the peak are printed after each step.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from resil.networks import reference, zoo
from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.graph import Graph
from resil.networks.quantise import quantise
from resil.networks.tflite_reader import read_network
from resil.networks.tflite_writer import write_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.engine.workload import Workload
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.npu import workload as workloads
from resil.rtl_harness.npu.infer import infer

T = TypeVar("T")
SIDE, CLASSES = 96, 1000
SRAM_BYTES = 64 << 20
# Stride and channels of the pairs of a depthwise and a pointwise convolution.
PAIRS = ((1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512), *[(1, 512)] * 5, (2, 1024), (1, 1024))


def mobile_network(width: float, seed: int) -> Graph:
    """Return a quantised MobileNet with random weights that keep the spread of activations."""
    random = np.random.default_rng(seed)
    layers: list[FloatLayer] = []

    def add(kind: str, filters: int, channels: int, size: int, stride: int) -> None:
        shape = {
            "CONV_2D": (filters, size, size, channels),
            "DEPTHWISE_CONV_2D": (1, size, size, channels),
            "FULLY_CONNECTED": (filters, channels),
        }[kind]
        inputs = size * size * (1 if kind == "DEPTHWISE_CONV_2D" else channels)
        weights = random.normal(0.0, np.sqrt(2.0 / inputs), shape)
        bias = random.normal(0.0, 0.1, channels if kind == "DEPTHWISE_CONV_2D" else filters)
        window = None if kind == "FULLY_CONNECTED" else Window((size, size), (stride, stride), "SAME")
        relu = kind != "FULLY_CONNECTED"
        layers.append(FloatLayer(f"{kind.lower()}{len(layers)}", kind, weights, bias, window, relu=relu))

    channels = max(8, round(32 * width))
    add("CONV_2D", channels, 3, 3, 2)
    for stride, wanted in PAIRS:
        add("DEPTHWISE_CONV_2D", channels, channels, 3, stride)
        filters = max(8, round(wanted * width))
        add("CONV_2D", filters, channels, 1, 1)
        channels = filters
    layers.append(FloatLayer("mean", "AVERAGE_POOL_2D", window=Window((3, 3), (3, 3), "VALID")))
    layers.append(FloatLayer("flatten", "FLATTEN"))
    add("FULLY_CONNECTED", CLASSES, channels, 1, 1)
    network = FloatNetwork("mobile", (SIDE, SIDE, 3), tuple(layers))
    return quantise(network, random.random((4, SIDE, SIDE, 3)))


def timed(what: str, work: Callable[[], T]) -> T:
    """Do some work and print how long it took, and the memory at the peak so far."""
    began = time.perf_counter()
    found = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what}: {time.perf_counter() - began:.1f} s, {peak:,.0f} MiB at the peak", flush=True)
    return found


def high_up(workload: Workload, compiled: CompiledNetwork) -> Workload:
    """Return the workload of a network whose arena ends where an SRAM of 64 MiB does."""
    placed = workloads.layout(compiled)
    up = (SRAM_BYTES - placed.sram_bytes) // workloads.ALIGNMENT * workloads.ALIGNMENT
    moved = {
        region: offset + (0 if region == workloads.CONSTANTS else up)
        for region, offset in placed.regions.items()
    }
    placed = replace(placed, regions=moved, sram_bytes=placed.sram_bytes + up)
    assert workload.tail is not None
    words = SRAM_BYTES // workloads.WORD_BYTES
    return replace(
        workload,
        images={
            **workload.images,
            "sram": bytes(up) + workload.images["sram"],
            "boot": workloads.boot_image(compiled, placed),
        },
        output=replace(workload.output, offset=workload.output.offset + up),
        parameters={**workload.parameters, "SramWords": words},
        words={**workload.words, "sram": words},
        tail=replace(workload.tail, regions=moved),
    )


def injected(workload: Workload, macs: int, faults: int, seed: int) -> None:
    """Run some faults in the fast engine and print what they came to."""
    target = load_target(f"ethos-u55-{macs}")
    elaboration = timed("elaboration", lambda: elaborate(target, workload.parameters))
    engine = timed("compiled model", lambda: VerilatorEngine(target, workload, elaboration))
    with engine:
        golden = timed("golden run", engine.golden)
        kept = engine._model.injector.remembered_bytes
        print(f"{golden.cycles:,} cycles; the remembered run takes {kept:,} bytes")
        random = np.random.default_rng(seed)
        drawn = [
            Fault(int(random.integers(elaboration.sites.size)), int(random.integers(golden.cycles)))
            for _ in range(faults)
        ]
        found = timed(f"{faults} faults", lambda: list(engine.run(drawn)))
        print({seen: sum(i.seen == seen for i in found) for seen in {i.seen for i in found}})
        print(dict(engine.ends), *engine.notes, sep="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("mobile", "high"))
    parser.add_argument("--width", type=float, default=1.0, help="of MobileNet's channels")
    parser.add_argument("--macs", type=int, default=32, choices=(32, 64, 128, 256))
    parser.add_argument("--faults", type=int, default=0, help="in the fast engine; without, the model alone")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    accelerator = f"ethos-u55-{given.macs}"
    random = np.random.default_rng(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        if given.what == "mobile":
            path = Path(folder) / "mobile.tflite"
            graph = timed("network", lambda: mobile_network(given.width, given.seed))
            write_network(graph, path)
        else:
            path = zoo.load("digits").path
            graph = read_network(path)
        compiled = timed("Vela", lambda: compile_network(path, accelerator))
    placed = workloads.layout(compiled)
    print(
        f"{len(compiled.operations)} operations; {placed.flash_bytes:,} bytes of flash, "
        f"{placed.sram_bytes:,} of SRAM; Vela estimates {compiled.vela_total_cycles:,} cycles"
    )
    shape = graph.tensors[graph.inputs[0]].shape[1:]
    levels = random.integers(-128, 128, (2, *shape)).astype(np.int8)
    if given.what == "mobile":
        result = timed("functional model, 2 inputs", lambda: infer(compiled, levels, "functional"))
        expected = timed("reference, 2 inputs", lambda: reference.run(graph, levels))
        print(f"{int((result.outputs[0].reshape(expected.shape) != expected).sum())} elements differ")
    workload = workloads.npu_workload(compiled, levels[0])
    if given.what == "high":
        workload = high_up(workload, compiled)
    print(f"parameters {dict(workload.parameters)}, words {dict(workload.words)}")
    if given.faults:
        injected(workload, given.macs, given.faults, given.seed)


if __name__ == "__main__":
    main()
