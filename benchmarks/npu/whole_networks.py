# SPDX-License-Identifier: Apache-2.0
"""Whole networks on the RTL of every size: outputs and cycles, against TensorFlow Lite Micro and Vela.

Runs the zoo's networks, and every .tflite file of `--models DIR`, on held-out inputs (the zoo's) or on noise
drawn from a seed. Outputs must be equal bit for bit, also the functional model's on more inputs; a difference
ends the run with exit code 1.

    python -m benchmarks.npu.whole_networks [--models DIR] [--npu ethos-u55-32 ...] [--inputs 2]
                                        [--model-inputs 100] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from resil.networks import oracle, zoo
from resil.networks.compile import CompiledNetwork, compile_network
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.native.runner import Runner
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.workload import npu_workload

SIZES = ("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256")

Tensor = npt.NDArray[np.int8]


def inputs_of(path: Path, compiled: CompiledNetwork, count: int, seed: int) -> Tensor:
    """Return `count` inputs: held-out ones of a zoo network, else noise of many levels."""
    if path.stem in zoo.names() and path == Path(zoo.load(path.stem).path):
        return zoo.load(path.stem).heldout_inputs[:count]
    rng = np.random.default_rng(seed)
    shape = (count, *compiled.inputs[0].shape[1:])
    level = rng.integers(-100, 100, (count,) + (1,) * (len(shape) - 1))
    spread = rng.integers(5, 80, level.shape)
    return np.clip(rng.normal(level, spread, shape), -128, 127).astype(np.int8)


def measure(paths: list[Path], npu: str, rtl_inputs: int, model_inputs: int) -> list[dict[str, Any]]:
    """Return one row a network; one build of the bench serves all that are not larger than it."""
    compiled = {path: compile_network(path, npu) for path in paths}
    inputs = {p: inputs_of(p, c, max(rtl_inputs, model_inputs), 1) for p, c in compiled.items()}
    target = load_target(npu)
    macs_a_cycle = int(npu.rsplit("-", 1)[1])
    rows = []
    for path in paths:
        network = compiled[path]
        expected = np.asarray(oracle.run(path, inputs[path])).reshape(len(inputs[path]), -1)
        equal, cycles, seconds = 0, 0, 0.0
        for i in range(rtl_inputs):
            workload = npu_workload(network, inputs[path][i])
            runner = Runner(target, workload.parameters)
            start = time.perf_counter()
            run = runner.run(workload, 100 * network.vela_total_cycles + 1_000_000)
            seconds += time.perf_counter() - start
            output = workload.output.tensor(run.output).reshape(-1)
            equal += bool(run.finished and not run.error and np.array_equal(output, expected[i]))
            cycles += run.cycles
        modelled = (
            infer(network, inputs[path][:model_inputs], "functional").outputs[0].reshape(model_inputs, -1)
        )
        macs = sum(operation.macs or 0 for operation in network.operations)
        rows.append(
            {
                "network": path.stem,
                "npu": npu,
                "rtl_inputs": rtl_inputs,
                "rtl_equal": equal,
                "model_inputs": model_inputs,
                "model_equal": int((modelled == expected[:model_inputs]).all(axis=1).sum()),
                "cycles": cycles // rtl_inputs,
                "vela_cycles": network.vela_total_cycles,
                "ratio": cycles / rtl_inputs / network.vela_total_cycles,
                "mac_utilisation": macs * rtl_inputs / (cycles * macs_a_cycle),
                "simulated_cycles_per_second": cycles / seconds,
            }
        )
        print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), file=sys.stderr)
    return rows


def main() -> int:
    """Measure and print; 1 if any output differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, help="folder with further .tflite files")
    parser.add_argument("--npu", nargs="+", default=SIZES, choices=SIZES)
    parser.add_argument("--inputs", type=int, default=2, help="inputs through the RTL")
    parser.add_argument("--model-inputs", type=int, default=100, help="inputs through the functional model")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    paths = [Path(zoo.load(name).path) for name in zoo.names()]
    if options.models:
        paths += sorted(options.models.glob("*.tflite"))
    rows = [row for npu in options.npu for row in measure(paths, npu, options.inputs, options.model_inputs)]
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        print()
    else:
        heading = f"{'network':26}{'npu':>15}{'RTL equal':>11}{'model equal':>13}{'cycles':>12}{'Vela':>12}"
        print(heading + f"{'ratio':>7}{'MAC use':>9}{'sim c/s':>11}")
        for row in rows:
            print(
                f"{row['network']:26}{row['npu']:>15}{row['rtl_equal']:>6}/{row['rtl_inputs']:<4}"
                f"{row['model_equal']:>8}/{row['model_inputs']:<4}{row['cycles']:>12,}{row['vela_cycles']:>12,}"
                f"{row['ratio']:>7.2f}{row['mac_utilisation']:>9.1%}{row['simulated_cycles_per_second']:>11,.0f}"
            )
    right = all(
        row["rtl_equal"] == row["rtl_inputs"] and row["model_equal"] == row["model_inputs"] for row in rows
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
