# SPDX-License-Identifier: Apache-2.0
"""What the functional model takes for 64 inputs, by how many elements it works on at a time.

Run as `python -m benchmarks.npu.batch_size FILE.tflite ... [--accelerator NAME] [--elements N ...] [--json]`.
`batch.CHUNK_ELEMENTS` is what `resil` uses. Inputs are random, and times are of the processor, the least of
three runs; outputs must be the same for each size.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.ends import each_shape
from resil.rtl_harness.npu.infer import infer
from resil.rtl_harness.npu.model import batch
from resil.rtl_harness.npu.workload import Array

INPUTS, TIMES = 64, 3


def main() -> int:
    """Print a table; the exit code is 4 if outputs differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--elements", nargs="+", type=int, default=[1 << k for k in (23, 21, 19, 18, 17, 15)])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, dict[int, float]] = {}
    same = True
    for network in options.networks:
        compiled = compile_network(network, options.accelerator)
        inputs = _inputs(compiled)
        ends = set()
        found[network.stem] = {}
        for elements in options.elements:
            batch.CHUNK_ELEMENTS = elements
            runs = [_run(compiled, inputs) for _ in range(TIMES)]
            found[network.stem][elements] = round(min(seconds for seconds, _ in runs), 3)
            ends |= {end for _, end in runs}
        same &= len(ends) == 1
    if options.json:
        print(json.dumps(found))
    else:
        for name, times in found.items():
            print(name, *(f"{elements:,}: {seconds} s" for elements, seconds in times.items()), sep="  ")
    return 0 if same else 4


def _inputs(compiled: CompiledNetwork) -> list[Array]:
    generator = np.random.default_rng(0)
    return [
        generator.integers(
            np.iinfo(i.dtype).min, np.iinfo(i.dtype).max, (INPUTS, *each_shape(i.shape)), i.dtype
        )
        for i in compiled.inputs
    ]


def _run(compiled: CompiledNetwork, inputs: list[Array]) -> tuple[float, tuple[bytes, ...]]:
    """Return the processor time of all inputs, and their outputs."""
    began = time.process_time()
    found = infer(compiled, inputs, "functional")
    return time.process_time() - began, tuple(output.tobytes() for output in found.outputs)


if __name__ == "__main__":
    sys.exit(main())
