# SPDX-License-Identifier: Apache-2.0
"""How fast permanent faults of logic are simulated: blocks of adjacent faults of the NPU, drawn at random.

Run as `python -m benchmarks.engine.held_pins [--accelerator NAME] [--network NAME] [--blocks N] [--size
N]` from the root of the project. All faults of a netlist lie in such blocks when they are simulated
exhaustively, so the mean over drawn blocks is what an exhaustive run takes a fault. Times are of the
processor. The peer is one run of the compiled RTL, from reset to the end, in the same process: a
restart for each fault takes that at least. The nets are those of the RTL as gates, each held at 0 and
at 1.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.gates.circuit import circuit_of
from resil.rtl_harness.engine.fast.gates.gates import read_gates
from resil.rtl_harness.engine.fast.model import CompiledModel
from resil.rtl_harness.engine.logic.build import build_library
from resil.rtl_harness.engine.logic.library import HeldPin, How, LogicSimulator, PinKind
from resil.rtl_harness.engine.logic.observed import observed_of
from resil.rtl_harness.npu.workload import npu_workload

LIMIT = 20_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw blocks of faults, simulate them, print what they took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--network", default="digits", help="of the zoo")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--size", type=int, default=1024, help="adjacent faults in a block")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    target, network = load_target(options.accelerator), zoo.load(options.network)
    compiled = compile_network(network.path, options.accelerator)
    workload = npu_workload(compiled, network.heldout_inputs[0], options.network)
    elaboration = elaborate(target, workload.parameters)
    gates, model = read_gates(target, elaboration), CompiledModel(target, workload, elaboration)
    circuit = circuit_of(gates, model.origin, model.memory_words)
    simulator = LogicSimulator(build_library(), circuit, observed_of(gates, circuit, model))
    began = time.process_time()
    golden = simulator.golden(LIMIT)
    golden_seconds = time.process_time() - began
    with model.start() as instance:
        began = time.process_time()
        instance.run(LIMIT)
        restart_seconds = time.process_time() - began
        if instance.cycle != golden.cycles or instance.port(1) != golden.status:
            raise RuntimeError("the gates and the compiled model end otherwise")
    driven = [*gates.gates[gates.gates[:, 0] != 12, 4].tolist(), *gates.flip_flops[:, 0].tolist()]
    driven += [net for _, _, data in gates.reads for net in data]
    faults = [(HeldPin(PinKind.NET, net, value),) for net in sorted(driven) for value in (0, 1)]
    count = math.ceil(len(faults) / options.size)
    chosen = np.random.default_rng(options.seed).choice(count, min(options.blocks, count), replace=False)
    seconds, ways, sizes = [], Counter[str](), []
    for block in sorted(chosen.tolist()):
        some = faults[block * options.size : (block + 1) * options.size]
        began = time.process_time()
        ends = simulator.run(some, 2 * golden.cycles)
        seconds.append(time.process_time() - began)
        sizes.append(len(some))
        for end in ends:
            wrong = end.how is How.DONE and end.output != golden.output
            equal = end.how in (How.DONE, How.SAME) and not wrong and not end.differs
            ways[
                "wrong output" if wrong else "masked" if equal else "latent" if end.differs else end.how.name
            ] += 1
        print(f"block {block}: {1000 * seconds[-1] / sizes[-1]:.2f} ms a fault", file=sys.stderr, flush=True)
    each = np.array(seconds) / np.array(sizes)
    spread = 1.96 * each.std(ddof=1) / math.sqrt(len(each)) if len(each) > 1 else float("nan")
    print(
        json.dumps(
            {
                "faults": len(faults),
                "simulated": sum(sizes),
                "golden_seconds": round(golden_seconds, 2),
                "restart_ms": round(1000 * restart_seconds, 2),
                "ms_a_fault": round(1000 * float(each.mean()), 3),
                "plus_minus_ms": round(1000 * float(spread), 3),
                "exhaustive_minutes_of_two_cores": round(float(each.mean()) * len(faults) / 120, 1),
                "ends": dict(ways),
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
