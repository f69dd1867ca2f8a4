# SPDX-License-Identifier: Apache-2.0
"""What an input of a campaign over many costs: processor time of each, by phase.

Run as `python -m benchmarks.engine.inputs NETWORK [--accelerator ethos-u55-32] [--inputs 6] [--faults 500]`
from the root of the project. Rows have a digest: two versions of the engine have to give the same.
"""

from __future__ import annotations

import argparse
import random
import time
from hashlib import md5

from resil.networks import zoo
from resil.networks.compile import compile_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault
from resil.rtl_harness.npu.workload import npu_workload

# Faults of a whole campaign, from which gates, sweeps and lanes are worth their making.
EXPECTED = 40_000


def main() -> None:
    """Print a row for each input: the last ones are those that cost what most inputs cost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network", help="of the zoo")
    parser.add_argument("--accelerator", default="ethos-u55-32")
    parser.add_argument("--inputs", type=int, default=6)
    parser.add_argument("--faults", type=int, default=500, help="of each input, in all storage")
    options = parser.parse_args()
    network, target = zoo.load(options.network), load_target(options.accelerator)
    compiled = compile_network(network.path, options.accelerator)
    works = [npu_workload(compiled, network.heldout_inputs[place]) for place in range(options.inputs)]
    storage = elaborate(target, works[0].parameters)
    engines = [VerilatorEngine(target, work, storage, sweep=True) for work in works]
    for engine in engines:
        engine.expect(EXPECTED, engines[0])
    said = md5(usedforsecurity=False)
    print("| input | golden run | what sweeps need | faults and audit | of it windows | sum |")
    print("|---|---|---|---|---|---|")
    for place, engine in enumerate(engines):
        with engine:
            began = time.process_time()
            cycles = engine.golden().end.end_cycle
            recorded = time.process_time()
            engine.prepare()
            prepared = time.process_time()
            choose = random.Random(place)
            faults = [
                Fault(choose.randrange(storage.sites.size), choose.randrange(cycles))
                for _ in range(options.faults)
            ]
            found = sorted(repr(injection) for injection in engine.run(faults))
            done = time.process_time()
            said.update("".join(found).encode())
            spent = recorded - began, prepared - recorded, done - prepared
            loading = engine.sweep_times.loading / 1e9
        row = (*spent, loading, sum(spent))
        print(f"| {place} | {' | '.join(f'{own:.2f}' for own in row)} |", flush=True)
    print(f"rows: {said.hexdigest()}")


if __name__ == "__main__":
    main()
